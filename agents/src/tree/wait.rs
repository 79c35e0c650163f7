//! Waiting for a foreground agent, and the hand-over to the background.

use offshoot_protocol::{AgentId, AgentOutcome, CallId, EventBody, Input};
use tokio::time::{Instant, sleep_until};

use super::Tree;
use crate::agent::{Wish, is_running};

/// What a call that waited for an agent gets.
pub(super) enum Waited {
    /// The agent's end.
    Ended(AgentOutcome),
    /// The agent goes on; nobody waits any more.
    InBackground,
}

impl Tree {
    /// Waits until a child ends or moves to the background, which it does by itself when the foreground time is over.
    /// Dropping the future drops `guard`.
    pub(super) async fn wait_for(&self, child: &AgentId, mut guard: StopOnDrop<'_>) -> Waited {
        let settings = &self.means.settings;
        let mut changed = self.changed.subscribe();
        let patience = sleep_until(Instant::now() + settings.foreground_timeout);
        tokio::pin!(patience);
        loop {
            let (outcome, background) = self.journal.read(|fold| {
                let view = fold.agent(child);
                (view.and_then(|view| view.outcome.clone()), view.is_none_or(|view| view.background))
            });
            let waited = match outcome {
                _ if background => Some(Waited::InBackground),
                Some(outcome) => Some(Waited::Ended(outcome)),
                None => None,
            };
            if let Some(waited) = waited {
                guard.armed = false;
                return waited;
            }
            tokio::select! {
                seen = changed.changed() => seen.expect("the sender lives as long as self"),
                () = &mut patience, if settings.background => {
                    self.move_to_background(child);
                }
            }
        }
    }

    /// Records the hand-over of a running foreground child. Returns the fact's number; nothing when nobody waits for it.
    pub(super) fn move_to_background(&self, child: &AgentId) -> Option<u64> {
        let (seq, moved) = self.journal.decide(|fold| {
            let waits = |view: &offshoot_protocol::AgentView| {
                view.parent.is_some() && !view.background && is_running(&view.state)
            };
            let moves = fold.agent(child).is_some_and(waits);
            let fact = || (Some(child.clone()), EventBody::MovedToBackground);
            (moves.then(fact).into_iter().collect(), moves)
        });
        if moved {
            self.announce_change();
        }
        moved.then_some(seq)
    }

    /// Calls back what these calls started: the message that made them broke off and is asked for again. The parent has never
    /// heard of those agents, and is told nothing of their end.
    pub(super) fn revoke(&self, parent: &AgentId, calls: &[CallId]) {
        let started: Vec<(AgentId, bool)> = self.journal.read(|fold| {
            let theirs =
                fold.children(parent).filter(|child| child.call.as_ref().is_some_and(|call| calls.contains(call)));
            theirs.map(|child| (child.id.clone(), is_running(&child.state))).collect()
        });
        for (child, _) in started.iter().filter(|(_, runs)| *runs) {
            super::lock(&self.revoked).insert(child.clone());
            self.tell(child, Wish::Stop);
        }
        self.journal.decide(|fold| {
            let queue = fold.agent(parent).map(|parent| parent.queue.as_slice()).unwrap_or_default();
            let is_void = |input: &&Input| {
                let task = input.source.as_ref().map(|source| source.task.as_str());
                started.iter().any(|(child, _)| task == Some(child.as_str()))
            };
            let withdrawn = queue.iter().filter(is_void).map(|input| input.id.clone());
            (withdrawn.map(|input| (Some(parent.clone()), EventBody::InputWithdrawn { input })).collect(), ())
        });
    }

    /// Makes everybody who waits for an agent look again.
    pub(super) fn announce_change(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}

/// Stops a child that somebody waited for, and whose caller was interrupted or stopped.
pub(super) struct StopOnDrop<'a> {
    tree: &'a Tree,
    child: &'a AgentId,
    armed: bool,
}

impl<'a> StopOnDrop<'a> {
    pub(super) fn new(tree: &'a Tree, child: &'a AgentId) -> Self {
        Self { tree, child, armed: true }
    }
}

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.tree.tell(self.child, Wish::Stop);
        }
    }
}
