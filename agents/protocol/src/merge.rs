//! Bringing the changes of worktrees home: what would happen, and what happened.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, ChangeCount, ChangedFile, MergeId};

/// Which of the changes are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MergeSelection {
    /// All of them.
    #[default]
    All,
    /// Whole files.
    Files {
        /// Paths as a list of changes spells them.
        paths: Vec<String>,
    },
    /// Single places.
    Hunks {
        /// Their content hashes; a file's own `hash` takes it whole.
        hashes: Vec<String>,
    },
    /// What a person accepted of each of the agents' changes.
    Accepted,
}

/// In which form changes come home.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MergeHow {
    /// Into the checkout's files, uncommitted.
    #[default]
    Apply,
    /// As one commit on the checkout's branch.
    Squash {
        /// What it says; blank: the agents' titles. Where the changes came from is added.
        message: String,
    },
    /// As a commit with two parents for each agent: its own commits come along.
    Merge {
        /// As in `squash`.
        message: String,
    },
    /// The agents' commits, one after the other, behind the branch's last one.
    Rebase,
    /// As `rebase`, each with a line that names the commit that it was picked from.
    CherryPick,
}

/// What bringing changes home would do. Nothing has happened yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MergePreview {
    /// What to apply it by. Known until the program ends or newer previews have pushed it out.
    pub merge: MergeId,
    /// Whose changes, in the order they are merged.
    pub agents: Vec<AgentId>,
    /// Absolute path of the checkout that would change.
    pub target: String,
    /// Totals, without what is in conflict.
    pub count: ChangeCount,
    /// What would change there, without what is in conflict.
    pub files: Vec<ChangedFile>,
    /// What can't be merged by itself.
    pub conflicts: Vec<MergeConflict>,
    /// What was asked for and isn't among the changes: paths, or hashes of hunks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub unknown: Vec<String>,
    /// How much of each agent's changes that is, where not all of them were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<MergePart>>")]
    pub parts: Vec<MergePart>,
}

/// How much of an agent's changes was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MergePart {
    /// Whose changes.
    pub agent: AgentId,
    /// How many changed places; a file without lines to compare is one.
    pub hunks: u32,
    /// Of how many.
    pub of: u32,
}

/// A file that can't be merged by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MergeConflict {
    /// Whose change it is.
    pub agent: AgentId,
    /// Which file.
    pub path: String,
    /// The agent on the other side; absent: the checkout itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub other: Option<AgentId>,
    /// Why, in words for people.
    pub reason: String,
    /// Whether it can be settled by taking a side or writing a text.
    pub resolvable: bool,
}

/// The sides of a file in conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConflictFile {
    /// Whose change it is.
    pub agent: AgentId,
    /// Which file.
    pub path: String,
    /// Whether all sides are text that can be shown.
    pub text: bool,
    /// What both sides started from; absent: there was no such file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base: Option<String>,
    /// What the checkout has, with what is merged before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub ours: Option<String>,
    /// What the agent has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub theirs: Option<String>,
    /// Both in one text, with marks around what conflicts.
    pub merged: String,
}

/// How a conflict is settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Resolution {
    /// The file is as the checkout has it.
    Ours,
    /// The file is as the agent has it.
    Theirs,
    /// The file is this text.
    Text {
        /// All of it.
        text: String,
    },
}

/// Changes that were brought home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MergeDone {
    /// What to undo it by.
    pub merge: MergeId,
    /// Whose changes.
    pub agents: Vec<AgentId>,
    /// How much.
    pub count: ChangeCount,
    /// The paths that changed.
    pub files: Vec<String>,
    /// Files that were left out because of conflicts.
    pub left_out: Vec<String>,
    /// The commit that was made; absent when the changes are uncommitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub commit: Option<String>,
}

/// Two sides that can't both be brought home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Clash {
    /// One side.
    pub agent: AgentId,
    /// The other; absent: the checkout they would come home to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub other: Option<AgentId>,
    /// In which files.
    pub files: Vec<String>,
}
