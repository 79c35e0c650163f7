//! `offshoot export` and `import`.

use std::path::PathBuf;

use clap::Args;

/// `offshoot export`.
#[derive(Debug, Args)]
#[command(after_help = "\
The file is JSON Lines: a header, the stored contents, the events in order. Keys are never in it; what agents
read and wrote is.

Examples:
  offshoot export s4k7 -o session.jsonl
  offshoot export s4k7 | jq -r 'select(.line == \"event\") | .event.type' | sort | uniq -c")]
pub(crate) struct ExportArguments {
    /// The session, or the beginning of its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Write to this file, replacing it [default: standard output]
    #[arg(short = 'o', long = "output", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

/// `offshoot import`.
#[derive(Debug, Args)]
#[command(after_help = "\
The session is stored at rest; nothing runs. It keeps its id where that is free. Permissions that were given
where it comes from, and worktrees there, are not taken over.

Examples:
  offshoot import session.jsonl                       into the project that it had, if that folder is here
  offshoot import session.jsonl -C ~/src/my-project   into this one")]
pub(crate) struct ImportArguments {
    /// The file that `offshoot export` wrote
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// The project folder that it is to belong to [default: the one it had]
    #[arg(short = 'C', long = "directory", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) directory: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
