//! The command line, parsed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

mod exec;
mod models;
mod moving;
mod permissions;
mod reading;
mod review;
mod roles;
mod sessions;
mod worktrees;

pub(crate) use exec::{ExecArguments, ForksArgument};
pub(crate) use models::{KeyArguments, KeyWish, ModelsArguments};
pub(crate) use moving::{ExportArguments, ImportArguments};
pub(crate) use permissions::{ExplainArguments, PermissionsArguments, PermissionsWish, mode_named};
pub(crate) use review::{ChangesArguments, HowArgument, MergeArguments};
pub(crate) use roles::{RolesArguments, RolesWish};
pub(crate) use sessions::{SessionsArguments, SessionsWish, TreeArguments};
pub(crate) use worktrees::{WorktreesArguments, WorktreesWish};

/// A workbench for developers who delegate coding work to LLM agents.
#[derive(Debug, Parser)]
#[command(
    name = "offshoot",
    version,
    subcommand_precedence_over_arg = true,
    after_help = "\
Examples:
  offshoot                                   open the window
  offshoot ~/src/my-project                  open the window on a project
  offshoot exec --provider demo              play the demo session in the terminal
  offshoot exec 'Which tests are slow?'      one run, in the current folder
  offshoot doctor                            check this machine"
)]
pub(crate) struct Arguments {
    /// The project folder to open the window on.
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) folders: FolderArguments,
    /// What to do instead of opening the window.
    #[command(subcommand)]
    pub(crate) wish: Option<Wish>,
}

/// Where the program keeps what it stores. Taken by every command.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FolderArguments {
    #[arg(long, global = true, help = "Where sessions are stored [default: $XDG_DATA_HOME/offshoot]", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) data_dir: Option<PathBuf>,
    #[arg(long, global = true, help = "Where settings and roles are read [default: $XDG_CONFIG_HOME/offshoot]", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) config_dir: Option<PathBuf>,
}

/// What the program is asked to do without a window.
#[derive(Debug, Subcommand)]
pub(crate) enum Wish {
    /// Run one prompt to its end, without a window
    Exec(Box<ExecArguments>),
    /// List, show, rename and delete sessions
    Sessions(SessionsArguments),
    /// Write a session to a file
    Export(ExportArguments),
    /// Read a session from a file
    Import(ImportArguments),
    /// Show a session's tree of agents
    Tree(TreeArguments),
    /// Say how calls are decided
    Permissions(PermissionsArguments),
    /// List, show and check roles
    Roles(RolesArguments),
    /// Show what an agent changed in its worktree
    Changes(ChangesArguments),
    /// Bring agents' changes into their parent's checkout
    Merge(MergeArguments),
    /// Show which worktrees of a session can't be merged together
    Conflicts(TreeArguments),
    /// List, archive, restore, discard and repair worktrees
    Worktrees(WorktreesArguments),
    /// List the models that can be asked
    Models(ModelsArguments),
    /// Store and delete providers' keys
    Key(KeyArguments),
    /// Check this machine and say what to do
    Doctor(DoctorArguments),
}

/// The arguments are well-formed, but name something that isn't there. Ends the program with the exit code for usage.
#[derive(Debug)]
pub(crate) struct Misused(pub(crate) String);

impl std::fmt::Display for Misused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misused {}

/// `offshoot doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 ready, 1 something must be fixed first.

Examples:
  offshoot doctor
  offshoot doctor --json | jq '.[] | select(.state != \"ok\")'")]
pub(crate) struct DoctorArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Arguments, Wish};

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_mode_is_understood() {
        for (name, mode) in super::permissions::MODES {
            let arguments = Arguments::parse_from(["offshoot", "exec", "--permission-mode", name, "x"]);
            let Some(Wish::Exec(exec)) = arguments.wish else { panic!("not exec") };
            assert_eq!(exec.mode(), Some(mode));
        }
    }

    #[test]
    fn folders_may_stand_behind_the_command() {
        let arguments = Arguments::parse_from(["offshoot", "sessions", "--data-dir", "/x"]);
        assert_eq!(arguments.folders.data_dir.as_deref(), Some(std::path::Path::new("/x")));
        let arguments = Arguments::parse_from(["offshoot", "--data-dir", "/x", "some/project"]);
        assert_eq!(arguments.project.as_deref(), Some(std::path::Path::new("some/project")));
    }

    #[test]
    fn resuming_two_ways_at_once_is_refused() {
        assert!(Arguments::try_parse_from(["offshoot", "exec", "--resume", "s1", "--continue", "x"]).is_err());
    }

    #[test]
    fn every_help_has_examples() {
        let mut command = Arguments::command();
        command.build();
        for sub in std::iter::once(&command).chain(command.get_subcommands().filter(|sub| sub.get_name() != "help")) {
            let examples = sub.get_after_help().is_some_and(|text| text.to_string().contains("Examples:"));
            assert!(examples, "{} has no examples", sub.get_name());
        }
    }
}
