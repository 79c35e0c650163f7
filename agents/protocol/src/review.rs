//! Review: what a person thinks of an agent's changes, place by place.
//!
//! A mark hangs on the content of what it marks (a hunk's hash, or a whole file's): it survives edits elsewhere, commits
//! and restarts, and falls when that content changes, since nothing has this hash any more then.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{InputId, MergeId};

/// What a person thinks of an agent's changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReviewView {
    /// Hashes of hunks, and of whole files, that shall come home.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<String>,
    /// Hashes of hunks, and of whole files, that were looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub viewed: Vec<String>,
    /// What was turned down, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejections: Vec<Rejection>,
    /// What was said about lines, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Comment>,
}

impl ReviewView {
    /// Whether nothing was marked or said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A mark that is put on something and taken off again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// It shall come home.
    Accepted,
    /// It was looked at.
    Viewed,
}

/// A change that was turned down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Rejection {
    /// The step that takes it out of the worktree; it can be undone by this.
    pub merge: MergeId,
    /// In which file.
    pub path: String,
    /// The hunk's hash, or the file's own for all of it.
    pub hash: String,
    /// How far it is.
    pub state: RejectionState,
}

/// How far a rejection is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RejectionState {
    /// It waits for the end of the agent's turn.
    Queued,
    /// The change is out of the worktree.
    Done,
    /// It was not taken out; nothing was touched.
    Refused {
        /// Why, in words for people.
        reason: String,
    },
}

/// Which side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DiffSide {
    /// What the worktree started from.
    Base,
    /// What is there now.
    Now,
}

/// The lines that are spoken of, as the person saw them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Passage {
    /// Path as the list of changes spells it.
    pub path: String,
    /// Which side the lines are on.
    pub side: DiffSide,
    /// The first line, from 1.
    pub first: u32,
    /// The last line; the same for a single one.
    pub last: u32,
    /// Their text.
    pub quoted: String,
    /// The hunk that they stand in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hunk: Option<String>,
}

/// Something said about lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Comment {
    /// Its id.
    pub id: String,
    /// About what.
    pub passage: Passage,
    /// The commit that the changes were counted from.
    pub base: String,
    /// What is said.
    pub text: String,
    /// The message that carried it to the agent; absent: it wasn't sent yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sent: Option<InputId>,
}

/// A wish about the review of an agent's changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReviewWish {
    /// Put a mark on hunks or files, or take it off.
    Mark {
        /// Their hashes.
        hashes: Vec<String>,
        /// Which mark.
        mark: Mark,
        /// Whether it is put on.
        on: bool,
    },
    /// Take a change out of the worktree: at once when nobody works there, else at the end of the turn.
    Reject {
        /// In which file.
        path: String,
        /// The hunk's hash, or the file's own.
        hash: String,
    },
    /// Take a rejection back: one that waits is dropped, one that was carried out is undone.
    Unreject {
        /// Which.
        merge: MergeId,
    },
    /// Say something about lines. Kept until it is sent.
    Comment {
        /// About what.
        passage: Passage,
        /// What.
        text: String,
    },
    /// Say it differently; it must not have been sent. An empty text takes it away.
    EditComment {
        /// Which.
        comment: String,
        /// What it says now.
        text: String,
    },
    /// Give all comments that weren't sent to the agent, as one message.
    SendComments,
}

/// What happened in the review of an agent's changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReviewFact {
    /// A mark was put on hunks or files, or taken off.
    Marked {
        /// Their hashes.
        hashes: Vec<String>,
        /// Which mark.
        mark: Mark,
        /// Whether it is on now.
        on: bool,
    },
    /// A change was turned down.
    Rejected {
        /// Which, and how far it is.
        rejection: Rejection,
    },
    /// A rejection got on.
    RejectionChanged {
        /// Which.
        merge: MergeId,
        /// How far it is now.
        state: RejectionState,
    },
    /// A rejection was taken back: the change is in the worktree.
    RejectionWithdrawn {
        /// Which.
        merge: MergeId,
    },
    /// Something was said about lines.
    Commented {
        /// What.
        comment: Comment,
    },
    /// A comment says something else now; nothing: it is gone.
    CommentEdited {
        /// Which.
        comment: String,
        /// Its text.
        text: String,
    },
    /// Comments were given to the agent.
    CommentsSent {
        /// Which.
        comments: Vec<String>,
        /// In which message.
        input: InputId,
    },
}
