//! Shell commands that run in the background: tasks that are no agents.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, CallId, TaskId};

/// A shell command in the background, as the window shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ShellView {
    /// Its id.
    pub id: TaskId,
    /// Whose it is. It doesn't outlive that agent.
    pub agent: AgentId,
    /// The call that started it.
    pub call: CallId,
    /// The command line.
    pub command: String,
    /// Absolute path of the file that holds its output.
    pub output_file: String,
    /// How it ended; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub outcome: Option<ShellOutcome>,
    /// When it began (UTC).
    #[ts(type = "string")]
    pub started_at: Timestamp,
    /// When it ended (UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string")]
    pub ended_at: Option<Timestamp>,
}

/// How a shell command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ShellOutcome {
    /// With exit status 0.
    Completed,
    /// With another status, by a signal, or because it reached a limit.
    Failed {
        /// What happened.
        message: String,
    },
    /// A person or its agent stopped it, or its agent ended.
    Stopped,
    /// The program ended while it ran.
    Interrupted,
}
