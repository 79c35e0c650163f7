//! Models: what is asked of a provider, and what comes back.
//!
//! [`Model`] is the one door to every provider. An implementation writes requests so that siblings and later turns share
//! the longest possible prefix, decodes the stream, and classifies failures; it never retries (the turn does, visibly)
//! and never decides what a call does.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use offshoot_protocol::{AgentId, Block, CallId, Seller, SessionId, Usage, Warning};
use serde::{Deserialize, Serialize};

use crate::transcript::Transcript;

pub mod anthropic;
mod body;
mod caching;
#[cfg(test)]
mod decoding;
pub mod demo;
pub(crate) mod http;
mod known;
pub mod listing;
pub mod local;
mod openai;
pub mod openai_chat;
pub mod openai_responses;
mod replaceable;
mod secret;
mod sse;
mod wire;

pub use http::Endpoint;
pub use known::KnownModels;
pub use replaceable::Replaceable;
pub use secret::Secret;

/// Which client speaks for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Chat Completions and compatible servers.
    Openai,
    /// `OpenAI` Responses.
    OpenaiResponses,
    /// The embedded demo: no network, no key.
    Demo,
}

/// Everything of a request that stands before the messages. Frozen when an agent starts and inherited whole by its forks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestHead {
    /// Which client speaks for it.
    pub provider: Provider,
    /// Model id, as the provider knows it.
    pub model: String,
    /// The system prompt, rendered once.
    pub system: String,
    /// Tool definitions, in a fixed order.
    pub tools: Vec<ToolDefinition>,
    /// Most output tokens of one answer.
    pub max_tokens: u32,
    /// Most thinking tokens of one answer; absent: no thinking asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<u32>,
}

/// A tool as the model is told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// Prose for the model.
    pub description: String,
    /// JSON schema of its input.
    pub input_schema: serde_json::Value,
}

/// One request.
#[derive(Clone)]
pub struct Request {
    /// What stands before the messages.
    pub head: Arc<RequestHead>,
    /// The messages. The last one is a user message, and every call has its result.
    pub transcript: Transcript,
    /// Number of messages up to and with the one that holds the siblings' common end, for a fork: it stands in message
    /// `fork_point - 1`, before the directive. A cache mark goes there.
    pub fork_point: Option<u32>,
    /// Sent as `x-offshoot-session`, and as cache key where a provider has one.
    pub session: SessionId,
    /// Sent as `x-offshoot-agent`.
    pub agent: AgentId,
}

/// A provider's client.
pub trait Model: Send + Sync {
    /// Sends the request and streams the answer. The stream yields [`ModelEvent::Ended`] exactly once, last, or an error,
    /// last; a stream that simply stops is an error of the implementation. Dropping it ends the request.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>>;

    /// Who answers, as far as prices depend on it.
    fn seller(&self) -> Seller;
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// The provider has begun to answer: from now on a cached prefix that this request wrote can be read by others.
    Started,
    /// More text of block `block`.
    TextDelta {
        /// Index of the block in the message.
        block: u32,
        /// The new text.
        text: String,
    },
    /// More reasoning of block `block`.
    ThinkingDelta {
        /// Index of the block in the message.
        block: u32,
        /// The new text.
        text: String,
    },
    /// A call opened, or its input grew.
    InputDelta {
        /// Index of the block in the message.
        block: u32,
        /// The call.
        call: CallId,
        /// The tool's name.
        name: String,
        /// The new text; empty when the call opens.
        text: String,
    },
    /// Block `index` is complete. Blocks come in order.
    BlockEnded {
        /// Index of the block in the message.
        index: u32,
        /// The whole block.
        block: Block,
    },
    /// What the provider has billed so far, should the answer break off.
    Counted(Usage),
    /// The provider did something to the request that a person should know. It doesn't stop the answer.
    Warned(Warning),
    /// The answer is complete.
    Ended {
        /// Why.
        stop: StopReason,
        /// Its figures.
        usage: Usage,
    },
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It is done.
    EndTurn,
    /// It wants results of calls.
    ToolUse,
    /// The output limit cut it; the last block may be cut too.
    MaxTokens,
    /// A stop sequence.
    StopSequence,
    /// The provider paused a long turn; the same messages and the partial answer are to be sent again.
    PauseTurn,
    /// It declined.
    Refusal,
    /// The conversation is too long.
    ContextWindow,
    /// Something this program doesn't know, as the provider wrote it.
    Unknown(String),
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::ContextWindow => "model_context_window_exceeded",
            Self::Unknown(text) => text,
        })
    }
}

/// Why there is no answer, or only part of one. Texts never contain a key.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ModelError {
    /// No connection, or it broke before the first byte of the answer.
    #[error("could not reach {url}: {reason}")]
    Connection {
        /// What was tried.
        url: String,
        /// Why it failed.
        reason: String,
    },
    /// The provider answered with an HTTP error, or with an `error` event behind HTTP 200.
    #[error("the provider answered {status}: {message}")]
    Status {
        /// The HTTP status, or the one that the `error` event's type stands for.
        status: u16,
        /// The provider's words.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// The stream ended without its closing event, or broke in the middle.
    #[error("the answer broke off: {reason}")]
    Truncated {
        /// What is known.
        reason: String,
    },
    /// Not a byte for the idle limit.
    #[error("no data for {} s", .limit.as_secs())]
    Idle {
        /// The limit.
        limit: Duration,
    },
    /// The answer breaks the protocol, or one of this program's bounds.
    #[error("the answer can't be understood: {reason}")]
    Protocol {
        /// What was wrong.
        reason: String,
    },
    /// The provider isn't set up.
    #[error("{reason}")]
    NotConfigured {
        /// What is missing and what to do.
        reason: String,
    },
}

impl ModelError {
    /// Whether the provider says that the request is longer than it takes.
    pub fn is_too_long(&self) -> bool {
        let Self::Status { status, message, .. } = self else { return false };
        *status == 413 || *status == 400 && is_about_length(message)
    }

    /// Whether sending the same request again may help.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Connection { .. } | Self::Truncated { .. } | Self::Idle { .. } => true,
            // A 429 without `retry-after` whose text speaks of spending is a cap, not a rate.
            Self::Status { status: 429, message, retry_after: None } => !is_spend_cap(message),
            Self::Status { status, .. } => matches!(status, 408 | 409 | 429 | 500 | 502 | 503 | 504 | 529),
            Self::Protocol { .. } | Self::NotConfigured { .. } => false,
        }
    }
}

/// Whether an error text speaks of the context window, in the words of Anthropic, `OpenAI`, llama.cpp, vLLM or Ollama.
fn is_about_length(message: &str) -> bool {
    let message = message.to_lowercase();
    [
        "prompt is too long",
        "exceed context limit",
        "context_length_exceeded",
        "maximum context length",
        "context window",
        "context size",
        "context length",
    ]
    .iter()
    .any(|words| message.contains(words))
}

fn is_spend_cap(message: &str) -> bool {
    let message = message.to_lowercase();
    ["spend", "billing", "credit", "quota", "budget"].iter().any(|word| message.contains(word))
}
