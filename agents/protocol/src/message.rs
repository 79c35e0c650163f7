//! Messages: what a transcript is made of.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::CallId;

/// JSON text exactly as its author wrote it: key order, number spelling and spacing survive.
///
/// Serialised as a string, so that no intermediate parser can normalise it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(transparent)]
pub struct RawJson(pub String);

/// Who speaks in a message, as providers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The person, the program, or tool results.
    User,
    /// The model.
    Assistant,
}

/// Where a text block comes from. The model sees only the text; the window draws them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Written by the model.
    Model,
    /// Typed by the person.
    User,
    /// What a fork was told to do.
    Directive,
    /// What a subagent was told to do.
    Brief,
    /// A task's end, told to its parent. No human wrote it.
    Notification,
    /// What a compacted conversation came to: the first message of a transcript's next segment.
    Summary,
    /// Something that changed (role list, mode, date), appended so that the prefix stays as it was.
    Reminder,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Plain or Markdown text.
    Text {
        /// The text.
        text: String,
        /// Who wrote it.
        origin: Origin,
    },
    /// The model's reasoning, with what the provider wants back: the signature that it checks, or the whole item as JSON
    /// from a provider whose reasoning is an item. Sent back exactly as it came, also empty.
    Thinking {
        /// The reasoning; may be empty.
        thinking: String,
        /// The provider's signature over it, or its item.
        signature: String,
    },
    /// Reasoning that only the provider can read.
    RedactedThinking {
        /// Opaque.
        data: String,
    },
    /// A tool call.
    Call {
        /// The model's name for the call.
        id: CallId,
        /// The tool's name.
        name: String,
        /// The input as the model wrote it; `{}` when it wrote nothing. May be invalid JSON: then the call has an error
        /// result and a valid stand-in is sent back to the provider.
        input: RawJson,
    },
    /// The result of a call, in a user message.
    Result {
        /// Which call.
        id: CallId,
        /// What the model is told.
        content: String,
        /// Whether the call failed.
        is_error: bool,
    },
    /// A block of a kind this program doesn't know, kept to be sent back.
    Opaque {
        /// The whole block.
        raw: RawJson,
    },
}

/// One message. Never changes once it is appended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Message {
    /// Who speaks.
    pub role: MessageRole,
    /// Its parts, in order.
    pub blocks: Vec<Block>,
}

impl Message {
    /// A user message of one text.
    pub fn user(text: impl Into<String>, origin: Origin) -> Self {
        Self { role: MessageRole::User, blocks: vec![Block::Text { text: text.into(), origin }] }
    }

    /// The calls of this message, in order: id, tool name, input.
    pub fn calls(&self) -> impl Iterator<Item = (&CallId, &str, &RawJson)> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call { id, name, input } => Some((id, name.as_str(), input)),
            _ => None,
        })
    }

    /// All its plain text, blocks joined by an empty line.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }
}
