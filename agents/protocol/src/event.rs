//! Events: facts in the past tense, numbered per session, stored before they are shown.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::snapshot::{Todo, WorktreeView};
use crate::{
    AgentCreated, AgentId, AgentOutcome, Answer, Asked, CallId, CallResult, ChangeCount, Compacted, CompactionTrigger,
    CompactionWish, DecidedBy, HeadChanged, Input, InputId, MergeId, Message, PermissionMode, PermissionRequest,
    RequestId, ReviewFact, SessionId, ShellOutcome, StepEnded, TaskId, TurnOutcome, Usage, WithdrawnReason,
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
    /// A person asked that the conversation be compacted: done at the agent's next step boundary, at once when it is idle.
    CompactionRequested(CompactionWish),
    /// A summary is being asked for. Followed by `compacted` or `compaction_failed`, or by the end of the turn.
    CompactionStarted {
        /// Why.
        trigger: CompactionTrigger,
    },
    /// The conversation goes on behind a summary.
    Compacted(Compacted),
    /// There is no summary; the conversation is as it was.
    CompactionFailed {
        /// What happened, for people.
        message: String,
    },
    /// Another model answers from here on, or the same in another way.
    HeadChanged(HeadChanged),
    /// The model's answer to one request is complete.
    StepEnded(StepEnded),
    /// A request's answer broke off, or was no longer wanted, after the provider had begun to bill it.
    AnswerLost {
        /// Who was asked.
        asked: Asked,
        /// What the provider had told by then: all input, hardly any output.
        usage: Usage,
    },
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
    /// A worktree is being made for the agent. `worktree_created` follows, or `worktree_removed` when nothing came of it.
    WorktreePlanned {
        /// Where it will be, on which branch; its base isn't known yet.
        worktree: WorktreeView,
    },
    /// A command of the worktree's setup came to its end.
    SetupRan(SetupRan),
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
    /// Changes of other agents were brought into this agent's checkout.
    ChangesApplied {
        /// Which step; it can be undone by this.
        merge: MergeId,
        /// Whose changes.
        agents: Vec<AgentId>,
        /// How much.
        changes: ChangeCount,
        /// The paths that changed; the first of many.
        files: Vec<String>,
        /// The commit that was made; absent when the changes are uncommitted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        commit: Option<String>,
    },
    /// Changes that were brought into this agent's checkout were taken out again.
    ChangesUndone {
        /// Which step.
        merge: MergeId,
    },
    /// A person marked, turned down or spoke about the agent's changes.
    Reviewed {
        /// What happened.
        fact: ReviewFact,
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

/// A command that ran in a new worktree before its agent did anything there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetupRan {
    /// The command line, as set.
    pub command: String,
    /// Its exit status; absent when it was ended, or never started. Anything but 0 undoes the worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub exit: Option<i32>,
    /// The end of what it wrote, or why it never ran.
    pub output: String,
    /// How far the kernel confined it, in words for people.
    pub confinement: String,
    /// How long it took, in milliseconds.
    #[ts(type = "number")]
    pub duration_ms: u64,
}

/// Something a person should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Warning {
    /// For programs, in `snake_case`.
    pub code: String,
    /// For people.
    pub message: String,
}
