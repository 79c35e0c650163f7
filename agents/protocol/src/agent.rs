//! What agents are made from, what they are given, and how they end.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, BlobHash, CallId, InputId, Origin, PermissionMode, TaskId};

/// What is known of an agent from its first moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AgentCreated {
    /// Which of the kinds.
    pub kind: AgentKind,
    /// Who delegated; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<AgentId>,
    /// The parent's call that started it; absent when a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<CallId>,
    /// The role's name; absent for the root and for forks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub role: Option<String>,
    /// What the tree shows: the call's description.
    pub title: String,
    /// The role's colour name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub color: Option<String>,
    /// Absolute path the agent works in. A worktree's path is known before the worktree is made.
    pub directory: String,
    /// Model id, as sent to the provider.
    pub model: String,
    /// The stored request head (`RequestHead` as JSON).
    pub head: BlobHash,
    /// Whether nobody waits for it.
    pub background: bool,
    /// Mode this agent's calls are decided in.
    pub mode: PermissionMode,
    /// Most model calls it may make in one run; absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_turns: Option<u32>,
    /// Rules of its role that allow calls, in the usual spelling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub allow: Vec<String>,
    /// Rules of its role that deny calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub deny: Vec<String>,
    /// The transcript that it continues; absent when it starts empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub inherited: Option<Inherited>,
}

/// The part of another agent's transcript that a fork shares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Inherited {
    /// Whose transcript.
    pub from: AgentId,
    /// How many of its messages, counted from the first.
    pub messages: u32,
}

/// The kinds of agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// The session's first agent; talks with the person.
    Root,
    /// Inherits the whole conversation of its parent.
    Fork,
    /// Starts empty, with a role.
    Subagent,
    /// Starts empty, with a role, and stays.
    Teammate,
}

/// A text on its way to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Input {
    /// Its id.
    pub id: InputId,
    /// The text as the model will see it.
    pub text: String,
    /// Who wrote it.
    pub origin: Origin,
    /// What caused it, for notifications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<InputSource>,
}

/// What caused an input that no person typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct InputSource {
    /// The task whose end it reports: an agent's id, or a shell command's.
    pub task: TaskId,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The model had nothing more to do.
    Finished,
    /// It could not go on.
    Failed {
        /// For programs.
        code: FailureCode,
        /// For people: what happened.
        message: String,
    },
    /// A person interrupted it, or stopped the agent.
    Interrupted,
}

/// Why a turn or an agent failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// The provider refused or could not be reached.
    Model,
    /// The model declined to answer.
    Refusal,
    /// The answer was cut at the output limit.
    OutputLimit,
    /// The conversation no longer fits.
    ContextWindow,
    /// The model stopped for a reason this program doesn't know.
    UnknownStop,
    /// The agent used up its turns.
    TurnLimit,
    /// The final message was empty.
    EmptyReport,
    /// The agent's worktree is not where it was.
    WorktreeMissing,
    /// Its worktree could not be made.
    IsolationUnavailable,
    /// The log could not be written.
    Storage,
    /// A hook ended the work.
    Hook,
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentOutcome {
    /// It handed back a report.
    Completed {
        /// The raw text of the report.
        report: String,
    },
    /// It could not go on.
    Failed {
        /// For programs.
        code: FailureCode,
        /// For people: what happened.
        message: String,
        /// The last text it wrote, if any. Not a report.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        partial: Option<String>,
    },
    /// A person or its parent stopped it.
    Stopped,
    /// The program ended while it ran.
    Interrupted,
}
