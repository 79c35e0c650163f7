//! The commit a worktree starts from.

use std::path::{Path, PathBuf};

use super::{Base, Inner, WorktreeError};
use crate::git::{Cancel, Capture, Checkout, GitError};

/// Where a worktree starts.
pub(super) struct Start {
    pub(super) commit: git2::Oid,
    /// Whether the commit was made for this, out of uncommitted work.
    pub(super) is_snapshot: bool,
    /// Repositories in the parent's directory that the commit doesn't contain.
    pub(super) nested: Vec<PathBuf>,
}

/// Who makes commits that nobody asked for.
pub(super) fn offshoot(inner: &Inner) -> Result<git2::Signature<'static>, GitError> {
    let time = git2::Time::new(inner.clock.now().as_second(), 0);
    git2::Signature::new("Offshoot", "offshoot@localhost", &time).map_err(GitError::library("signing a commit"))
}

/// Finds or makes the start. The throw-away index is written in `scratch`; the checkout is only read.
pub(super) fn start(
    inner: &Inner,
    checkout: &Checkout,
    base: &Base,
    scratch: &Path,
    cancel: &Cancel,
) -> Result<Start, WorktreeError> {
    let library = checkout.library()?;
    let head = checkout.head(&library)?.commit();
    let head = head.ok_or_else(|| WorktreeError::NoCommits(checkout.work_tree.clone()))?;
    let as_is = |commit| Ok(Start { commit, is_snapshot: false, nested: Vec::new() });
    match base {
        Base::Head => as_is(head),
        Base::Named(name) => as_is(named(&library, name)?),
        Base::Snapshot => {
            let captured = Capture::new(&inner.git, checkout, &scratch.join("index")).cancel(cancel).run()?;
            let what = || format!("making a snapshot of {}", checkout.work_tree.display());
            let parent = library.find_commit(head).map_err(GitError::library(what()))?;
            if parent.tree_id() == captured.tree {
                return Ok(Start { commit: head, is_snapshot: false, nested: captured.nested });
            }
            let tree = library.find_tree(captured.tree).map_err(GitError::library(what()))?;
            let who = offshoot(inner)?;
            let message = "Snapshot of uncommitted work\n\nTaken by Offshoot: this is what the parent saw.\n";
            let commit = library.commit(None, &who, &who, message, &tree, &[&parent]);
            let commit = commit.map_err(GitError::library(what()))?;
            Ok(Start { commit, is_snapshot: true, nested: captured.nested })
        }
    }
}

/// A commit by the name of a branch or tag, or by its full hash. Never by an expression.
fn named(library: &git2::Repository, name: &str) -> Result<git2::Oid, WorktreeError> {
    let missing = || WorktreeError::NoBase(name.to_owned());
    let found = if name.len() == 40
        && let Ok(hash) = git2::Oid::from_str(name)
    {
        library.find_commit(hash)
    } else {
        library.resolve_reference_from_short_name(name).and_then(|found| found.peel_to_commit())
    };
    found.map(|commit| commit.id()).map_err(|_| missing())
}
