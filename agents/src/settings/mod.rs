//! What can be set, and the files it is set in.
//!
//! Three files are laid over each other ([`load`]): the person's own `<config dir>/settings.json`, the project's shared
//! `.offshoot/settings.json`, and the personal `.offshoot/settings.local.json` of the main checkout. For single values the
//! last of them wins; rules, hooks and lists add up. Their shape is in `schema.json`; `permissions` and `hooks` look as in
//! the field's usual files.
//!
//! A mistake costs the entry it is in, with a [`SettingWarning`], never more; only a file that is no JSON is left out whole.
//! Of a folder that isn't trusted nothing counts but its `ask` and `deny` rules. What a rule's text means is decided in
//! [`crate::policy`]. Nothing here looks at the environment, and no warning repeats the value of a key that it doesn't know.

mod assign;
mod hook_list;
mod json;
mod key;
mod layer;
mod read;
mod rules;
mod splice;
mod value;
mod write;

use std::time::Duration;

use offshoot_protocol::PermissionMode;

pub use assign::set_values;
pub use layer::{
    Layer, Loaded, ModelChoice, SettingRule, SettingWarning, SettingsFolders, Theme, WorktreeSettings, load, local_file,
};
pub(crate) use read::read_text;
pub(crate) use value::quoted;
pub use write::{WriteError, add_allow_rules};
pub(crate) use write::{lock, replace};

/// The JSON schema of settings files.
pub const SCHEMA: &str = include_str!("schema.json");

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
    /// When conversations are compacted by themselves.
    pub compaction: Compaction,
}

/// When a conversation is compacted by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// At how much of the model's context window, in percent; 0: never.
    pub at_percent: u8,
    /// The window, in tokens; absent: what is known of the model, and if nothing is, never.
    pub window: Option<u64>,
}

impl Default for Compaction {
    fn default() -> Self {
        Self { at_percent: 85, window: None }
    }
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
            compaction: Compaction::default(),
        }
    }
}
