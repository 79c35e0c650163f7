//! A request under way, as far as its costs go: of whom it was asked, when, and what it is billed. Steps and summaries are
//! asked alike.

use std::time::Duration;

use offshoot_protocol::{Asked, EventBody, StepEnded, Timestamp, Usage, Warning};
use tokio::time::Instant;

use super::step::lock;
use super::{Speaker, Worker};
use crate::cache::{Caching, Sent};
use crate::model::{ModelEvent, StopReason};
use crate::transcript::Transcript;
use crate::view::Fold;

/// A request from when it leaves on.
pub(super) struct Asking<'w> {
    worker: &'w Worker,
    asked: Asked,
    caching: Caching,
    transcript: Transcript,
    at: Timestamp,
    started: Instant,
    /// When the answer began.
    begun: Option<Timestamp>,
}

/// A request whose answer is complete.
pub(super) struct Answered {
    asked: Asked,
    caching: Caching,
    sent: Sent,
    duration: Duration,
}

impl<'w> Asking<'w> {
    /// `transcript` leaves for `speaker` now.
    pub(super) fn new(worker: &'w Worker, speaker: &Speaker, transcript: Transcript) -> Self {
        let asked = Asked {
            model: speaker.head.model.clone(),
            seller: speaker.model.seller(),
            head: worker.fan_out.fingerprint(&speaker.head),
        };
        let (at, started) = (worker.journal.clock().now(), Instant::now());
        Self { worker, asked, caching: speaker.head.caching(), transcript, at, started, begun: None }
    }

    /// Takes note of a piece of the answer. Returns when it began, if it began with this piece.
    pub(super) fn hear(&mut self, event: &ModelEvent) -> Option<Timestamp> {
        match event {
            ModelEvent::Counted(usage) => lock(&self.worker.partial).counted = Some((self.asked.clone(), *usage)),
            ModelEvent::Warned(warning) => warn(self.worker, warning),
            _ => {}
        }
        if self.begun.is_some() {
            return None;
        }
        self.begun = Some(self.worker.journal.clock().now());
        self.begun
    }

    /// The answer is complete, with these figures.
    pub(super) fn answered(self, usage: Usage) -> Answered {
        lock(&self.worker.partial).counted = None;
        let sent = Sent {
            head: self.asked.head.clone(),
            transcript: self.transcript,
            at: self.at,
            begun: self.begun.unwrap_or(self.at),
            usage,
        };
        Answered { asked: self.asked, caching: self.caching, sent, duration: self.started.elapsed() }
    }
}

impl Answered {
    /// The fact that tells of it, beside what is in `fold`.
    pub(super) fn into_fact(self, fold: &Fold, worker: &Worker, stop: &StopReason) -> EventBody {
        let Self { asked, caching, sent, duration } = self;
        EventBody::StepEnded(StepEnded {
            stop_reason: stop.to_string(),
            usage: sent.usage,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            begun_ms: u64::try_from(sent.begun.duration_since(sent.at).as_millis()).ok(),
            asked: Some(asked),
            missed: fold.missed(&worker.id, &sent, caching),
        })
    }
}

/// Writes down what an answer that broke off was billed, if it was.
pub(super) fn record_lost(worker: &Worker) {
    let lost = lock(&worker.partial).lost();
    if let Some(lost) = lost {
        worker.journal.record(&worker.id, lost);
    }
}

/// Passes on what a person should know, once.
fn warn(worker: &Worker, warning: &Warning) {
    worker.journal.decide(|fold| {
        let is_known = fold.agent(&worker.id).is_some_and(|agent| agent.warnings.contains(warning));
        let fact = (Some(worker.id.clone()), EventBody::Warned { warning: warning.clone() });
        (Some(fact).filter(|_| !is_known).into_iter().collect(), ())
    });
}
