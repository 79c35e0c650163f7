//! `offshoot changes` and `merge`.

use clap::{Args, ValueEnum};

/// `offshoot changes`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  offshoot changes a-4k7m
  offshoot changes a-4k7m --hunks
  offshoot changes ~/.local/share/offshoot/worktrees/project-1a2b/fix-parser-4k7m --json")]
pub(crate) struct ChangesArguments {
    /// The agent's id or the beginning of it, or a path in its worktree
    #[arg(value_name = "AGENT|PATH")]
    pub(crate) agent: String,
    /// List the files with their counts [default]
    #[arg(long, conflicts_with = "hunks")]
    pub(crate) stat: bool,
    /// Show the changed lines, each hunk with its hash
    #[arg(long)]
    pub(crate) hunks: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `offshoot merge`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 refused (conflicts, say): nothing was touched, 2 usage.

Examples:
  offshoot merge a-4k7m --how apply --dry-run       what would change, and what conflicts
  offshoot merge a-4k7m a-9x2c --how apply          into the checkout's files, uncommitted
  offshoot merge a-4k7m --how squash -m 'Fix the parser'
  offshoot merge a-4k7m --how patch > fix.patch")]
pub(crate) struct MergeArguments {
    /// The agents, by id or the beginning of it, in the order they are merged
    #[arg(value_name = "AGENT", required = true)]
    pub(crate) agents: Vec<String>,
    /// In which form
    #[arg(long, value_name = "HOW")]
    pub(crate) how: HowArgument,
    /// What the commit says [default: the agents' titles]
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Only these files; repeatable
    #[arg(long, value_name = "PATH", conflicts_with = "hunks")]
    pub(crate) files: Vec<String>,
    /// Only the hunks with these hashes, as `offshoot changes --hunks` prints them; repeatable
    #[arg(long, value_name = "HASH")]
    pub(crate) hunks: Vec<String>,
    /// Leave files in conflict out instead of refusing
    #[arg(long)]
    pub(crate) skip_conflicts: bool,
    /// Say what would happen and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// In which form changes come home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HowArgument {
    /// Into the checkout's files, uncommitted
    Apply,
    /// As one commit on the checkout's branch
    Squash,
    /// As a patch on standard output
    Patch,
}
