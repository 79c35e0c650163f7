//! One child process: bounded output, a time limit, its own process group, ended when cancelled.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::{GitError, Output};

/// How much of standard error is kept, in bytes.
const STDERR_KEPT: usize = 16 << 10;

/// How long a process that was killed gets to close its pipes.
const GRACE: Duration = Duration::from_secs(2);

/// Ends running and refuses further processes of one undertaking. Clones share the state.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    /// Said under the lock on what runs.
    said: CancellationToken,
    /// The groups of the processes that run.
    running: Arc<Mutex<HashSet<u32>>>,
}

impl Cancel {
    /// Kills what runs; what is started later fails at once.
    pub fn cancel(&self) {
        let running = self.lock();
        self.said.cancel();
        for group in &*running {
            kill(*group);
        }
    }

    /// Waits for [`Cancel::cancel`].
    pub async fn cancelled(&self) {
        self.said.cancelled().await;
    }

    /// Whether [`Cancel::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.said.is_cancelled()
    }

    /// An error once it was cancelled.
    pub fn check(&self) -> Result<(), GitError> {
        if self.is_cancelled() { Err(GitError::Cancelled) } else { Ok(()) }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<u32>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(unix)]
fn kill(group: u32) {
    let group = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // It may have ended by itself: then there is nothing to do.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill(_group: u32) {}

/// What an error says of the process.
pub(super) struct About {
    pub(super) command: String,
    pub(super) directory: PathBuf,
}

/// What a process gets as standard input.
#[derive(Debug)]
pub(super) enum Input {
    Nothing,
    Bytes(Vec<u8>),
    /// Not to be read: to be kept open.
    Held(File),
}

/// A started child. Dropping it kills its whole group and reaps it.
struct Group {
    child: Child,
    cancel: Cancel,
    reaped: bool,
}

impl Group {
    fn start(command: &mut Command, cancel: &Cancel) -> Result<std::io::Result<Self>, GitError> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        // Under the lock, so that a cancellation either forbids the start or sees the process.
        let mut running = cancel.lock();
        if cancel.is_cancelled() {
            return Err(GitError::Cancelled);
        }
        Ok(command.spawn().map(|child| {
            running.insert(child.id());
            Self { child, cancel: cancel.clone(), reaped: false }
        }))
    }

    fn kill(&mut self) {
        kill(self.child.id());
        let _ = self.child.kill();
    }

    /// Exit code, once it has ended; the outer `None` when it hasn't by `deadline`.
    fn wait(&mut self, deadline: Instant) -> Option<std::io::Result<Option<i32>>> {
        let mut pause = Duration::from_micros(50);
        loop {
            // Reaped under the lock: its number can't be another's while a cancellation may still use it.
            let mut running = self.cancel.lock();
            match self.child.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => {
                    running.remove(&self.child.id());
                    self.reaped = true;
                    return Some(Ok(status.code()));
                }
                Err(error) => return Some(Err(error)),
            }
            drop(running);
            if Instant::now() >= deadline {
                return None;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            let _ = self.child.wait();
            self.cancel.lock().remove(&self.child.id());
        }
    }
}

enum Piece {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Overflow,
}

pub(super) fn run(
    mut command: Command,
    about: About,
    input: Input,
    cancel: Option<&Cancel>,
    patience: Duration,
    limit: usize,
) -> Result<Output, GitError> {
    let About { command: line, directory } = about;
    let (stdin, input) = match input {
        Input::Nothing => (Stdio::null(), None),
        Input::Bytes(bytes) => (Stdio::piped(), Some(bytes)),
        Input::Held(file) => (file.into(), None),
    };
    command.stdin(stdin);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let own = Cancel::default();
    let cancel = cancel.unwrap_or(&own);
    let deadline = Instant::now() + patience;
    let mut group = match Group::start(&mut command, cancel)? {
        Ok(group) => group,
        Err(source) => return Err(GitError::Start { command: line, directory, source }),
    };
    let pieces = pump(&mut group.child, input, limit);

    let (mut stdout, mut stderr) = (None, None);
    while stdout.is_none() || stderr.is_none() {
        match pieces.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Piece::Stdout(bytes)) => stdout = Some(bytes),
            Ok(Piece::Stderr(bytes)) => stderr = Some(bytes),
            Ok(Piece::Overflow) => {
                return Err(GitError::TooMuchOutput { command: line, directory, limit });
            }
            Err(RecvTimeoutError::Timeout) => {
                return Err(GitError::TimedOut { command: line, directory, limit: patience });
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let exit = match group.wait(deadline.max(Instant::now() + GRACE)) {
        Some(Ok(exit)) => exit,
        Some(Err(source)) => return Err(GitError::Start { command: line, directory, source }),
        None => return Err(GitError::TimedOut { command: line, directory, limit: patience }),
    };
    if exit != Some(0) {
        cancel.check()?;
    }
    let stderr = String::from_utf8_lossy(&stderr.unwrap_or_default()).trim().to_owned();
    Ok(Output { stdout: stdout.unwrap_or_default(), stderr, exit })
}

/// Reads and feeds the pipes on threads of their own. The threads end when the pipes close, which killing the group
/// makes sure of.
fn pump(child: &mut Child, input: Option<Vec<u8>>, limit: usize) -> Receiver<Piece> {
    let (send, pieces) = channel();
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        // A process that ends without reading all of it says so by its exit code.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
    }
    if let Some(mut stdout) = child.stdout.take() {
        let send = send.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
            let _ = (&mut stdout).take(bound).read_to_end(&mut bytes);
            let piece = if bytes.len() > limit { Piece::Overflow } else { Piece::Stdout(bytes) };
            let _ = send.send(piece);
        });
    }
    if let Some(mut stderr) = child.stderr.take() {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = (&mut stderr).take(STDERR_KEPT as u64).read_to_end(&mut bytes);
            // The rest is read and forgotten, so that the process never blocks on it.
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            let _ = send.send(Piece::Stderr(bytes));
        });
    }
    pieces
}
