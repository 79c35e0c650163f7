//! Steps: child processes with a name, timed, their output passed through.

use std::process::Command;
use std::time::{Duration, Instant};

/// What was run so far and how it went.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Step>,
}

struct Step {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

/// How a step went.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

impl Steps {
    /// Runs a step that is one process.
    pub(crate) fn run(&mut self, name: &'static str, command: &mut Command) -> Outcome {
        self.perform(name, || run(command))
    }

    /// Runs a step that is more than a process.
    pub(crate) fn perform(&mut self, name: &'static str, step: impl FnOnce() -> Result<(), String>) -> Outcome {
        eprintln!("\n==> {name}");
        let start = Instant::now();
        let outcome = match step() {
            Ok(()) => Outcome::Passed,
            Err(message) => {
                eprintln!("xtask: {message}");
                Outcome::Failed
            }
        };
        self.done.push(Step { name, outcome, took: start.elapsed() });
        outcome
    }

    /// Notes a step that could not be tried.
    pub(crate) fn skip(&mut self, name: &'static str) {
        self.done.push(Step { name, outcome: Outcome::Skipped, took: Duration::ZERO });
    }

    /// Prints the table. The error names every step that failed.
    pub(crate) fn finish(self) -> Result<(), String> {
        eprintln!();
        let mut total = Duration::ZERO;
        for step in &self.done {
            let word = match step.outcome {
                Outcome::Passed => "ok",
                Outcome::Failed => "FAILED",
                Outcome::Skipped => "skipped",
            };
            eprintln!("  {:<20} {word:<8} {:>7.1} s", step.name, step.took.as_secs_f64());
            total += step.took;
        }
        let failed: Vec<_> = self.done.iter().filter(|step| step.outcome == Outcome::Failed).collect();
        if failed.is_empty() {
            eprintln!("\nAll passed in {:.1} s.", total.as_secs_f64());
            return Ok(());
        }
        let names: Vec<_> = failed.iter().map(|step| step.name).collect();
        Err(format!("failed: {} (after {:.1} s)", names.join(", "), total.as_secs_f64()))
    }
}

/// Runs a process to its end, its output passed through.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let shown = show(command);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` ended with {status}")),
        Err(error) => Err(format!("`{shown}` could not be started: {error}")),
    }
}

/// The command line, for people.
pub(crate) fn show(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
