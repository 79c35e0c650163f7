//! The stage that watches: it ends with whoever wants the command, and ends whatever the command leaves behind.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, WaitOptions};
use tokio::signal::unix::{SignalKind, signal};

use super::Profile;

/// How often the processes that are left are looked for again: each time, some may have been born.
const PASSES: usize = 1000;

/// Who returns from [`supervise`].
pub(super) enum Role {
    /// The one that watched; the command has ended with this status, as a shell would tell it.
    Watched(u8),
    /// The child that is to become the command.
    Command,
}

/// Makes the process that becomes the command, and watches it to its end. Returns twice.
pub(super) fn supervise(profile: &Profile) -> io::Result<Role> {
    // What loses its parent becomes a child of this process, which alone can find it then.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
    let owner = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs());
    if owner != profile.owner {
        return Err(io::Error::other("the program that wanted it is gone"));
    }
    let Some(command) = split()? else { return Ok(Role::Command) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let status = runtime.block_on(watch(command));
    end_all();
    status.map(Role::Watched)
}

/// Makes a child that is a copy of this process. Nothing in the child.
#[allow(unsafe_code, reason = "there is no safe way to become two")]
fn split() -> io::Result<Option<u32>> {
    // SAFETY: the helper has one thread, so that no lock is held by another one that the child doesn't have.
    match unsafe { libc::fork() } {
        0 => Ok(None),
        child => u32::try_from(child).map(Some).map_err(|_| io::Error::last_os_error()),
    }
}

async fn watch(command: u32) -> io::Result<u8> {
    let mut end = signal(SignalKind::terminate())?;
    let mut ended = signal(SignalKind::child())?;
    // It may have ended before anybody listened.
    if let Some(status) = reap(command) {
        return Ok(status);
    }
    loop {
        tokio::select! {
            _ = end.recv() => return Ok(128 + 15),
            _ = ended.recv() => {
                if let Some(status) = reap(command) {
                    return Ok(status);
                }
            }
        }
    }
}

/// Takes note of all children that have ended. Returns the exit status of the one that matters, if that is among them.
fn reap(command: u32) -> Option<u8> {
    let mut found = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid.as_raw_nonzero().get().unsigned_abs() == command {
            let status = ExitStatus::from_raw(status.as_raw());
            let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
            found = Some(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX));
        }
    }
    found
}

/// Ends everything beneath this process. First all of it is halted, so that nothing more is born.
fn end_all() {
    let mut known = BTreeSet::new();
    for _ in 0..PASSES {
        let all = descendants();
        let mut is_new = false;
        for pid in &all {
            is_new |= known.insert(*pid);
            signal_to(*pid, Signal::STOP);
        }
        if !is_new {
            break;
        }
    }
    for _ in 0..PASSES {
        let all = descendants();
        if all.is_empty() {
            return;
        }
        for pid in all {
            signal_to(pid, Signal::KILL);
        }
        while rustix::process::wait(WaitOptions::empty()).is_ok() {}
    }
}

fn signal_to(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// All processes beneath this one. One that has ended and isn't waited for counts until it is.
fn descendants() -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut unseen = vec![std::process::id()];
    while let Some(pid) = unseen.pop() {
        for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children = children.split_whitespace().filter_map(|child| child.parse().ok());
            unseen.extend(children.filter(|child| found.insert(*child)));
        }
    }
    found
}
