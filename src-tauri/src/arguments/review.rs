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
Exit codes: 0 done, 1 refused (conflicts, say): nothing was touched, 2 usage (or a file or hunk that isn't among the
changes).

Where the changes came from is added to commit messages and patches.

Examples:
  offshoot merge a-4k7m --how apply --dry-run       what would change, and what conflicts
  offshoot merge a-4k7m a-9x2c --how apply          into the checkout's files, uncommitted
  offshoot merge a-4k7m --how squash -m 'Fix the parser'
  offshoot merge a-4k7m --how rebase
  offshoot merge a-4k7m a-9x2c --accepted           what was accepted in the window
  offshoot merge a-4k7m --files src/lib.rs --files README.md
  offshoot merge a-4k7m --skip-conflicts            everything but the files in conflict
  offshoot merge a-4k7m --how patch > fix.patch
  offshoot merge a-4k7m --undo                      takes the last merge of its changes back")]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct MergeArguments {
    /// The agents, by id or the beginning of it, in the order they are merged
    #[arg(value_name = "AGENT", required = true)]
    pub(crate) agents: Vec<String>,
    /// In which form [default: apply]
    #[arg(long, value_name = "HOW")]
    pub(crate) how: Option<HowArgument>,
    /// What the commit says [default: the agents' titles]
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Only these files; repeatable
    #[arg(long, value_name = "PATH", conflicts_with_all = ["hunks", "accepted"])]
    pub(crate) files: Vec<String>,
    /// Only the hunks with these hashes, as `offshoot changes --hunks` prints them; repeatable
    #[arg(long, value_name = "HASH", conflicts_with = "accepted")]
    pub(crate) hunks: Vec<String>,
    /// Only what was accepted in the window
    #[arg(long)]
    pub(crate) accepted: bool,
    /// Take back the last merge of these agents' changes instead
    #[arg(long, conflicts_with_all = ["how", "message", "files", "hunks", "accepted", "skip_conflicts", "dry_run"])]
    pub(crate) undo: bool,
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
    /// As a commit with two parents: the agents' own commits come along
    Merge,
    /// The agents' commits, one after the other, behind the branch's last one
    Rebase,
    /// As rebase; each commit names the one that it was picked from
    CherryPick,
    /// As a patch on standard output
    Patch,
}

/// `offshoot conflicts`.
#[derive(Debug, Args)]
#[command(after_help = "\
Every worktree of the session is merged in memory with every other one and with the checkout. One line a file: the agent, the
other side, the path. Nothing changes.

Examples:
  offshoot conflicts s4k7
  offshoot conflicts s4k7 --json")]
pub(crate) struct ConflictsArguments {
    /// The session, or the beginning of its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
