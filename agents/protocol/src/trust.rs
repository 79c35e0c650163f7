//! Trust: whether what a folder's own files ask for counts.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What the person said about a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// What its files ask for counts.
    Trusted,
    /// It stays as if its files weren't there, and nobody is asked again.
    Untrusted,
    /// Nothing yet: it is not trusted, and the person should be asked.
    Unknown,
}

impl Trust {
    /// Whether what the folder's files ask for counts.
    pub const fn is_trusted(self) -> bool {
        matches!(self, Self::Trusted)
    }
}

/// What a person is asked before a folder's files count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TrustQuestion {
    /// What they said so far.
    pub trust: Trust,
    /// What would become active, a line each, for people; the texts come from the folder. Empty: there is nothing to ask.
    pub would_activate: Vec<String>,
    /// Absolute path of the main checkout: the answer holds for it and all its worktrees.
    pub place: String,
}
