//! Commands: wishes from the window, and the one way they are turned down.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, Answer, InputId, PermissionMode, RequestId, ReviewWish, TaskId};

/// A wish about one open session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// Give an agent a text. Queued while it works, taken in at its next step; an idle agent starts a turn.
    SendMessage {
        /// Whom.
        agent: AgentId,
        /// What.
        text: String,
    },
    /// Take back a text that the agent has not seen yet.
    WithdrawInput {
        /// Whose.
        agent: AgentId,
        /// Which.
        input: InputId,
    },
    /// End the agent's current turn; what was received is kept.
    Interrupt {
        /// Whose.
        agent: AgentId,
    },
    /// Stop a child and everything below it, until a person resumes it.
    Stop {
        /// Which.
        agent: AgentId,
    },
    /// Stop a shell command that runs in the background.
    StopShell {
        /// Which.
        task: TaskId,
    },
    /// Let an agent's conversation go on behind a summary of it: the root's, or that of a child at work.
    Compact {
        /// Whose.
        agent: AgentId,
        /// What the summary shall look at; may be empty.
        instructions: String,
    },
    /// Let another model answer an agent that is at rest. What the provider had cached of its conversation is lost.
    SetModel {
        /// Whom.
        agent: AgentId,
        /// A model id, or an alias that roles may use.
        model: String,
    },
    /// Let a stopped or interrupted agent go on with its transcript.
    Resume {
        /// Which.
        agent: AgentId,
    },
    /// Start a fork of an agent, in the background.
    Fork {
        /// Whose conversation it inherits.
        agent: AgentId,
        /// What it shall do.
        directive: String,
        /// Where it works.
        isolation: Isolation,
        /// How many of the agent's messages it inherits; absent: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        messages: Option<u32>,
    },
    /// Start a subagent with a role, in the background, as a child of the root.
    StartSubagent {
        /// The role's name.
        role: String,
        /// What it shall do.
        brief: String,
        /// Where it works.
        isolation: Isolation,
    },
    /// Let a foreground agent go on in the background; the call that waits for it returns.
    SendToBackground {
        /// Which.
        agent: AgentId,
    },
    /// Put everything in an agent's worktree under a ref and free its directory.
    ArchiveWorktree {
        /// Whose.
        agent: AgentId,
    },
    /// As archiving, but the archive expires.
    DiscardWorktree {
        /// Whose.
        agent: AgentId,
    },
    /// Bring an archived worktree back.
    RestoreWorktree {
        /// Whose.
        agent: AgentId,
    },
    /// Mark, turn down or speak about an agent's changes.
    Review {
        /// Whose changes.
        agent: AgentId,
        /// What is to happen.
        wish: ReviewWish,
    },
    /// Answer a permission request. The first answer wins.
    Answer {
        /// Which request.
        request: RequestId,
        /// The answer.
        answer: Answer,
    },
    /// Change the permission mode of the session.
    SetMode {
        /// To what.
        mode: PermissionMode,
    },
    /// Give the session another title.
    Rename {
        /// The new title.
        title: String,
    },
}

/// Where an agent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// In its parent's directory.
    #[default]
    Shared,
    /// In a git worktree of its own.
    Worktree,
}

/// A wish that can't be met. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Rejected {
    /// For programs.
    pub code: RejectedCode,
    /// What happened.
    pub message: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

impl Rejected {
    /// A rejection with its three parts.
    pub fn new(code: RejectedCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: hint.into() }
    }
}

impl std::fmt::Display for Rejected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, " {}", self.hint) }
    }
}

impl std::error::Error for Rejected {}

/// What kind of rejection. Only what a window branches on has a code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RejectedCode {
    /// No such session, agent, request or file.
    NotFound,
    /// It was there, but another answer came first or its agent has ended.
    Gone,
    /// The wish makes no sense for what it names (interrupting an idle agent, say).
    NotApplicable,
    /// The input is malformed.
    Invalid,
    /// A worktree can't be made here.
    IsolationUnavailable,
    /// Agents of this session have reached their limit.
    Limit,
    /// The log can't be written, or another program has it.
    Storage,
    /// Something outside failed (git, the provider, the file system).
    Failed,
}
