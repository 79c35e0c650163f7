//! The setup of a worktree: the person's commands, behind the same wall as an agent's, before the agent does anything there.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use offshoot_protocol::{AgentId, Delta, EventBody, SetupRan};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::Tree;
use crate::boundary::Place;
use crate::git::Cancel;
use crate::journal::Journal;
use crate::prompt;
use crate::tool::{Commands, OutputSink};
use crate::worktree::{Setup, Worktree};

/// How long one command may take. Installing what a large project needs takes minutes; all of it can be stopped before.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// Most bytes of a command's output that are kept: its end.
const KEPT: usize = 16 * 1024;

/// Most bytes of it that an error names.
const NAMED: usize = 1024;

impl Tree {
    /// The setup that the settings ask for; none where they ask for nothing.
    pub(super) fn setup(&self, id: &AgentId) -> Option<Setup> {
        let lines = self.means.worktree.setup.clone();
        if lines.is_empty() {
            return None;
        }
        let setting_up = SettingUp {
            agent: id.clone(),
            journal: self.journal.clone(),
            commands: self.means.kit.commands.clone(),
            main_checkout: self.project(),
            scratch: self.folder.join("scratch"),
            written: AtomicU32::new(0),
        };
        let (setting_up, runtime) = (Arc::new(setting_up), Handle::current());
        Some(Setup::new(move |worktree, cancel| {
            runtime.block_on(async {
                tokio::select! {
                    done = setting_up.run(&lines, worktree) => done,
                    // Dropping the command ends it, with everything it started.
                    () = cancelled(cancel) => Err("it was stopped".to_owned()),
                }
            })
        }))
    }
}

async fn cancelled(cancel: &Cancel) {
    cancel.cancelled().await;
}

/// One worktree's setup.
struct SettingUp {
    agent: AgentId,
    journal: Arc<Journal>,
    commands: Commands,
    main_checkout: PathBuf,
    scratch: PathBuf,
    /// UTF-16 code units of output so far.
    written: AtomicU32,
}

impl SettingUp {
    /// Runs the commands one after the other, to the first that fails. What each came to is recorded.
    async fn run(self: &Arc<Self>, lines: &[String], worktree: &Worktree) -> Result<(), String> {
        let place = Place {
            directory: worktree.directory(),
            main_checkout: Some(self.main_checkout.clone()),
            scratch: self.scratch.clone(),
        };
        for line in lines {
            let started = Instant::now();
            let ran = self.commands.run(line, &place, PATIENCE, &self.sink()).await;
            let (exit, output, ended) = match ran {
                Ok(ran) => (ran.exit, ran.output, ran.failure),
                Err(error) => (None, String::new(), Some(error.message)),
            };
            let kept = match &ended {
                Some(ended) if output.is_empty() => ended.clone(),
                _ => tail(&output, KEPT).to_owned(),
            };
            let fact = SetupRan {
                command: line.clone(),
                exit,
                output: kept,
                confinement: self.commands.confinement(),
                duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            };
            self.journal.record(&self.agent, EventBody::SetupRan(fact));
            if let Some(ended) = ended {
                let words = prompt::defang(tail(output.trim_end(), NAMED));
                let words = if words.is_empty() { words } else { format!(". Its last words: {words}") };
                return Err(format!("`{line}`: {ended}{words}"));
            }
        }
        Ok(())
    }

    fn sink(self: &Arc<Self>) -> OutputSink {
        let me = self.clone();
        OutputSink::new(move |text| {
            let units = u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
            let offset = me.written.fetch_add(units, Ordering::Relaxed);
            me.journal.stream(&Delta::Setup { agent: me.agent.clone(), offset, text: text.to_owned() });
        })
    }
}

/// The end of a text, at most so many bytes, from the beginning of a character.
fn tail(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}
