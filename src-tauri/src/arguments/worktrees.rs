//! `offshoot worktrees`.

use clap::{Args, Subcommand};

/// `offshoot worktrees`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  offshoot worktrees
  offshoot worktrees archive a-4k7m      everything in it is kept under a ref
  offshoot worktrees restore a-4k7m
  offshoot worktrees repair              after a crash")]
pub(crate) struct WorktreesArguments {
    /// What to do with them [default: list]
    #[command(subcommand)]
    pub(crate) wish: Option<WorktreesWish>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with worktrees.
#[derive(Debug, Subcommand)]
pub(crate) enum WorktreesWish {
    /// List all worktrees
    List,
    /// Keep everything of one under a ref, and free its folder
    Archive {
        /// The agent, or the beginning of its id
        #[arg(value_name = "AGENT")]
        agent: String,
    },
    /// Bring an archived one back
    Restore {
        /// The agent, or the beginning of its id
        #[arg(value_name = "AGENT")]
        agent: String,
    },
    /// Archive one for thirty days
    Discard {
        /// The agent, or the beginning of its id
        #[arg(value_name = "AGENT")]
        agent: String,
    },
    /// Put right what a crash left
    Repair,
}
