//! Worktrees of agents: made for a child, looked after at its end, looked at in between.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_protocol::{
    AgentId, AgentView, ChangeSummary, EventBody, FileDiff, Rejected, RejectedCode, Warning, WorktreeState,
};

use super::Tree;
use crate::agent::is_running;
use crate::changes::{Changes, ChangesError};
use crate::tool::{Refusal, ToolError};
use crate::turn::Isolated;
use crate::worktree::{self, Finished, Parent, Spec, Worktree};

/// Most bytes of one file's two sides that are diffed without being asked to.
const DIFF_BUDGET: u64 = 1024 * 1024;

/// A worktree that is checked before every call.
pub(super) struct Verified(pub(super) Arc<Worktree>);

impl Isolated for Verified {
    fn verify(&self) -> Result<(), String> {
        worktree::verify(&self.0).map_err(|error| error.to_string())
    }
}

impl Tree {
    /// Makes a worktree for a child, from what its parent's directory holds now. Never falls back to that directory.
    pub(super) async fn isolate(&self, id: &AgentId, parent: &Path, title: &str) -> Result<Worktree, ToolError> {
        let spec = Spec {
            id: id.0.clone(),
            title: title.to_owned(),
            parent: Parent::Directory(parent.to_path_buf()),
            base: self.means.worktree.base.clone(),
            trust: self.means.git_trust(),
            hooks: self.means.worktree.hooks,
            setup: None,
        };
        self.means.kit.worktrees.create(spec).await.map_err(|error| {
            let message = format!("No worktree could be made, so no agent was started: {error}");
            Refusal::IsolationUnavailable.because(message)
        })
    }

    /// Makes the worktree of an agent at rest again that was taken away because nothing had changed in it, where it was: the
    /// agent is about to go on, and knows that path.
    pub(super) async fn make_place_again(&self, id: &AgentId) -> Result<(), Rejected> {
        let lost = self.journal.read(|fold| {
            let agent = fold.agent(id).filter(|agent| !is_running(&agent.state))?;
            let nothing_kept = WorktreeState::Removed { kept_as: None };
            let parent = fold.agent(agent.parent.as_ref()?)?;
            let is_lost = agent.worktree.as_ref().is_some_and(|worktree| worktree.state == nothing_kept);
            is_lost.then(|| (PathBuf::from(&parent.directory), agent.title.clone(), PathBuf::from(&agent.directory)))
        });
        let Some((parent, title, directory)) = lost else { return Ok(()) };
        let refused =
            |message: String| Rejected::new(RejectedCode::IsolationUnavailable, message, "Start another agent.");
        let worktree = self.isolate(id, &parent, &title).await.map_err(|error| refused(error.message))?;
        if worktree.directory() != directory {
            // Nothing has changed in it, so that nothing of it stays.
            let _ = self.means.kit.worktrees.finish(&worktree).await;
            return Err(refused(format!("The agent's worktree is gone, and {} is taken.", directory.display())));
        }
        let (seq, ()) = self
            .journal
            .decide(|_| (vec![(Some(id.clone()), EventBody::WorktreeCreated { worktree: worktree.view() })], ()));
        self.remember_worktree(id, worktree);
        let stored = self.journal.stored(seq).await;
        let tree = self.me.upgrade().expect("somebody holds the tree while it is used");
        stored.and_then(|()| tree.bring_back(id)).map_err(|error| super::not_stored(&error))
    }

    /// At a child's end: commits what is left, counts the changes, and takes an unchanged worktree away. Returns the facts;
    /// what fails is a warning and leaves the worktree where it is.
    pub(super) async fn look_after_worktree(&self, id: &AgentId) -> Vec<(Option<AgentId>, EventBody)> {
        let Some(worktree) = self.worktree(id) else { return Vec::new() };
        let title = self.journal.read(|fold| fold.agent(id).map(|agent| agent.title.clone())).unwrap_or_default();
        let mut facts = Vec::new();
        let warn = |code: &str, message: String| {
            let warning = Warning { code: code.to_owned(), message };
            EventBody::Warned { warning }
        };
        match self.means.kit.worktrees.finish(&worktree).await {
            Ok(Finished::Removed { .. }) => {
                self.forget_worktree(id);
                self.worktree_removed(id, &worktree).await;
                facts.push(EventBody::WorktreeRemoved { kept_as: None });
            }
            Ok(Finished::Kept) => {
                if let Err(error) = self.means.kit.worktrees.commit_all(&worktree, &title, false).await {
                    facts.push(warn("commit_failed", format!("What the agent left uncommitted stays so: {error}")));
                }
                match self.summary(worktree).await {
                    Ok(summary) => facts.push(EventBody::ChangesCounted { changes: summary.count }),
                    Err(error) => facts.push(warn("changes_unknown", error.message)),
                }
                self.live.at_rest(id);
            }
            Err(error) => facts.push(warn("worktree_kept", format!("The worktree was left as it is: {error}"))),
        }
        facts.into_iter().map(|body| (Some(id.clone()), body)).collect()
    }

    /// What differs from the base of an agent's worktree.
    pub async fn changes(&self, id: &AgentId) -> Result<ChangeSummary, Rejected> {
        let worktree = self.worktree(id).ok_or_else(|| self.no_worktree(id))?;
        match self.look_at(id, &worktree) {
            Some(watched) => blocking(move || watched.summary()).await,
            None => self.summary(worktree).await,
        }
    }

    /// The lines of one changed file; without `whole`, only within a budget.
    pub async fn file_diff(&self, id: &AgentId, path: &str, whole: bool) -> Result<FileDiff, Rejected> {
        let worktree = self.worktree(id).ok_or_else(|| self.no_worktree(id))?;
        let path = path.to_owned();
        let budget = if whole { u64::MAX } else { DIFF_BUDGET };
        if let Some(watched) = self.look_at(id, &worktree) {
            return blocking(move || watched.file_diff(&path, budget)).await;
        }
        let changes = Changes::of(self.means.kit.worktrees.git(), &worktree);
        blocking(move || changes.file_diff(&path, budget)).await
    }

    async fn summary(&self, worktree: Arc<Worktree>) -> Result<ChangeSummary, Rejected> {
        let changes = Changes::of(self.means.kit.worktrees.git(), &worktree);
        blocking(move || changes.summary()).await
    }

    /// The child's worktree, while it is there.
    pub(super) fn worktree(&self, id: &AgentId) -> Option<Arc<Worktree>> {
        super::lock(&self.worktrees).get(id).cloned()
    }

    pub(super) fn remember_worktree(&self, id: &AgentId, worktree: Worktree) -> Arc<Worktree> {
        let worktree = Arc::new(worktree);
        super::lock(&self.worktrees).insert(id.clone(), worktree.clone());
        self.watch_running(id);
        worktree
    }

    pub(super) fn forget_worktree(&self, id: &AgentId) {
        super::lock(&self.worktrees).remove(id);
        self.live.forget(id);
    }

    /// Finds the worktrees of this session's agents again. One that the log knows and the disk doesn't is a warning.
    pub(super) async fn recall_worktrees(&self) {
        let live =
            |agent: &&AgentView| agent.worktree.as_ref().is_some_and(|worktree| worktree.state == WorktreeState::Live);
        let ids: Vec<AgentId> =
            self.journal.read(|fold| fold.view.agents.iter().filter(live).map(|agent| agent.id.clone()).collect());
        if ids.is_empty() {
            return;
        }
        match self.means.kit.worktrees.list().await {
            Ok(listed) => {
                for worktree in listed.into_iter().filter_map(|listed| listed.worktree) {
                    let id = AgentId(worktree.id.clone());
                    if ids.contains(&id) {
                        self.remember_worktree(&id, worktree);
                    }
                }
            }
            Err(error) => tracing::error!(%error, "the worktrees could not be listed"),
        }
    }

    pub(super) fn no_worktree(&self, id: &AgentId) -> Rejected {
        let known = self.journal.read(|fold| fold.agent(id).map(|agent| agent.worktree.is_some()));
        let message = match known {
            None => "There is no such agent in this session.",
            Some(true) => "The agent's worktree is not there any more.",
            Some(false) => "The agent has no worktree of its own.",
        };
        Rejected::new(RejectedCode::NotFound, message, "")
    }
}

/// Runs git work beside the runtime. It goes on when the caller is dropped, and changes nothing that the caller sees.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ChangesError> + Send + 'static,
) -> Result<T, Rejected> {
    let failed = |error: String| Rejected::new(RejectedCode::Failed, error, "Nothing was changed.");
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| failed(error.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}
