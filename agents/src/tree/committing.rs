//! Commits for agents: on an isolated one's own branch, or, when a person has allowed it, in the checkout that it shares.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use offshoot_protocol::AgentId;

use super::Tree;
use super::delegate::TreeDelegate;
use crate::git;
use crate::tool::{CommitCall, Commits, ToolError};
use crate::worktree::{Committed, commit_in_checkout};

#[async_trait]
impl Commits for TreeDelegate {
    async fn commit(&self, agent: &AgentId, call: CommitCall) -> Result<Option<Committed>, ToolError> {
        self.tree()?.commit(agent, call).await
    }
}

impl Tree {
    async fn commit(&self, id: &AgentId, call: CommitCall) -> Result<Option<Committed>, ToolError> {
        let CommitCall { message, paths } = call;
        let hooks = self.means.worktree.hooks && self.means.trusted;
        if let Some(worktree) = self.worktree(id) {
            let paths = beneath(worktree.path(), &paths)?;
            let committed = self.means.kit.worktrees.commit(&worktree, &message, paths, hooks).await;
            return committed.map_err(|error| failed(&error));
        }
        let directory = self
            .journal
            .read(|fold| fold.agent(id).filter(|agent| agent.worktree.is_none()).map(|agent| agent.directory.clone()));
        let directory = directory.ok_or_else(|| {
            ToolError::new("worktree_missing", "This agent's worktree is gone; nothing was committed.")
        })?;
        let (git, trust) = (self.means.kit.worktrees.git().clone(), self.means.git_trust());
        let work = move || {
            let found = git::discover(&git, Path::new(&directory), trust).map_err(|error| failed(&error))?;
            let paths = beneath(&found.checkout.work_tree, &paths)?;
            commit_in_checkout(&git, &found.checkout, &message, &paths, hooks).map_err(|error| failed(&error))
        };
        // It goes on when the caller is dropped: a commit is made whole or not at all.
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(failed(&error)))
    }
}

/// Absolute paths, as seen from a repository's top.
fn beneath(top: &Path, paths: &[PathBuf]) -> Result<Vec<PathBuf>, ToolError> {
    let relative = |path: &PathBuf| match path.strip_prefix(top) {
        Ok(rest) => Ok(rest.to_path_buf()),
        Err(_) => Err(ToolError::invalid(format!("{} is not in {}.", path.display(), top.display()))),
    };
    let paths: Vec<PathBuf> = paths.iter().map(relative).collect::<Result<_, _>>()?;
    // The top itself is everything.
    Ok(if paths.iter().any(|path| path.as_os_str().is_empty()) { Vec::new() } else { paths })
}

fn failed(error: &dyn std::fmt::Display) -> ToolError {
    ToolError::new("commit_failed", format!("Nothing was committed: {error}. Your files are as they were."))
}
