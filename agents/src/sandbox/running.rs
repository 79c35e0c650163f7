//! Running commands: started by one thread, ended by asking first and then by force, with everything they started.
//!
//! One thread that lives as long as anything needs it starts all commands, for two reasons. The kernel's *die with your
//! parent* means the thread that started a process, and the threads of a runtime come and go. And a command that is
//! dropped must be asked to end and then, after a moment, made to: somebody has to wait for that moment.

use std::io;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::process::{Pid, Signal};
use tokio::io::AsyncReadExt as _;
use tokio::process::Child;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::Prepared;
use super::mountpoints::Planted;

/// How long a command has to end after it was asked to.
const GRACE: Duration = if cfg!(test) { Duration::from_millis(200) } else { Duration::from_secs(2) };
/// How often a command that is ending is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// Mount points stay this much longer than their command, whose last processes the kernel may still be ending.
const AFTER: Duration = Duration::from_secs(1);

/// The way to the thread.
#[derive(Debug)]
pub(super) struct Launcher(Sender<Job>);

enum Job {
    Start { prepared: Prepared, runtime: Handle, launcher: Sender<Job>, reply: oneshot::Sender<io::Result<Running>> },
    End(Ending),
}

/// A command that runs. Dropping it ends it: everything it started gets a TERM signal, and 2 s later a KILL signal.
#[derive(Debug)]
pub struct Running {
    child: Option<Child>,
    family: Family,
    planted: Planted,
    launcher: Sender<Job>,
}

impl Launcher {
    pub(super) fn new() -> Self {
        let (sender, jobs) = channel();
        std::thread::spawn(move || work(&jobs));
        Self(sender)
    }

    pub(super) async fn start(&self, prepared: Prepared) -> io::Result<Running> {
        let (reply, started) = oneshot::channel();
        let job = Job::Start { prepared, runtime: Handle::current(), launcher: self.0.clone(), reply };
        let gone = || io::Error::other("the thread that starts commands is gone");
        self.0.send(job).map_err(|_| gone())?;
        started.await.map_err(|_| gone())?
    }
}

impl Running {
    /// Waits until the command itself has ended. What it left running in the background still runs.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        match &mut self.child {
            Some(child) => child.wait().await,
            None => Err(io::Error::other("the command was ended")),
        }
    }

    /// Ends what is left and waits until it is gone.
    pub async fn end(mut self) {
        let (done, gone) = oneshot::channel();
        self.send(Some(done));
        let _ = gone.await;
    }

    /// All that the command writes to its standard error, if that is a pipe.
    pub(super) async fn error_output(&mut self) -> String {
        let mut words = Vec::new();
        if let Some(mut stream) = self.child.as_mut().and_then(|child| child.stderr.take()) {
            let _ = stream.read_to_end(&mut words).await;
        }
        String::from_utf8_lossy(&words).into_owned()
    }

    fn send(&mut self, done: Option<oneshot::Sender<()>>) {
        let Some(child) = self.child.take() else { return };
        let planted = std::mem::take(&mut self.planted);
        let ending = Ending { child, family: self.family, planted, asked: None, done };
        if let Err(unsent) = self.launcher.send(Job::End(ending))
            && let Job::End(ending) = unsent.0
        {
            ending.family.kill();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.send(None);
    }
}

/// A command on its way out.
struct Ending {
    child: Child,
    family: Family,
    planted: Planted,
    /// When it was asked to end.
    asked: Option<Instant>,
    done: Option<oneshot::Sender<()>>,
}

/// The thread: ends when nothing can send to it any more, and with it every command that still runs.
fn work(jobs: &Receiver<Job>) {
    let mut ending: Vec<Ending> = Vec::new();
    let mut kept: Vec<(Instant, Planted)> = Vec::new();
    loop {
        let wait = if ending.is_empty() { AFTER } else { LOOK };
        let job = if ending.is_empty() && kept.is_empty() {
            jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            jobs.recv_timeout(wait)
        };
        match job {
            Ok(Job::Start { prepared, runtime, launcher, reply }) => {
                let _ = reply.send(start(prepared, &runtime, launcher));
            }
            Ok(Job::End(command)) => ending.push(command),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                for command in &ending {
                    command.family.kill();
                }
                return;
            }
        }
        for mut command in std::mem::take(&mut ending) {
            if !command.is_over() {
                ending.push(command);
                continue;
            }
            kept.push((Instant::now() + AFTER, std::mem::take(&mut command.planted)));
            if let Some(done) = command.done.take() {
                let _ = done.send(());
            }
        }
        kept.retain(|(until, _)| *until > Instant::now());
    }
}

fn start(prepared: Prepared, runtime: &Handle, launcher: Sender<Job>) -> io::Result<Running> {
    let Prepared { mut command, planted, confined } = prepared;
    let _entered = runtime.enter();
    // Only counts where nothing else can end it: see `Family`.
    command.kill_on_drop(cfg!(not(unix)));
    let child = command.spawn()?;
    let family = Family { leader: child.id().unwrap_or_default(), confined };
    Ok(Running { child: Some(child), family, planted, launcher })
}

impl Ending {
    /// Does what is to be done next, and says whether all is done.
    fn is_over(&mut self) -> bool {
        let exited = !matches!(self.child.try_wait(), Ok(None));
        match self.asked {
            // It had ended by itself: what it left in the background isn't asked.
            None if exited => {
                self.family.kill_rest();
                true
            }
            None => {
                self.family.ask();
                self.asked = Some(Instant::now());
                false
            }
            Some(at) if at.elapsed() >= GRACE => {
                if exited {
                    self.family.kill_rest();
                } else {
                    self.family.kill();
                }
                exited
            }
            Some(_) => exited && !self.family.has_rest(),
        }
    }
}

/// Everything that one command started, as far as it can be named.
#[derive(Clone, Copy, Debug)]
struct Family {
    /// The process that was started: bubblewrap, or the leader of the command's own session.
    leader: u32,
    confined: bool,
}

#[cfg(unix)]
impl Family {
    /// Asks it to end. A confined command is asked inside: its outermost process would only tear the wall down.
    fn ask(self) {
        let group = if self.confined { self.inside() } else { pid(self.leader) };
        let asked = group.is_some_and(|group| rustix::process::kill_process_group(group, Signal::TERM).is_ok());
        if !asked {
            self.kill();
        }
    }

    /// Ends it at once. With its first process the kernel ends all of a process namespace; the leader outside follows,
    /// and is there until all of them are gone.
    fn kill(self) {
        self.kill_rest();
        let first = if self.confined { self.inside() } else { None };
        if let Some(pid) = first.or_else(|| pid(self.leader)) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }

    /// Ends what is left when the leader is gone. Of a confined command nothing is.
    fn kill_rest(self) {
        if let Some(group) = pid(self.leader).filter(|_| !self.confined) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
    }

    /// Whether something is left when the leader is gone.
    fn has_rest(self) -> bool {
        let group = pid(self.leader).filter(|_| !self.confined);
        group.is_some_and(|group| rustix::process::test_kill_process_group(group).is_ok())
    }

    /// The first process inside the wall, by its number outside; it leads a process group.
    fn inside(self) -> Option<Pid> {
        let leader = self.leader;
        let children = std::fs::read_to_string(format!("/proc/{leader}/task/{leader}/children")).ok()?;
        pid(children.split_whitespace().next()?.parse().ok()?)
    }
}

#[cfg(unix)]
fn pid(number: u32) -> Option<Pid> {
    // Zero would mean this program's own group.
    i32::try_from(number).ok().filter(|number| *number > 1).and_then(Pid::from_raw)
}

/// Without process groups: the runtime ends the shell alone.
#[cfg(not(unix))]
impl Family {
    fn ask(self) {}
    fn kill(self) {}
    fn kill_rest(self) {}
    fn has_rest(self) -> bool {
        false
    }
}
