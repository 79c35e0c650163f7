//! Hooks: programs of the person's own that run at certain moments and may object.
//!
//! A hook gets a JSON object on its standard input ([`HookInput`]) and answers by its exit status: 0 for no objection,
//! or with a JSON object on its standard output; 2 to block, with its standard error as the reason; anything else is a
//! warning. The shapes are the field's, so that people's hooks run unchanged.
//!
//! **A hook can tighten, never loosen.** `"allow"` and `"approve"` only mean that this hook has no objection: rules, modes,
//! the boundary and other hooks decide as if it hadn't run, and [`Outcome`] has no place for a permission. A
//! `PreToolUse` hook that came to no usable answer (it took too long, crashed, printed broken JSON) makes the call be
//! asked about, because calls can be written so that a hook fails on them.
//!
//! Hooks run unconfined, with the person's rights: this module never reads settings, and takes only what it is handed;
//! who hands in entries of a project that isn't trusted has broken the rule.

mod answer;
mod event;
mod input;
mod matcher;
mod process;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;

use answer::Answer;
pub use event::HookEvent;
pub use input::{HookDetail, HookInput};
pub use matcher::HookMatcher;

/// How long a hook may take that doesn't say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// Most hooks that run at once for one event; the others wait for their turn.
const AT_ONCE: usize = 8;

/// One hook, as set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEntry {
    /// When it runs.
    pub event: HookEvent,
    /// For which subjects.
    pub matcher: HookMatcher,
    /// What runs, in a shell.
    pub command: String,
    /// How long it may take.
    pub timeout: Duration,
    /// The settings file it stands in.
    pub path: PathBuf,
}

/// All hooks of a session.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    entries: Vec<HookEntry>,
    environment: Vec<(OsString, OsString)>,
    project: PathBuf,
}

/// What all hooks of one moment together say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// At least one objects: their reasons, a line each. What it means depends on the event; a call doesn't run.
    pub blocked: Option<String>,
    /// At least one wants a person to decide: why. Counts only where nothing forbids.
    pub ask: Option<String>,
    /// What the model shall be told. Untrusted text, to be escaped like a tool's output.
    pub context: Vec<String>,
    /// At least one ends the agent's work: why.
    pub stop: Option<String>,
    /// Every hook that ran, for the window.
    pub ran: Vec<HookRun>,
}

/// One hook that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRun {
    /// What ran.
    pub command: String,
    /// For how long.
    pub duration: Duration,
    /// Its exit status; absent when it was ended, or never started.
    pub exit: Option<i32>,
    /// What went wrong, or what it tells the person.
    pub warning: Option<String>,
}

impl Hooks {
    /// These hooks. `environment` is all that they see of one, besides `OFFSHOOT_PROJECT_DIR` and the field's name for the
    /// same, `CLAUDE_PROJECT_DIR`, which are set to `project`. It must hold no key of a model's provider.
    pub fn new(entries: Vec<HookEntry>, environment: Vec<(OsString, OsString)>, project: &Path) -> Self {
        let mut environment = environment;
        for name in ["OFFSHOOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"] {
            environment.push((name.into(), project.as_os_str().to_owned()));
        }
        Self { entries, environment, project: project.to_path_buf() }
    }

    /// No hooks.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether there are none at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether nothing would run: saves making an input.
    pub fn is_silent(&self, event: HookEvent, subject: &str) -> bool {
        self.matching(event, subject).next().is_none()
    }

    /// Runs all hooks of `event` that are for `subject` (see [`HookEvent`]; `""` where there is none) beside each other, the
    /// same command once, and puts their answers together in the order of the settings. Dropping the future ends them.
    pub async fn run(&self, event: HookEvent, input: &HookInput, subject: &str) -> Outcome {
        let mut seen = HashSet::new();
        let hooks: Vec<&HookEntry> =
            self.matching(event, subject).filter(|hook| seen.insert(hook.command.as_str())).collect();
        if hooks.is_empty() {
            return Outcome::default();
        }
        let json = input.to_json(event);
        // A worktree may be gone by the time its end is told.
        let directory = if input.cwd.is_dir() { &input.cwd } else { &self.project };
        let runs: Vec<_> = hooks
            .iter()
            .map(|hook| process::run(&hook.command, hook.timeout, directory, &self.environment, &json))
            .collect();
        let mut runs = futures_util::stream::iter(runs).buffered(AT_ONCE);
        let mut outcome = Outcome::default();
        for hook in hooks {
            let Some(ran) = runs.next().await else { break };
            let answer = Answer::of(event, &hook.command, &ran);
            outcome.add(hook, &ran, answer);
        }
        outcome
    }

    fn matching(&self, event: HookEvent, subject: &str) -> impl Iterator<Item = &HookEntry> {
        let is_for = move |hook: &HookEntry| !event.has_subject() || hook.matcher.is_match(subject);
        self.entries.iter().filter(move |hook| hook.event == event && is_for(hook))
    }
}

impl Outcome {
    fn add(&mut self, hook: &HookEntry, ran: &process::Ran, answer: Answer) {
        let Answer { blocked, ask, context, stop, warnings } = answer;
        for (all, one) in [(&mut self.blocked, blocked), (&mut self.ask, ask), (&mut self.stop, stop)] {
            match (all, one) {
                (_, None) => {}
                (Some(all), Some(one)) => {
                    all.push('\n');
                    all.push_str(&one);
                }
                (all, one) => *all = one,
            }
        }
        self.context.extend(context);
        let exit = if let process::Ending::Exited(exit) = ran.ending { exit } else { None };
        let warning = Some(warnings.join("; ")).filter(|warning| !warning.is_empty());
        self.ran.push(HookRun { command: hook.command.clone(), duration: ran.duration, exit, warning });
    }
}

#[cfg(test)]
mod tests;
