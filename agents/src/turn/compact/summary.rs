//! Asks the model for a summary: the very request that the conversation would have made, with one instruction behind it,
//! so that the provider finds all of it in its cache.

use futures_util::StreamExt as _;
use offshoot_protocol::{Block, CompactionTrigger, Message, MessageRole, Origin};

use super::super::asking::{self, Asking};
use super::super::step::{TRIES, wait};
use super::super::{Speaker, Worker};
use crate::model::{ModelError, ModelEvent, StopReason};
use crate::prompt;
use crate::transcript::Transcript;

/// How many prefixes of a conversation that is too long are tried, each about half of the one before.
const PREFIXES: usize = 4;

/// A summary, and how far it goes.
pub(super) struct Summary {
    /// The model's words.
    pub(super) text: String,
    /// How many messages of the transcript it knew.
    pub(super) messages: u32,
}

/// The summary, or why there is none, for people. `trigger` says whether the whole conversation is known to be too long.
pub(super) async fn ask(
    worker: &Worker,
    transcript: &Transcript,
    trigger: CompactionTrigger,
    instructions: &str,
) -> Result<Summary, String> {
    let speaker = worker.speaker();
    let whole = if trigger == CompactionTrigger::Overflow { None } else { Some(transcript.len()) };
    let shorter = shorter(transcript);
    let mut last = "even its beginning is too long for the model".to_owned();
    for messages in whole.into_iter().chain(shorter).take(PREFIXES) {
        let mut asked = transcript.prefix(messages);
        asked.push(Message::user(prompt::compaction_request(instructions), Origin::Reminder));
        match try_hard(worker, &speaker, asked).await {
            Ok(text) => return Ok(Summary { text, messages }),
            Err(Failure::TooLong(why)) => last = why,
            Err(Failure::Other(why)) => return Err(why),
        }
    }
    Err(last)
}

/// Ends of prefixes that a request can be made of, the longest first: behind a user's message, with an answer behind it.
fn shorter(transcript: &Transcript) -> Vec<u32> {
    let start = transcript.segment_start();
    let mut ends = Vec::new();
    let mut last = None;
    for (index, stored) in (start..transcript.len()).zip(transcript.segment()) {
        if stored.message.role == MessageRole::Assistant && last == Some(MessageRole::User) {
            ends.push(index);
        }
        last = Some(stored.message.role);
    }
    ends.reverse();
    let mut chosen: Vec<u32> = ends.iter().copied().take(1).collect();
    while let Some(&at) = chosen.last() {
        let half = start + (at - start) / 2;
        match ends.iter().find(|end| **end <= half && **end > start) {
            Some(&end) => chosen.push(end),
            None => break,
        }
    }
    chosen
}

enum Failure {
    TooLong(String),
    Other(String),
}

async fn try_hard(worker: &Worker, speaker: &Speaker, asked: Transcript) -> Result<String, Failure> {
    let mut tries = 1;
    loop {
        let answer = attempt(worker, speaker, asked.clone()).await;
        asking::record_lost(worker);
        match answer {
            Ok((text, StopReason::EndTurn | StopReason::StopSequence | StopReason::ToolUse)) => {
                if text.trim().is_empty() {
                    return Err(Failure::Other("the model's summary is empty.".to_owned()));
                }
                return Ok(text);
            }
            Ok((_, StopReason::ContextWindow)) => {
                return Err(Failure::TooLong("the conversation leaves no room for a summary of it.".to_owned()));
            }
            Ok((_, StopReason::MaxTokens)) => {
                return Err(Failure::Other("the summary was cut at the output limit.".to_owned()));
            }
            Ok((_, stop)) => return Err(Failure::Other(format!("the model stopped with {stop}."))),
            Err(error) if error.is_too_long() => return Err(Failure::TooLong(format!("{error}."))),
            Err(error) if !error.is_retryable() || tries == TRIES => return Err(Failure::Other(format!("{error}."))),
            Err(error) => {
                wait(worker, &error, tries).await;
                tries += 1;
            }
        }
    }
}

/// One answer: its text, and why it ended. Calls that the model makes in spite of what it was told are left out.
async fn attempt(worker: &Worker, speaker: &Speaker, asked: Transcript) -> Result<(String, StopReason), ModelError> {
    let mut asking = Asking::new(worker, speaker, asked.clone());
    let mut stream = speaker.model.stream(worker.request(speaker, asked));
    let mut texts = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event?;
        asking.hear(&event);
        match event {
            ModelEvent::BlockEnded { block: Block::Text { text, .. }, .. } => texts.push(text),
            ModelEvent::Ended { stop, usage } => {
                // A summary costs what other answers do.
                let answered = asking.answered(usage);
                worker
                    .journal
                    .decide(|fold| (vec![(Some(worker.id.clone()), answered.into_fact(fold, worker, &stop))], ()));
                return Ok((texts.join("\n\n"), stop));
            }
            _ => {}
        }
    }
    Err(ModelError::Truncated { reason: "the stream ended without its closing event".to_owned() })
}
