//! What agents are started with: what the workbench has, and what a project adds to it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use offshoot_protocol::Warning;

use crate::clock::Ids;
use crate::git;
use crate::hooks::Hooks;
use crate::instructions;
use crate::merge::Merges;
use crate::model::{KnownModels, Model, Provider};
use crate::policy::Rules;
use crate::role::model_alias::ModelAliases;
use crate::role::{Catalog, RoleFolders};
use crate::settings::{Settings, WorktreeSettings};
use crate::tool::{Commands, Toolbox};
use crate::trust::Project;
use crate::worktree::Worktrees;

/// What all sessions of a workbench start agents with.
pub struct Kit {
    /// The clients, by provider.
    pub models: HashMap<Provider, Arc<dyn Model>>,
    /// Which of them a new root agent uses, and with which model.
    pub default_model: Mutex<(Provider, String)>,
    /// The models that the providers said they have.
    pub known_models: KnownModels,
    /// A model that every subagent gets, whatever its call and role say.
    pub model_override: Option<String>,
    /// All tools.
    pub toolbox: Toolbox,
    /// Runs the setup of worktrees.
    pub commands: Commands,
    /// What the command line wants, laid over the files.
    pub adjust: Arc<dyn Fn(&mut Settings) + Send + Sync>,
    /// Rules of the command line.
    pub rules: Rules,
    /// What hooks see of an environment. No key of a provider.
    pub hook_environment: Vec<(OsString, OsString)>,
    /// Whether somebody can be asked.
    pub interactive: bool,
    /// Where worktrees are made.
    pub worktrees: Worktrees,
    /// What brings their changes home.
    pub merges: Merges,
    /// Makes ids.
    pub ids: Arc<Ids>,
    /// How far commands are confined, where that is less than wholly.
    pub confinement: Option<String>,
    /// The person's home directory.
    pub home: PathBuf,
    /// The person's settings folder, where their roles and plugins are.
    pub config_dir: PathBuf,
}

impl Kit {
    /// The roles there are for a project now. Those of a project that isn't trusted are left out.
    pub fn catalog(&self, project: &Path, trusted: bool) -> Catalog {
        let known: Vec<&str> = self.toolbox.names().collect();
        Catalog::load(&self.role_folders(project, trusted), &known)
    }

    /// Where a project's roles are looked for.
    pub fn role_folders(&self, project: &Path, trusted: bool) -> RoleFolders {
        RoleFolders {
            user: Some(self.config_dir.join("roles")),
            plugins: Some(self.config_dir.join("plugins")),
            project: Some(project.to_path_buf()),
            trusted,
        }
    }
}

/// What the agents of one session are started with. Fixed while the session is open: a new answer to the question of trust,
/// or another setting, counts when a session is made or opened.
pub struct Means {
    /// What the workbench has.
    pub kit: Arc<Kit>,
    /// What is set.
    pub settings: Settings,
    /// Names that roles and calls may use for models.
    pub aliases: ModelAliases,
    /// Rules of the settings and the command line.
    pub rules: Rules,
    /// What runs at certain moments.
    pub hooks: Arc<Hooks>,
    /// Whether what the project's files ask for counts.
    pub trusted: bool,
    /// How worktrees are made.
    pub worktree: WorktreeSettings,
    /// Where the project's local settings are.
    pub main_checkout: PathBuf,
    /// What was wrong in the files.
    pub warnings: Vec<Warning>,
}

impl Means {
    /// What holds for a project now. Blocks on the disk.
    pub fn of(kit: &Arc<Kit>, project: &Path) -> Self {
        let Project { trust, main_checkout, loaded } = Project::open(project, &kit.config_dir, &kit.home);
        let mut rules = kit.rules.clone();
        let of_command_line = std::mem::take(&mut rules.problems);
        let of_rules = loaded.add_rules_to(&mut rules);
        let of_files = loaded.warnings.iter().chain(&of_rules).map(ToString::to_string);
        let texts = of_command_line.iter().map(ToString::to_string).chain(of_files);
        let warnings = texts.map(|message| Warning { code: "settings".to_owned(), message });
        let wall = kit.confinement.iter().map(|label| Warning {
            code: "confinement".to_owned(),
            message: format!("Commands are {label}. `offshoot doctor` says what is missing."),
        });
        let warnings = warnings.chain(wall).collect();
        let mut settings = loaded.settings;
        (kit.adjust)(&mut settings);
        Self {
            kit: kit.clone(),
            settings,
            aliases: loaded.model.aliases.into(),
            rules,
            hooks: Arc::new(Hooks::new(loaded.hooks, kit.hook_environment.clone(), project)),
            trusted: trust.is_trusted(),
            worktree: loaded.worktree,
            main_checkout,
            warnings,
        }
    }

    /// How git treats the project's repository.
    pub(super) fn git_trust(&self) -> git::Trust {
        if self.trusted { git::Trust::Trusted } else { git::Trust::Untrusted }
    }

    /// The session's roles, as of now.
    pub(super) fn catalog(&self, project: &Path) -> Catalog {
        self.kit.catalog(project, self.trusted)
    }

    /// The project's instructions for agents, each with its file's name; none of a project that isn't trusted.
    pub(super) fn instructions(&self, project: &Path) -> Vec<(String, String)> {
        if self.trusted { instructions::read(project) } else { Vec::new() }
    }
}
