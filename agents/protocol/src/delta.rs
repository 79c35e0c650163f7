//! Deltas: text on its way, merged to at most one batch per frame and never stored.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, CallId, ChangeCount, Event};

/// A piece of streaming text. Offsets are in UTF-16 code units from the start of the text it continues, so that a window
/// can tell a gap from a continuation; the final event repairs what was missed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Delta {
    /// The model writes.
    Text {
        /// Whose model.
        agent: AgentId,
        /// The place that the message will have in the transcript.
        message: u32,
        /// The block in the message, from 0.
        block: u32,
        /// What kind of block.
        kind: TextKind,
        /// Where `text` stands in the block.
        offset: u32,
        /// The new text.
        text: String,
    },
    /// A tool call writes output.
    Output {
        /// Whose call.
        agent: AgentId,
        /// Which call.
        call: CallId,
        /// Where `text` stands in the output.
        offset: u32,
        /// The new text.
        text: String,
    },
    /// Files of an agent's worktree are laid out.
    Making {
        /// Whose worktree.
        agent: AgentId,
        /// How many of its files are there.
        done: u32,
        /// All; 0 when that isn't known.
        all: u32,
    },
    /// The setup of an agent's worktree writes output.
    Setup {
        /// Whose worktree.
        agent: AgentId,
        /// Where `text` stands in the output of all its commands.
        offset: u32,
        /// The new text.
        text: String,
    },
    /// Something in an agent's worktree was touched, and it differs from its base in another way than before.
    Changes {
        /// Whose worktree.
        agent: AgentId,
        /// How much differs now.
        count: ChangeCount,
    },
}

/// What kind of block a streaming text belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TextKind {
    /// The answer.
    Text,
    /// Reasoning.
    Thinking,
    /// The input of a tool call, as JSON.
    Input {
        /// The call.
        call: CallId,
        /// The tool's name.
        name: String,
    },
}

/// What a subscriber is sent at once: events first, then deltas that continue what the events left open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Batch {
    /// Facts, in order.
    pub events: Vec<Event>,
    /// Passing text, in order.
    pub deltas: Vec<Delta>,
    /// Set when facts can't be stored any more, or can be again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub storage: Option<Storage>,
}

/// Whether facts can be stored. While they can't, agents wait before they act and nothing new begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Storage {
    /// They are.
    #[default]
    Working,
    /// They are not, and it is tried again and again: the disk is full, or fails.
    Waiting {
        /// What is wrong, and where, for people.
        message: String,
    },
}
