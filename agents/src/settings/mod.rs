//! What can be set about a session, as plain values. Reading files is done outside.

use std::time::Duration;

use offshoot_protocol::PermissionMode;

/// See the fields; [`Settings::default`] is what a person gets who sets nothing.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The mode sessions start in.
    pub mode: PermissionMode,
    /// When an `Agent` call without a role forks.
    pub forks: Forks,
    /// Whether agents may run in the background.
    pub background: bool,
    /// How long a call waits for a foreground agent before the agent goes on in the background.
    pub foreground_timeout: Duration,
    /// Most children of a session that work at once; further ones are queued.
    pub running_limit: usize,
    /// Most agents of a session.
    pub agent_limit: usize,
    /// Most model calls of one turn of the root; absent: no limit.
    pub root_max_turns: Option<u32>,
    /// Most model calls of one run of a fork.
    pub fork_max_turns: u32,
    /// Most model calls of one run of a subagent whose role doesn't say.
    pub subagent_max_turns: u32,
    /// Whether a child's end wakes an idle parent.
    pub wake_parent: bool,
    /// Most output tokens of one answer.
    pub max_tokens: u32,
    /// Most thinking tokens of one answer; absent: no thinking is asked for.
    pub thinking_budget: Option<u32>,
}

/// When an `Agent` call without a role forks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forks {
    /// Only where a person watches.
    Interactive,
    /// Always.
    Always,
    /// Never: such a call starts the role `general-purpose`.
    Never,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: PermissionMode::Default,
            forks: Forks::Interactive,
            background: true,
            foreground_timeout: Duration::from_secs(120),
            running_limit: 8,
            agent_limit: 200,
            root_max_turns: None,
            fork_max_turns: 200,
            subagent_max_turns: 50,
            wake_parent: true,
            max_tokens: 32_000,
            thinking_budget: None,
        }
    }
}
