//! Changes as they happen: the worktrees that somebody looks at and those of running agents are watched, so that their
//! summaries are known when they are asked for, and whoever listens hears of every touch that made a difference.
//!
//! Nothing is watched before somebody follows the session's changes ([`Tree::follow_changes`]). What is told is passing: the
//! log has the count at an agent's end.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use offshoot_protocol::{AgentId, AgentView, ChangeSummary, Delta, DiffSide, FileDiff};

use super::Tree;
use crate::agent::is_running;
use crate::changes::{Changes, ChangesError, Touched, Watch};
use crate::journal::Journal;
use crate::worktree::Worktree;

/// Most worktrees of agents at rest that are watched because somebody looked at them; the last ones.
const LOOKED_AT: usize = 4;

/// The watched worktrees of a session.
#[derive(Default)]
pub(super) struct LiveChanges(Mutex<State>);

#[derive(Default)]
struct State {
    followed: bool,
    watched: HashMap<AgentId, Arc<Watched>>,
    /// The one that was looked at last is at the end.
    looked_at: VecDeque<AgentId>,
}

/// One watched worktree.
pub(super) struct Watched {
    changes: Arc<Changes>,
    worktree: Arc<Worktree>,
    /// Begun by the first who needs it: making it blocks.
    watch: OnceLock<Watch>,
    tell: Arc<Journal>,
    agent: AgentId,
}

impl Watched {
    /// The list as it is: known when nothing can have been missed, otherwise from a look at everything. Blocks.
    pub(super) fn summary(&self) -> Result<ChangeSummary, ChangesError> {
        let is_new = self.begin();
        match self.changes.last_seen() {
            Some(seen) if !is_new && self.is_reliable() => Ok(seen),
            _ => self.changes.summary(),
        }
    }

    /// The lines of one file. Blocks.
    pub(super) fn file_diff(&self, path: &str, budget: u64) -> Result<FileDiff, ChangesError> {
        if self.begin() || !self.is_reliable() {
            self.changes.summary()?;
        }
        self.changes.file_diff(path, budget)
    }

    /// All of one side of a file. Blocks.
    pub(super) fn content(&self, path: &str, side: DiffSide, limit: u64) -> Result<Option<Vec<u8>>, ChangesError> {
        if self.begin() || !self.is_reliable() {
            self.changes.summary()?;
        }
        self.changes.content(path, side, limit)
    }

    fn is_reliable(&self) -> bool {
        self.watch.get().is_some_and(|watch| !watch.is_polling())
    }

    /// Watches, if nobody does yet. True when this was the beginning: what happened before is not known.
    fn begin(&self) -> bool {
        let mut is_new = false;
        self.watch.get_or_init(|| {
            is_new = true;
            let (changes, agent, journal) = (self.changes.clone(), self.agent.clone(), Arc::downgrade(&self.tell));
            Watch::start(&self.worktree, move |touched| {
                let Some(journal) = journal.upgrade() else { return };
                let before = changes.last_seen();
                let now = match &touched {
                    Touched::Paths(paths) => changes.summary_after(paths),
                    Touched::Everything => changes.summary(),
                };
                match now {
                    Ok(now) if before.as_ref() != Some(&now) => {
                        journal.stream(&Delta::Changes { agent: agent.clone(), count: now.count });
                    }
                    Ok(_) => {}
                    // Its directory may be on its way out; whoever asks is told why.
                    Err(error) => tracing::debug!(%agent, %error, "changes could not be counted"),
                }
            })
        });
        is_new
    }
}

impl LiveChanges {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An agent has ended: its worktree stays watched only while somebody looks at it.
    pub(super) fn at_rest(&self, id: &AgentId) {
        let mut state = self.state();
        if !state.looked_at.contains(id) {
            let gone = state.watched.remove(id);
            drop(state);
            let_go(gone);
        }
    }

    /// The worktree is gone.
    pub(super) fn forget(&self, id: &AgentId) {
        let mut state = self.state();
        state.looked_at.retain(|other| other != id);
        let gone = state.watched.remove(id);
        drop(state);
        let_go(gone);
    }

    /// Watches nothing any more. Returns when no look is under way.
    pub(super) async fn end(&self) {
        let state = std::mem::take(&mut *self.state());
        // It fails only when the runtime shuts down.
        let _ = tokio::task::spawn_blocking(move || drop(state)).await;
    }
}

/// Ends watches beside the caller: that waits for the look that is under way.
fn let_go(gone: impl IntoIterator<Item = Arc<Watched>>) {
    let gone: Vec<_> = gone.into_iter().collect();
    if !gone.is_empty() {
        tokio::task::spawn_blocking(move || drop(gone));
    }
}

impl Tree {
    /// From now on touches of the worktrees that are looked at, and of those of running agents, are told as deltas.
    pub fn follow_changes(&self) {
        self.live.state().followed = true;
        let runs = |agent: &&AgentView| agent.worktree.is_some() && is_running(&agent.state);
        let running: Vec<AgentId> =
            self.journal.read(|fold| fold.view.agents.iter().filter(runs).map(|agent| agent.id.clone()).collect());
        for id in running {
            self.watch_running(&id);
        }
    }

    /// Watches the worktree of an agent that is at work or about to be.
    pub(super) fn watch_running(&self, id: &AgentId) {
        if !self.live.state().followed {
            return;
        }
        let at_work = self.journal.read(|fold| fold.agent(id).is_some_and(|agent| is_running(&agent.state)));
        let Some(worktree) = self.worktree(id).filter(|_| at_work) else { return };
        if let Some(watched) = self.watched(id, &worktree, false) {
            tokio::task::spawn_blocking(move || {
                if let Err(error) = watched.summary() {
                    tracing::debug!(agent = %watched.agent, %error, "changes could not be counted");
                }
            });
        }
    }

    /// The watched worktree that somebody looks at; nothing when nobody follows the session.
    pub(super) fn look_at(&self, id: &AgentId, worktree: &Arc<Worktree>) -> Option<Arc<Watched>> {
        self.watched(id, worktree, true)
    }

    fn watched(&self, id: &AgentId, worktree: &Arc<Worktree>, looked_at: bool) -> Option<Arc<Watched>> {
        let mut state = self.live.state();
        if !state.followed {
            return None;
        }
        let fresh = || {
            Arc::new(Watched {
                changes: Arc::new(Changes::of(self.means.kit.worktrees.git(), worktree)),
                worktree: worktree.clone(),
                watch: OnceLock::new(),
                tell: self.journal.clone(),
                agent: id.clone(),
            })
        };
        let is_same = state.watched.get(id).is_some_and(|watched| watched.worktree == *worktree);
        let replaced = if is_same { None } else { state.watched.insert(id.clone(), fresh()) };
        let watched = state.watched.get(id).cloned();
        let mut gone: Vec<Arc<Watched>> = replaced.into_iter().collect();
        if looked_at {
            state.looked_at.retain(|other| other != id);
            state.looked_at.push_back(id.clone());
            while state.looked_at.len() > LOOKED_AT {
                let oldest = state.looked_at.pop_front().expect("the queue isn't empty");
                let runs = self.journal.read(|fold| fold.agent(&oldest).is_some_and(|agent| is_running(&agent.state)));
                if !runs {
                    gone.extend(state.watched.remove(&oldest));
                }
            }
        }
        drop(state);
        let_go(gone);
        watched
    }
}
