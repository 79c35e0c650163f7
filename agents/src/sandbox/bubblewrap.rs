//! The profile: what bubblewrap is told. Pure but for looking which paths exist.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{CommandSpec, SandboxError};

/// New namespaces of every kind, no capability (with one, root could mount its way out), no way to make more namespaces,
/// death with the program that started it, and a session of its own, so that no terminal can be typed into.
const WALL: [&str; 11] = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--disable-userns",
    "--cap-drop",
    "ALL",
    "--die-with-parent",
    "--new-session",
    "--hostname=offshoot",
];

/// What stands everywhere: the machine, to be read; its devices, processes and host sockets replaced by the command's own.
const MACHINE: [&str; 11] =
    ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--tmpfs", "/tmp"];

/// What is mounted at a path. Later ones win at the same path: what must not be written wins over what may be, and a
/// project that lies where credentials are was opened by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mount {
    EmptyFolder,
    EmptyFile,
    Writable,
    ReadOnly,
}

/// The arguments up to the program that is run. `empty` is an empty file.
pub(super) fn arguments(
    spec: &CommandSpec<'_>,
    masked: &[PathBuf],
    empty: &Path,
) -> Result<Vec<OsString>, SandboxError> {
    let mut mounts: Vec<(PathBuf, Mount)> = Vec::new();
    for path in masked.iter().filter_map(|path| path.canonicalize().ok()) {
        let mount = if path.is_dir() { Mount::EmptyFolder } else { Mount::EmptyFile };
        mounts.push((path, mount));
    }
    for path in spec.writable.iter().filter(|path| path.exists()) {
        if path.parent().is_none() {
            return Err(SandboxError::Root);
        }
        mounts.push((path.clone(), Mount::Writable));
    }
    // A link is protected where it leads; the link itself can't be.
    for path in spec.protected.iter().filter_map(|path| path.canonicalize().ok()) {
        // A folder on the way could be renamed with all that is mounted in it, and made anew. A mount point can't be.
        let on_the_way = |folder: &&Path| spec.writable.iter().any(|root| folder.starts_with(root) && *folder != root);
        mounts
            .extend(path.ancestors().skip(1).filter(on_the_way).map(|folder| (folder.to_path_buf(), Mount::Writable)));
        mounts.push((path, Mount::ReadOnly));
    }
    // Outer ones first, so that each lies on top of what it is in.
    mounts.sort_by_key(|(path, mount)| (path.components().count(), path.clone(), *mount));
    mounts.dedup();

    let mut arguments: Vec<OsString> = Vec::new();
    // `--hostname` wants its value as an argument of its own.
    arguments.extend(WALL.iter().flat_map(|word| word.split('=')).map(OsString::from));
    if !spec.network {
        arguments.push("--unshare-net".into());
    }
    arguments.extend(MACHINE.map(OsString::from));
    let mut say = |option: &str, source: Option<&Path>, path: Option<&Path>| {
        arguments.push(option.into());
        arguments.extend(source.into_iter().chain(path).map(|path| path.as_os_str().to_owned()));
    };
    for (path, mount) in &mounts {
        match mount {
            Mount::EmptyFolder => say("--tmpfs", None, Some(path)),
            Mount::EmptyFile => say("--ro-bind", Some(empty), Some(path)),
            Mount::Writable => say("--bind", Some(path), Some(path)),
            Mount::ReadOnly => say("--ro-bind", Some(path), Some(path)),
        }
    }
    // Now that everything has its place in them, the masks become read-only: what is written there would be lost.
    let topped = |path: &PathBuf| mounts.iter().any(|(other, mount)| other == path && *mount > Mount::EmptyFile);
    for (path, _) in mounts.iter().filter(|(path, mount)| *mount == Mount::EmptyFolder && !topped(path)) {
        say("--remount-ro", None, Some(path));
    }
    say("--chdir", Some(spec.directory), None);
    say("--", None, None);
    Ok(arguments)
}
