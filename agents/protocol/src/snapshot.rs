//! Snapshots: the fold of a session's events, as a window draws it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    AgentId, AgentKind, AgentOutcome, CallId, CallResult, ChangeCount, CompactionWish, HookRan, Inherited, Input,
    MergeId, Message, MissView, PermissionMode, PermissionRequest, ReviewView, SessionId, SetupRan, ShellView,
    Spending, Usage, Warning,
};

/// A session as of one moment. Subscribing from `cursor` continues it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Snapshot {
    /// The number of the last event that is in it.
    #[ts(type = "number")]
    pub cursor: u64,
    /// The session.
    pub session: SessionView,
}

/// A session without the text of its messages: those are read per agent, see [`Conversation`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionView {
    /// Its id.
    pub id: SessionId,
    /// Absolute path of the project folder.
    pub project: String,
    /// Its title.
    pub title: String,
    /// Its permission mode.
    pub mode: PermissionMode,
    /// When it began (UTC).
    #[ts(type = "string")]
    pub created_at: Timestamp,
    /// All agents in the order of their creation; the first is the root.
    pub agents: Vec<AgentView>,
    /// Pending permission requests, oldest first.
    pub requests: Vec<PermissionRequest>,
    /// Shell commands in the background, oldest first, ended ones too.
    pub shells: Vec<ShellView>,
    /// Changes that were brought home, oldest first.
    pub applied: Vec<AppliedView>,
}

/// Changes that were brought home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AppliedView {
    /// Which step.
    pub merge: MergeId,
    /// Whose checkout they were brought into.
    pub into: AgentId,
    /// Whose changes.
    pub agents: Vec<AgentId>,
    /// How much.
    pub changes: ChangeCount,
    /// The commit that was made; absent when the changes are uncommitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub commit: Option<String>,
    /// Whether they were taken out again.
    pub undone: bool,
    /// When (UTC).
    #[ts(type = "string")]
    pub at: Timestamp,
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AgentView {
    /// Its id.
    pub id: AgentId,
    /// Its parent; absent for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<AgentId>,
    /// The parent's call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<CallId>,
    /// Its kind.
    pub kind: AgentKind,
    /// Its role's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub role: Option<String>,
    /// What the tree shows.
    pub title: String,
    /// Its role's colour name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub color: Option<String>,
    /// Where it works: absolute path.
    pub directory: String,
    /// Its model.
    pub model: String,
    /// Whether nobody waits for it.
    pub background: bool,
    /// The mode its calls are decided in.
    pub mode: PermissionMode,
    /// What it shares of another transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub inherited: Option<Inherited>,
    /// What it is doing.
    pub state: AgentState,
    /// One line on what it is doing right now or did last: a tool and its target, or the start of a text.
    pub activity: String,
    /// Its worktree, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub worktree: Option<WorktreeView>,
    /// The setup of its worktree, as far as it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<SetupRan>>")]
    pub setup: Vec<SetupRan>,
    /// What differs from its worktree's base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub changes: Option<ChangeCount>,
    /// What a person thinks of its changes.
    #[serde(default, skip_serializing_if = "ReviewView::is_empty")]
    #[ts(optional, as = "Option<ReviewView>")]
    pub review: ReviewView,
    /// Length of its transcript, inherited messages included.
    pub messages: u32,
    /// Model calls made.
    pub steps: u32,
    /// Tool calls made.
    pub calls: u32,
    /// Tokens of all its model calls.
    pub usage: Usage,
    /// The same tokens, by what they cost.
    #[serde(default)]
    pub spending: Vec<Spending>,
    /// Its last requests that should have read more from the cache, oldest first; bounded.
    #[serde(default)]
    pub misses: Vec<MissView>,
    /// Texts it has not taken in yet, oldest first.
    pub queue: Vec<Input>,
    /// Set while a person's wish to compact its conversation waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub compaction: Option<CompactionWish>,
    /// Its plan.
    pub todos: Vec<Todo>,
    /// What a person should know about it.
    pub warnings: Vec<Warning>,
    /// The last hooks that ran for it, oldest first; bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<HookRan>>")]
    pub hooks: Vec<HookRan>,
    /// How its last run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub outcome: Option<AgentOutcome>,
    /// When it was created (UTC).
    #[ts(type = "string")]
    pub created_at: Timestamp,
    /// Its last turns, oldest first; bounded.
    #[serde(default)]
    pub turns: Vec<TurnView>,
    /// When its last turn began (UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string")]
    pub started_at: Option<Timestamp>,
    /// When its last turn ended (UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string")]
    pub ended_at: Option<Timestamp>,
}

/// When an agent was at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TurnView {
    /// From when (UTC).
    #[ts(type = "string")]
    pub started_at: Timestamp,
    /// Until when (UTC); absent while it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string")]
    pub ended_at: Option<Timestamp>,
}

/// What an agent is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentState {
    /// It waits for its turn to run.
    Queued,
    /// It works.
    Running,
    /// One of its calls waits for a person.
    WaitingForPermission,
    /// The provider asked to wait.
    WaitingForApi {
        /// When the request is sent again (UTC).
        #[ts(type = "string")]
        until: Timestamp,
    },
    /// It waits for a message (the root, a teammate).
    Idle,
    /// Its last turn failed; it waits for a message. Only the root: a child that fails is `failed`.
    IdleAfterFailure {
        /// What happened.
        message: String,
    },
    /// It handed back its report.
    Completed,
    /// It could not go on.
    Failed {
        /// What happened.
        message: String,
    },
    /// It was stopped, until a person resumes it.
    Stopped,
    /// The program ended while it ran; it can be resumed.
    Interrupted,
}

/// A worktree that was made for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct WorktreeView {
    /// Absolute path.
    pub path: String,
    /// Branch name, without `refs/heads/`.
    pub branch: String,
    /// The commit it started from, as full hexadecimal hash; empty while it is being made.
    pub base: String,
    /// Whether the base is a snapshot of uncommitted work rather than a commit of the person.
    pub base_is_snapshot: bool,
    /// Whether it is there.
    pub state: WorktreeState,
}

/// Whether a worktree is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WorktreeState {
    /// Its files are being laid out; the agent can think already.
    Making,
    /// On disk.
    Live,
    /// Taken away; there is nothing in it that isn't elsewhere.
    Removed {
        /// The ref that holds its content; absent when nothing had changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        kept_as: Option<String>,
    },
}

/// An entry of an agent's plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far an entry of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// A stretch of an agent's transcript, with the state of the calls in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Conversation {
    /// Whose.
    pub agent: AgentId,
    /// The number of the last event that is in it.
    #[ts(type = "number")]
    pub cursor: u64,
    /// The place of the first message in the transcript.
    pub first: u32,
    /// The messages.
    pub messages: Vec<Message>,
    /// The calls in these messages, also those still running.
    pub calls: BTreeMap<String, CallView>,
}

/// A tool call as the window shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct CallView {
    /// How far it is.
    pub state: CallState,
    /// When it began (UTC); absent when it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string")]
    pub started_at: Option<Timestamp>,
    /// What came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub result: Option<CallResult>,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// In the message, not begun.
    Pending,
    /// Running.
    Running,
    /// Waiting for a person.
    WaitingForPermission,
    /// Over, well or badly.
    Ended,
}

/// A session in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// Its title.
    pub title: String,
    /// Absolute path of its project.
    pub project: String,
    /// When it began (UTC).
    #[ts(type = "string")]
    pub created_at: Timestamp,
    /// When something last happened in it (UTC).
    #[ts(type = "string")]
    pub updated_at: Timestamp,
}
