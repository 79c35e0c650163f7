//! `offshoot sessions` and `tree`.

use clap::{Args, Subcommand};

/// `offshoot sessions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  offshoot sessions                      newest first
  offshoot sessions show s4k7            an id may be shortened as long as it is unique
  offshoot sessions rename s4k7 'The parser'
  offshoot sessions delete s4k7
  offshoot sessions list --json | jq -r '.[].id'")]
pub(crate) struct SessionsArguments {
    /// What to do with them [default: list]
    #[command(subcommand)]
    pub(crate) wish: Option<SessionsWish>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsWish {
    /// List all sessions, newest first
    List,
    /// Show one session: its project, its agents, what waits
    Show {
        /// The session, or the beginning of its id
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Give one session another title
    Rename {
        /// The session, or the beginning of its id
        #[arg(value_name = "ID")]
        id: String,
        /// The new title
        #[arg(value_name = "TITLE")]
        title: String,
    },
    /// Delete one session. Worktrees with work in them are kept
    Delete {
        /// The session, or the beginning of its id
        #[arg(value_name = "ID")]
        id: String,
    },
}

/// `offshoot tree`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  offshoot tree s4k7
  offshoot tree s4k7 --json | jq '.session.agents | length'
  offshoot tree s4k7 --json | jq '[.costs[].own.picodollars] | add / 1e12'   # dollars")]
pub(crate) struct TreeArguments {
    /// The session, or the beginning of its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
