//! `offshoot roles`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
