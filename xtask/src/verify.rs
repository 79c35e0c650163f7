//! `cargo xtask test`: everything that has to hold before a change is merged.

use std::process::Stdio;

use crate::frontend::{self, npm};
use crate::steps::{Outcome, Steps};
use crate::{build, cargo, system};

/// How much is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Everything,
    /// All but the tests that start the window.
    WithoutWindow,
}

/// Tells the window tests whether they may be left out: `1` never, `0` always; unset: when the machine lacks something.
const REQUIRE_WINDOW: &str = "OFFSHOOT_REQUIRE_WINDOW";

/// Runs every check, also those behind a failed one, and says at the end which failed.
pub(crate) fn test(extent: Extent) -> Result<(), String> {
    let with_window = extent == Extent::Everything && cfg!(target_os = "linux");
    components()?;
    system::prepare(if with_window { system::Purpose::WindowTests } else { system::Purpose::Tests })?;
    let mut steps = Steps::default();
    steps.run("formatting", cargo().args(["fmt", "--all", "--check"]));
    if steps.perform("npm packages", frontend::install) == Outcome::Passed {
        steps.run("types (tsc)", &mut npm(&["run", "check"]));
        steps.run("ui tests (vitest)", &mut npm(&["run", "test"]));
        steps.perform("ui build", frontend::build);
    }
    steps.run(
        "lints (clippy)",
        cargo().args(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
    );
    // The tests start the program, so it comes first; without it they would test an old one.
    let built = steps.run("build", &mut build());
    let mut tests = |name, wanted, selection: &[&str]| {
        if built == Outcome::Passed {
            steps.run(
                name,
                cargo()
                    .args(["test", "--workspace", "--locked", "--no-fail-fast"])
                    .args(selection)
                    .env(REQUIRE_WINDOW, wanted),
            );
        } else {
            steps.skip(name);
        }
    };
    tests("cargo test", "0", &[]);
    if with_window {
        tests("window tests", "1", &["--test", "window*"]);
        steps.run("accessibility", &mut frontend::node("tools/accessibility.mjs"));
    }
    steps.finish()
}

/// Checks that cargo's companions are there; some distributions package them apart.
fn components() -> Result<(), String> {
    for name in ["fmt", "clippy"] {
        let answer = cargo().args([name, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !answer.is_ok_and(|status| status.success()) {
            return Err(format!("`cargo {name}` is missing: run `rustup component add rustfmt clippy`"));
        }
    }
    Ok(())
}
