//! One step: a request, its answer, and what to do when there is none.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use offshoot_protocol::{
    Asked, Block, CallId, Delta, EventBody, FailureCode, Message, MessageRole, Origin, RawJson, TextKind, TurnOutcome,
    Usage,
};

use super::asking::{self, Answered, Asking};
use super::{Begun, Worker, storage};
use crate::model::{ModelError, ModelEvent, StopReason};

/// Most tries of one request, the first included.
pub(super) const TRIES: u32 = 8;

/// Longest pause between two tries that this program chooses itself; a provider may ask for more.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What has been received of an answer.
#[derive(Debug, Default)]
pub struct Partial {
    /// The place that the message will have.
    index: u32,
    /// Complete blocks.
    blocks: Vec<Block>,
    /// The block under way: its number, its text so far in UTF-16 units, and the text if it is plain text.
    open: Option<Open>,
    /// What the answer is billed if no more comes.
    pub(super) counted: Option<(Asked, Usage)>,
}

#[derive(Debug)]
struct Open {
    block: u32,
    offset: u32,
    text: String,
}

impl Partial {
    /// The calls that are complete.
    pub(super) fn calls(&self) -> Vec<(CallId, String, RawJson)> {
        let call = |block: &Block| match block {
            Block::Call { id, name, input } => Some((id.clone(), name.clone(), input.clone())),
            _ => None,
        };
        self.blocks.iter().filter_map(call).collect()
    }

    /// The fact that it was billed without being whole, if it was.
    pub(super) fn lost(&mut self) -> Option<EventBody> {
        self.counted.take().map(|(asked, usage)| EventBody::AnswerLost { asked, usage })
    }

    /// The message that an interrupted answer leaves, for place `index`; nothing when it left nothing worth keeping or was
    /// appended already. Half a call and half a thought are dropped.
    pub(super) fn into_message(mut self, index: u32) -> Option<Message> {
        if self.index != index {
            return None;
        }
        if let Some(open) = self.open.filter(|open| !open.text.trim().is_empty()) {
            self.blocks.push(Block::Text { text: open.text, origin: Origin::Model });
        }
        let says_something = self.blocks.iter().any(|block| matches!(block, Block::Text { .. } | Block::Call { .. }));
        says_something.then_some(Message { role: MessageRole::Assistant, blocks: self.blocks })
    }
}

/// Sends the request, retrying visibly, and appends the answer. Returns why the model stopped; calls that could begin
/// meanwhile are in `begun`.
pub(super) async fn take<'w>(worker: &'w Worker, begun: &mut Begun<'w>) -> Result<StopReason, TurnOutcome> {
    let mut tries = 1;
    loop {
        let error = match attempt(worker, begun).await {
            Ok(answer) => return append(worker, answer, begun).await,
            Err(error) => error,
        };
        asking::record_lost(worker);
        if !error.is_retryable() || tries == TRIES {
            return Err(failed(worker, &error));
        }
        begun.revoke(worker, |_| true);
        wait(worker, &error, tries).await;
        tries += 1;
    }
}

struct Answer {
    index: u32,
    blocks: Vec<Block>,
    stop: StopReason,
    answered: Answered,
}

async fn attempt<'w>(worker: &'w Worker, begun: &mut Begun<'w>) -> Result<Answer, ModelError> {
    let speaker = worker.speaker();
    let mut lead = worker.fan_out.admit(worker, &speaker.head).await;
    let transcript = worker.journal.read(|fold| fold.transcript(&worker.id));
    let index = transcript.len();
    *lock(&worker.partial) = Partial { index, ..Partial::default() };
    let mut asking = Asking::new(worker, &speaker, transcript.clone());
    let mut stream = speaker.model.stream(worker.request(&speaker, transcript));
    loop {
        let event = tokio::select! {
            event = stream.next() => event,
            never = begun.go_on() => match never {},
        };
        let Some(event) = event else { break };
        let event = event?;
        if let Some(at) = asking.hear(&event)
            && let Some(lead) = lead.take()
        {
            lead.begun(at);
        }
        match event {
            ModelEvent::Started | ModelEvent::Counted(_) | ModelEvent::Warned(_) => {}
            ModelEvent::TextDelta { block, text } => grow(worker, block, TextKind::Text, text),
            ModelEvent::ThinkingDelta { block, text } => grow(worker, block, TextKind::Thinking, text),
            ModelEvent::InputDelta { block, call, name, text } => {
                grow(worker, block, TextKind::Input { call, name }, text);
            }
            ModelEvent::BlockEnded { block, .. } => {
                let mut partial = lock(&worker.partial);
                partial.open = None;
                begun.begin(worker, &partial.blocks, &block);
                partial.blocks.push(block);
            }
            ModelEvent::Ended { stop, usage } => {
                let blocks = std::mem::take(&mut lock(&worker.partial).blocks);
                return Ok(Answer { index, blocks, stop, answered: asking.answered(usage) });
            }
        }
    }
    Err(ModelError::Truncated { reason: "the stream ended without its closing event".to_owned() })
}

/// Takes a piece of streaming text in and passes it on.
fn grow(worker: &Worker, block: u32, kind: TextKind, text: String) {
    let mut partial = lock(&worker.partial);
    let message = partial.index;
    let open = match &mut partial.open {
        Some(open) if open.block == block => open,
        open => open.insert(Open { block, offset: 0, text: String::new() }),
    };
    let offset = open.offset;
    open.offset += u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
    if kind == TextKind::Text {
        open.text.push_str(&text);
    }
    drop(partial);
    worker.journal.stream(&Delta::Text { agent: worker.id.clone(), message, block, kind, offset, text });
}

async fn append(worker: &Worker, answer: Answer, begun: &mut Begun<'_>) -> Result<StopReason, TurnOutcome> {
    let Answer { index, mut blocks, stop, answered } = answer;
    let is_cut = matches!(stop, StopReason::MaxTokens | StopReason::ContextWindow);
    if is_cut && matches!(blocks.last(), Some(Block::Call { .. })) {
        // The limit may have cut this call in the middle: it is not run.
        blocks.pop();
    }
    begun.revoke(worker, |id| !blocks.iter().any(|block| matches!(block, Block::Call { id: made, .. } if made == id)));
    number_empty_ids(&mut blocks, index);
    let (seq, ()) = worker.journal.decide(|fold| {
        let mut facts = vec![(Some(worker.id.clone()), answered.into_fact(fold, worker, &stop))];
        // A model that says nothing leaves no message: providers refuse empty ones.
        if !blocks.is_empty() {
            let message = Message { role: MessageRole::Assistant, blocks };
            facts.push((Some(worker.id.clone()), EventBody::MessageAppended { index, message, inputs: Vec::new() }));
        }
        (facts, ())
    });
    // What the model said is on disk before anything it asked for is done.
    worker.journal.stored(seq).await.map_err(|error| storage(&error))?;
    Ok(stop)
}

/// Some servers send calls without an id; results need one to refer to.
fn number_empty_ids(blocks: &mut [Block], message: u32) {
    for (at, block) in blocks.iter_mut().enumerate() {
        if let Block::Call { id, .. } = block
            && id.0.is_empty()
        {
            *id = CallId(format!("call_{message}_{at}"));
        }
    }
}

/// Keeps the text that had arrived, and says why there is no more.
fn failed(worker: &Worker, error: &ModelError) -> TurnOutcome {
    super::interrupted(worker, "The answer broke off before this call could be run.");
    let code = if error.is_too_long() { FailureCode::ContextWindow } else { FailureCode::Model };
    TurnOutcome::Failed { code, message: error.to_string() }
}

/// Waits visibly after try number `tries`.
pub(super) async fn wait(worker: &Worker, error: &ModelError, tries: u32) {
    let pause = pause(error, tries);
    let waiting = EventBody::ModelWaiting {
        reason: error.to_string(),
        attempt: tries,
        retry_in_ms: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
    };
    worker.journal.record(&worker.id, waiting);
    tokio::time::sleep(pause).await;
}

/// How long to wait after try number `tries`: what the provider asks for, else a doubling pause with jitter.
fn pause(error: &ModelError, tries: u32) -> Duration {
    if let ModelError::Status { retry_after: Some(wait), .. } = error {
        return *wait;
    }
    let base = Duration::from_millis(500) * 2u32.pow(tries - 1);
    // Between one half and the whole: many agents must not come back at the same moment.
    base.min(LONGEST_PAUSE).mul_f64(0.5 + 0.5 * fastrand::f64())
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
