//! Files as the tools open them: never a device, never through a link that appeared after the check, replaced whole.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::ToolError;
use crate::boundary::Target;

/// Largest file that a tool takes into memory.
pub(crate) const MAX_FILE: u64 = 32 * 1024 * 1024;

/// Why a file can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiskError {
    #[error("{0} does not exist.")]
    Missing(String),
    #[error("{0} is a directory. Glob lists files, and `ls` in Bash lists a directory.")]
    Directory(String),
    #[error("{0} is no regular file (a pipe, a socket or a device), and reading it could wait for ever.")]
    Special(String),
    #[error("{0} speaks of running processes, not of files. A command in Bash can show what it may see of it.")]
    Processes(String),
    #[error("{path} has {size} bytes, more than the {max} that this tool takes. Use Grep, or `sed -n` in Bash.", max = MAX_FILE)]
    TooLarge { path: String, size: u64 },
    #[error("{0} leads through something that is no directory, or that became a link. Nothing was written.")]
    Swapped(String),
    #[error("{0} appeared meanwhile, and was not overwritten. Read it first.")]
    Appeared(String),
    #[error("{path}: {source}")]
    Io { path: String, source: io::Error },
}

impl From<DiskError> for ToolError {
    fn from(error: DiskError) -> Self {
        let code = match &error {
            DiskError::Missing(_) => "not_found",
            DiskError::Directory(_) => "is_directory",
            DiskError::Special(_) | DiskError::Processes(_) => "not_a_regular_file",
            DiskError::TooLarge { .. } => "too_large",
            DiskError::Swapped(_) => "outside_boundary",
            DiskError::Appeared(_) => "changed_since_read",
            DiskError::Io { .. } => "io_error",
        };
        Self::new(code, error.to_string())
    }
}

impl DiskError {
    fn of(path: &Path, source: impl Into<io::Error>) -> Self {
        let (path, source) = (path.display().to_string(), source.into());
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing(path),
            io::ErrorKind::IsADirectory => Self::Directory(path),
            _ => Self::Io { path, source },
        }
    }
}

/// Reads all of a file that [`open_regular`] or [`Slot::open`] opened, up to [`MAX_FILE`].
pub(crate) fn read_all(path: &Path, file: &File) -> Result<Vec<u8>, DiskError> {
    let size = file.metadata().map_err(|error| DiskError::of(path, error))?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_FILE)).unwrap_or_default());
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| DiskError::of(path, error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(DiskError::TooLarge { path: path.display().to_string(), size: size.max(bytes.len() as u64) });
    }
    Ok(bytes)
}

/// The place of a file that is or will be written, held open where that is possible.
pub(crate) struct Slot {
    #[cfg(unix)]
    parent: std::os::fd::OwnedFd,
    name: OsString,
    path: PathBuf,
}

/// A file as it was found in its [`Slot`].
pub(crate) struct Found {
    pub(crate) content: Vec<u8>,
    #[cfg(unix)]
    stat: rustix::fs::Stat,
}

#[cfg(unix)]
pub(crate) use unix::open_regular;

#[cfg(unix)]
mod unix {
    use std::io::Write as _;
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, Stat, Uid};
    use rustix::io::Errno;

    use super::{DiskError, File, Found, OsString, Path, PathBuf, Slot, Target, read_all};

    /// Flags under which opening never waits and never takes over a terminal.
    const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    /// Opens a file to read it. Links are followed, but not the kernel's magic ones (`/proc/self/root`, `/dev/fd/3`), and
    /// only to a regular file of a real file system.
    pub(crate) fn open_regular(path: &Path) -> Result<File, DiskError> {
        let fd = open_without_magic(path).map_err(|error| match error {
            Errno::LOOP if path.starts_with("/proc") => DiskError::Processes(path.display().to_string()),
            // What opening a socket, or a device without a driver, says.
            Errno::NXIO => DiskError::Special(path.display().to_string()),
            error => DiskError::of(path, error),
        })?;
        regular(path, fd).map(|(file, _)| file)
    }

    #[cfg(target_os = "linux")]
    fn open_without_magic(path: &Path) -> Result<OwnedFd, Errno> {
        use rustix::fs::{ResolveFlags, openat2};
        match openat2(CWD, path, LOOK, Mode::empty(), ResolveFlags::NO_MAGICLINKS) {
            // Kernels before 5.6, and containers that forbid what they don't know.
            Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(CWD, path, LOOK, Mode::empty()),
            other => other,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_without_magic(path: &Path) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(CWD, path, LOOK, Mode::empty())
    }

    fn regular(path: &Path, fd: OwnedFd) -> Result<(File, Stat), DiskError> {
        let name = || path.display().to_string();
        let stat = rustix::fs::fstat(&fd).map_err(|error| DiskError::of(path, error))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(DiskError::Directory(name())),
            _ => return Err(DiskError::Special(name())),
        }
        if is_about_processes(&fd) {
            return Err(DiskError::Processes(name()));
        }
        Ok((File::from(fd), stat))
    }

    /// `/proc` shows this program's own environment and memory, wherever it is mounted.
    #[cfg(target_os = "linux")]
    fn is_about_processes(fd: &OwnedFd) -> bool {
        rustix::fs::fstatfs(fd).is_ok_and(|system| system.f_type == rustix::fs::PROC_SUPER_MAGIC)
    }

    #[cfg(not(target_os = "linux"))]
    fn is_about_processes(_: &OwnedFd) -> bool {
        false
    }

    impl Slot {
        /// Opens the folder of `target`, one component after the other and without following a link, and makes those that
        /// are missing if `create` says so.
        pub(crate) fn open(target: &Target, create: bool) -> Result<Self, DiskError> {
            let path = target.path();
            let Some(name) = target.beneath.file_name() else {
                return Err(DiskError::Directory(path.display().to_string()));
            };
            let failed = |error: Errno| match error {
                Errno::LOOP | Errno::NOTDIR => DiskError::Swapped(path.display().to_string()),
                error => DiskError::of(&path, error),
            };
            let mut folder = rustix::fs::openat(CWD, &target.root, FOLDER, Mode::empty()).map_err(failed)?;
            for part in target.beneath.parent().into_iter().flat_map(Path::components) {
                let mut next = rustix::fs::openat(&folder, part.as_os_str(), FOLDER, Mode::empty());
                if create && next.as_ref().is_err_and(|error| *error == Errno::NOENT) {
                    match rustix::fs::mkdirat(&folder, part.as_os_str(), Mode::from(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(failed(error)),
                    }
                    next = rustix::fs::openat(&folder, part.as_os_str(), FOLDER, Mode::empty());
                }
                folder = next.map_err(failed)?;
            }
            Ok(Self { parent: folder, name: name.to_os_string(), path: path.clone() })
        }

        /// What is there now; nothing if there is no such file.
        pub(crate) fn read(&self) -> Result<Option<Found>, DiskError> {
            let fd = match rustix::fs::openat(&self.parent, &self.name, LOOK | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(fd) => fd,
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::LOOP) => return Err(DiskError::Swapped(self.path.display().to_string())),
                Err(Errno::NXIO) => return Err(DiskError::Special(self.path.display().to_string())),
                Err(error) => return Err(DiskError::of(&self.path, error)),
            };
            let (file, stat) = regular(&self.path, fd)?;
            Ok(Some(Found { content: read_all(&self.path, &file)?, stat }))
        }

        /// Puts `content` there in one step: nobody sees half of it, and a failure leaves what was. Mode and owner of
        /// `old` are kept; without it the file must still not exist.
        pub(crate) fn replace(&self, content: &[u8], old: Option<&Found>) -> Result<(), DiskError> {
            let temporary = OsString::from(format!(".offshoot-{:016x}", fastrand::u64(..)));
            let result =
                self.write_temporary(&temporary, content, old).and_then(|()| self.put(&temporary, old.is_some()));
            if result.is_err() {
                let _ = rustix::fs::unlinkat(&self.parent, &temporary, AtFlags::empty());
            }
            result
        }

        fn write_temporary(&self, name: &OsString, content: &[u8], old: Option<&Found>) -> Result<(), DiskError> {
            let failed = |error: Errno| DiskError::of(&self.path, error);
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mode = if old.is_some() { Mode::from(0o600) } else { Mode::from(0o666) };
            let mut file = File::from(rustix::fs::openat(&self.parent, name, flags, mode).map_err(failed)?);
            file.write_all(content).map_err(|error| DiskError::of(&self.path, error))?;
            if let Some(Found { stat, .. }) = old {
                // Only root can give a file away; for everybody else the owner already is the same.
                let owner = (Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)));
                let _ = rustix::fs::fchown(file.as_fd(), owner.0, owner.1);
                rustix::fs::fchmod(file.as_fd(), Mode::from_raw_mode(stat.st_mode)).map_err(failed)?;
            }
            Ok(())
        }

        fn put(&self, temporary: &OsString, over: bool) -> Result<(), DiskError> {
            let parent = &self.parent;
            let result = if over {
                rustix::fs::renameat(parent, temporary, parent, &self.name)
            } else {
                rename_to_nothing(parent, temporary, &self.name)
            };
            result.map_err(|error| match error {
                Errno::EXIST => DiskError::Appeared(self.path.display().to_string()),
                Errno::ISDIR => DiskError::Directory(self.path.display().to_string()),
                error => DiskError::of(&self.path, error),
            })
        }

        /// Removes the file; not what a link in its place leads to.
        pub(crate) fn remove(&self) -> Result<(), DiskError> {
            let removed = rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::empty());
            removed.map_err(|error| DiskError::of(&self.path, error))
        }

        pub(crate) fn path(&self) -> &PathBuf {
            &self.path
        }
    }

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    fn rename_to_nothing(parent: &OwnedFd, from: &OsString, to: &OsString) -> Result<(), Errno> {
        use rustix::fs::{RenameFlags, renameat, renameat_with};
        match renameat_with(parent, from, parent, to, RenameFlags::NOREPLACE) {
            // File systems that don't know the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => renameat(parent, from, parent, to),
            other => other,
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    fn rename_to_nothing(parent: &OwnedFd, from: &OsString, to: &OsString) -> Result<(), Errno> {
        rustix::fs::renameat(parent, from, parent, to)
    }
}

/// Without handles relative to a folder: by path, right after the check.
#[cfg(not(unix))]
pub(crate) fn open_regular(path: &Path) -> Result<File, DiskError> {
    let meta = std::fs::metadata(path).map_err(|error| DiskError::of(path, error))?;
    if meta.is_dir() {
        return Err(DiskError::Directory(path.display().to_string()));
    }
    if !meta.is_file() {
        return Err(DiskError::Special(path.display().to_string()));
    }
    File::open(path).map_err(|error| DiskError::of(path, error))
}

#[cfg(not(unix))]
impl Slot {
    pub(crate) fn open(target: &Target, create: bool) -> Result<Self, DiskError> {
        let path = target.path();
        let (Some(name), Some(parent)) = (target.beneath.file_name(), path.parent()) else {
            return Err(DiskError::Directory(path.display().to_string()));
        };
        if create {
            std::fs::create_dir_all(parent).map_err(|error| DiskError::of(&path, error))?;
        }
        Ok(Self { name: name.to_os_string(), path })
    }

    pub(crate) fn read(&self) -> Result<Option<Found>, DiskError> {
        match open_regular(&self.path) {
            Ok(file) => Ok(Some(Found { content: read_all(&self.path, &file)? })),
            Err(DiskError::Missing(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn replace(&self, content: &[u8], old: Option<&Found>) -> Result<(), DiskError> {
        let failed = |error: io::Error| DiskError::of(&self.path, error);
        let parent = self.path.with_file_name("");
        let mut file = tempfile::Builder::new().prefix(".offshoot-").tempfile_in(parent).map_err(failed)?;
        io::Write::write_all(&mut file, content).map_err(failed)?;
        let done = if old.is_some() { file.persist(&self.path) } else { file.persist_noclobber(&self.path) };
        done.map(|_| ()).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => DiskError::Appeared(self.name.to_string_lossy().into_owned()),
            _ => failed(error.error),
        })
    }

    pub(crate) fn remove(&self) -> Result<(), DiskError> {
        std::fs::remove_file(&self.path).map_err(|error| DiskError::of(&self.path, error))
    }

    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }
}
