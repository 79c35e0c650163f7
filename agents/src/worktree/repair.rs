//! What is there, and putting right what a crash left.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::record::{Lock, Record, Stage};
use super::verify::inspect_registration;
use super::{Inner, Worktree, WorktreeError, known, remove, trash, verify};

/// A lock file that is older than this and in a worktree of ours belongs to a process that is dead: none of ours may
/// take as long.
const LOCK_AGE: Duration = Duration::from_secs(20 * 60);

/// Something that is recorded, or lies where worktrees are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Where it is.
    pub path: PathBuf,
    /// Its record; absent for what isn't ours.
    pub worktree: Option<Worktree>,
    /// How it stands.
    pub standing: Standing,
}

/// How something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is there and whole.
    Live,
    /// It is being made or removed, or a crash interrupted that.
    Unfinished,
    /// It isn't where it was, or no longer ours; nothing is done to it. Its commits are on its branch.
    Missing {
        /// What is wrong.
        reason: String,
    },
    /// It has no record: never touched.
    Unknown,
}

pub(super) fn list(inner: &Inner) -> Result<Vec<Listed>, WorktreeError> {
    Ok(project_folders(inner)?.iter().flat_map(|folder| list_folder(folder)).collect())
}

fn list_folder(folder: &Path) -> Vec<Listed> {
    let mut listed = Vec::new();
    let mut known = HashSet::new();
    for Record { stage, worktree } in Record::all(folder) {
        let standing = match (stage, verify(&worktree)) {
            (Stage::Creating | Stage::Removing, _) => Standing::Unfinished,
            (Stage::Live, Ok(())) => Standing::Live,
            (Stage::Live, Err(WorktreeError::Missing { reason, .. })) => Standing::Missing { reason },
            (Stage::Live, Err(error)) => Standing::Missing { reason: error.to_string() },
        };
        known.insert(worktree.path().to_path_buf());
        listed.push(Listed { path: worktree.path().to_path_buf(), worktree: Some(worktree), standing });
    }
    for path in entries(folder) {
        let is_own = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_own && !known.contains(&path) {
            listed.push(Listed { path, worktree: None, standing: Standing::Unknown });
        }
    }
    listed
}

/// What a repair came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// What it did.
    pub done: Vec<Mended>,
    /// What is there now.
    pub there: Vec<Listed>,
}

/// Something that a crash had left and that was put right.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mended {
    /// A worktree that was half made is gone, with branch and registration.
    Undone(PathBuf),
    /// A worktree whose content was safe is gone now, as it was to be.
    Removed(PathBuf),
    /// A removal that had not begun to move anything was forgotten: the worktree is whole.
    KeptAfterAll(PathBuf),
    /// A lock that a dead process held is gone.
    Unlocked(PathBuf),
    /// What had been thrown away is being deleted.
    Emptied(PathBuf),
}

pub(super) fn repair(inner: &Inner) -> Result<Repaired, WorktreeError> {
    let mut done = Vec::new();
    for folder in project_folders(inner)? {
        // Held by whoever makes or removes something: what is unfinished under our lock is so because of a crash.
        let _lock = Lock::take(&folder)?;
        for Record { stage, worktree } in Record::all(&folder) {
            match stage {
                Stage::Creating => {
                    remove::undo(&worktree, None);
                    done.push(Mended::Undone(worktree.path().to_path_buf()));
                }
                Stage::Removing => done.push(resume_removal(&worktree)?),
                Stage::Live => drop_dead_locks(&worktree, &mut done),
            }
        }
        for leftover in entries(&folder) {
            let name = leftover.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with(".scratch-") {
                trash::remove(&leftover);
            }
        }
        for thrown in entries(&folder.join(".trash")) {
            done.push(Mended::Emptied(thrown.clone()));
            inner.trash.delete(thrown);
        }
    }
    Ok(Repaired { done, there: list(inner)? })
}

/// A removal that got as far as renaming is finished; one that didn't is forgotten.
fn resume_removal(worktree: &Worktree) -> Result<Mended, WorktreeError> {
    let path = worktree.path().to_path_buf();
    if worktree.path().symlink_metadata().is_ok() {
        Record::write(Stage::Live, worktree)?;
        return Ok(Mended::KeptAfterAll(path));
    }
    remove::unregister(worktree);
    // The branch stays: whether its tip is elsewhere was known to the process that died.
    remove::drop_refs(worktree, None);
    Record::delete(worktree)?;
    Ok(Mended::Removed(path))
}

fn drop_dead_locks(worktree: &Worktree, done: &mut Vec<Mended>) {
    if inspect_registration(worktree).is_err() {
        return;
    }
    for name in ["index.lock", "HEAD.lock"] {
        let lock = worktree.checkout.git_dir.join(name);
        let age = lock.symlink_metadata().and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > LOCK_AGE) {
            trash::remove(&lock);
            done.push(Mended::Unlocked(lock));
        }
    }
}

/// The folders of all projects, in every root.
pub(super) fn project_folders(inner: &Inner) -> Result<Vec<PathBuf>, WorktreeError> {
    let is_ours = |path: &PathBuf| path.join(".records").is_dir() || path.join(".repository.json").is_file();
    let mut folders = Vec::new();
    for root in known::roots(inner) {
        match root.canonicalize() {
            Ok(root) => folders.extend(entries(&root).into_iter().filter(is_ours)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(WorktreeError::storage(format!("reading {}", root.display()))(error)),
        }
    }
    Ok(folders)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort_unstable();
    entries
}

/// Bytes on disk below a folder, links not followed.
pub(super) fn disk_use(folder: &Path) -> u64 {
    entries(folder)
        .iter()
        .map(|path| match path.symlink_metadata() {
            Ok(meta) if meta.is_dir() => disk_use(path),
            Ok(meta) => on_disk(&meta),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(unix)]
fn on_disk(meta: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(meta) * 512
}

#[cfg(not(unix))]
fn on_disk(meta: &std::fs::Metadata) -> u64 {
    meta.len()
}
