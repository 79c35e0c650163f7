//! Events: facts in the past tense, numbered per session, stored before they are shown.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::snapshot::{Todo, WorktreeView};
use crate::{
    AgentId, Answer, BlobHash, CallId, ChangeCount, DecidedBy, InputId, Message, Origin, PermissionMode,
    PermissionRequest, RequestId, SessionId, ShellOutcome, TaskId, WithdrawnReason,
};

/// One stored fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Event {
    /// Position in the session's log, from 1, without holes.
    #[ts(type = "number")]
    pub seq: u64,
    /// When it was recorded (UTC).
    #[ts(type = "string")]
    pub at: Timestamp,
    /// Whose log it stands in.
    pub session: SessionId,
    /// The agent it is about; absent for facts about the session itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent: Option<AgentId>,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// A session began. Its root agent follows in the next event.
    SessionCreated {
        /// Absolute path of the project folder.
        project: String,
        /// What the session list shows.
        title: String,
        /// The mode the session starts in.
        mode: PermissionMode,
    },
    /// The session got another title.
    SessionRenamed {
        /// The new title.
        title: String,
    },
    /// An agent came into being. It is `queued` (a child) or `idle` (the root).
    AgentCreated(Box<AgentCreated>),
    /// A text for this agent was accepted; it waits until the agent takes it into a message.
    InputReceived {
        /// The text.
        input: Input,
    },
    /// A queued text was taken back before the agent saw it.
    InputWithdrawn {
        /// Which one.
        input: InputId,
    },
    /// The agent began a turn.
    TurnStarted,
    /// A message was appended to the agent's transcript.
    MessageAppended {
        /// Its place in the transcript, from 0. A fork counts on from what it inherited.
        index: u32,
        /// The message.
        message: Message,
        /// The queued inputs that it contains; they are delivered by this event.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        inputs: Vec<InputId>,
    },
    /// The results of the last message's calls were appended as one user message: the results in the order of `calls`
    /// (their text is in each call's `call_ended`, stored once), then `message`'s blocks.
    ResultsAppended {
        /// The message's place in the transcript.
        index: u32,
        /// Whose results, in order.
        calls: Vec<CallId>,
        /// What stands behind the results: queued inputs and reminders. Often empty.
        message: Message,
        /// The queued inputs among them; delivered by this event.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        inputs: Vec<InputId>,
    },
    /// The model's answer to one request is complete.
    StepEnded(StepEnded),
    /// The provider asked to wait, or didn't answer; the request will be sent again.
    ModelWaiting {
        /// Why, for people.
        reason: String,
        /// Which try failed, from 1.
        attempt: u32,
        /// How long until the next try, in milliseconds.
        #[ts(type = "number")]
        retry_in_ms: u64,
    },
    /// A tool call began: it was parsed, and nothing has been decided yet.
    CallStarted {
        /// Which call.
        call: CallId,
    },
    /// A tool call ended. This is where the result's text is stored.
    CallEnded {
        /// Which call.
        call: CallId,
        /// What came out.
        result: CallResult,
    },
    /// The turn is over; the agent is idle, or its end follows.
    TurnEnded {
        /// How.
        outcome: TurnOutcome,
    },
    /// An agent that was run for its parent has reached its end. Reached once; a resumed agent starts a new run.
    AgentEnded {
        /// How.
        outcome: AgentOutcome,
    },
    /// A foreground agent goes on in the background: nobody waits for it any more.
    MovedToBackground,
    /// A call waits for a person.
    PermissionRequested {
        /// Everything the person needs to see.
        request: PermissionRequest,
    },
    /// A pending request was answered.
    PermissionDecided {
        /// Which one.
        request: RequestId,
        /// The answer.
        answer: Answer,
        /// Who gave it.
        by: DecidedBy,
    },
    /// A pending request went away unanswered; nothing ran.
    PermissionWithdrawn {
        /// Which one.
        request: RequestId,
        /// Why.
        reason: WithdrawnReason,
    },
    /// The session's permission mode changed.
    ModeChanged {
        /// The new mode.
        mode: PermissionMode,
    },
    /// The agent's worktree is there.
    WorktreeCreated {
        /// Where, on which branch, from what.
        worktree: WorktreeView,
    },
    /// The agent's worktree is gone from the disk; what it held is in the branch or archive named.
    WorktreeRemoved {
        /// Where the content is now: a ref, or nothing when there was nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        kept_as: Option<String>,
    },
    /// How much differs from the worktree's base.
    ChangesCounted {
        /// Files and lines.
        changes: ChangeCount,
    },
    /// A shell command of the agent's began to run in the background.
    ShellStarted {
        /// Its id.
        task: TaskId,
        /// The call that started it.
        call: CallId,
        /// The command line.
        command: String,
        /// Absolute path of the file that holds its output.
        output_file: String,
    },
    /// A shell command of the agent's ended.
    ShellEnded {
        /// Which.
        task: TaskId,
        /// How.
        outcome: ShellOutcome,
    },
    /// The agent's plan changed.
    TodosChanged {
        /// The whole list.
        todos: Vec<Todo>,
    },
    /// Something that doesn't stop the agent, but that a person should know.
    Warned {
        /// What.
        warning: Warning,
    },
    /// A hook ran for this agent.
    HookRan(HookRan),
}

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
    /// An agent was started.
    Delegated {
        /// Which one.
        agent: AgentId,
    },
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

/// A hook that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HookRan {
    /// The moment: `PreToolUse`, `Stop`, ….
    pub event: String,
    /// The command line, as set.
    pub command: String,
    /// Its exit status: 0 is no objection, 2 is one; absent when it was ended, or never started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub exit: Option<i32>,
    /// How long it took, in milliseconds.
    #[ts(type = "number")]
    pub duration_ms: u64,
    /// What went wrong, or what it tells the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub warning: Option<String>,
}

/// Something a person should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Warning {
    /// For programs, in `snake_case`.
    pub code: String,
    /// For people.
    pub message: String,
}
