//! `Bash`: a command line in a fresh shell, behind the sandbox's wall.
//!
//! A result is the output as it was. When the command fails, the model reads one JSON line with code and exit status and
//! then the same output, not escaped: a failing test's output is the normal result of a call, and must be as readable as
//! a passing one's, but a failure must never look like success.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use offshoot_protocol::{Access, ResultDetail, ShellOutcome};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, sleep_until};

use super::capture::Capture;
use super::{Environment, Options, OutputSink, ShellJob, Tool, ToolContext, ToolError, ToolOutput, input};
use crate::boundary::Place;
use crate::sandbox::{CommandSpec, Confinement, Limits, Prepared, Sandbox, SandboxError};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
const MAX_TIMEOUT: Duration = Duration::from_secs(600);
/// Most bytes of a command line. The kernel takes 128 KiB for one argument.
const MAX_COMMAND: usize = 100 * 1024;
/// Most bytes of output.
const MAX_OUTPUT: u64 = 10 * 1024 * 1024;
/// A command in the background is ended after a week: nothing is meant to run for ever.
const LONGEST_BACKGROUND: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long output is waited for that something in the background still holds open when the command has ended.
const DRAIN: Duration = Duration::from_millis(500);

/// The tool.
#[derive(Debug)]
pub(super) struct Bash {
    pub(super) sandbox: Arc<Sandbox>,
    pub(super) environment: Environment,
    /// Whether commands may use the network.
    pub(super) network: bool,
    /// Folders that commands may write beside the agent's own.
    pub(super) writable: Vec<PathBuf>,
    pub(super) limits: Limits,
    /// Whether commands that can't be confined run where rules allow them.
    pub(super) unconfined_allowed: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    command: String,
    timeout_ms: Option<u64>,
    run_in_background: Option<bool>,
    #[allow(dead_code, reason = "for people, who read it in the call's input")]
    description: Option<String>,
}

/// What is to be run.
#[derive(Debug)]
struct Wish {
    command: String,
    timeout: Duration,
    background: bool,
}

fn parse(input: &Value) -> Result<Wish, ToolError> {
    let Input { command, timeout_ms, run_in_background, .. } = input::parse(input)?;
    if command.trim().is_empty() {
        return Err(ToolError::invalid("`command` is empty."));
    }
    if command.contains('\0') {
        return Err(ToolError::invalid("`command` contains a NUL byte."));
    }
    if command.len() > MAX_COMMAND {
        return Err(ToolError::invalid("`command` has more than 100 KiB. Write a script to a file and run that."));
    }
    let timeout = timeout_ms.map_or(DEFAULT_TIMEOUT, Duration::from_millis);
    if timeout.is_zero() || timeout > MAX_TIMEOUT {
        return Err(ToolError::invalid("`timeout_ms` must be between 1 and 600000."));
    }
    let background = run_in_background.unwrap_or(false);
    if background && timeout_ms.is_some() {
        let message = "`timeout_ms` is for commands in the foreground: leave it out with `run_in_background`.";
        return Err(ToolError::invalid(message));
    }
    Ok(Wish { command, timeout, background })
}

#[async_trait]
impl Tool for Bash {
    fn name(&self) -> &'static str {
        "Bash"
    }

    fn description(&self) -> &'static str {
        include_str!("bash.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command line"},
                "timeout_ms": {
                    "type": "integer", "minimum": 1, "maximum": 600_000,
                    "description": "Milliseconds after which it is ended (120000)",
                },
                "run_in_background": {"type": "boolean", "description": "Don't wait for it; you are notified of its end"},
                "description": {"type": "string", "description": "What it does, in five to ten words, for the user"},
            },
            "required": ["command"],
            "additionalProperties": false,
        })
    }

    fn access(&self, input: &Value, _: &Place) -> Result<Access, ToolError> {
        parse(input).map(|Wish { command, .. }| Access::Command { command })
    }

    fn caution(&self) -> Option<String> {
        let is_open = !self.sandbox.is_confined() && !self.unconfined_allowed;
        is_open.then(|| format!("commands are {}, so each is asked about", self.sandbox.confinement()))
    }

    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Wish { command, timeout, background } = parse(&input)?;
        let prepared = self.prepare(&command, &context.place)?;
        if background {
            let sandbox = self.sandbox.clone();
            let run = move |file| run_into(sandbox, prepared, file).boxed();
            let job = ShellJob { command, run: Box::new(run) };
            return context.delegate.start_shell(&context.agent, &context.call, job).await.map(ToolOutput::text);
        }
        let (ending, output) = follow(&self.sandbox, prepared, timeout, &context.output).await?;
        let exit = match ending {
            Ending::Exited(exit) => exit,
            Ending::TimedOut | Ending::TooMuchOutput => None,
        };
        let detail = Some(ResultDetail::Ran { exit, confinement: self.sandbox.label(self.network) });
        if matches!(ending, Ending::Exited(Some(0))) {
            let text = if output.is_empty() { "(no output)".to_owned() } else { output };
            return Ok(ToolOutput { detail, ..ToolOutput::text(text) });
        }
        let (code, message) = ending.explain(timeout);
        let message = match self.hint(&output) {
            Some(hint) => format!("{message}. {hint}"),
            None => message,
        };
        Err(ToolError { detail: detail.map(Box::new), output, ..ToolError::new(code, message) })
    }
}

impl Bash {
    pub(super) fn new(options: Options) -> Self {
        let Options { sandbox, environment, network, writable, limits, unconfined_allowed, .. } = options;
        Self { sandbox, environment, network, writable, limits, unconfined_allowed }
    }

    pub(super) fn prepare(&self, command: &str, place: &Place) -> Result<Prepared, ToolError> {
        // Nothing can be mounted over a link, so a command could replace it.
        if matches!(self.sandbox.confinement(), Confinement::Bubblewrap { .. })
            && place.directory.join(".git").is_symlink()
        {
            let message = "`.git` is a symbolic link, which commands can't be kept from replacing. Nothing was run.";
            return Err(ToolError::new("sandbox_failed", message));
        }
        let own = [place.directory.clone(), place.scratch.clone()];
        let writable: Vec<PathBuf> = own.into_iter().chain(self.writable.iter().cloned()).collect();
        let spec = CommandSpec {
            command,
            directory: &place.directory,
            writable: &writable,
            protected: &place.protected(),
            environment: &self.environment.variables(place),
            network: self.network,
            limits: self.limits,
        };
        self.sandbox.prepare(&spec).map_err(ToolError::from)
    }

    /// What the model should know when the wall may be why the command failed.
    fn hint(&self, output: &str) -> Option<String> {
        let is_partly = match self.sandbox.confinement() {
            Confinement::NotConfined { .. } => return None,
            Confinement::Landlock { .. } => true,
            Confinement::Bubblewrap { .. } => false,
        };
        let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
        let refused = ["Read-only file system", "Device or resource busy"];
        if says(&[".git/", "index.lock"]) && (says(&refused) || is_partly && says(&["Permission denied"])) {
            return Some(
                "Version control's own files are read-only to commands. To commit, call the tool Commit; what is left \
                 uncommitted is kept."
                    .to_owned(),
            );
        }
        if says(&["Read-only file system"]) {
            return Some(
                "The command is confined: it may write only in your directory and in $OFFSHOOT_SCRATCH.".to_owned(),
            );
        }
        if is_partly && says(&["Permission denied"]) {
            let message = "The command is partly confined: it may write only in your directory, in $OFFSHOOT_SCRATCH and in \
                           $TMPDIR, and may use no sockets.";
            return Some(message.to_owned());
        }
        let unreachable =
            ["Network is unreachable", "Could not resolve host", "Temporary failure in name resolution", "EAI_AGAIN"];
        if !self.network && says(&unreachable) {
            return Some("The command is confined: it has no network.".to_owned());
        }
        None
    }
}

impl Environment {
    /// The whole environment of a command.
    fn variables(&self, place: &Place) -> Vec<(String, String)> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut variables = vec![
            pair("PATH", &self.path),
            pair("HOME", &self.home),
            pair("LANG", &self.lang),
            pair("TERM", &self.term),
            pair("PWD", &place.directory.to_string_lossy()),
            pair("OFFSHOOT_SCRATCH", &place.scratch.to_string_lossy()),
        ];
        variables.extend(self.extra.iter().cloned());
        variables
    }
}

impl From<SandboxError> for ToolError {
    fn from(error: SandboxError) -> Self {
        Self::new("sandbox_failed", format!("Nothing was run: {error}."))
    }
}

/// How a command came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself, with this status; none if a signal ended it.
    Exited(Option<i32>),
    TimedOut,
    TooMuchOutput,
}

impl Ending {
    pub(super) fn explain(self, timeout: Duration) -> (&'static str, String) {
        match self {
            Self::Exited(Some(status @ 129..=192)) => {
                ("command_failed", format!("exit status {status} (perhaps ended by signal {})", status - 128))
            }
            Self::Exited(Some(status)) => ("command_failed", format!("exit status {status}")),
            Self::Exited(None) => ("command_failed", "ended by a signal".to_owned()),
            Self::TimedOut => (
                "command_timed_out",
                format!("still running after {} ms, and ended. Its output so far:", timeout.as_millis()),
            ),
            Self::TooMuchOutput => (
                "command_output_limit",
                "more than 10 MB of output, and ended. Send it to a file and look at parts.".to_owned(),
            ),
        }
    }
}

/// Runs a command to its end with its output in a file, for the background.
async fn run_into(sandbox: Arc<Sandbox>, prepared: Prepared, file: PathBuf) -> ShellOutcome {
    let failed = |message: String| ShellOutcome::Failed { message };
    let file = match std::fs::File::create(&file) {
        Ok(file) => Arc::new(file),
        Err(error) => return failed(format!("Nothing was run: {} can't be written: {error}.", file.display())),
    };
    let broken = Arc::new(Mutex::new(None));
    let sink = OutputSink::new({
        let broken = broken.clone();
        move |text| {
            // Small writes to a local file; losing one is said at the end.
            if let Err(error) = (&*file).write_all(text.as_bytes()) {
                broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error.to_string());
            }
        }
    });
    let ended = follow(&sandbox, prepared, LONGEST_BACKGROUND, &sink).await;
    let lost = broken.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (ended, lost) {
        (Err(error), _) => failed(error.message),
        (Ok(_), Some(error)) => failed(format!("its output could not be written whole: {error}")),
        (Ok((Ending::Exited(Some(0)), _)), None) => ShellOutcome::Completed,
        (Ok((ending, _)), None) => failed(ending.explain(LONGEST_BACKGROUND).1),
    }
}

/// Runs a command to its end, whatever that is, and reads what it writes. When this returns, or is dropped, it has ended
/// or is being ended, with everything it started.
pub(super) async fn follow(
    sandbox: &Sandbox,
    mut prepared: Prepared,
    timeout: Duration,
    sink: &OutputSink,
) -> Result<(Ending, String), ToolError> {
    let failed = |error: std::io::Error| ToolError::from(SandboxError::Start(error));
    // One pipe for both streams: that alone keeps their order.
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    prepared.command.stdout(writer.try_clone().map_err(failed)?).stderr(writer);
    let mut reader = receiver(reader).map_err(failed)?;
    let mut running = sandbox.start(prepared).await?;
    let mut capture = Capture::default();
    let mut buffer = vec![0; 64 * 1024];
    let mut open = true;
    let mut exit = None;
    // The moment after which nothing more is waited for: the time limit, later the end of draining.
    let mut deadline = Instant::now() + timeout;
    let ending = loop {
        if let (Some(exit), false) = (exit, open) {
            break Ending::Exited(exit);
        }
        tokio::select! {
            read = reader.read(&mut buffer), if open => match read {
                Ok(0) | Err(_) => open = false,
                Ok(count) => {
                    sink.write(&capture.push(&buffer[..count]));
                    if capture.total() > MAX_OUTPUT {
                        break Ending::TooMuchOutput;
                    }
                }
            },
            status = running.wait(), if exit.is_none() => {
                exit = Some(status.map_err(failed)?.code());
                deadline = Instant::now() + DRAIN;
            }
            () = sleep_until(deadline) => break exit.map_or(Ending::TimedOut, Ending::Exited),
        }
    };
    running.end().await;
    Ok((ending, capture.into_text()))
}

#[cfg(unix)]
fn receiver(reader: std::io::PipeReader) -> std::io::Result<tokio::net::unix::pipe::Receiver> {
    tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into())
}

#[cfg(not(unix))]
fn receiver(reader: std::io::PipeReader) -> std::io::Result<tokio::fs::File> {
    Ok(tokio::fs::File::from_std(std::fs::File::from(std::os::windows::io::OwnedHandle::from(reader))))
}

#[cfg(test)]
mod tests;
