//! The command line, parsed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use offshoot_agents::model::Provider;
use offshoot_protocol::PermissionMode;

/// A workbench for developers who delegate coding work to LLM agents.
#[derive(Debug, Parser)]
#[command(
    name = "offshoot",
    version,
    args_conflicts_with_subcommands = true,
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
    /// List, show and delete sessions
    Sessions(SessionsArguments),
    /// Show a session's tree of agents
    Tree(TreeArguments),
    /// Say how calls are decided
    Permissions(PermissionsArguments),
    /// List, show and check roles
    Roles(RolesArguments),
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

/// `offshoot exec`.
#[derive(Debug, Args)]
#[command(after_help = "\
The final text goes to standard output, what happens on the way to standard error. A permission request
that no rule answers is denied: there is nobody to ask.

Exit codes: 0 done, 1 the turn failed, 2 usage, 3 something was denied, 4 a limit was reached, 130 interrupted.

Examples:
  offshoot exec 'Explain src/main.rs'
  git diff | offshoot exec -                               the prompt comes from standard input
  offshoot exec --allow 'Bash(cargo test *)' 'Fix the failing test'
  offshoot exec --json 'Review the last commit' | jq -r 'select(.type == \"agent_ended\")'
  offshoot exec --continue 'And now the documentation'     the newest session of this folder
  offshoot exec --provider demo                            the demo, without a key or network")]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct ExecArguments {
    /// What to do; `-` reads it from standard input. The demo has a prompt of its own
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
    /// The project folder [default: the current one]
    #[arg(short = 'C', long = "directory", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
    /// Who answers [default: anthropic with a key or a base URL in the environment, otherwise demo]
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) provider: Option<ProviderName>,
    #[arg(long, help = "The provider's address [default: $ANTHROPIC_BASE_URL]", value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The model's id, as the provider knows it
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How calls are decided that no rule decides
    #[arg(long, value_name = "MODE", value_parser = permission_mode())]
    pub(crate) permission_mode: Option<String>,
    /// Allow what this rule covers; repeatable
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Deny what this rule covers; repeatable, and stronger than any allow
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// Trust the folder for good: what its own settings, hooks, roles and instructions ask for counts
    #[arg(long)]
    pub(crate) trust: bool,
    /// Whether work that is delegated without a role becomes a fork
    #[arg(long, value_name = "WHEN")]
    pub(crate) forks: Option<ForksArgument>,
    /// Most model calls of one turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// Go on with this session
    #[arg(long, value_name = "ID", conflicts_with = "continue_newest")]
    pub(crate) resume: Option<String>,
    /// Go on with the newest session of the folder
    #[arg(long = "continue")]
    pub(crate) continue_newest: bool,
    /// End with the answer; background agents that still run are stopped and listed
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Print every event as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl ExecArguments {
    /// Whether neither a prompt nor a place is named.
    pub(crate) fn is_bare(&self) -> bool {
        let goes_on = self.resume.is_some() || self.continue_newest;
        self.prompt.is_none() && self.directory.is_none() && !goes_on
    }

    /// The mode that was asked for.
    pub(crate) fn mode(&self) -> Option<PermissionMode> {
        mode_named(self.permission_mode.as_ref()?)
    }
}

/// The mode of that name.
pub(crate) fn mode_named(text: &str) -> Option<PermissionMode> {
    MODES.iter().find(|(name, _)| *name == text).map(|(_, mode)| *mode)
}

const MODES: [(&str, PermissionMode); 5] = [
    ("default", PermissionMode::Default),
    ("accept-edits", PermissionMode::AcceptEdits),
    ("plan", PermissionMode::Plan),
    ("dont-ask", PermissionMode::DontAsk),
    ("bypass", PermissionMode::Bypass),
];

fn permission_mode() -> clap::builder::PossibleValuesParser {
    MODES.map(|(name, _)| name).into()
}

/// Providers that this program has a client for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProviderName {
    /// Anthropic Messages
    Anthropic,
    /// The embedded demo: no key, no network
    Demo,
}

impl From<ProviderName> for Provider {
    fn from(name: ProviderName) -> Self {
        match name {
            ProviderName::Anthropic => Self::Anthropic,
            ProviderName::Demo => Self::Demo,
        }
    }
}

/// Whether forks are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ForksArgument {
    /// Work that is delegated without a role becomes a fork
    Always,
    /// It goes to the role general-purpose instead
    Never,
}

/// `offshoot sessions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  offshoot sessions                      newest first
  offshoot sessions show s4k7            an id may be shortened as long as it is unique
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
  offshoot tree s4k7 --json | jq '.session.agents | length'")]
pub(crate) struct TreeArguments {
    /// The session, or the beginning of its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `offshoot permissions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  offshoot permissions explain Bash 'git push --force'
  offshoot permissions explain --mode accept-edits Edit '{\"file_path\": \"src/main.rs\"}'")]
pub(crate) struct PermissionsArguments {
    /// What to do
    #[command(subcommand)]
    pub(crate) wish: PermissionsWish,
}

/// What to do with permissions.
#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsWish {
    /// Say which rule decides on a call, and why, part by part. Nothing is run
    Explain(Box<ExplainArguments>),
}

/// `offshoot permissions explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
With --batch, standard input is read as JSON Lines {tool, input, mode?, cwd?, allow?, ask?, deny?}, and one
decision a line is printed.

Examples:
  offshoot permissions explain Bash 'npm test && rm -rf build'
  offshoot permissions explain --allow 'Bash(npm *)' --deny 'Bash(rm *)' --json Bash 'npm run clean'
  echo '{\"tool\": \"Bash\", \"input\": \"ls\"}' | offshoot permissions explain --batch | jq -r .verdict")]
pub(crate) struct ExplainArguments {
    /// The tool's name
    #[arg(value_name = "TOOL", required_unless_present = "batch")]
    pub(crate) tool: Option<String>,
    /// Its input as a JSON object, for Bash also the bare command; `-` reads it from standard input
    #[arg(value_name = "INPUT", required_unless_present = "batch", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// The project folder [default: the current one]
    #[arg(short = 'C', long = "directory", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
    /// How calls are decided that no rule decides
    #[arg(long, value_name = "MODE", value_parser = permission_mode())]
    pub(crate) mode: Option<String>,
    /// A rule that allows, beside those of the settings; repeatable
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// A rule that makes calls be asked about; repeatable
    #[arg(long, value_name = "RULE")]
    pub(crate) ask: Vec<String>,
    /// A rule that denies; repeatable
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Answer one question for each line of standard input
    #[arg(long, conflicts_with_all = ["tool", "mode", "allow", "ask", "deny"])]
    pub(crate) batch: bool,
}

/// `offshoot roles`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes of check: 0 nothing is wrong, 1 something is.

Examples:
  offshoot roles                              all, hidden ones too
  offshoot roles show reviewer
  offshoot roles check .offshoot/roles        path:line: message, for editors and CI
  offshoot roles --json | jq -r '.roles[].name'")]
pub(crate) struct RolesArguments {
    /// What to do with them [default: list]
    #[command(subcommand)]
    pub(crate) wish: Option<RolesWish>,
    /// The project folder [default: the current one]
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with roles.
#[derive(Debug, Subcommand)]
pub(crate) enum RolesWish {
    /// List all roles, with where they come from
    List,
    /// Show one role
    Show {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Say what is wrong with role files
    Check {
        /// A role file or a folder of them [default: all that the project and you have]
        #[arg(value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
        path: Option<PathBuf>,
    },
}

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
        for (name, mode) in super::MODES {
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
