//! Roles as the window and the command line list them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, AgentState, DiffLine, Isolation, PermissionMode, SessionId, Spending, Usage};

/// Where a role file comes from. Later ones win over earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RoleSource {
    /// `<config dir>/plugins/<name>/roles`.
    Plugin,
    /// Comes with the program.
    BuiltIn,
    /// `<config dir>/roles`.
    User,
    /// `.offshoot/roles` or `.claude/agents` of the project.
    Project,
}

/// One role of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RoleSummary {
    /// Its name.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// Where it comes from.
    pub source: RoleSource,
    /// Absolute path of its file, or `built-in:<name>.md`.
    pub path: String,
    /// The model it asks for; absent: the parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// Its colour name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub color: Option<String>,
    /// The tools it may use, as written; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tools: Option<Vec<String>>,
    /// The path of the role that hides this one, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub shadowed_by: Option<String>,
}

/// A problem in a role file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RoleWarning {
    /// Absolute path of the file.
    pub path: String,
    /// Line in it, from 1; 0 when it is about the whole file.
    pub line: u32,
    /// What is wrong and what was done about it.
    pub message: String,
}

/// A role file's entries and prompt, as values. Absent where the file says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct RoleFields {
    /// Its name; empty where the file has none.
    pub name: String,
    /// When to use it; empty where the file doesn't say.
    pub description: String,
    /// The tools it may use, as written (`Bash(git diff *)` too); absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tools: Option<Vec<String>>,
    /// The tools it may not use, as written.
    pub disallowed_tools: Vec<String>,
    /// A model id or alias; absent: the parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// Most model calls of one run; absent: the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub max_turns: Option<u32>,
    /// The mode its calls are decided in; absent: the parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub permission: Option<PermissionMode>,
    /// Whether it runs in the background.
    pub background: bool,
    /// Where it works.
    pub isolation: Isolation,
    /// A colour name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub color: Option<String>,
    /// Whether the project's instructions are left out of its prompt.
    pub without_instructions: bool,
    /// The prompt, with `\n` as line end and without empty lines around it.
    pub body: String,
}

/// A role file, read for an editor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RoleFile {
    /// Absolute path, or `built-in:<name>.md`.
    pub path: String,
    /// Where it comes from.
    pub source: RoleSource,
    /// All of it, a byte-order mark and the author's line ends included; absent where it isn't UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<String>,
    /// SHA-256 of its bytes, in hex: what a save says it started from.
    pub fingerprint: String,
    /// What it says; absent where that can't be made out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fields: Option<RoleFields>,
    /// Everything in it that isn't taken as written, with lines.
    pub warnings: Vec<RoleWarning>,
    /// Whether it can be saved here; if not, it can be copied.
    pub editable: bool,
}

/// What shall become of a role file's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RoleChange {
    /// It says these values afterwards, and nothing else in it differs.
    Fields {
        /// All of them, changed or not.
        fields: RoleFields,
    },
    /// It is this text.
    Text {
        /// The whole file.
        text: String,
    },
}

/// A changed role file as it would be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RolePreview {
    /// Exactly what a save writes.
    pub text: String,
    /// Every line of it in order, with the lines that go. Line ends aren't part of a line.
    pub lines: Vec<DiffLine>,
    /// What it says; absent where that can't be made out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fields: Option<RoleFields>,
    /// Everything in it that isn't taken as written, with lines.
    pub warnings: Vec<RoleWarning>,
    /// Whether it is a role.
    pub loads: bool,
}

/// How a save ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum RoleSave {
    /// The file has the text now.
    Saved {
        /// As it was read back.
        file: RoleFile,
    },
    /// The file isn't what the save started from, and wasn't touched.
    Conflict {
        /// What it is now; absent where it is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        now: Option<RoleFile>,
    },
}

/// A copied or moved role file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RoleCopy {
    /// Absolute path of the new file.
    pub path: String,
    /// Set when the old file went: what brings it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub trashed: Option<RoleTrashId>,
}

/// A deleted role file that can be brought back.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(transparent)]
pub struct RoleTrashId(pub String);

/// Everything the role studio shows before a role is opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RoleBoard {
    /// One card per file, by name; a winner before those that it shadows.
    pub cards: Vec<RoleCard>,
    /// Problems that are no file's.
    pub warnings: Vec<RoleWarning>,
    /// Where new roles of the project go.
    pub project_folder: String,
    /// Where new roles of the user go.
    pub user_folder: String,
    /// Tools that a role can have.
    pub tools: Vec<RoleTool>,
    /// Names of colours that a role can have.
    pub colors: Vec<String>,
    /// Aliases of models.
    pub models: Vec<String>,
    /// Most turns that a role may ask for.
    pub max_turns: u32,
}

/// A role file on the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RoleCard {
    /// Absolute path of its file, or `built-in:<name>.md`.
    pub path: String,
    /// Where it comes from.
    pub source: RoleSource,
    /// What it says; absent where the file is no role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub role: Option<RoleSummary>,
    /// What is wrong with it.
    pub warnings: Vec<RoleWarning>,
    /// Whether it can be changed here; if not, it can be copied.
    pub editable: bool,
}

/// A tool that a role can have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RoleTool {
    /// Its name.
    pub name: String,
    /// What it does, in a line.
    pub about: String,
    /// Whether its calls wait for a person where nothing else is said. Tools that only read, or keep the agent's own
    /// plan, never do.
    pub asks: bool,
}

/// What an entry such as `Bash(git diff *)` comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RoleRule {
    /// Whether it can stand in a role file.
    pub valid: bool,
    /// What is wrong with it or doubtful about it; may be empty.
    pub problem: String,
    /// Calls that it speaks of.
    pub matches: Vec<String>,
    /// Calls that look alike and that it doesn't speak of.
    pub misses: Vec<String>,
}

/// An agent that had a role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct RoleUse {
    /// In which session.
    pub session: SessionId,
    /// That session's title.
    pub session_title: String,
    /// The agent.
    pub agent: AgentId,
    /// Its title.
    pub title: String,
    /// When it was created (UTC).
    #[ts(type = "string")]
    pub created_at: Timestamp,
    /// How it ended, or how far it is.
    pub state: AgentState,
    /// Its model calls.
    pub steps: u32,
    /// What it used up.
    pub usage: Usage,
    /// The same tokens, by what they cost.
    #[serde(default)]
    pub spending: Vec<Spending>,
}
