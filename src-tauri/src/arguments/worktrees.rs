//! `offshoot worktrees`.

use clap::{Args, Subcommand};

/// `offshoot worktrees`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  offshoot worktrees                     on the disk with their sizes, and in archives
  offshoot worktrees archive a-4k7m      everything in it is kept under a ref
  offshoot worktrees discard a-4k7m      the same, but for thirty days only
  offshoot worktrees restore a-4k7m      also when its session is deleted
  offshoot worktrees repair              after a crash; says what it did")]
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
    /// List all worktrees and archives
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
