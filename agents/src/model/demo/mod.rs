//! The embedded demo model: no network, no key, plainly labelled.
//!
//! A pure function from the request to a scripted answer, which is streamed in small pieces. The loop, the tools and
//! everything they touch are real. It has no state: whatever it needs to know stands in the transcript, so its scenes go
//! on after a restart and in whatever order the agents report.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use offshoot_protocol::{Block, Origin, RawJson, Seller, Usage};
use serde_json::Value;

use super::{Model, ModelError, ModelEvent, Request, StopReason};
use scene::{Position, Scene};

mod child;
mod parent;
mod sample;
mod scene;

pub use sample::{SampleError, create_sample};

/// What a window proposes as the first message.
pub const OPENING: &str = "Show me around";

/// Characters of text in one piece, at least; a piece ends with a word.
const PIECE: usize = 12;
/// Characters that count as one token, for figures of a plausible size. Nothing is billed.
const CHARACTERS_PER_TOKEN: u64 = 4;

/// The demo model. See the module.
#[derive(Clone, Debug)]
pub struct Demo {
    pause: Duration,
}

impl Demo {
    /// A demo that waits `pause` before each piece of an answer; about 20 ms reads like a fast model.
    pub fn new(pause: Duration) -> Self {
        Self { pause }
    }
}

impl Model for Demo {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let pause = self.pause;
        let events: VecDeque<ModelEvent> = events(&request).into();
        stream::unfold(events, move |mut events| async move {
            let event = events.pop_front()?;
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            Some((Ok(event), events))
        })
        .boxed()
    }

    fn seller(&self) -> Seller {
        Seller::Demo
    }
}

/// What is said and done in one step.
struct Answer {
    text: String,
    calls: Vec<Call>,
    position: Option<Position>,
}

impl Answer {
    /// An answer that ends the turn.
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), calls: Vec::new(), position: None }
    }

    /// A step of a routine.
    fn step(routine: &str, step: usize, text: impl Into<String>, calls: Vec<Call>) -> Self {
        Self { text: text.into(), calls, position: Some(Position::new(routine, step)) }
    }
}

struct Call {
    name: &'static str,
    input: Value,
}

impl Call {
    fn new(name: &'static str, input: Value) -> Self {
        Self { name, input }
    }
}

fn blocks(request: &Request) -> Vec<Block> {
    let is_summary =
        |block: &Block| matches!(block, Block::Text { text, .. } if text.starts_with("<compaction-request>"));
    if request.transcript.last().is_some_and(|last| last.blocks.iter().any(is_summary)) {
        let count = request.transcript.len() - 1;
        let text = format!("The demo model sums up {count} messages: the sample project was looked at and worked on.");
        return vec![Block::Text { text, origin: Origin::Model }];
    }
    let messages = request.transcript.messages();
    let scene = Scene::of(request, &messages);
    let Answer { mut text, mut calls, position } =
        if scene.is_child() { child::answer(&scene) } else { parent::answer(&scene) };
    // A role may leave tools out: the step is then played with what there is.
    calls.retain(|call| scene.has_tool(call.name));
    if let Some(position) = &position
        && calls.is_empty()
    {
        text.push_str("\n\nI would go on with tools that this agent doesn't have, so I end here. (");
        text.push_str(&position.routine);
        text.push(')');
    }
    let mut blocks = vec![Block::Text { text, origin: Origin::Model }];
    if let Some(position) = position {
        blocks.extend(calls.into_iter().enumerate().map(|(number, call)| Block::Call {
            id: position.call_id(scene.len(), number),
            name: call.name.to_owned(),
            input: RawJson(call.input.to_string()),
        }));
    }
    blocks
}

fn events(request: &Request) -> Vec<ModelEvent> {
    let mut events = vec![ModelEvent::Started];
    let mut output = 0;
    let mut stop = StopReason::EndTurn;
    for (index, block) in (0..).zip(blocks(request)) {
        match &block {
            Block::Text { text, .. } => {
                output += tokens(text.len());
                events.extend(pieces(text).map(|text| ModelEvent::TextDelta { block: index, text }));
            }
            Block::Call { id, name, input } => {
                stop = StopReason::ToolUse;
                output += tokens(input.0.len());
                let delta =
                    |text: String| ModelEvent::InputDelta { block: index, call: id.clone(), name: name.clone(), text };
                events.push(delta(String::new()));
                events.extend(pieces(&input.0).map(delta));
            }
            _ => {}
        }
        events.push(ModelEvent::BlockEnded { index, block });
    }
    events.push(ModelEvent::Ended { stop, usage: usage(request, output) });
    events
}

/// A text in pieces that end with a word.
fn pieces(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().skip(PIECE).find(|(_, c)| c.is_whitespace()).map_or(rest.len(), |(at, _)| at);
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        Some(piece.to_owned())
    })
}

fn tokens(bytes: usize) -> u64 {
    bytes as u64 / CHARACTERS_PER_TOKEN + 1
}

/// Figures as a provider with a prompt cache would give them: all but the last message has been seen before.
fn usage(request: &Request, output: u64) -> Usage {
    let size = |message: &offshoot_protocol::Message| {
        let sizes = message.blocks.iter().map(|block| match block {
            Block::Text { text, .. } => text.len(),
            Block::Call { input, .. } => input.0.len(),
            Block::Result { content, .. } => content.len(),
            Block::Thinking { thinking, .. } => thinking.len(),
            Block::RedactedThinking { data } => data.len(),
            Block::Opaque { raw } => raw.0.len(),
        });
        tokens(sizes.sum())
    };
    let messages = request.transcript.messages();
    let whole: u64 = messages.iter().map(|stored| size(&stored.message)).sum();
    let last = request.transcript.last().map_or(0, size);
    let is_first = messages.len() < 2;
    let head = tokens(request.head.system.len());
    let (cache_read, cache_write) = if is_first { (0, head) } else { (head + whole - last, 0) };
    Usage { input: last, cache_read, cache_write, output }
}

#[cfg(test)]
mod tests;
