//! What can go wrong while changes are brought home.

use crate::git::{DiscoverError, GitError};
use crate::worktree::WorktreeError;

/// Why changes weren't brought home, or not taken out again. Unless it says otherwise, nothing was touched.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// There is no such preview any more.
    #[error("this preview is no longer known")]
    UnknownPreview,
    /// Nothing would change.
    #[error("there is nothing to bring home: the checkout has these changes already")]
    Nothing,
    /// Some files are in conflict, and nobody asked to leave them out.
    #[error("there are conflicts in {}", .0.join(", "))]
    Conflicts(Vec<String>),
    /// Files are no longer what the preview saw.
    #[error("{} changed since the preview", .0.join(", "))]
    Changed(Vec<String>),
    /// Files are no longer what was applied, so that undoing would lose something.
    #[error("{} changed since the changes were applied", .0.join(", "))]
    ChangedSince(Vec<String>),
    /// Files could be neither replaced nor put back. Their old contents are kept, and the next start tries again.
    #[error("{because}; then {} could not be put back. What was there is kept, and the next start tries again", .paths.join(", "))]
    Stuck {
        /// Which files.
        paths: Vec<String>,
        /// What went wrong first.
        because: String,
    },
    /// The worktree and the checkout belong to different repositories.
    #[error("the worktree {0} belongs to another repository")]
    OtherRepository(String),
    /// There is nothing of this name that could be undone.
    #[error("there is nothing applied as {0} that can be undone")]
    NotApplied(String),
    /// The preview has no conflict there that could be settled.
    #[error("the preview has no conflict in {0} that could be settled")]
    NoSuchConflict(String),
    /// A commit was wanted, but the checkout has changes of its own in the same files.
    #[error("a commit would mix with changes that the checkout has in {}", .0.join(", "))]
    Dirty(Vec<String>),
    /// The commit isn't its branch's last one any more.
    #[error("{0} is not the last commit here any more")]
    MovedOn(String),
    /// A commit was wanted, but the checkout isn't on a branch at rest.
    #[error("no commit can be made here: {0}")]
    NoCommit(String),
    /// Git, one of its hooks or signing refused the commit. The files are as before.
    #[error("the commit was refused: {0}")]
    Refused(String),
    /// There is no checkout to bring them to.
    #[error(transparent)]
    NoCheckout(#[from] DiscoverError),
    /// A worktree isn't there, or isn't ours.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file couldn't be read or written. What had been done was undone.
    #[error("{what}: {source}")]
    Storage {
        /// What was tried, on what.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl MergeError {
    pub(super) fn storage(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Storage { what, source }
    }
}
