//! What can go wrong with worktrees.

use std::path::PathBuf;

use crate::git::{DiscoverError, GitError};

/// Why something couldn't be done with a worktree. Unless it says otherwise, nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// There is no checkout to make it from.
    #[error("a worktree can't be made here: {0}")]
    NoCheckout(#[from] DiscoverError),
    /// The repository has no commit yet.
    #[error("a worktree can't be made of {}: the repository has no commits yet. Make a first commit.", .0.display())]
    NoCommits(PathBuf),
    /// The folder for worktrees lies in the repository.
    #[error("worktrees would be made in {root}, which is inside the repository {repository}. Choose another folder.",
        root = .root.display(), repository = .repository.display())]
    InsideRepository {
        /// Where worktrees are made.
        root: PathBuf,
        /// The checkout's top level.
        repository: PathBuf,
    },
    /// A path isn't UTF-8, so it couldn't be recorded.
    #[error("{} can't be used: its name isn't UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// The id can't be used as a file and ref name.
    #[error("`{0}` can't be the id of a worktree")]
    MalformedId(String),
    /// There is one with this id already.
    #[error("there is a worktree `{0}` already")]
    Exists(String),
    /// The wanted base isn't there.
    #[error("there is no branch, tag or commit `{0}` to start from")]
    NoBase(String),
    /// It is not where it was, or no longer the one that was made. Nothing was run or changed.
    #[error("the worktree {path} is missing: {reason}", path = .path.display())]
    Missing {
        /// Where it was.
        path: PathBuf,
        /// What is there instead.
        reason: String,
    },
    /// It contains repositories of its own, which no commit of this one can hold. It was kept.
    #[error("the worktree {path} was kept, since it contains other repositories: {}. Move them out first.", .nested.join(", "),
        path = .path.display())]
    Nested {
        /// Where it is.
        path: PathBuf,
        /// Relative paths of the repositories in it.
        nested: Vec<String>,
    },
    /// Its HEAD is on a branch that isn't its own.
    #[error("nothing was committed: {path} is on {head} instead of its own branch", path = .path.display())]
    OtherBranch {
        /// Where it is.
        path: PathBuf,
        /// Where its HEAD points.
        head: String,
    },
    /// The setup command failed; everything was undone.
    #[error("the setup of the worktree failed, and it was undone: {0}")]
    Setup(String),
    /// There is no such archive.
    #[error("there is no archive {0}")]
    NoArchive(String),
    /// A hook of the repository refused the commit; the changes are as they were.
    #[error("nothing was committed: {0}")]
    Refused(String),
    /// Somebody cancelled it; everything was undone.
    #[error("cancelled")]
    Cancelled,
    /// A file of ours couldn't be read or written.
    #[error("{what}: {source}")]
    Storage {
        /// What was tried, on what.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Git failed.
    #[error(transparent)]
    Git(GitError),
}

impl From<GitError> for WorktreeError {
    fn from(error: GitError) -> Self {
        if matches!(error, GitError::Cancelled) { Self::Cancelled } else { Self::Git(error) }
    }
}

impl WorktreeError {
    pub(super) fn storage(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Storage { what, source }
    }
}
