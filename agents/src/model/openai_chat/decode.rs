//! Reads the chunks of an answer, in all known dialects.
//!
//! Calls are gathered and ended together at the end, since some servers interleave their pieces.

use std::collections::VecDeque;

use offshoot_protocol::{Block, CallId, Origin, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::http::Decode;
use crate::model::openai::failure;
use crate::model::wire::{self, Halves, Piece, arguments, parse, protocol};
use crate::model::{ModelError, ModelEvent, StopReason};
use crate::transcript::Transcript;

/// The state of one answer.
pub(super) struct Decoder {
    /// What was sent, for the ids that are taken.
    transcript: Transcript,
    is_started: bool,
    /// Number of blocks that ended, which is the index of the open one.
    index: u32,
    open: Option<Open>,
    calls: Vec<Gathered>,
    finish: Option<String>,
    usage: Usage,
    halves: Halves,
}

/// A block of words under construction.
enum Open {
    Text(String),
    Thinking(String),
}

/// A call under construction.
struct Gathered {
    /// The server's number for it; not always given, and not always different from another's.
    number: Option<u64>,
    /// The server's id; perhaps empty.
    given: String,
    /// The id that we use.
    id: CallId,
    name: String,
    input: String,
}

impl Decode for Decoder {
    fn take(&mut self, data: &[u8], out: &mut VecDeque<ModelEvent>) -> Result<bool, ModelError> {
        let data = data.trim_ascii();
        if data.is_empty() {
            return Ok(false);
        }
        if data == b"[DONE]" {
            return self.end(out);
        }
        let chunk: Chunk<'_> = parse(data)?;
        if let Some(error) = chunk.error {
            return Err(failure(error));
        }
        if !std::mem::replace(&mut self.is_started, true) {
            out.push_back(ModelEvent::Started);
        }
        if let Some(usage) = chunk.usage {
            self.usage = usage.into();
            out.push_back(ModelEvent::Counted(self.usage));
        }
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            if let Some(delta) = choice.delta {
                self.grow(delta, out)?;
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish = Some(reason);
            }
        }
        Ok(false)
    }

    /// Some servers close the connection where others say that they are done.
    fn finish(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<bool, ModelError> {
        if self.finish.is_some() { self.end(out) } else { Ok(false) }
    }
}

impl Decoder {
    /// A decoder for the answer to `transcript`.
    pub(super) fn new(transcript: Transcript) -> Self {
        let (usage, calls) = (Usage::default(), Vec::new());
        Self {
            transcript,
            is_started: false,
            index: 0,
            open: None,
            calls,
            finish: None,
            usage,
            halves: Halves::default(),
        }
    }

    fn grow(&mut self, delta: Delta<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let thought = delta.reasoning_content.or(delta.reasoning).and_then(words);
        if let Some(piece) = thought.filter(|piece| !piece.is_empty()) {
            if !matches!(self.open, Some(Open::Thinking(_))) {
                self.close(out);
            }
            let Open::Thinking(open) = self.open.get_or_insert_with(|| Open::Thinking(String::new())) else {
                unreachable!("anything else was closed")
            };
            let text = self.halves.join(self.index, &piece);
            open.push_str(&text);
            out.push_back(ModelEvent::ThinkingDelta { block: self.index, text });
        }
        for piece in [delta.content, delta.refusal].into_iter().flatten().filter_map(words) {
            if piece.is_empty() {
                continue;
            }
            if !matches!(self.open, Some(Open::Text(_))) {
                self.close(out);
            }
            let Open::Text(open) = self.open.get_or_insert_with(|| Open::Text(String::new())) else {
                unreachable!("anything else was closed")
            };
            let text = self.halves.join(self.index, &piece);
            open.push_str(&text);
            out.push_back(ModelEvent::TextDelta { block: self.index, text });
        }
        for piece in delta.tool_calls.unwrap_or_default() {
            self.call(piece, out)?;
        }
        Ok(())
    }

    fn close(&mut self, out: &mut VecDeque<ModelEvent>) {
        let rest = self.halves.end(self.index);
        let block = match self.open.take() {
            Some(Open::Text(text)) => Block::Text { text: text + rest, origin: Origin::Model },
            Some(Open::Thinking(thinking)) => Block::Thinking { thinking, signature: String::new() },
            None => return,
        };
        out.push_back(ModelEvent::BlockEnded { index: self.index, block });
        self.index += 1;
    }

    fn call(&mut self, piece: CallPiece<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let function = piece.function.unwrap_or_default();
        let given = piece.id.unwrap_or_default();
        let name = function.name.unwrap_or_default();
        let more = function.arguments.map(arguments).transpose()?.unwrap_or_default();
        let at = match self.continued(piece.index, &given, &name) {
            Some(at) => at,
            None => self.begin(piece.index, given, name, out)?,
        };
        let block = self.index + u32::try_from(at).unwrap_or(u32::MAX);
        let call = &mut self.calls[at];
        if !more.is_empty() {
            let text = self.halves.join(block, &more);
            call.input.push_str(&text);
            let (call, name) = (call.id.clone(), call.name.clone());
            out.push_back(ModelEvent::InputDelta { block, call, name, text });
        }
        Ok(())
    }

    /// The call that a piece continues. A piece with another id begins a call even under a number in use, and so does one
    /// that names a tool once the input before it is complete: some servers number every call 0.
    fn continued(&self, number: Option<u64>, given: &str, name: &str) -> Option<usize> {
        let at = match number {
            Some(number) => self.calls.iter().rposition(|call| call.number == Some(number))?,
            None => self.calls.len().checked_sub(1)?,
        };
        let call = &self.calls[at];
        if !given.is_empty() && given != call.given {
            return None;
        }
        let is_complete = || serde_json::from_str::<&RawValue>(&call.input).is_ok();
        if given.is_empty() && !name.is_empty() && is_complete() {
            return None;
        }
        Some(at)
    }

    fn begin(
        &mut self,
        number: Option<u64>,
        given: String,
        name: String,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<usize, ModelError> {
        if name.is_empty() {
            return Err(protocol("a call without a tool's name"));
        }
        self.close(out);
        let at = self.calls.len();
        let block = self.index + u32::try_from(at).unwrap_or(u32::MAX);
        let id = wire::call_id(&self.transcript, &given, block, self.calls.iter().map(|call| &call.id));
        let text = String::new();
        out.push_back(ModelEvent::InputDelta { block, call: id.clone(), name: name.clone(), text });
        self.calls.push(Gathered { number, given, id, name, input: String::new() });
        Ok(at)
    }

    fn end(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<bool, ModelError> {
        let finish = self.finish.take();
        let Some(finish) = finish.or_else(|| (!self.calls.is_empty()).then(String::new)) else {
            return Err(ModelError::Truncated { reason: "the answer has no finish reason".to_owned() });
        };
        self.close(out);
        let has_calls = !self.calls.is_empty();
        for call in self.calls.drain(..) {
            let block = Block::Call { id: call.id, name: call.name, input: wire::input(call.input) };
            out.push_back(ModelEvent::BlockEnded { index: self.index, block });
            self.index += 1;
        }
        let stop = match finish.as_str() {
            "length" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refusal,
            // Some servers say `stop` although they call.
            "stop" | "eos" | "tool_calls" | "function_call" | "" if has_calls => StopReason::ToolUse,
            "stop" | "eos" | "tool_calls" | "function_call" => StopReason::EndTurn,
            "error" => {
                let message = "the provider broke off with an error that it didn't name".to_owned();
                return Err(ModelError::Status { status: 500, message, retry_after: None });
            }
            _ => StopReason::Unknown(finish),
        };
        out.push_back(ModelEvent::Ended { stop, usage: self.usage });
        Ok(true)
    }
}

/// The words of a delta: a text, or the texts of a list of parts.
fn words(value: &RawValue) -> Option<Piece> {
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        text: Piece,
    }
    if value.get().starts_with('"') {
        return serde_json::from_str(value.get()).ok();
    }
    let parts: Vec<Part> = serde_json::from_str(value.get()).ok()?;
    Some(parts.into_iter().map(|part| part.text).collect())
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<WireUsage>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_content: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallPiece<'a>>>,
}

#[derive(Deserialize)]
struct CallPiece<'a> {
    index: Option<u64>,
    id: Option<String>,
    #[serde(borrow)]
    function: Option<FunctionPiece<'a>>,
}

#[derive(Default, Deserialize)]
struct FunctionPiece<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    /// One provider's own name for what it read from its cache.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        let details = wire.prompt_tokens_details.and_then(|details| details.cached_tokens);
        let cache_read = details.or(wire.prompt_cache_hit_tokens).unwrap_or(0);
        let input = wire.prompt_tokens.unwrap_or(0).saturating_sub(cache_read);
        Self { input, cache_read, cache_write: 0, output: wire.completion_tokens.unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests;
