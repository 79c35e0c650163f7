//! Roles: Markdown files that say how an agent behaves and what it may use.
//!
//! [`parse`] reads one, [`write`] changes one without touching what wasn't meant, [`catalog`] collects them from their
//! folders and [`watch`] keeps the catalog current; [`narrow`] and [`model_alias`] say what a role comes to when an agent
//! starts with it; [`studio`] is what an editor of roles works with. Nothing here starts an agent or decides about permission, and a bad file never spoils another.

mod announce;
mod body;
pub mod catalog;
mod emit;
mod field;
mod folder;
mod grant;
mod key;
mod layout;
mod list;
pub mod model_alias;
pub mod narrow;
pub mod parse;
mod relist;
#[cfg(test)]
mod samples;
pub mod studio;
pub mod uses;
mod value;
pub mod watch;
mod wish;
pub mod write;

pub use announce::is_announcement;
pub use catalog::Catalog;
pub use field::{COLORS, MAX_TURNS};
pub use folder::RoleFolders;
pub use grant::Grant;
pub use key::Key;
pub use watch::CatalogWatch;

use offshoot_protocol::{Isolation, PermissionMode, RoleSource};

/// A role, as read from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Unique in the catalog after shadowing.
    pub name: String,
    /// When to use it; the model reads this.
    pub description: String,
    /// The system prompt.
    pub body: String,
    /// Tools it may use, as written (`Bash(git diff *)` too); absent: all.
    pub tools: Option<Vec<String>>,
    /// Tools it may not use, as written.
    pub disallowed_tools: Vec<String>,
    /// A model id or alias; absent: the parent's.
    pub model: Option<String>,
    /// Most model calls of one run, 1–200; absent: the default.
    pub max_turns: Option<u32>,
    /// The mode its calls are decided in; absent: the parent's.
    pub permission: Option<PermissionMode>,
    /// Whether it runs in the background unless the call says otherwise.
    pub background: bool,
    /// Where it works unless the call says otherwise.
    pub isolation: Isolation,
    /// A colour name.
    pub color: Option<String>,
    /// Whether the project's instructions are left out of its prompt.
    pub without_instructions: bool,
    /// Where its file comes from.
    pub source: RoleSource,
    /// Absolute path of its file, or `built-in:<name>.md`.
    pub path: String,
}
