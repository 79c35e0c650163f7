//! Hooks at moments that only the tree knows: tasks, worktrees that come and go, the end of the session. But for a new
//! worktree, they take part in nothing: the moment has passed, and what they object to is only shown.

use std::time::Duration;

use offshoot_protocol::AgentId;

use super::Tree;
use crate::hooks::{HookDetail, HookEvent};
use crate::worktree::Worktree;

/// How long a session that is closed waits for its hooks; the person waits too.
const PATIENCE: Duration = Duration::from_secs(5);

impl Tree {
    /// `TaskCreated`, for whoever started the task.
    pub(super) async fn task_created(&self, owner: &AgentId, task: &str, subject: &str) {
        self.hooked(owner, HookEvent::TaskCreated, "", || HookDetail::Task {
            task_id: task.to_owned(),
            task_subject: subject.to_owned(),
            task_status: None,
        })
        .await;
    }

    /// `TaskCompleted`, however the task ended.
    pub(super) async fn task_completed(&self, owner: &AgentId, task: &str, subject: &str, status: &str) {
        self.hooked(owner, HookEvent::TaskCompleted, "", || HookDetail::Task {
            task_id: task.to_owned(),
            task_subject: subject.to_owned(),
            task_status: Some(status.to_owned()),
        })
        .await;
    }

    /// `WorktreeCreate`, once the worktree is there and before anything happens in it. Returns why the agent must not work.
    pub(super) async fn worktree_created(&self, agent: &AgentId, worktree: &Worktree) -> Option<String> {
        let worker = self.worker(agent)?;
        let detail =
            || HookDetail::Worktree { worktree_path: worktree.path().to_path_buf(), branch: worktree.branch.clone() };
        let outcome = worker.hooked(HookEvent::WorktreeCreate, "", detail).await;
        outcome.blocked.or(outcome.stop)
    }

    /// `WorktreeRemove`.
    pub(super) async fn worktree_removed(&self, agent: &AgentId, worktree: &Worktree) {
        self.hooked(agent, HookEvent::WorktreeRemove, "", || HookDetail::Worktree {
            worktree_path: worktree.path().to_path_buf(),
            branch: worktree.branch.clone(),
        })
        .await;
    }

    /// `SessionEnd`, if `SessionStart` ran: a session that was only looked at does nothing.
    pub(super) async fn session_ended(&self, reason: &str) {
        let root = self.journal.read(|fold| fold.root().map(|root| root.id.clone()));
        let Some(root) = root.filter(|root| self.worker(root).is_some_and(|worker| worker.has_begun())) else { return };
        let ended = self.hooked(&root, HookEvent::SessionEnd, reason, || HookDetail::End { reason: reason.to_owned() });
        if tokio::time::timeout(PATIENCE, ended).await.is_err() {
            tracing::warn!(session = %self.journal.session(), "the hooks of the session's end took too long");
        }
    }

    async fn hooked(
        &self,
        agent: &AgentId,
        event: HookEvent,
        subject: &str,
        detail: impl FnOnce() -> HookDetail + Send,
    ) {
        if let Some(worker) = self.worker(agent) {
            worker.hooked(event, subject, detail).await;
        }
    }
}
