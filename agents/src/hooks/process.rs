//! One hook's process.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, Command};
use tokio::time::{Instant, timeout};

/// Most bytes that a hook may print to each of its two streams.
const OUTPUT_LIMIT: usize = 1 << 20;
/// How long output is waited for that something in the background holds open when the hook itself has ended.
const DRAIN: Duration = Duration::from_millis(200);

/// What a hook's process came to.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) ending: Ending,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) duration: Duration,
}

/// How a hook's process ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// By itself, with this status; none if a signal ended it.
    Exited(Option<i32>),
    TimedOut(Duration),
    TooMuchOutput,
    NotStarted(String),
}

/// Runs `command` in a shell of its own and its own process group. Whatever way this ends, by being dropped too, the group
/// is killed: nothing that a hook starts outlives it.
pub(super) async fn run(
    command: &str,
    limit: Duration,
    directory: &Path,
    environment: &[(OsString, OsString)],
    input: &[u8],
) -> Ran {
    let start = Instant::now();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let ending = match timeout(limit, talk(command, directory, environment, input, &mut stdout, &mut stderr)).await {
        Ok(Ok(ending)) => ending,
        Ok(Err(error)) => Ending::NotStarted(error.to_string()),
        Err(_) => Ending::TimedOut(limit),
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { ending, stdout: text(stdout), stderr: text(stderr), duration: start.elapsed() }
}

async fn talk(
    command: &str,
    directory: &Path,
    environment: &[(OsString, OsString)],
    input: &[u8],
    stdout: &mut Vec<u8>,
    stderr: &mut Vec<u8>,
) -> io::Result<Ending> {
    let mut shell = Command::new("/bin/bash");
    shell.args(["--noprofile", "--norc", "-c", command]);
    shell.env_clear().envs(environment.iter().map(|(name, value)| (name, value))).current_dir(directory);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    shell.process_group(0);
    let mut child = shell.spawn()?;
    let _group = Group(child.id());
    let missing = || io::Error::other("a pipe is missing");
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let (out, err) = (child.stdout.take().ok_or_else(missing)?, child.stderr.take().ok_or_else(missing)?);

    let streams = async { tokio::try_join!(feed(stdin, input), collect(out, stdout), collect(err, stderr)) };
    tokio::pin!(streams);
    let mut open = true;
    let status = loop {
        tokio::select! {
            done = &mut streams, if open => match done {
                Ok(_) => open = false,
                Err(TooMuch) => return Ok(Ending::TooMuchOutput),
            },
            status = child.wait() => break status?,
        }
    };
    if open && let Ok(Err(TooMuch)) = timeout(DRAIN, &mut streams).await {
        return Ok(Ending::TooMuchOutput);
    }
    Ok(Ending::Exited(status.code()))
}

struct TooMuch;

/// Hands the input over. A hook that doesn't read it is right too.
async fn feed(mut stdin: ChildStdin, input: &[u8]) -> Result<(), TooMuch> {
    let _ = stdin.write_all(input).await;
    Ok(())
}

async fn collect(mut stream: impl AsyncRead + Unpin, bytes: &mut Vec<u8>) -> Result<(), TooMuch> {
    let mut buffer = vec![0; 16 * 1024];
    // A stream that can't be read any more has nothing more to say.
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        if bytes.len() + count > OUTPUT_LIMIT {
            return Err(TooMuch);
        }
        bytes.extend_from_slice(&buffer[..count]);
    }
    Ok(())
}

/// A process group, by its leader's number; killed on drop. The kernel gives that number to nobody else while the group has
/// a member; the moment after the last one is gone is too short for it to come round again.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            // One and zero would mean everything, and this program's own group.
            let leader = self.0.and_then(|id| i32::try_from(id).ok()).filter(|id| *id > 1);
            if let Some(group) = leader.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
        }
    }
}
