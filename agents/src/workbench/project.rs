//! What a project brings along: its roles, and whether its files are trusted.

use std::path::Path;

use offshoot_protocol::{
    Rejected, RejectedCode, RoleSummary, RoleUse, RoleWarning, SessionSummary, Trust, TrustQuestion,
};

use super::{Workbench, blocking, storage};
use crate::role::studio::Studio;
use crate::role::uses;
use crate::trust::{TrustFile, main_checkout, would_activate};

impl Workbench {
    /// The roles there are for a project, and what is wrong with their files.
    pub fn roles(&self, project: &Path) -> (Vec<RoleSummary>, Vec<RoleWarning>) {
        let (answers, _) = TrustFile::open(&self.config_dir);
        let catalog = self.kit.catalog(project, answers.of(project).is_trusted());
        (catalog.all(), catalog.warnings().to_vec())
    }

    /// The project's roles, to be looked at and changed.
    pub fn studio(&self, project: &Path) -> Studio {
        let tools = self.kit.toolbox.definitions();
        let tools = tools.iter().map(|tool| (tool.name.as_str(), tool.description.as_str()));
        let trusted = TrustFile::open(&self.config_dir).0.of(project).is_trusted();
        Studio::new(self.kit.role_folders(project, trusted), tools, self.data_dir.join("deleted-roles"))
    }

    /// What a person would be asked about a folder before its files count, and what they said. Runs nothing.
    pub async fn trust(&self, project: &Path) -> Result<TrustQuestion, Rejected> {
        let (project, config_dir) = (project.to_path_buf(), self.config_dir.clone());
        let asked = blocking(move || {
            let (answers, _) = TrustFile::open(&config_dir);
            let place = main_checkout(&project)?.display().to_string();
            let would_activate = would_activate(&project);
            Ok::<_, std::io::Error>(TrustQuestion { trust: answers.of(&project), would_activate, place })
        });
        asked.await?.map_err(|error| {
            let message = format!("The folder can't be looked at: {error}.");
            Rejected::new(RejectedCode::NotFound, message, "Choose another one.")
        })
    }

    /// How git treats a project's repository: as far as the person trusts its folder.
    pub fn git_trust(&self, project: &Path) -> crate::git::Trust {
        let is_trusted = TrustFile::open(&self.config_dir).0.of(project).is_trusted();
        if is_trusted { crate::git::Trust::Trusted } else { crate::git::Trust::Untrusted }
    }

    /// Remembers whether the person trusts a folder. Sessions that are open stay as they are; new ones, and those that are
    /// opened again, go by it.
    pub async fn set_trust(&self, project: &Path, trusted: bool) -> Result<(), Rejected> {
        let (project, config_dir) = (project.to_path_buf(), self.config_dir.clone());
        let trust = if trusted { Trust::Trusted } else { Trust::Untrusted };
        let remembered = blocking(move || TrustFile::open(&config_dir).0.set(&project, trust));
        remembered.await?.map_err(|error| {
            Rejected::new(RejectedCode::Failed, error.to_string(), "What was remembered before still is.")
        })
    }

    /// The agents that had a role in the newest sessions of a project.
    pub async fn role_uses(&self, project: &Path, role: &str) -> Result<Vec<RoleUse>, Rejected> {
        let (log, project, role) = (self.log.clone(), project.display().to_string(), role.to_owned());
        let look = move || {
            let sessions = log.sessions()?;
            let here: Vec<SessionSummary> = sessions.into_iter().filter(|session| session.project == project).collect();
            uses::uses(&log, &here, &role)
        };
        blocking(look).await?.map_err(|error| storage(&error))
    }
}
