//! `cargo xtask screenshots`: pictures of every view, made from recorded sessions in the window's own engine.

use std::path::PathBuf;

use crate::steps::run;
use crate::{frontend, root, system};

/// Makes the pictures: in the folder that the first argument names, else in `target/screenshots`. Further arguments are
/// parts of the names of those that are wanted.
pub(crate) fn screenshots(arguments: &[String]) -> Result<(), String> {
    system::prepare(system::Purpose::WindowTests)?;
    frontend::install()?;
    let folder = match arguments.first() {
        // Relative to where the command was called, not to the folder that the tool runs in.
        Some(folder) => std::path::absolute(folder).map_err(|error| format!("{folder}: {error}"))?,
        None => target().join("screenshots"),
    };
    let mut tool = frontend::node("tools/screenshots.mjs");
    run(tool.arg(folder).args(arguments.iter().skip(1)))
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into)
}
