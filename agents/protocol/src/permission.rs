//! Permission: who asks, for what, and how it was answered.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, AgentKind, CallId, RawJson, RequestId};

/// How calls are decided that no rule decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum PermissionMode {
    /// Ask.
    #[default]
    Default,
    /// Edits inside the agent's own directory are allowed; ask for the rest.
    AcceptEdits,
    /// Reads only; everything else is refused.
    Plan,
    /// What would be asked is refused.
    DontAsk,
    /// What would be asked is allowed. The boundary, deny rules and the never-automatic list stay.
    Bypass,
}

/// One call that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PermissionRequest {
    /// Its id. An answer names it.
    pub id: RequestId,
    /// The path in the tree, from the root to the agent that asks.
    pub asker: Vec<Asker>,
    /// The role of the agent that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub role: Option<String>,
    /// Absolute path of the directory the call would run in.
    pub directory: String,
    /// Whether that directory is the agent's own worktree.
    pub isolated: bool,
    /// The call.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// The input as the model wrote it.
    pub input: RawJson,
    /// What the call would do.
    pub access: Access,
    /// Why it is asked: the rule or the mode, in words.
    pub reason: String,
    /// The exact rules that *always allow* would save, one per part of a compound command. Empty: not offered.
    pub suggested_rules: Vec<String>,
    /// When it was asked (UTC).
    #[ts(type = "string")]
    pub created_at: Timestamp,
}

/// One step of the path to who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Asker {
    /// The agent.
    pub agent: AgentId,
    /// Its kind.
    pub kind: AgentKind,
    /// Its title in the tree.
    pub title: String,
}

/// What a call would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Access {
    /// Look at a file or folder.
    Read {
        /// Absolute path.
        path: String,
    },
    /// Change or create a file.
    Edit {
        /// Absolute path.
        path: String,
        /// Unified diff of what would change, without file headers; bounded; absent when it can't be known beforehand.
        #[ts(optional)]
        diff: Option<String>,
    },
    /// Run a shell command.
    Command {
        /// The command line.
        command: String,
    },
    /// Start an agent.
    Delegate {
        /// The role, or `fork`.
        role: String,
    },
    /// Nothing outside the agent itself (its plan, its tasks).
    Own,
}

/// A person's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// This one call.
    AllowOnce,
    /// This call, and what the rules cover, for this agent.
    AllowForAgent {
        /// Rules in the usual spelling.
        rules: Vec<String>,
    },
    /// This call, and what the rules cover, for this agent and all below it.
    AllowForSubtree {
        /// Rules in the usual spelling.
        rules: Vec<String>,
    },
    /// This call, and what the rules cover, until the session ends.
    AllowForSession {
        /// Rules in the usual spelling.
        rules: Vec<String>,
    },
    /// This call, and what the rules cover, saved in the project's local settings.
    AllowAlways {
        /// Rules in the usual spelling.
        rules: Vec<String>,
    },
    /// Not this call.
    Deny {
        /// What the model is told, if the person wants to say something.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        reason: Option<String>,
    },
}

/// Who answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// A person.
    User,
    /// A rule that was added while the request waited.
    Rule,
    /// Nobody could be asked: there is no window.
    Headless,
}

/// Why a request went away unanswered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WithdrawnReason {
    /// Its agent was stopped or interrupted.
    AgentStopped,
    /// The program ended.
    ProgramEnded,
}
