//! Roles as the window and the command line list them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

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
