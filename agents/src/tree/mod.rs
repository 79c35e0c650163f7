//! The tree: who is whose child. Starts agents, hands them over, stops them, and keeps their number within bounds.
//!
//! Every child runs as its own task from the first moment. "Foreground" means only that the parent's call waits for it, so
//! moving it to the background changes who waits, and nothing else.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use offshoot_protocol::{
    AgentId, AgentKind, AgentState, AgentView, EventBody, Input, InputId, Origin, PermissionMode, Rejected,
    RejectedCode, TaskId,
};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use crate::agent::{self, Conduct, Wish, is_running};
use crate::approval::{Approvals, Saving};
use crate::journal::Journal;
use crate::log::LogError;
use crate::settings;
use crate::turn::{self, FanOut, Worker};

mod comments;
mod committing;
mod context;
mod delegate;
mod ending;
mod hook;
mod isolation;
mod live;
mod making;
mod means;
mod merging;
mod provenance;
mod recovery;
mod result;
mod reviewing;
mod roles;
mod seed;
mod setup;
mod start;
mod surroundings;
mod tasks;
mod title;
mod wait;

pub use means::{Kit, Means};
pub use merging::Keep;

/// One session's agents.
pub struct Tree {
    me: Weak<Self>,
    journal: Arc<Journal>,
    approvals: Arc<Approvals>,
    means: Arc<Means>,
    /// Files of this session outside any repository: scratch, long outputs, reports.
    folder: PathBuf,
    agents: Mutex<HashMap<AgentId, Member>>,
    places: Mutex<HashMap<AgentId, making::Place>>,
    live: live::LiveChanges,
    shells: Mutex<HashMap<TaskId, tasks::Shell>>,
    tasks: Mutex<JoinSet<()>>,
    permits: Arc<Semaphore>,
    /// Lets one of several forks go ahead.
    fan_out: Arc<FanOut>,
    /// Agents whose parent never heard of them, until they end.
    revoked: Mutex<HashSet<AgentId>>,
    /// Agents that were stopped together with their parent, until they end.
    stopped_along: Mutex<HashSet<AgentId>>,
    /// How many agents are about to be recorded.
    seats: Arc<AtomicUsize>,
    /// Counts ends and hand-overs, so that whoever waits for an agent looks again.
    changed: watch::Sender<u64>,
}

/// An agent that is there, at work or not.
struct Member {
    inbox: mpsc::UnboundedSender<Wish>,
    worker: Arc<Worker>,
}

impl Tree {
    /// The tree of a session; agents are added by [`Tree::plant`] or [`Tree::recover`].
    pub fn new(journal: Arc<Journal>, means: Arc<Means>, folder: PathBuf) -> Arc<Self> {
        let saving = Saving { file: settings::local_file(&means.main_checkout), counts: means.trusted };
        let approvals = Approvals::new(journal.clone(), means.kit.interactive, saving);
        let permits = Arc::new(Semaphore::new(means.settings.running_limit));
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            journal,
            approvals,
            means,
            folder,
            agents: Mutex::default(),
            places: Mutex::default(),
            live: live::LiveChanges::default(),
            shells: Mutex::default(),
            tasks: Mutex::default(),
            permits,
            fan_out: Arc::default(),
            revoked: Mutex::default(),
            stopped_along: Mutex::default(),
            seats: Arc::default(),
            changed: watch::Sender::new(0),
        })
    }

    /// The session's log.
    pub fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// The session's pending requests.
    pub fn approvals(&self) -> &Arc<Approvals> {
        &self.approvals
    }

    /// The folder of the session's own files.
    pub fn folder(&self) -> &PathBuf {
        &self.folder
    }

    /// Gives an agent a text from a person. On disk when this returns.
    pub async fn send(&self, agent: &AgentId, text: String) -> Result<(), Rejected> {
        let text = text.trim().to_owned();
        if text.is_empty() {
            return Err(Rejected::new(RejectedCode::Invalid, "The message is empty.", ""));
        }
        self.give(agent, text, Origin::User).await
    }

    /// Puts a text into an agent's queue. On disk when this returns.
    async fn give(&self, agent: &AgentId, text: String, origin: Origin) -> Result<(), Rejected> {
        self.give_with(agent, origin, |_, _| Ok((text, Vec::new()))).await
    }

    /// As [`Tree::give`]: what is given follows from the agent's view and the text's id, together with facts about the agent
    /// that go on record with it.
    async fn give_with(
        &self,
        agent: &AgentId,
        origin: Origin,
        what: impl FnOnce(&AgentView, &InputId) -> Result<(String, Vec<EventBody>), Rejected>,
    ) -> Result<(), Rejected> {
        if self.view(agent, |view| view.state != AgentState::Stopped)? {
            self.make_place_again(agent).await?;
        }
        let id = InputId(self.means.kit.ids.next("i-"));
        let (seq, allowed) = self.journal.decide(|fold| {
            let Some(view) = fold.agent(agent) else { return (Vec::new(), Err(no_such_agent())) };
            if view.state == AgentState::Stopped {
                let hint = "Resume it first.";
                let rejected = Rejected::new(RejectedCode::NotApplicable, "The agent was stopped.", hint);
                return (Vec::new(), Err(rejected));
            }
            let (text, also) = match what(view, &id) {
                Ok(given) => given,
                Err(rejected) => return (Vec::new(), Err(rejected)),
            };
            let input = Input { id, text, origin, source: None };
            let named = (origin == Origin::User).then(|| title::first_words(fold, view, &input.text)).flatten();
            let bodies = std::iter::once(EventBody::InputReceived { input }).chain(also);
            let mut facts: Vec<_> = bodies.map(|body| (Some(agent.clone()), body)).collect();
            facts.extend(named.map(|renamed| (None, renamed)));
            // Nobody waits for a finished agent that is told something new.
            if !view.background && view.parent.is_some() && !is_running(&view.state) {
                facts.push((Some(agent.clone()), EventBody::MovedToBackground));
            }
            (facts, Ok(()))
        });
        allowed?;
        self.journal.stored(seq).await.map_err(|error| not_stored(&error))?;
        self.tell(agent, Wish::Wake);
        Ok(())
    }

    /// Takes back a text that the agent has not seen.
    pub async fn withdraw(&self, agent: &AgentId, input: &InputId) -> Result<(), Rejected> {
        let (seq, found) = self.journal.decide(|fold| {
            let waits = |queued: &Input| queued.id == *input && queued.origin == Origin::User;
            let found = fold.agent(agent).is_some_and(|view| view.queue.iter().any(waits));
            let fact = || (Some(agent.clone()), EventBody::InputWithdrawn { input: input.clone() });
            (found.then(fact).into_iter().collect(), found)
        });
        if !found {
            let message = "The agent has seen this message already.";
            return Err(Rejected::new(RejectedCode::Gone, message, "Send another one to correct it."));
        }
        self.journal.stored(seq).await.map_err(|error| not_stored(&error))
    }

    /// Ends an agent's turn. A child is stopped by it.
    pub fn interrupt(&self, agent: &AgentId) -> Result<(), Rejected> {
        let kind = self.view(agent, |view| (view.kind, is_running(&view.state)))?;
        match kind {
            (AgentKind::Root | AgentKind::Teammate, true) => self.tell(agent, Wish::Interrupt),
            (AgentKind::Fork | AgentKind::Subagent, true) => self.stop_below(agent),
            (_, false) => return Err(not_running()),
        }
        Ok(())
    }

    /// Stops an agent and everything below it.
    pub fn stop(&self, agent: &AgentId) -> Result<(), Rejected> {
        if !self.view(agent, |view| is_running(&view.state))? {
            return Err(not_running());
        }
        self.stop_below(agent);
        Ok(())
    }

    fn stop_below(&self, agent: &AgentId) {
        let targets: Vec<(AgentId, Option<AgentId>)> = self.journal.read(|fold| {
            let below = fold.view.agents.iter().filter(|other| fold.is_within(&other.id, agent));
            below
                .filter(|other| is_running(&other.state))
                .map(|other| (other.id.clone(), other.parent.clone()))
                .collect()
        });
        let is_stopped = |parent: &AgentId| targets.iter().any(|(target, _)| target == parent);
        let along = targets.iter().filter(|(_, parent)| parent.as_ref().is_some_and(is_stopped));
        lock(&self.stopped_along).extend(along.map(|(target, _)| target.clone()));
        for (target, _) in &targets {
            self.tell(target, Wish::Stop);
        }
    }

    /// Lets a stopped, failed or interrupted child go on.
    pub async fn resume(&self, agent: &AgentId) -> Result<(), Rejected> {
        self.make_place_again(agent).await?;
        let (seq, allowed) = self.journal.decide(|fold| {
            let Some(view) = fold.agent(agent) else { return (Vec::new(), Err(no_such_agent())) };
            let can = matches!(
                view.state,
                AgentState::Stopped
                    | AgentState::Interrupted
                    | AgentState::Failed { .. }
                    | AgentState::IdleAfterFailure { .. }
            );
            if !can {
                let message = "Only an agent that was stopped, was interrupted or has failed can be resumed.";
                let rejected = Rejected::new(RejectedCode::NotApplicable, message, "Send it a message instead.");
                return (Vec::new(), Err(rejected));
            }
            // Whoever called it has its answer already.
            let moves = !view.background && view.parent.is_some();
            let fact = || (Some(agent.clone()), EventBody::MovedToBackground);
            (moves.then(fact).into_iter().collect(), Ok(()))
        });
        allowed?;
        self.journal.stored(seq).await.map_err(|error| not_stored(&error))?;
        self.tell(agent, Wish::Resume);
        Ok(())
    }

    /// Lets a foreground agent go on in the background.
    pub async fn send_to_background(&self, agent: &AgentId) -> Result<(), Rejected> {
        if !self.means.settings.background {
            let message = "Background agents are turned off.";
            return Err(Rejected::new(RejectedCode::NotApplicable, message, "The setting `background` turns them on."));
        }
        match self.move_to_background(agent) {
            Some(seq) => self.journal.stored(seq).await.map_err(|error| not_stored(&error)),
            None => Err(Rejected::new(RejectedCode::NotApplicable, "No call waits for this agent.", "")),
        }
    }

    /// Changes the session's mode.
    pub async fn set_mode(&self, mode: PermissionMode) -> Result<(), Rejected> {
        let (seq, ()) = self.journal.decide(|_| (vec![(None, EventBody::ModeChanged { mode })], ()));
        self.journal.stored(seq).await.map_err(|error| not_stored(&error))
    }

    /// Gives the session another title.
    pub async fn rename(&self, title: &str) -> Result<(), Rejected> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return Err(Rejected::new(RejectedCode::Invalid, "The title is empty.", ""));
        }
        let (seq, ()) = self.journal.decide(|_| (vec![(None, EventBody::SessionRenamed { title })], ()));
        self.journal.stored(seq).await.map_err(|error| not_stored(&error))
    }

    /// Ends every agent's task and waits for it. What they were saying is kept; what was running is found as interrupted at
    /// the next start. `reason` is for
    /// hooks.
    pub async fn close(&self, reason: &str) {
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        tasks.shutdown().await;
        for member in lock(&self.agents).values() {
            turn::keep_partial(&member.worker);
        }
        self.session_ended(reason).await;
        self.live.end().await;
        lock(&self.agents).clear();
    }

    /// Puts an agent to work as a task of its own.
    fn enlist(&self, worker: Arc<Worker>, conduct: Conduct, start: bool) {
        let (inbox, wishes) = mpsc::unbounded_channel();
        lock(&self.agents).insert(worker.id.clone(), Member { inbox, worker: worker.clone() });
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(agent::live(worker, conduct, wishes, start));
    }

    fn worker(&self, agent: &AgentId) -> Option<Arc<Worker>> {
        lock(&self.agents).get(agent).map(|member| member.worker.clone())
    }

    fn tell(&self, agent: &AgentId, wish: Wish) {
        if let Some(member) = lock(&self.agents).get(agent) {
            if matches!(wish, Wish::Wake | Wish::Resume) {
                self.watch_running(agent);
            }
            // A closed inbox belongs to a session that is being closed.
            let _ = member.inbox.send(wish);
        }
    }

    pub(crate) fn view<T>(
        &self,
        agent: &AgentId,
        read: impl FnOnce(&offshoot_protocol::AgentView) -> T,
    ) -> Result<T, Rejected> {
        self.journal.read(|fold| fold.agent(agent).map(read)).ok_or_else(no_such_agent)
    }
}

fn no_such_agent() -> Rejected {
    Rejected::new(RejectedCode::NotFound, "There is no such agent in this session.", "")
}

fn not_running() -> Rejected {
    Rejected::new(RejectedCode::NotApplicable, "The agent is not running.", "")
}

fn not_stored(error: &LogError) -> Rejected {
    Rejected::new(RejectedCode::Storage, error.to_string(), "Nothing was done.")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
