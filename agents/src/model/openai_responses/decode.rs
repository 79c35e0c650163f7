//! Reads the events of an answer.
//!
//! An answer is a list of items; each becomes one block. Items may grow side by side, but their blocks end in the items'
//! order. Events and fields that aren't known are ignored, whole items of unknown kinds are kept to be sent back.
//! Format: <https://developers.openai.com/api/reference/resources/responses/streaming-events>.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use offshoot_protocol::{Block, CallId, Origin, RawJson, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::http::Decode;
use crate::model::openai::failure;
use crate::model::wire::{self, Halves, Piece, parse, protocol};
use crate::model::{ModelError, ModelEvent, StopReason};
use crate::transcript::Transcript;

/// The state of one answer.
pub(super) struct Decoder {
    /// What was sent, for the ids that are taken.
    transcript: Transcript,
    is_started: bool,
    /// The items that are not blocks yet, by the server's number.
    items: BTreeMap<u64, Item>,
    /// Number of items that began, which is the next one's block.
    begun: u32,
    /// Number of blocks that ended.
    ended: u32,
    has_calls: bool,
    has_refusal: bool,
    calls: Vec<CallId>,
    halves: Halves,
}

struct Item {
    block: u32,
    content: Content,
    is_done: bool,
}

/// An item under construction.
enum Content {
    Text(String),
    /// What is shown of it, and the whole item once it is there.
    Reasoning {
        summary: String,
        item: String,
    },
    Call {
        id: CallId,
        name: String,
        arguments: String,
    },
    /// A kind that this program doesn't know.
    Opaque(String),
}

impl Decode for Decoder {
    fn take(&mut self, data: &[u8], out: &mut VecDeque<ModelEvent>) -> Result<bool, ModelError> {
        // Some servers close the stream in the manner of the older format.
        if data.trim_ascii().is_empty() || data == b"[DONE]" {
            return Ok(false);
        }
        let event: Event<'_> = parse(data)?;
        if &*event.r#type == "error" {
            let whole = std::str::from_utf8(data).ok().and_then(|text| serde_json::from_str::<&RawValue>(text).ok());
            return Err(event.error.or(whole).map_or_else(|| protocol("an error without words"), failure));
        }
        if event.r#type.starts_with("response.") && !std::mem::replace(&mut self.is_started, true) {
            out.push_back(ModelEvent::Started);
        }
        match &*event.r#type {
            "response.output_item.added" => self.begin(&event, out)?,
            "response.output_item.done" => self.complete(&event, out)?,
            "response.output_text.delta" | "response.refusal.delta" => self.grow_text(&event, out)?,
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.grow_reasoning(&event, out);
            }
            "response.reasoning_summary_part.added" => self.part_reasoning(&event, out),
            "response.function_call_arguments.delta" => self.grow_call(&event, out)?,
            "response.completed" | "response.incomplete" | "response.failed" => return self.end(&event, out),
            // Progress, parts that begin and end, annotations, and whatever comes to be.
            _ => {}
        }
        Ok(false)
    }
}

impl Decoder {
    /// A decoder for the answer to `transcript`.
    pub(super) fn new(transcript: Transcript) -> Self {
        Self {
            transcript,
            is_started: false,
            items: BTreeMap::new(),
            begun: 0,
            ended: 0,
            has_calls: false,
            has_refusal: false,
            calls: Vec::new(),
            halves: Halves::default(),
        }
    }

    fn begin(&mut self, event: &Event<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let number = event.number();
        if self.items.contains_key(&number) {
            return Err(protocol("an item began twice"));
        }
        let raw = event.item.ok_or_else(|| protocol("an item without content"))?;
        let item: WireItem<'_> = parse(raw.get().as_bytes())?;
        let content = match &*item.r#type {
            "message" => Content::Text(String::new()),
            "reasoning" => Content::Reasoning { summary: String::new(), item: String::new() },
            "function_call" => {
                let name = item.name.filter(|name| !name.is_empty());
                let name = name.ok_or_else(|| protocol("a call without a tool's name"))?;
                let given = item.call_id.unwrap_or_default();
                let id = wire::call_id(&self.transcript, &given, self.begun, self.calls.iter());
                self.calls.push(id.clone());
                let (call, block, text) = (id.clone(), self.begun, String::new());
                out.push_back(ModelEvent::InputDelta { block, call, name: name.clone(), text });
                Content::Call { id, name, arguments: String::new() }
            }
            _ => Content::Opaque(raw.get().to_owned()),
        };
        self.insert(number, content);
        Ok(())
    }

    fn insert(&mut self, number: u64, content: Content) {
        self.items.insert(number, Item { block: self.begun, content, is_done: false });
        self.begun += 1;
    }

    fn grow_text(&mut self, event: &Event<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let number = event.number();
        if !self.items.contains_key(&number) {
            self.insert(number, Content::Text(String::new()));
        }
        self.has_refusal |= &*event.r#type == "response.refusal.delta";
        let Some(Item { block, content: Content::Text(text), .. }) = self.items.get_mut(&number) else {
            return Err(protocol("text for an item that is none"));
        };
        let delta = self.halves.join(*block, &event.delta()?);
        text.push_str(&delta);
        out.push_back(ModelEvent::TextDelta { block: *block, text: delta });
        Ok(())
    }

    fn grow_reasoning(&mut self, event: &Event<'_>, out: &mut VecDeque<ModelEvent>) {
        // Nothing hangs on what is shown of reasoning: what comes for no item is left out.
        if let (Some(Item { block, content: Content::Reasoning { summary, .. }, .. }), Ok(piece)) =
            (self.items.get_mut(&event.number()), event.delta())
        {
            let text = self.halves.join(*block, &piece);
            summary.push_str(&text);
            out.push_back(ModelEvent::ThinkingDelta { block: *block, text });
        }
    }

    /// Sets the parts of a summary apart.
    fn part_reasoning(&mut self, event: &Event<'_>, out: &mut VecDeque<ModelEvent>) {
        if let Some(Item { block, content: Content::Reasoning { summary, .. }, .. }) =
            self.items.get_mut(&event.number())
            && !summary.is_empty()
        {
            summary.push_str("\n\n");
            out.push_back(ModelEvent::ThinkingDelta { block: *block, text: "\n\n".to_owned() });
        }
    }

    fn grow_call(&mut self, event: &Event<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let Some(Item { block, content: Content::Call { id, name, arguments }, .. }) =
            self.items.get_mut(&event.number())
        else {
            return Err(protocol("arguments for an item that is no call"));
        };
        let text = self.halves.join(*block, &event.delta()?);
        arguments.push_str(&text);
        out.push_back(ModelEvent::InputDelta { block: *block, call: id.clone(), name: name.clone(), text });
        Ok(())
    }

    /// The item as a whole, which counts more than its pieces.
    fn complete(&mut self, event: &Event<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let number = event.number();
        if !self.items.contains_key(&number) {
            self.begin(event, out)?;
        }
        let raw = event.item.ok_or_else(|| protocol("an item without content"))?;
        let whole: WireItem<'_> = parse(raw.get().as_bytes())?;
        let Some(item) = self.items.get_mut(&number) else { return Err(protocol("an item ended that never began")) };
        if item.is_done {
            return Err(protocol("an item ended twice"));
        }
        item.is_done = true;
        match &mut item.content {
            Content::Text(text) => {
                let parts = whole.content.map(parts).unwrap_or_default();
                self.has_refusal |= parts.iter().any(|part| part.r#type == "refusal");
                let said: String = parts.into_iter().map(|part| part.text + &part.refusal).collect();
                if text.is_empty() && !said.is_empty() {
                    out.push_back(ModelEvent::TextDelta { block: item.block, text: said.clone() });
                }
                if !said.is_empty() {
                    *text = said;
                }
            }
            Content::Reasoning { summary, item } => {
                if summary.is_empty() {
                    let parts = whole.summary.map(parts).unwrap_or_default();
                    *summary = parts.into_iter().map(|part| part.text).collect::<Vec<_>>().join("\n\n");
                }
                raw.get().clone_into(item);
            }
            Content::Call { arguments, .. } => {
                let given = whole.arguments.map(wire::arguments).transpose()?.unwrap_or_default();
                let given = Halves::default().join(0, &given);
                if !given.is_empty() {
                    *arguments = given;
                }
            }
            Content::Opaque(item) => raw.get().clone_into(item),
        }
        self.end_blocks(out);
        Ok(())
    }

    /// Ends the blocks of the first items, as far as those are complete.
    fn end_blocks(&mut self, out: &mut VecDeque<ModelEvent>) {
        while let Some((number, item)) = self.items.iter().find(|(_, item)| item.block == self.ended)
            && item.is_done
        {
            let number = *number;
            if let Some(item) = self.items.remove(&number) {
                self.end_block(item, out);
            }
        }
    }

    fn end_block(&mut self, item: Item, out: &mut VecDeque<ModelEvent>) {
        // Where the whole item came, it has what its pieces lacked.
        let _ = self.halves.end(item.block);
        let block = match item.content {
            Content::Text(text) => Block::Text { text, origin: Origin::Model },
            Content::Reasoning { summary, item } => Block::Thinking { thinking: summary, signature: item },
            Content::Call { id, name, arguments } => {
                self.has_calls = true;
                Block::Call { id, name, input: wire::input(arguments) }
            }
            Content::Opaque(raw) => Block::Opaque { raw: RawJson(raw) },
        };
        out.push_back(ModelEvent::BlockEnded { index: self.ended, block });
        self.ended += 1;
    }

    fn end(&mut self, event: &Event<'_>, out: &mut VecDeque<ModelEvent>) -> Result<bool, ModelError> {
        let response: Response<'_> = match event.response {
            Some(response) => parse(response.get().as_bytes())?,
            None => Response::default(),
        };
        let usage = response.usage.map(Usage::from);
        // Should it be no answer: it is billed all the same.
        out.extend(usage.map(ModelEvent::Counted));
        let is_complete = &*event.r#type == "response.completed";
        if &*event.r#type == "response.failed" || response.error.is_some_and(|error| error.get() != "null") {
            let nothing = || protocol("the provider gave up without saying why");
            return Err(response.error.filter(|error| error.get() != "null").map_or_else(nothing, failure));
        }
        let mut open: Vec<Item> = std::mem::take(&mut self.items).into_values().collect();
        open.sort_by_key(|item| item.block);
        for item in open {
            // A call that the limit cut must not look like one that was meant.
            if item.is_done || is_complete || !matches!(item.content, Content::Call { .. }) {
                self.end_block(item, out);
            }
        }
        let stop = match response.incomplete_details.and_then(|details| details.reason) {
            Some(reason) if !is_complete => match reason.as_str() {
                "max_output_tokens" | "max_tokens" => StopReason::MaxTokens,
                "content_filter" => StopReason::Refusal,
                _ => StopReason::Unknown(reason),
            },
            _ if !is_complete => StopReason::Unknown("incomplete".to_owned()),
            _ if self.has_calls => StopReason::ToolUse,
            _ if self.has_refusal => StopReason::Refusal,
            _ => StopReason::EndTurn,
        };
        out.push_back(ModelEvent::Ended { stop, usage: usage.unwrap_or_default() });
        Ok(true)
    }
}

/// The parts of a message or of a summary that can be read.
fn parts(value: &RawValue) -> Vec<Part> {
    let raw: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
    raw.into_iter().filter_map(|part| serde_json::from_str(part.get()).ok()).collect()
}

/// An event. Its parts are parsed only where its type is known.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    output_index: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Event<'_> {
    /// The item that the event is about; servers that don't number them send one.
    fn number(&self) -> u64 {
        self.output_index.and_then(|index| index.get().parse().ok()).unwrap_or(0)
    }

    fn delta(&self) -> Result<Piece, ModelError> {
        self.delta.map_or_else(|| Ok(Piece::default()), |delta| parse(delta.get().as_bytes()))
    }
}

#[derive(Deserialize)]
struct WireItem<'a> {
    #[serde(borrow, default)]
    r#type: Cow<'a, str>,
    call_id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    r#type: String,
    text: String,
    refusal: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    usage: Option<WireUsage>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    incomplete_details: Option<Incomplete>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        let cache_read = wire.input_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0);
        let input = wire.input_tokens.unwrap_or(0).saturating_sub(cache_read);
        Self { input, cache_read, cache_write: 0, output: wire.output_tokens.unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests;
