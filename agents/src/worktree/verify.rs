//! Whether a worktree is still the one that was made, where it was made.

use std::fs::FileType;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Worktree, WorktreeError};
use crate::git::to_path;

/// Our file in a worktree's git directory. Only what has it is ever removed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marker {
    pub(super) id: String,
    pub(super) path: PathBuf,
}

pub(super) fn marker_path(git_dir: &Path) -> PathBuf {
    git_dir.join("offshoot/marker.json")
}

/// Checks that a worktree is still ours and where it was. A few system calls and no process: to be called before every
/// process and edit of an agent that works in it.
pub fn verify(worktree: &Worktree) -> Result<(), WorktreeError> {
    inspect(worktree).map_err(|reason| WorktreeError::Missing { path: worktree.path().to_path_buf(), reason })
}

fn inspect(worktree: &Worktree) -> Result<(), String> {
    let path = worktree.path();
    expect_kind(path, "a directory", FileType::is_dir)?;
    if path.canonicalize().ok().as_deref() != Some(path) {
        return Err("a directory above it was replaced by a link".to_owned());
    }
    let link = path.join(".git");
    expect_kind(&link, "a file", FileType::is_file)?;
    let admin = &worktree.checkout.git_dir;
    if points_at(&link, "gitdir: ").as_deref() != Some(admin) {
        return Err(format!("{} no longer points to {}", link.display(), admin.display()));
    }
    inspect_registration(worktree)
}

/// The part that is in the repository: also checked when the directory itself is gone.
pub(super) fn inspect_registration(worktree: &Worktree) -> Result<(), String> {
    let admin = &worktree.checkout.git_dir;
    expect_kind(admin, "a directory", FileType::is_dir)?;
    if points_at(&admin.join("gitdir"), "").as_deref() != Some(&worktree.path().join(".git")) {
        return Err(format!("{} no longer points back to it", admin.display()));
    }
    let common = points_at(&admin.join("commondir"), "").and_then(|to| admin.join(to).canonicalize().ok());
    if common.as_ref() != Some(&worktree.checkout.common_dir) {
        return Err(format!("{} was repointed", admin.join("commondir").display()));
    }
    let marker = std::fs::read(marker_path(admin)).ok();
    let marker: Option<Marker> = marker.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if marker != Some(Marker { id: worktree.id.clone(), path: worktree.path().to_path_buf() }) {
        return Err(format!("{} doesn't carry our mark", admin.display()));
    }
    Ok(())
}

fn expect_kind(path: &Path, kind: &str, is: impl Fn(&FileType) -> bool) -> Result<(), String> {
    match path.symlink_metadata() {
        Ok(meta) if is(&meta.file_type()) => Ok(()),
        Ok(_) => Err(format!("{} is not {kind} any more", path.display())),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// The path in one of git's one-line files.
pub(super) fn points_at(file: &Path, before: &str) -> Option<PathBuf> {
    /// Longer than any path.
    const BOUND: u64 = 64 << 10;
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).ok()?;
    std::io::Read::read_to_end(&mut std::io::Read::take(opened, BOUND), &mut bytes).ok()?;
    let text = bytes.strip_prefix(before.as_bytes())?;
    Some(to_path(text.strip_suffix(b"\n").unwrap_or(text)))
}
