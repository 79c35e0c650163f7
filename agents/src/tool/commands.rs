//! Command lines that no model asked for (the setup of a worktree), run as `Bash` runs a model's.

use std::sync::Arc;
use std::time::Duration;

use super::bash::{Bash, Ending, follow};
use super::{Options, OutputSink, ToolError};
use crate::boundary::Place;

/// Runs command lines behind the sandbox's wall. Clones are the same.
#[derive(Clone)]
pub struct Commands(Arc<Bash>);

/// What a command line came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit status; absent when it was ended.
    pub exit: Option<i32>,
    /// What it wrote, both streams in their order.
    pub output: String,
    /// Why it didn't succeed.
    pub failure: Option<String>,
}

impl Commands {
    /// Commands that may do what those of `Bash` may.
    pub fn new(options: Options) -> Self {
        Self(Arc::new(Bash::new(options)))
    }

    /// Runs a command line to its end, for at most `patience`. Dropping the future ends everything that it started.
    /// An error says that nothing ran.
    pub async fn run(
        &self,
        command: &str,
        place: &Place,
        patience: Duration,
        output: &OutputSink,
    ) -> Result<Ran, ToolError> {
        let prepared = self.0.prepare(command, place)?;
        let (ending, output) = follow(&self.0.sandbox, prepared, patience, output).await?;
        Ok(match ending {
            Ending::Exited(Some(0)) => Ran { exit: Some(0), output, failure: None },
            Ending::Exited(exit) => Ran { exit, output, failure: Some(ending.explain(patience).1) },
            Ending::TimedOut | Ending::TooMuchOutput => {
                Ran { exit: None, output, failure: Some(ending.explain(patience).1) }
            }
        })
    }

    /// How far the kernel confines them, in words for people.
    pub fn confinement(&self) -> String {
        self.0.sandbox.label(self.0.network)
    }
}
