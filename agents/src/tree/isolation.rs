//! Worktrees of agents: looked after at an agent's end, looked at in between.

use std::sync::Arc;

use async_trait::async_trait;
use offshoot_protocol::{
    AgentId, ChangeSummary, DiffSide, EventBody, FileDiff, Rejected, RejectedCode, Warning, WorktreeState,
};

use super::Tree;
use super::making::Place;
use crate::changes::{Changes, ChangesError};
use crate::turn::{Isolated, NoPlace};
use crate::worktree::{self, Finished, Worktree};

/// Most bytes of one file's two sides that are diffed without being asked to.
const DIFF_BUDGET: u64 = 1024 * 1024;

/// Most bytes of one side that are handed out whole: an image, say.
const CONTENT_BUDGET: u64 = 16 * 1024 * 1024;

/// A worktree that is checked before every call.
pub(super) struct Verified(pub(super) Arc<Worktree>);

#[async_trait]
impl Isolated for Verified {
    async fn verify(&self) -> Result<(), NoPlace> {
        worktree::verify(&self.0).map_err(|error| NoPlace::missing(error.to_string()))
    }
}

impl Tree {
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
        // What was rejected can be put back as long as the worktree is there.
        let is_kept = self.journal.read(|fold| fold.agent(id).is_some_and(|agent| !agent.review.rejections.is_empty()));
        let finished = if is_kept { Ok(Finished::Kept) } else { self.means.kit.worktrees.finish(&worktree).await };
        match finished {
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

    /// All of one side of a changed file; nothing when there is no file on that side.
    pub async fn file_content(&self, id: &AgentId, path: &str, side: DiffSide) -> Result<Option<Vec<u8>>, Rejected> {
        let worktree = self.worktree(id).ok_or_else(|| self.no_worktree(id))?;
        let path = path.to_owned();
        if let Some(watched) = self.look_at(id, &worktree) {
            return blocking(move || watched.content(&path, side, CONTENT_BUDGET)).await;
        }
        let changes = Changes::of(self.means.kit.worktrees.git(), &worktree);
        blocking(move || changes.content(&path, side, CONTENT_BUDGET)).await
    }

    async fn summary(&self, worktree: Arc<Worktree>) -> Result<ChangeSummary, Rejected> {
        let changes = Changes::of(self.means.kit.worktrees.git(), &worktree);
        blocking(move || changes.summary()).await
    }

    /// The child's worktree, while it is there.
    pub(super) fn worktree(&self, id: &AgentId) -> Option<Arc<Worktree>> {
        match super::lock(&self.places).get(id) {
            Some(Place::Made(worktree)) => Some(worktree.clone()),
            Some(Place::Making(_)) | None => None,
        }
    }

    pub(super) fn remember_worktree(&self, id: &AgentId, worktree: Worktree) -> Arc<Worktree> {
        let worktree = Arc::new(worktree);
        super::lock(&self.places).insert(id.clone(), Place::Made(worktree.clone()));
        self.watch_running(id);
        worktree
    }

    pub(super) fn forget_worktree(&self, id: &AgentId) {
        super::lock(&self.places).remove(id);
        self.live.forget(id);
    }

    pub(super) fn no_worktree(&self, id: &AgentId) -> Rejected {
        let state =
            |agent: &offshoot_protocol::AgentView| agent.worktree.as_ref().map(|worktree| worktree.state.clone());
        let message = match self.journal.read(|fold| fold.agent(id).map(state)) {
            None => "There is no such agent in this session.",
            Some(Some(WorktreeState::Making)) => "The agent's worktree is still being made.",
            Some(Some(_)) => "The agent's worktree is not there any more.",
            Some(None) => "The agent has no worktree of its own.",
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
