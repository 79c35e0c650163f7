//! Records: what was made, is being made or is being removed. Written before the deed, so that a crash leaves a trace.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Worktree, WorktreeError};

/// How far a worktree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// It is being made; undone when found after a crash.
    Creating,
    /// It is there.
    Live,
    /// Its content is safe elsewhere and its directory is being renamed away.
    Removing,
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) stage: Stage,
    pub(super) worktree: Worktree,
}

const RECORDS: &str = ".records";

impl Record {
    pub(super) fn path(worktree: &Worktree) -> PathBuf {
        worktree.project_folder().join(RECORDS).join(format!("{}.json", worktree.id))
    }

    /// Writes it in one step.
    pub(super) fn write(stage: Stage, worktree: &Worktree) -> Result<(), WorktreeError> {
        let record = Self { stage, worktree: worktree.clone() };
        write_json(&Self::path(worktree), &record)
    }

    pub(super) fn delete(worktree: &Worktree) -> Result<(), WorktreeError> {
        let path = Self::path(worktree);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(WorktreeError::storage(format!("removing {}", path.display()))(error))
            }
            _ => Ok(()),
        }
    }

    /// All records of a project folder. Files that can't be read are skipped: what they stood for is listed as unknown.
    pub(super) fn all(project_folder: &Path) -> Vec<Self> {
        let Ok(entries) = std::fs::read_dir(project_folder.join(RECORDS)) else { return Vec::new() };
        let mut records: Vec<Self> = entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "json"))
            .filter_map(|entry| serde_json::from_slice(&std::fs::read(entry.path()).ok()?).ok())
            // A record speaks only of its own folder, whatever somebody wrote into it.
            .filter(|record: &Self| record.worktree.project_folder() == project_folder)
            .collect();
        records.sort_by(|a, b| a.worktree.id.cmp(&b.worktree.id));
        records
    }
}

/// Writes a value in one step: a reader finds the old one or the new one.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), WorktreeError> {
    let what = || format!("writing {}", path.display());
    let bytes = serde_json::to_vec_pretty(value).map_err(|error| WorktreeError::storage(what())(error.into()))?;
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(WorktreeError::storage(what()))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(WorktreeError::storage(what()))?;
    std::io::Write::write_all(&mut file, &bytes).map_err(WorktreeError::storage(what()))?;
    file.persist(path).map_err(|error| WorktreeError::storage(what())(error.error))?;
    Ok(())
}

/// Holds a project folder against other processes until it is dropped. The system releases it when a process dies.
pub(super) struct Lock(File);

impl Lock {
    /// Waits for it. Makes the folder.
    pub(super) fn take(project_folder: &Path) -> Result<Self, WorktreeError> {
        let path = project_folder.join(".lock");
        let what = || format!("locking {}", path.display());
        std::fs::create_dir_all(project_folder).map_err(WorktreeError::storage(what()))?;
        let mut options = File::options();
        let file = options.create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(WorktreeError::storage(what()))?;
        file.lock().map_err(WorktreeError::storage(what()))?;
        Ok(Self(file))
    }

    /// The same lock, for a process that goes on when this program is killed: the lock ends with the last that has it.
    pub(super) fn shared(&self) -> Result<File, WorktreeError> {
        self.0.try_clone().map_err(WorktreeError::storage("sharing a lock".to_owned()))
    }
}
