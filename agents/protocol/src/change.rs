//! Changes: everything in a worktree that differs from its base.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::BlobHash;

/// How much changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ChangeCount {
    /// Files.
    pub files: u32,
    /// Added lines.
    pub added: u32,
    /// Removed lines.
    pub removed: u32,
}

/// The list of changed files, without their lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ChangeSummary {
    /// The commit the changes are counted from.
    pub base: String,
    /// Totals.
    pub count: ChangeCount,
    /// One entry a file, sorted by path.
    pub files: Vec<ChangedFile>,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ChangedFile {
    /// Path relative to the worktree, `/` between components. Bytes that aren't UTF-8 are shown as U+FFFD.
    pub path: String,
    /// Where it was before, when it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub old_path: Option<String>,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Added lines; 0 for a binary file.
    pub added: u32,
    /// Removed lines; 0 for a binary file.
    pub removed: u32,
    /// Whether its content isn't text.
    pub binary: bool,
    /// Things to know at a glance, in words: `mode only`, `line endings only`, `submodule`, `symlink`, `generated`.
    pub labels: Vec<String>,
    /// Hash of both sides' content: changes when, and only when, the file's diff changes.
    pub hash: BlobHash,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or mode differs.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name.
    Renamed,
}

/// The lines of one changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FileDiff {
    /// The file.
    pub file: ChangedFile,
    /// Its changed places.
    pub hunks: Vec<Hunk>,
    /// Set when the hunks were left out because the file is larger than the budget; says how large, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub too_large: Option<u64>,
}

/// One changed place, with its context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Hunk {
    /// What it is told apart by: its file and its lines, wherever they stand. Empty where nobody asked for it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub hash: String,
    /// First line in the base, from 1; 0 when the hunk has no line there.
    pub old_start: u32,
    /// Lines in the base.
    pub old_lines: u32,
    /// First line now, from 1; 0 when the hunk has no line there.
    pub new_start: u32,
    /// Lines now.
    pub new_lines: u32,
    /// What stands behind the second `@@`: usually the enclosing function.
    pub heading: String,
    /// The lines.
    pub lines: Vec<DiffLine>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DiffLine {
    /// Which side it is on.
    pub kind: LineKind,
    /// The line without its end.
    pub text: String,
    /// Set on a last line that has no line end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub no_newline: bool,
}

/// Which side a line is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// Both.
    Context,
    /// Now.
    Added,
    /// The base.
    Removed,
}
