//! Opens the core with what the program was told and what it found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agents::clock::{Ids, SystemClock};
use offshoot_agents::git::GitSettings;
use offshoot_agents::log::{self, LogError};
use offshoot_agents::model::Provider;
use offshoot_agents::model::demo;
use offshoot_agents::policy::{RuleKind, RuleSource, Rules};
use offshoot_agents::sandbox::{self, Limits, Sandbox};
use offshoot_agents::settings::{Forks, Settings};
use offshoot_agents::tool::{self, Environment};
use offshoot_agents::trust::{Trust, TrustFile};
use offshoot_agents::workbench::{Options, Workbench};
use offshoot_protocol::{PermissionMode, Rejected, RejectedCode};

use crate::access::{self, Clients};
use crate::arguments::{ExecArguments, ForksArgument, Misused};
use crate::console::Console;
use crate::surroundings::{Surroundings, search_path};

/// What the caller decides about the core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    /// Who answers; absent: whoever is set up.
    pub(crate) provider: Option<Provider>,
    /// The provider's address; absent: the environment's.
    pub(crate) base_url: Option<String>,
    /// The model; absent: the provider's usual one.
    pub(crate) model: Option<String>,
    /// The permission mode of new sessions; absent: as set.
    pub(crate) mode: Option<PermissionMode>,
    /// Rules that allow.
    pub(crate) allow: Vec<String>,
    /// Rules that deny.
    pub(crate) deny: Vec<String>,
    /// Whether delegated work becomes forks.
    pub(crate) forks: Option<ForksArgument>,
    /// Most model calls of a turn.
    pub(crate) max_turns: Option<u32>,
    /// Whether a person can be asked.
    pub(crate) interactive: bool,
    /// Whether agents may be at work. Looking at what is stored needs no sandbox.
    pub(crate) acts: bool,
}

impl Choice {
    /// What the arguments of `offshoot exec` say. Nobody can be asked.
    pub(crate) fn of_exec(arguments: &ExecArguments) -> Self {
        Self {
            provider: arguments.provider.map(Into::into),
            base_url: arguments.base_url.clone(),
            model: arguments.model.clone(),
            mode: arguments.mode(),
            allow: arguments.allow.clone(),
            deny: arguments.deny.clone(),
            forks: arguments.forks,
            max_turns: arguments.max_turns,
            interactive: false,
            acts: true,
        }
    }
}

impl Choice {
    /// Permits what the demo does in its sample project, as far as nothing else was said.
    pub(crate) fn permit_tour(&mut self) {
        self.mode = self.mode.or(Some(PermissionMode::AcceptEdits));
        self.forks = self.forks.or(Some(ForksArgument::Always));
        self.allow.push("Bash(sh test.sh)".to_owned());
    }
}

/// The rules of the command line; those of the settings files are the session's. A malformed one is a mistake of whoever
/// wrote it: nothing is started with fewer rules than were meant.
pub(crate) fn rules(choice: &Choice) -> Result<Rules, Misused> {
    let mut rules = Rules::default();
    rules.add(RuleKind::Allow, RuleSource::CommandLine, &choice.allow);
    rules.add(RuleKind::Deny, RuleSource::CommandLine, &choice.deny);
    match rules.problems.iter().find(|problem| problem.left_out) {
        Some(problem) => Err(Misused(format!("the rule “{}” can't be used: {}", problem.rule, problem.message))),
        None => Ok(rules),
    }
}

/// Refuses to act while the person's own settings, or a rule of theirs that denies, can't be understood: where nobody can be
/// asked, nothing that they may deny may run.
pub(crate) fn check_settings(surroundings: &Surroundings) -> Result<(), Misused> {
    let (rules, _) = surroundings.settings.rules();
    match (surroundings.settings.unread.first(), rules.doubted()) {
        (None, None) => Ok(()),
        (None, Some(doubt)) => Err(Misused(format!(
            "{doubt}, so nobody knows what it was to forbid; nothing was started. `offshoot doctor` says where it stands"
        ))),
        (Some(path), _) => Err(Misused(format!(
            "{} can't be read, so none of its rules would hold; nothing was started. `offshoot doctor` says what is wrong in it",
            path.display()
        ))),
    }
}

/// What is wrong with the settings files, one line each.
pub(crate) fn warnings(surroundings: &Surroundings) -> Vec<String> {
    let (_, about_rules) = surroundings.settings.rules();
    surroundings.settings.warnings.iter().chain(&about_rules).map(ToString::to_string).collect()
}

/// Opens the core.
pub(crate) async fn open(surroundings: &Surroundings, choice: Choice) -> Result<Workbench, Rejected> {
    open_with(surroundings, choice, &Clients::default()).await
}

/// Opens the core with these clients, which it sets up. A client that can't be made is told to whoever asks it.
pub(crate) async fn open_with(
    surroundings: &Surroundings,
    choice: Choice,
    clients: &Clients,
) -> Result<Workbench, Rejected> {
    let options = options(surroundings, choice, clients).await?;
    Workbench::open(options).map_err(|error| not_opened(surroundings, &error))
}

/// Opens the core for looking at what is stored, also beside another program, and says so then.
pub(crate) async fn look(surroundings: &Surroundings, console: &mut Console) -> Result<Workbench, Rejected> {
    let options = options(surroundings, Choice::default(), &Clients::default()).await?;
    let workbench = Workbench::open_to_look(options).map_err(|error| not_opened(surroundings, &error))?;
    if workbench.is_read_only() {
        console.note("offshoot: another Offshoot is using this data folder; it is only read here.");
    }
    Ok(workbench)
}

fn not_opened(surroundings: &Surroundings, error: &LogError) -> Rejected {
    let hint = match error {
        LogError::InUse { .. } => String::new(),
        _ => format!("Sessions are stored in {}; `offshoot doctor` checks it.", surroundings.data_dir.display()),
    };
    Rejected::new(RejectedCode::Storage, format!("The stored sessions can't be opened: {error}."), hint)
}

async fn options(surroundings: &Surroundings, choice: Choice, clients: &Clients) -> Result<Options, Rejected> {
    let answers = access::answers(surroundings, &choice);
    clients.set_up(surroundings, &choice);
    let mut rules = rules(&choice).map_err(|misused| Rejected::new(RejectedCode::Invalid, misused.0, "Correct it."))?;
    // In no mode, and whatever other rules say, is there a reason to look at this program's own keys.
    let keys = format!("/{}", surroundings.keys.path().display());
    rules.add(RuleKind::Deny, RuleSource::CommandLine, &[format!("Read({keys})"), format!("Edit({keys})")]);
    let sandbox =
        async { if choice.acts { sandbox(surroundings).await } else { Sandbox::not_confined("nothing runs") } };
    // Each waits for processes that it starts: together they take no longer than the slower one.
    let (path, sandbox) = tokio::join!(search_path(), sandbox);
    Ok(Options {
        data_dir: surroundings.data_dir.clone(),
        config_dir: surroundings.config_dir.clone(),
        clock: Arc::new(SystemClock),
        ids: Ids::random(),
        models: clients.by_provider(),
        default_model: (answers.provider, answers.model),
        model_override: surroundings.subagent_model.clone(),
        tools: tool::Options {
            sandbox: Arc::new(sandbox),
            environment: Environment {
                path: path.clone(),
                home: surroundings.home.to_string_lossy().into_owned(),
                lang: surroundings.language.clone().unwrap_or_else(|| "C.UTF-8".to_owned()),
                term: "dumb".to_owned(),
                extra: surroundings.for_commands.clone(),
            },
            network: false,
            writable: writable(&surroundings.settings.additional_directories),
            limits: Limits::default(),
            web: tool::Web {
                networks: surroundings.settings.fetch_networks.clone(),
                authorities: surroundings.authorities.clone(),
                ..tool::Web::default()
            },
            unconfined_allowed: surroundings.settings.unconfined_allowed,
        },
        git: GitSettings {
            program: "git".into(),
            path: path.into(),
            home: Some(surroundings.home.clone()),
            environment: surroundings.for_git.clone(),
        },
        adjust: adjust(surroundings, &choice),
        rules,
        interactive: choice.interactive,
    })
}

/// Folders beside the project that commands may write: those that are there, links resolved.
fn writable(folders: &[PathBuf]) -> Vec<PathBuf> {
    folders.iter().filter_map(|folder| folder.canonicalize().ok()).filter(|folder| folder.is_dir()).collect()
}

/// What the environment and the command line want, laid over the settings files.
fn adjust(surroundings: &Surroundings, choice: &Choice) -> Arc<dyn Fn(&mut Settings) + Send + Sync> {
    let (mode, max_turns, background_disabled) = (choice.mode, choice.max_turns, surroundings.background_disabled);
    let forks = choice.forks.map(|forks| match forks {
        ForksArgument::Always => Forks::Always,
        ForksArgument::Never => Forks::Never,
    });
    Arc::new(move |settings| {
        settings.mode = mode.unwrap_or(settings.mode);
        settings.background &= !background_disabled;
        settings.forks = forks.unwrap_or(settings.forks);
        settings.root_max_turns = max_turns.or(settings.root_max_turns);
    })
}

/// This program without the window, which begins much faster where the two lie side by side.
fn without_window() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let beside = own.with_file_name(format!("offshoot{}", std::env::consts::EXE_SUFFIX));
    Some(if beside.is_file() { beside } else { own })
}

/// The wall around commands, as good as this machine has it; found out by trying.
pub(crate) async fn sandbox(surroundings: &Surroundings) -> Sandbox {
    let builders =
        sandbox::Builders { bubblewrap: sandbox::BUBBLEWRAP.map(PathBuf::from).into(), helper: without_window() };
    let mut masked = sandbox::credentials(&surroundings.home);
    masked.push(surroundings.keys.path().to_path_buf());
    // Worktrees and scratch folders of sessions lie in the data folder too, so it can't be masked as a whole.
    masked.extend(log::files(&surroundings.data_dir));
    masked.push(surroundings.data_dir.join("window"));
    // The trial needs a folder that can be written; one that can't be is reported by whoever opens the core next.
    let _ = tokio::fs::create_dir_all(&surroundings.data_dir).await;
    Sandbox::detect(&builders, &surroundings.data_dir, masked).await
}

/// A folder that can be opened as a project: absolute, links resolved.
pub(crate) fn folder(path: &Path) -> Result<PathBuf, Rejected> {
    let refuse = |why: String| {
        let message = format!("{} can't be opened as a project: {why}.", path.display());
        Rejected::new(RejectedCode::Invalid, message, "Choose a folder that is there and that you can read.")
    };
    let folder = path.canonicalize().map_err(|error| refuse(error.to_string()))?;
    if folder.is_dir() { Ok(folder) } else { Err(refuse("it is a file".into())) }
}

/// The demo's sample project, in the data folder; made at the first call. It is this program's own, so it counts as trusted
/// unless the person said otherwise.
pub(crate) async fn demo_project(surroundings: &Surroundings) -> Result<PathBuf, Rejected> {
    let place = surroundings.data_dir.join("sample");
    let config_dir = surroundings.config_dir.clone();
    let made = tokio::task::spawn_blocking(move || {
        if !place.join(".git").is_dir() {
            demo::create_sample(&place)?;
        }
        let (mut answers, _) = TrustFile::open(&config_dir);
        if answers.of(&place) == Trust::Unknown {
            // Where it can't be remembered, the person is asked.
            let _ = answers.set(&place, Trust::Trusted);
        }
        Ok::<_, demo::SampleError>(place)
    });
    let failed = |error: String| Rejected::new(RejectedCode::Failed, error, "Open a folder of your own instead.");
    made.await.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(format!("{error}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_a_folder_that_is_there() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(folder(place.path()).is_ok());
        assert_eq!(folder(&file).unwrap_err().code, RejectedCode::Invalid);
        assert_eq!(folder(&place.path().join("gone")).unwrap_err().code, RejectedCode::Invalid);
    }
}
