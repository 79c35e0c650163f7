//! Facts about what an agent's requests are made of: where its conversation begins anew, and who answers it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{BlobHash, Message};

/// Why a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CompactionTrigger {
    /// A person asked for it.
    Manual,
    /// It came near the model's limit.
    Auto,
    /// The model refused it as too long.
    Overflow,
}

/// A person's wish that an agent's conversation be compacted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CompactionWish {
    /// What the summary shall look at; may be empty.
    pub instructions: String,
}

/// The transcript's next segment began. The messages before it stay in the log and in the window, and are not sent any
/// more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Compacted {
    /// Place of the segment's first message in the transcript.
    pub index: u32,
    /// That message: the summary, running tasks, the plan, what the person said last.
    pub message: Message,
    /// How many messages the summary stands for.
    pub replaced: u32,
    /// Why.
    pub trigger: CompactionTrigger,
}

/// The agent's requests have another head from here on: whatever the provider had cached of its conversation is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HeadChanged {
    /// Model id, as sent to the provider.
    pub model: String,
    /// The stored request head (`RequestHead` as JSON).
    pub head: BlobHash,
}
