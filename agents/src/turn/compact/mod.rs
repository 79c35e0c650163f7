//! Compaction: when the conversation is too long to go on, the model sums it up, and the transcript's next segment begins
//! with that summary.
//!
//! The transcript changes by one fact, `compacted`, or not at all: an interruption, a failure, or a crash leaves it as it
//! was. Nothing of the old segment is lost; it isn't sent any more.

use offshoot_protocol::{
    AgentKind, AgentView, Compacted, CompactionTrigger, EventBody, FailureCode, Input, MessageRole, Origin, TurnOutcome,
};

use super::{Worker, storage};
use crate::hooks::{HookDetail, HookEvent};
use crate::transcript::Transcript;

mod segment;
mod summary;
mod window;

/// Fewest messages that are worth a summary when nobody asked for one.
const FEWEST: u32 = 3;
/// The same behind a summary: where the head alone is near the limit, summing up at every step would help nobody.
const FEWEST_BEHIND_SUMMARY: u32 = 6;

/// What a turn remembers of its compactions.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The model said once already that the conversation is too long.
    overflowed: bool,
    /// Coming near the limit did not lead to a summary: it isn't tried again in this turn.
    gave_up: bool,
}

/// Whether a summary is all that the root is wanted for.
pub(super) fn is_all(worker: &Worker) -> bool {
    worker.journal.read(|fold| {
        let is_said = |input: &Input| input.origin != Origin::Reminder;
        let is_all = |agent: &AgentView| agent.compaction.is_some() && !agent.queue.iter().any(is_said);
        fold.agent(&worker.id).is_some_and(|agent| agent.kind == AgentKind::Root && is_all(agent))
    })
}

impl State {
    /// Does what a person asked for, if they did.
    pub(super) async fn on_wish(&mut self, worker: &Worker) -> Result<(), TurnOutcome> {
        let wish = worker.journal.read(|fold| fold.agent(&worker.id).and_then(|agent| agent.compaction.clone()));
        let Some(wish) = wish else { return Ok(()) };
        if let Err(message) = compact(worker, CompactionTrigger::Manual, &wish.instructions).await? {
            fail(worker, message);
        }
        Ok(())
    }

    /// Before a request: does what was asked for, or what the model's limit asks for.
    pub(super) async fn before_step(&mut self, worker: &Worker) -> Result<(), TurnOutcome> {
        self.on_wish(worker).await?;
        if self.gave_up || !is_near_limit(worker) {
            return Ok(());
        }
        if let Err(message) = compact(worker, CompactionTrigger::Auto, "").await? {
            self.gave_up = true;
            fail(worker, message);
        }
        Ok(())
    }

    /// The model said that the conversation is too long. Compacted once; when that doesn't help, the turn fails with
    /// `why`.
    pub(super) async fn on_overflow(&mut self, worker: &Worker, why: String) -> Result<(), TurnOutcome> {
        let failed = |message| TurnOutcome::Failed { code: FailureCode::ContextWindow, message };
        if std::mem::replace(&mut self.overflowed, true) {
            return Err(failed(format!("{why} It was compacted already, and is still too long.")));
        }
        match compact(worker, CompactionTrigger::Overflow, "").await? {
            Ok(()) => Ok(()),
            Err(message) => {
                fail(worker, message.clone());
                Err(failed(format!("{why} {message}")))
            }
        }
    }
}

fn is_near_limit(worker: &Worker) -> bool {
    let settings = worker.upkeep.compaction;
    let Some(window) = settings.window.or_else(|| window::of(&worker.speaker().head.model)) else { return false };
    let (tokens, transcript) =
        worker.journal.read(|fold| (fold.context_tokens(&worker.id), fold.transcript(&worker.id)));
    let fewest = if transcript.segment_start() > 0 { FEWEST_BEHIND_SUMMARY } else { FEWEST };
    settings.at_percent > 0
        && tokens.saturating_mul(100) >= window.saturating_mul(settings.at_percent.into())
        && transcript.segment_len() >= fewest
}

fn fail(worker: &Worker, message: String) {
    worker.journal.record(&worker.id, EventBody::CompactionFailed { message });
}

/// Begins the next segment, or says why there is none. An outer error ends the turn.
async fn compact(
    worker: &Worker,
    trigger: CompactionTrigger,
    instructions: &str,
) -> Result<Result<(), String>, TurnOutcome> {
    let subject = match trigger {
        CompactionTrigger::Manual => "manual",
        CompactionTrigger::Auto | CompactionTrigger::Overflow => "auto",
    };
    let detail = || HookDetail::Compact { trigger: subject.to_owned() };
    let transcript = worker.journal.read(|fold| fold.transcript(&worker.id));
    if !has_answer(&transcript) {
        return Ok(Err("There is nothing to sum up yet: the model has not answered.".to_owned()));
    }
    let hooked = worker.hooked(HookEvent::PreCompact, subject, detail).await;
    if let Some(reason) = hooked.blocked {
        return Ok(Err(format!("A hook does not allow the conversation to be compacted: {reason}")));
    }
    worker.check_stop()?;
    worker.journal.record(&worker.id, EventBody::CompactionStarted { trigger });
    let summary = match summary::ask(worker, &transcript, trigger, instructions).await {
        Ok(summary) => summary,
        Err(why) => {
            return Ok(Err(format!("The conversation was not compacted, and is as it was: {why}")));
        }
    };
    let (seq, ()) = worker.journal.decide(|fold| {
        let message = segment::first_message(fold, &worker.id, &transcript, &summary);
        let compacted = Compacted { index: transcript.len(), message, replaced: transcript.segment_len(), trigger };
        (vec![(Some(worker.id.clone()), EventBody::Compacted(compacted))], ())
    });
    worker.journal.stored(seq).await.map_err(|error| storage(&error))?;
    worker.hooked(HookEvent::PostCompact, subject, detail).await;
    worker.check_stop()?;
    Ok(Ok(()))
}

fn has_answer(transcript: &Transcript) -> bool {
    transcript.segment_newest_first().any(|stored| stored.message.role == MessageRole::Assistant)
}
