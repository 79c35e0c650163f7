//! The repositories that worktrees were ever made of, so that their archives are found when nothing else speaks of them.

use std::path::{Path, PathBuf};

use super::archive::{self, Archived};
use super::create::resolve;
use super::record::{Record, write_json};
use super::repair::project_folders;
use super::{Inner, WorktreeError};
use crate::git::Repository;

/// In a project's folder: which repository it belongs to.
const FILE: &str = ".repository.json";

/// In the usual root: which others were used.
const ROOTS: &str = ".roots.json";

/// All roots that worktrees were ever made in, the usual one first.
pub(super) fn roots(inner: &Inner) -> Vec<PathBuf> {
    let written = std::fs::read(inner.root.join(ROOTS)).ok();
    let others: Vec<PathBuf> = written.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    std::iter::once(inner.root.clone()).chain(others).collect()
}

/// The root to use, resolved; another one than the usual is written down first.
pub(super) fn use_root(inner: &Inner, wanted: Option<&Path>) -> Result<PathBuf, WorktreeError> {
    let (usual, wanted) = (resolve(&inner.root), wanted.map_or_else(|| resolve(&inner.root), resolve));
    let mut roots = roots(inner);
    if wanted != usual && !roots.contains(&wanted) {
        roots.push(wanted.clone());
        write_json(&inner.root.join(ROOTS), &roots[1..].to_vec())?;
    }
    Ok(wanted)
}

/// An archive, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The repository that holds it.
    pub repository: Repository,
    /// What is kept.
    pub archived: Archived,
}

/// Writes down which repository a project's folder belongs to.
pub(super) fn remember(project_folder: &Path, repository: &Repository) -> Result<(), WorktreeError> {
    let path = project_folder.join(FILE);
    if path.exists() { Ok(()) } else { write_json(&path, repository) }
}

/// All of them that are still there.
pub(super) fn repositories(inner: &Inner) -> Result<Vec<Repository>, WorktreeError> {
    let mut found: Vec<Repository> = Vec::new();
    for folder in project_folders(inner)? {
        let written = std::fs::read(folder.join(FILE)).ok();
        let written = written.and_then(|bytes| serde_json::from_slice::<Repository>(&bytes).ok());
        let recorded = Record::all(&folder).into_iter().map(|record| record.worktree.repository);
        for repository in written.into_iter().chain(recorded) {
            if repository.common_dir.is_dir() && !found.contains(&repository) {
                found.push(repository);
            }
        }
    }
    Ok(found)
}

/// Every archive of every repository. One that can't be read is left out: it may lie on a disk that isn't there.
pub(super) fn archives(inner: &Inner) -> Result<Vec<Kept>, WorktreeError> {
    let mut kept = Vec::new();
    for repository in repositories(inner)? {
        match archive::list(&repository) {
            Ok(archives) => {
                kept.extend(archives.into_iter().map(|archived| Kept { repository: repository.clone(), archived }));
            }
            Err(error) => {
                tracing::warn!(repository = %repository.common_dir.display(), %error, "no archives were read");
            }
        }
    }
    Ok(kept)
}

/// Deletes the archives of discarded worktrees whose time is over, everywhere. Returns their refs.
pub(super) fn expire(inner: &Inner) -> Result<Vec<String>, WorktreeError> {
    let mut gone = Vec::new();
    for repository in repositories(inner)? {
        match archive::expire(inner, &repository) {
            Ok(expired) => gone.extend(expired),
            Err(error) => tracing::warn!(repository = %repository.common_dir.display(), %error, "nothing expired"),
        }
    }
    Ok(gone)
}
