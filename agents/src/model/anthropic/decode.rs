//! Reads the events of an answer.
//!
//! A pure machine: the data of one event in, [`ModelEvent`]s out. What it doesn't know it ignores, but for whole blocks,
//! which must be sent back and are kept raw.
//! Format: <https://platform.claude.com/docs/en/build-with-claude/streaming>.

use std::borrow::Cow;
use std::collections::VecDeque;

use offshoot_protocol::{Block, CallId, Origin, RawJson, Usage, Warning};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::opaque;
use crate::model::http::Decode;
use crate::model::wire::{self, Halves, Piece, parse, protocol};
use crate::model::{ModelError, ModelEvent, StopReason};

/// The state of one answer.
#[derive(Default)]
pub(super) struct Decoder {
    is_started: bool,
    /// Number of blocks that ended, which is the index of the open one.
    index: u32,
    open: Option<(u64, Open)>,
    stop: Option<StopReason>,
    usage: Usage,
    halves: Halves,
}

/// A block under construction.
enum Open {
    Text(String),
    Thinking { thinking: String, signature: String },
    Redacted { data: String },
    Call { id: CallId, name: String, input: String, initial: String },
    Opaque { raw: String, input: String, text: String },
}

impl Decode for Decoder {
    fn take(&mut self, data: &[u8], out: &mut VecDeque<ModelEvent>) -> Result<bool, ModelError> {
        // Some gateways close the stream in the manner of another provider.
        if data.trim_ascii().is_empty() || data == b"[DONE]" {
            return Ok(false);
        }
        let event: Event<'_> = parse(data)?;
        match &*event.r#type {
            "message_start" => self.start(&event, out)?,
            "content_block_start" => self.open(&event, out)?,
            "content_block_delta" => self.grow(&event, out)?,
            "content_block_stop" => self.close(&event, out)?,
            "message_delta" => self.message_delta(&event)?,
            "message_stop" => return self.end(out).map(|()| true),
            "error" => return Err(error(&event)),
            // `ping`, and whatever comes to be.
            _ => {}
        }
        Ok(false)
    }
}

impl Decoder {
    fn start(&mut self, event: &Event<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        if std::mem::replace(&mut self.is_started, true) {
            return Err(protocol("a second message began"));
        }
        if let Some(message) = event.message {
            let message: MessageStart<'_> = parse(message.get().as_bytes())?;
            self.count(message.usage);
            out.push_back(ModelEvent::Started);
            out.push_back(ModelEvent::Counted(self.usage));
            out.extend(dropped(message.input_transformations).map(ModelEvent::Warned));
            return Ok(());
        }
        out.push_back(ModelEvent::Started);
        Ok(())
    }

    fn open(&mut self, event: &Event<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        if self.open.is_some() {
            return Err(protocol("a block began inside another"));
        }
        let index = event.index().ok_or_else(|| protocol("a block without an index"))?;
        let raw = event.content_block.ok_or_else(|| protocol("a block without content"))?;
        let kind: Kind<'_> = parse(raw.get().as_bytes())?;
        let block = self.index;
        let open = match &*kind.r#type {
            "text" => {
                let start: TextStart = parse(raw.get().as_bytes())?;
                if !start.text.is_empty() {
                    out.push_back(ModelEvent::TextDelta { block, text: start.text.clone() });
                }
                Open::Text(start.text)
            }
            "thinking" => {
                let start: ThinkingStart = parse(raw.get().as_bytes())?;
                if !start.thinking.is_empty() {
                    out.push_back(ModelEvent::ThinkingDelta { block, text: start.thinking.clone() });
                }
                Open::Thinking { thinking: start.thinking, signature: start.signature }
            }
            "redacted_thinking" => {
                let start: RedactedStart = parse(raw.get().as_bytes())?;
                Open::Redacted { data: start.data }
            }
            "tool_use" => {
                let start: CallStart<'_> = parse(raw.get().as_bytes())?;
                let (call, name) = (CallId(start.id), start.name);
                let text = String::new();
                out.push_back(ModelEvent::InputDelta { block, call: call.clone(), name: name.clone(), text });
                let initial = start.input.map_or_else(String::new, |input| input.get().to_owned());
                Open::Call { id: call, name, input: String::new(), initial }
            }
            _ => Open::Opaque { raw: raw.get().to_owned(), input: String::new(), text: String::new() },
        };
        self.open = Some((index, open));
        Ok(())
    }

    fn grow(&mut self, event: &Event<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let Some((index, open)) = &mut self.open else { return Err(protocol("a delta outside any block")) };
        if event.index().is_some_and(|given| given != *index) {
            return Err(protocol("a delta for a block that isn't open"));
        }
        let Some(delta) = event.delta else { return Ok(()) };
        let kind: Kind<'_> = parse(delta.get().as_bytes())?;
        if !matches!(&*kind.r#type, "text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta") {
            return Ok(());
        }
        let delta: Delta = parse(delta.get().as_bytes())?;
        let block = self.index;
        let mut join = |piece: &Piece| self.halves.join(block, piece);
        match (open, &*kind.r#type) {
            (Open::Text(text), "text_delta") => {
                let more = join(&delta.text);
                text.push_str(&more);
                out.push_back(ModelEvent::TextDelta { block, text: more });
            }
            (Open::Thinking { thinking, .. }, "thinking_delta") => {
                let more = join(&delta.thinking);
                thinking.push_str(&more);
                out.push_back(ModelEvent::ThinkingDelta { block, text: more });
            }
            (Open::Thinking { signature, .. }, "signature_delta") => signature.push_str(&delta.signature),
            (Open::Call { id, name, input, .. }, "input_json_delta") => {
                let text = join(&delta.partial_json);
                input.push_str(&text);
                let (call, name) = (id.clone(), name.clone());
                out.push_back(ModelEvent::InputDelta { block, call, name, text });
            }
            (Open::Opaque { input, .. }, "input_json_delta") => input.push_str(&join(&delta.partial_json)),
            (Open::Opaque { text, .. }, "text_delta") => text.push_str(&join(&delta.text)),
            // A kind of growth that this block doesn't have.
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, event: &Event<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let Some((index, open)) = self.open.take() else { return Err(protocol("a block ended that never began")) };
        if event.index().is_some_and(|given| given != index) {
            return Err(protocol("a block ended that isn't the open one"));
        }
        let rest = self.halves.end(self.index);
        let block = match open {
            Open::Text(text) => Block::Text { text: text + rest, origin: Origin::Model },
            Open::Thinking { thinking, signature } => Block::Thinking { thinking, signature },
            Open::Redacted { data } => Block::RedactedThinking { data },
            Open::Call { id, name, input, initial } => {
                let input = if input.trim().is_empty() { initial } else { input };
                Block::Call { id, name, input: wire::input(input) }
            }
            Open::Opaque { raw, input, text } => Block::Opaque { raw: RawJson(opaque::complete(raw, &input, &text)) },
        };
        out.push_back(ModelEvent::BlockEnded { index: self.index, block });
        self.index += 1;
        Ok(())
    }

    fn message_delta(&mut self, event: &Event<'_>) -> Result<(), ModelError> {
        if let Some(delta) = event.delta {
            let delta: MessageDelta = parse(delta.get().as_bytes())?;
            if let Some(reason) = delta.stop_reason {
                self.stop = Some(stop_reason(reason));
            }
        }
        if let Some(usage) = event.usage {
            self.count(parse(usage.get().as_bytes())?);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        if self.open.is_some() {
            return Err(protocol("the message ended inside a block"));
        }
        let stop = self.stop.take().ok_or_else(|| protocol("the message ended without a stop reason"))?;
        out.push_back(ModelEvent::Ended { stop, usage: self.usage });
        Ok(())
    }

    /// Figures are running totals: the last one given counts.
    fn count(&mut self, usage: WireUsage) {
        let set = |total: &mut u64, given: Option<u64>| *total = given.unwrap_or(*total);
        set(&mut self.usage.input, usage.input);
        set(&mut self.usage.cache_write, usage.cache_write);
        set(&mut self.usage.cache_read, usage.cache_read);
        set(&mut self.usage.output, usage.output);
    }
}

/// What to tell a person about thinking that the provider left out. Other transformations, and a list in a form that isn't
/// known, say nothing. Format:
/// <https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html>.
fn dropped(transformations: Option<&RawValue>) -> Option<Warning> {
    let list: Vec<Transformation> = serde_json::from_str(transformations?.get()).ok()?;
    let dropped: Vec<Transformation> = list.into_iter().filter(|entry| entry.r#type == "thinking_dropped").collect();
    let why = match dropped.first()?.reason.as_str() {
        "model_binding_mismatch" => "another model wrote it",
        "prefix_binding_mismatch" => "what stands before it is not what stood there when it was written",
        "organization_binding_mismatch" => "another account's request produced it",
        "end_user_binding_mismatch" => "it was produced for another user",
        _ => "it doesn't belong to this conversation",
    };
    let blocks = if dropped.len() == 1 { "a block".to_owned() } else { format!("{} blocks", dropped.len()) };
    let message = format!("The provider left {blocks} of earlier thinking out of a request: {why}.");
    Some(Warning { code: "thinking_dropped".to_owned(), message })
}

fn stop_reason(text: String) -> StopReason {
    match text.as_str() {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "pause_turn" => StopReason::PauseTurn,
        "refusal" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextWindow,
        _ => StopReason::Unknown(text),
    }
}

fn error(event: &Event<'_>) -> ModelError {
    let detail = event.error.and_then(|error| serde_json::from_str::<ErrorDetail>(error.get()).ok());
    let ErrorDetail { r#type, message } = detail.unwrap_or_default();
    let message = if message.is_empty() { format!("{type} without a message") } else { message };
    ModelError::Status { status: status_of(&r#type), message, retry_after: None }
}

/// The HTTP status that an error type comes with before a stream has begun.
/// Source: <https://platform.claude.com/docs/en/api/errors>.
fn status_of(error_type: &str) -> u16 {
    match error_type {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "conflict_error" => 409,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        // `api_error`, and whatever comes to be.
        _ => 500,
    }
}

/// An event. Its parts are parsed only where its type is known.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    index: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Event<'_> {
    fn index(&self) -> Option<u64> {
        self.index?.get().parse().ok()
    }
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow, default)]
    r#type: Cow<'a, str>,
}

#[derive(Deserialize)]
struct MessageStart<'a> {
    #[serde(default)]
    usage: WireUsage,
    #[serde(borrow, default)]
    input_transformations: Option<&'a RawValue>,
}

/// Something that the provider did to what it was sent.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Transformation {
    r#type: String,
    reason: String,
}

#[derive(Deserialize)]
struct MessageDelta {
    stop_reason: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct WireUsage {
    #[serde(rename = "input_tokens")]
    input: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_write: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
}

#[derive(Deserialize)]
struct TextStart {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct ThinkingStart {
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    signature: String,
}

#[derive(Deserialize)]
struct RedactedStart {
    data: String,
}

#[derive(Deserialize)]
struct CallStart<'a> {
    id: String,
    name: String,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta {
    text: Piece,
    thinking: Piece,
    signature: String,
    partial_json: Piece,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorDetail {
    r#type: String,
    message: String,
}

#[cfg(test)]
mod tests;
