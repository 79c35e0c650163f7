//! `cargo xtask run`: builds the program and starts it.

use std::process::Command;

use crate::steps::run as wait_for;
use crate::{build, frontend, root, system};

/// Installs what is missing, builds, and starts the program with `arguments`. Without arguments and without a display
/// the demo session is played in the terminal.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    system::prepare(system::Purpose::Run)?;
    frontend::prepare()?;
    wait_for(&mut build())?;
    let mut program = program();
    if arguments.is_empty() && !has_display() {
        eprintln!("xtask: there is no display here (DISPLAY and WAYLAND_DISPLAY are not set).");
        eprintln!("xtask: playing the demo session in the terminal instead: offshoot exec --provider demo\n");
        program.args(["exec", "--provider", "demo"]);
    }
    wait_for(program.args(arguments))
}

/// The built program. Started in the folder of the caller, so that relative arguments mean what they say.
fn program() -> Command {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    Command::new(target.join("debug").join(format!("offshoot{}", std::env::consts::EXE_SUFFIX)))
}

fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}
