//! An agent: an actor with an inbox, one turn at a time.
//!
//! [`live`] is the agent's whole life. A turn is a future inside its `select!`, so interrupting and stopping are dropping
//! it. Who its parent is and what an end means to others is unknown here: [`Ending`] is told.

use std::sync::Arc;

use async_trait::async_trait;
use offshoot_protocol::{
    AgentOutcome, AgentState, AgentView, EventBody, FailureCode, MessageRole, Origin, TurnOutcome,
};
use tokio::sync::{Semaphore, mpsc};
use tracing::Instrument as _;

use crate::turn::{self, Worker};

/// What an agent can be told. Texts for it are recorded first and then announced by [`Wish::Wake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// There is something in the queue, or a first turn to run.
    Wake,
    /// End the current turn. A child that is interrupted is stopped.
    Interrupt,
    /// End the current turn and don't go on until resumed.
    Stop,
    /// Go on after a stop.
    Resume,
}

/// How an agent is run.
pub enum Conduct {
    /// Turns for as long as the session is open.
    Root {
        /// Most model calls of a turn; absent: no limit.
        max_steps: Option<u32>,
    },
    /// One run, then an end; wishes can start another.
    Child {
        /// Bounds how many children of the session work at once. Waiting for one is being `queued`.
        permits: Arc<Semaphore>,
        /// Most model calls of a run.
        max_steps: u32,
        /// Is told of its end.
        ending: Arc<dyn Ending>,
    },
}

/// What happens when a child's run ends.
#[async_trait]
pub trait Ending: Send + Sync {
    /// Looks after what the run leaves (its worktree), then records the end. Returns whether the agent has got something
    /// new to do in the meantime, in which case nothing was recorded and it goes on.
    async fn ended(&self, worker: &Worker, outcome: AgentOutcome) -> bool;
}

/// Lives until the inbox closes. With `start` the first turn begins at once.
pub async fn live(worker: Arc<Worker>, conduct: Conduct, mut inbox: mpsc::UnboundedReceiver<Wish>, start: bool) {
    let mut awake = start;
    if start && !is_stored(&worker).await {
        // Nothing is done for an agent that isn't on disk; its starter is told.
        return;
    }
    loop {
        while !awake {
            match inbox.recv().await {
                Some(Wish::Resume) => awake = true,
                // The turn that was just running may have taken the announced text already.
                Some(Wish::Wake) => awake = wants_turn(&worker),
                Some(Wish::Interrupt | Wish::Stop) => {}
                None => return,
            }
        }
        awake = match &conduct {
            Conduct::Root { max_steps } => {
                run_turn(&worker, &mut inbox, *max_steps).await;
                wants_turn(&worker)
            }
            Conduct::Child { permits, max_steps, ending } => {
                let outcome = run_child(&worker, &mut inbox, permits, *max_steps).await;
                ending.ended(&worker, outcome).await
            }
        };
    }
}

/// Waits until everything that is known by now is on disk, the agent's creation among it.
async fn is_stored(worker: &Worker) -> bool {
    let known = worker.journal.read(|fold| fold.cursor);
    worker.journal.stored(known).await.is_ok()
}

fn wants_turn(worker: &Worker) -> bool {
    worker.journal.read(|fold| fold.agent(&worker.id).is_some_and(|agent| is_addressed(agent) && !is_stopped(agent)))
}

/// Whether something waits for the agent that it should see or do soon. A reminder can wait for the next turn.
pub fn is_addressed(agent: &AgentView) -> bool {
    agent.compaction.is_some() || agent.queue.iter().any(|input| input.origin != Origin::Reminder)
}

/// A stop is for good: what was said before or comes by itself later doesn't end it.
fn is_stopped(agent: &AgentView) -> bool {
    agent.state == AgentState::Stopped
}

async fn run_child(
    worker: &Worker,
    inbox: &mut mpsc::UnboundedReceiver<Wish>,
    permits: &Semaphore,
    max_steps: u32,
) -> AgentOutcome {
    let permit = tokio::select! {
        permit = permits.acquire() => permit,
        () = told_to_stop(inbox) => return AgentOutcome::Stopped,
    };
    let _permit = permit.expect("the session never closes its permits");
    match run_turn(worker, inbox, Some(max_steps)).await {
        TurnOutcome::Finished => match report(worker) {
            Some(report) => AgentOutcome::Completed { report },
            None => AgentOutcome::Failed {
                code: FailureCode::EmptyReport,
                message: "It ended without a report.".to_owned(),
                partial: None,
            },
        },
        TurnOutcome::Failed { code, message } => AgentOutcome::Failed { code, message, partial: last_text(worker) },
        TurnOutcome::Interrupted => AgentOutcome::Stopped,
    }
}

/// Runs one turn and records how it ended.
async fn run_turn(worker: &Worker, inbox: &mut mpsc::UnboundedReceiver<Wish>, max_steps: Option<u32>) -> TurnOutcome {
    turn::begin(worker);
    let outcome = tokio::select! {
        // First, so that a message that was sent before an interruption is taken in before it.
        biased;
        outcome = turn::run(worker, max_steps).instrument(turn::span(worker)) => outcome,
        () = told_to_stop(inbox) => TurnOutcome::Interrupted,
        lost = turn::lost(worker) => lost.into(),
    };
    match &outcome {
        TurnOutcome::Finished => {}
        TurnOutcome::Interrupted => {
            turn::interrupted(worker, "The developer interrupted this call. It may have taken effect.");
        }
        TurnOutcome::Failed { message, .. } => turn::interrupted(worker, message),
    }
    worker.journal.record(&worker.id, EventBody::TurnEnded { outcome: outcome.clone() });
    outcome
}

/// Waits for a wish that ends the turn. A closed inbox is none: the program is ending and drops everything.
async fn told_to_stop(inbox: &mut mpsc::UnboundedReceiver<Wish>) {
    loop {
        match inbox.recv().await {
            Some(Wish::Interrupt | Wish::Stop) => return,
            Some(Wish::Wake | Wish::Resume) => {}
            None => std::future::pending().await,
        }
    }
}

/// The final message's text; nothing when it is blank.
fn report(worker: &Worker) -> Option<String> {
    let transcript = worker.journal.read(|fold| fold.transcript(&worker.id));
    let last = transcript.last().filter(|message| message.role == MessageRole::Assistant)?;
    Some(last.text()).filter(|text| !text.trim().is_empty())
}

/// The last text that the agent itself wrote; what a fork inherited isn't its own.
fn last_text(worker: &Worker) -> Option<String> {
    let (transcript, inherited) = worker.journal.read(|fold| {
        let inherited = fold.agent(&worker.id).and_then(|agent| agent.inherited.as_ref());
        (fold.transcript(&worker.id), inherited.map_or(0, |inherited| inherited.messages as usize))
    });
    let messages = transcript.messages();
    let own = messages.iter().skip(inherited);
    let spoken = own.rev().filter(|stored| stored.message.role == MessageRole::Assistant);
    spoken.map(|stored| stored.message.text()).find(|text| !text.trim().is_empty())
}

/// Whether an agent in this state has a run that may still end.
pub fn is_running(state: &AgentState) -> bool {
    match state {
        AgentState::Queued
        | AgentState::Running
        | AgentState::WaitingForPermission
        | AgentState::WaitingForApi { .. } => true,
        AgentState::Idle
        | AgentState::IdleAfterFailure { .. }
        | AgentState::Completed
        | AgentState::Failed { .. }
        | AgentState::Stopped
        | AgentState::Interrupted => false,
    }
}
