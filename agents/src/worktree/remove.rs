//! Taking a worktree away.

use std::path::{Path, PathBuf};

use super::record::{Lock, Record, Stage};
use super::verify::points_at;
use super::{Inner, Worktree, WorktreeError, create, include, trash, verify};
use crate::git::{Capture, GitError};

/// What became of a worktree whose agent has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    /// Nothing had changed; it is gone.
    Removed {
        /// Ignored files and folders that the agent had made, which are gone too.
        ignored: Vec<String>,
    },
    /// It was changed, and is still there.
    Kept,
}

pub(super) fn finish(inner: &Inner, worktree: &Worktree) -> Result<Finished, WorktreeError> {
    let lock = Lock::take(worktree.project_folder())?;
    verify(worktree)?;
    if !is_unchanged(inner, worktree)? {
        return Ok(Finished::Kept);
    }
    let ignored = include::made_by_agent(&inner.git, worktree)?;
    retire(inner, worktree, Some(worktree.base_commit()?))?;
    drop(lock);
    Ok(Finished::Removed { ignored: ignored.iter().map(|path| path.display().to_string()).collect() })
}

/// No commit beyond the base, nothing staged, unstaged or untracked, nothing under way.
fn is_unchanged(inner: &Inner, worktree: &Worktree) -> Result<bool, WorktreeError> {
    let base = worktree.base_commit()?;
    let library = worktree.checkout.library()?;
    let what = || format!("comparing {} with its base", worktree.path().display());
    if worktree.checkout.head(&library)?.commit() != Some(base) {
        return Ok(false);
    }
    let tip = library.find_reference(&worktree.branch_ref()).ok().and_then(|branch| branch.target());
    let under_way = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG"];
    if tip != Some(base) || under_way.iter().any(|name| worktree.checkout.git_dir.join(name).exists()) {
        return Ok(false);
    }
    let tree = library.find_commit(base).map_err(GitError::library(what()))?.tree_id();
    let scratch = create::scratch(worktree.project_folder())?;
    let captured = Capture::new(&inner.git, &worktree.checkout, &scratch.path().join("index")).run()?;
    if captured.tree != tree || !captured.nested.is_empty() {
        return Ok(false);
    }
    // Staged, and then undone in the files only.
    let args = ["diff-index", "--cached", "--quiet", "--ignore-submodules=all", &worktree.base, "--"];
    let staged = inner.git.on(&worktree.checkout).args(args).run_any()?;
    Ok(staged.exit == Some(0))
}

/// Takes away directory, registration and refs. Everything in it must be safe elsewhere; the branch goes only when its
/// tip is `branch_tip`. The directory is renamed away at once and deleted behind.
pub(super) fn retire(inner: &Inner, worktree: &Worktree, branch_tip: Option<git2::Oid>) -> Result<(), WorktreeError> {
    Record::write(Stage::Removing, worktree)?;
    match throw_away(worktree) {
        Ok(thrown) => inner.trash.delete(thrown),
        Err(error) => {
            Record::write(Stage::Live, worktree)?;
            return Err(error);
        }
    }
    unregister(worktree);
    drop_refs(worktree, branch_tip);
    Record::delete(worktree)
}

/// Renames the directory into the trash of its project.
fn throw_away(worktree: &Worktree) -> Result<PathBuf, WorktreeError> {
    let folder = worktree.project_folder().join(".trash");
    let what = || format!("moving {} to {}", worktree.path().display(), folder.display());
    std::fs::create_dir_all(&folder).map_err(WorktreeError::storage(what()))?;
    let target = create::free_path(&folder, &worktree.id, |_| false);
    std::fs::rename(worktree.path(), &target).map_err(WorktreeError::storage(what()))?;
    Ok(target)
}

/// Removes the registration, found by the path that it names.
pub(super) fn unregister(worktree: &Worktree) {
    if let Some(admin) = registration(&worktree.checkout.common_dir, worktree.path()) {
        trash::remove(&admin);
    }
    // Git removes the folder with the last registration, too. It fails while there are others.
    let _ = std::fs::remove_dir(worktree.checkout.common_dir.join("worktrees"));
}

/// The git directory of the worktree at `path`, if one is registered.
pub(super) fn registration(common_dir: &Path, path: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(common_dir.join("worktrees")).ok()?;
    let link = path.join(".git");
    entries.flatten().map(|entry| entry.path()).find(|admin| {
        let is_folder = admin.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        is_folder && points_at(&admin.join("gitdir"), "").as_deref() == Some(&link)
    })
}

/// Deletes the base's ref, and the branch if it still is at `branch_tip` and checked out nowhere. A ref that can't be
/// deleted stays: that loses nothing.
pub(super) fn drop_refs(worktree: &Worktree, branch_tip: Option<git2::Oid>) {
    let Ok(library) = worktree.checkout.library() else { return };
    if let Ok(mut base) = library.find_reference(&worktree.base_ref()) {
        let _ = base.delete();
    }
    if let Ok(mut branch) = library.find_reference(&worktree.branch_ref())
        && branch_tip.is_some()
        && branch.target() == branch_tip
        && !is_checked_out(&worktree.checkout.common_dir, &worktree.branch_ref())
    {
        let _ = branch.delete();
    }
}

fn is_checked_out(common_dir: &Path, branch: &str) -> bool {
    let others = std::fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().flatten();
    let folders = others.map(|entry| entry.path()).chain([common_dir.to_path_buf()]);
    let wanted = format!("ref: {branch}");
    folders
        .into_iter()
        .any(|folder| std::fs::read_to_string(folder.join("HEAD")).is_ok_and(|head| head.trim_end() == wanted))
}

/// Undoes a creation, however far it came. Its branch is known by where it was made: `branch_at`, or the base.
pub(super) fn undo(worktree: &Worktree, branch_at: Option<git2::Oid>) {
    if worktree.path().symlink_metadata().is_ok() {
        match throw_away(worktree) {
            Ok(thrown) => trash::remove(&thrown),
            Err(_) => trash::remove(worktree.path()),
        }
    }
    unregister(worktree);
    drop_refs(worktree, branch_at.or_else(|| git2::Oid::from_str(&worktree.base).ok()));
    // Without the record the next start would not know; with it, it tries again.
    let _ = Record::delete(worktree);
}
