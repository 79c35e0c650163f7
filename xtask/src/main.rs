//! `cargo xtask run`, `test`, `bench` and `screenshots`: from a fresh clone to the window, to a checked change, to figures and
//! pictures.
//!
//! They install what is missing on Debian and Ubuntu and say what is needed elsewhere. Every cargo call names the whole
//! workspace and the default profile, so that nothing is compiled twice with other features.

#![allow(clippy::print_stderr, reason = "a build tool talks to whoever started it")]

mod bench;
mod frontend;
mod pictures;
mod play;
mod steps;
mod system;
mod verify;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask <COMMAND>

Commands:
  run [ARGS]     Install what is missing, build, and open the window; ARGS go to offshoot.
                 Without a display the demo session is played in the terminal.
  test [--fast]  Install what is missing and check everything: formatting, lints, types, tests, the real window.
                 --fast leaves the window tests out.
  bench [SECTION…] [--json FILE]
                 Measure the optimised program against its goals for time and memory; print a table.
  screenshots [DIR [NAME…]]
                 Make pictures of every view, in both themes and several sizes, from recorded sessions.
                 DIR is target/screenshots unless it is given; NAME is a part of a picture's name.

Examples:
  cargo xtask run
  cargo xtask run ~/src/my-project
  cargo xtask run exec --provider demo
  cargo xtask test --fast
  cargo xtask bench fork log --json figures.json
  cargo xtask screenshots
  cargo xtask screenshots /tmp/pictures review dark-1280";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let done = match (command.as_deref(), rest.as_slice()) {
        (Some("run"), _) => play::run(&rest),
        (Some("test"), []) => verify::test(verify::Extent::Everything),
        (Some("test"), [only]) if only == "--fast" => verify::test(verify::Extent::WithoutWindow),
        (Some("bench"), _) => bench::run_all(&rest),
        (Some("screenshots"), _) => pictures::screenshots(&rest),
        (Some("help" | "--help" | "-h"), _) => {
            eprintln!("{USAGE}");
            Ok(())
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root.
fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().expect("xtask is a folder of the repository").to_path_buf()
}

/// The cargo that started this program.
fn cargo() -> std::process::Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(program);
    command.current_dir(root());
    // Cargo tells its child processes about the crate it runs; passed on, that would invalidate what they have built.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Builds the program, with the features that every other call uses too.
fn build() -> std::process::Command {
    let mut command = cargo();
    command.args(["build", "--workspace", "--bin", "offshoot", "--bin", "offshoot-window", "--locked"]);
    command
}
