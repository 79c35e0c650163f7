//! `cargo xtask bench`: measures what the product promises, on the optimised program.

use crate::steps::run;
use crate::{build, cargo, frontend, system};

/// Builds the optimised program and hands `arguments` (sections, `--json FILE`) to the measurements.
pub(crate) fn run_all(arguments: &[String]) -> Result<(), String> {
    // The window is measured, too.
    system::prepare(system::Purpose::WindowTests)?;
    frontend::prepare()?;
    // Both with the same features and the same profile, so that nothing is compiled twice.
    run(build().args(["--profile", "bench"]))?;
    // Relative file names are the caller's.
    let here = std::env::current_dir().map_err(|error| format!("there is no current folder: {error}"))?;
    let arguments = arguments.iter().scan(false, |is_file, argument| {
        let is_path = std::mem::replace(is_file, argument == "--json");
        Some(if is_path { here.join(argument).to_string_lossy().into_owned() } else { argument.clone() })
    });
    run(cargo().args(["bench", "--workspace", "--bench", "goals", "--locked", "--"]).args(arguments))
}
