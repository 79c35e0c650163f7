//! To come.
use offshoot_protocol::{ChangeSummary, FileDiff};

use crate::git::Git;
use crate::worktree::Worktree;
/// x
pub struct Changes;
/// x
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct ChangesError;
impl Changes {
    /// x
    pub fn of(_git: &Git, _worktree: &Worktree) -> Self {
        Self
    }
    /// x
    pub fn summary(&self) -> Result<ChangeSummary, ChangesError> {
        Err(ChangesError)
    }
    /// x
    pub fn file_diff(&self, _path: &str, _budget: u64) -> Result<FileDiff, ChangesError> {
        Err(ChangesError)
    }
}
