//! Offshoot's delegation core: everything that acts.
//!
//! One word for one thing, here, in the window and in the documentation:
//!
//! | word | meaning |
//! |---|---|
//! | project | a folder opened in Offshoot; normally a git repository |
//! | session | one root agent and everything it delegated; the unit that is stored, resumed, exported |
//! | agent | a node of the tree: root, fork, subagent or teammate |
//! | role | a Markdown file with YAML front matter: how an agent behaves and what it may use |
//! | transcript | an agent's messages, append-only |
//! | request head | model, system prompt, tool definitions and sampling parameters, frozen when an agent starts |
//! | directive, brief | the text a fork is given; the text a subagent is given |
//! | report | the text an agent hands back |
//! | turn, step, call | from an input to idle; one model call; one tool call |
//! | task | something that runs in the background under an id |
//! | worktree, base, changes | a git worktree made for one agent; the commit it started from; everything that differs from it |
//!
//! What is deliberately absent: Tauri, environment variables, the home directory, a keychain, printing. Paths, keys and
//! the clock are handed in.
//!
//! Modules stand in reading order and use only modules above them; a test checks that.

pub mod clock;
pub mod message;
pub mod transcript;
pub mod cache;
pub mod boundary;
pub mod shell;
pub mod policy;
pub mod view;
pub mod log;
pub mod portable;
pub mod journal;
pub mod git;
pub mod worktree;
pub mod changes;
pub mod merge;
pub mod sandbox;
pub mod model;
pub mod hooks;
pub mod settings;
pub mod price;
pub mod tool;
pub mod role;
mod instructions;
pub mod trust;
pub mod prompt;
pub mod approval;
pub mod turn;
pub mod agent;
pub mod tree;
pub mod workbench;

#[cfg(test)]
mod layers;
