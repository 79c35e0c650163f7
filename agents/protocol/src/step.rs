//! One model call and its tool calls: what they cost and what came of them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, Asked, BlobHash, CacheMiss};

/// The figures of one model call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct StepEnded {
    /// Why the model stopped, as the provider says it.
    pub stop_reason: String,
    /// Tokens.
    pub usage: Usage,
    /// From sending the request to its last byte, in milliseconds.
    #[ts(type = "number")]
    pub duration_ms: u64,
    /// From sending the request to the first event of its answer, in milliseconds. Absent in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub begun_ms: Option<u64>,
    /// Who was asked. Absent in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub asked: Option<Asked>,
    /// What should have been read from the cache and wasn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub missed: Option<CacheMiss>,
}

/// Tokens of one or several model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Usage {
    /// Input neither read from nor written to a cache.
    #[ts(type = "number")]
    pub input: u64,
    /// Input read from the provider's cache.
    #[ts(type = "number")]
    pub cache_read: u64,
    /// Input written to the provider's cache.
    #[ts(type = "number")]
    pub cache_write: u64,
    /// Output.
    #[ts(type = "number")]
    pub output: u64,
}

impl Usage {
    /// All input tokens.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.output += other.output;
    }
}

/// What a tool call came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CallResult {
    /// What the model is told; bounded.
    pub content: String,
    /// Whether it failed.
    pub is_error: bool,
    /// Why it failed, for programs: `permission_denied`, `invalid_arguments`, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub code: Option<String>,
    /// The whole output, when `content` had to be cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub full: Option<BlobHash>,
    /// More for the window than the model needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub detail: Option<ResultDetail>,
    /// From the call's start, waiting for a person included, in milliseconds.
    #[ts(type = "number")]
    pub duration_ms: u64,
}

/// What the window draws of a result beside its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ResultDetail {
    /// A file was written.
    Edited {
        /// Path as the tool was given it, made absolute.
        path: String,
        /// Unified diff of the edit, without file headers; bounded.
        diff: String,
    },
    /// A command ran.
    Ran {
        /// Exit status; absent when a signal ended it.
        #[ts(optional)]
        exit: Option<i32>,
        /// How far the kernel confined it, in words for people.
        confinement: String,
    },
    /// A commit was made.
    Committed {
        /// Its full hash.
        commit: String,
        /// The branch that moved, without `refs/heads/`; absent when the checkout is on none.
        #[ts(optional)]
        branch: Option<String>,
        /// How many files it changes.
        files: u32,
        /// Lines that came.
        insertions: u32,
        /// Lines that went.
        deletions: u32,
    },
    /// An agent was started.
    Delegated {
        /// Which one.
        agent: AgentId,
    },
}
