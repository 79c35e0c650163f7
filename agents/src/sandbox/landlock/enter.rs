//! The stage that restricts itself and becomes the command.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::process::Signal;
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::Profile;
use crate::sandbox::seccomp;

/// The newest set of rights that is asked for; a kernel that knows fewer enforces those.
const NEWEST: ABI = ABI::V10;

/// Devices that every program may use. No terminal, no disk.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Why there is no wall.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoWall {
    #[error("{0}: {1}")]
    System(&'static str, #[source] io::Error),
    #[error("Landlock: {0}")]
    Landlock(#[from] landlock::RulesetError),
    #[error("this kernel has no Landlock, or an older one than that of Linux 5.19")]
    Missing,
}

/// Becomes the command. Returns only when that can't be.
pub(super) fn enter(profile: &Profile) -> NoWall {
    match confine_and_run(profile) {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

fn confine_and_run(profile: &Profile) -> Result<Infallible, NoWall> {
    let system = |what| move |error: rustix::io::Errno| NoWall::System(what, error.into());
    // No terminal to type into, and a group that can be signalled.
    rustix::process::setsid().map_err(system("starting a session"))?;
    rustix::process::chdir(&profile.directory).map_err(system("entering the directory"))?;
    let filter = std::fs::read(&profile.filter).map_err(|error| NoWall::System("reading the filter", error))?;
    // The window must survive a machine that runs out of memory: the kernel is told to take the command first.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    restrict_files(profile)?;
    drop_capabilities().map_err(system("giving up capabilities"))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(system("tying it to its owner"))?;
    if rustix::process::getppid().is_none_or(rustix::process::Pid::is_init) {
        return Err(NoWall::System("tying it to its owner", io::ErrorKind::NotConnected.into()));
    }
    seccomp::install(&filter).map_err(|error| NoWall::System("filtering system calls", error))?;
    let [program, arguments @ ..] = profile.program.as_slice() else {
        return Err(NoWall::System("running nothing", io::ErrorKind::InvalidInput.into()));
    };
    Err(NoWall::System("running the shell", Command::new(program).args(arguments).exec()))
}

fn restrict_files(profile: &Profile) -> Result<(), NoWall> {
    let read = AccessFs::ReadFile | AccessFs::Execute;
    // Devices can't be made, whoever the user is.
    let write = AccessFs::from_all(NEWEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        // Without this right no file could be moved between folders: the oldest kernels with Landlock.
        .handle_access(AccessFs::Refer)
        .map_err(|_| NoWall::Missing)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    let ruleset = if profile.network { ruleset } else { ruleset.handle_access(AccessNet::from_all(NEWEST))? };
    let mut ruleset = ruleset.create()?;
    // Names may be listed everywhere; only content is masked.
    ruleset = allow(ruleset, Path::new("/"), AccessFs::ReadDir.into())?;
    let masked: BTreeSet<PathBuf> = profile.masked.iter().cloned().chain([PathBuf::from("/dev")]).collect();
    for path in readable(Path::new("/"), &masked) {
        ruleset = allow(ruleset, &path, read)?;
    }
    for device in DEVICES {
        ruleset = allow(ruleset, Path::new(device), AccessFs::from_file(NEWEST))?;
    }
    for path in &profile.writable {
        ruleset = allow(ruleset, path, write)?;
    }
    let status = ruleset.restrict_self()?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs { Err(NoWall::Missing) } else { Ok(()) }
}

/// A path that is gone needs no rule.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let Ok(opened) = PathFd::new(path) else { return Ok(ruleset) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    ruleset.add_rule(PathBeneath::new(opened, access))
}

/// The paths that together hold everything beneath `folder` but what is masked. Landlock only ever opens more, so what is
/// around something masked is opened piece by piece. Links are left out: what they lead to is opened by its own name.
fn readable(folder: &Path, masked: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let holds_masked = |path: &Path| masked.range(path.to_path_buf()..).next().is_some_and(|it| it.starts_with(path));
    let mut open = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if masked.contains(&path) || entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            if holds_masked(&path) {
                folders.push(path);
            } else {
                open.push(path);
            }
        }
    }
    open
}

/// With capabilities, root could change what Landlock doesn't speak of.
fn drop_capabilities() -> rustix::io::Result<()> {
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_something_masked_is_opened_piece_by_piece() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["home/.ssh", "home/.config/gh", "home/.config/other", "home/.ssh-not", "usr"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("home/.ssh"), root.join("home/link")).unwrap();
        let masked = ["home/.ssh", "home/.config/gh"].map(|name| root.join(name)).into();
        let mut open = readable(&root, &masked);
        open.sort();
        assert_eq!(open, ["home/.config/other", "home/.ssh-not", "usr"].map(|name| root.join(name)));
    }
}
