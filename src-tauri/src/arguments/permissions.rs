//! `offshoot permissions`, and the names of the permission modes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use offshoot_protocol::PermissionMode;

/// The mode of that name.
pub(crate) fn mode_named(text: &str) -> Option<PermissionMode> {
    MODES.iter().find(|(name, _)| *name == text).map(|(_, mode)| *mode)
}

/// The modes, by the names that the command line has for them.
pub(super) const MODES: [(&str, PermissionMode); 5] = [
    ("default", PermissionMode::Default),
    ("accept-edits", PermissionMode::AcceptEdits),
    ("plan", PermissionMode::Plan),
    ("dont-ask", PermissionMode::DontAsk),
    ("bypass", PermissionMode::Bypass),
];

/// Takes only names of modes.
pub(super) fn permission_mode() -> clap::builder::PossibleValuesParser {
    MODES.map(|(name, _)| name).into()
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
