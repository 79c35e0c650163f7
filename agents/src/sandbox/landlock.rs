//! The wall where namespaces can't be had: Landlock for files, a filter of system calls for sockets and the rest.
//!
//! It confines *partly*. A folder that may be written is writable as a whole, what is protected in it included; `chmod` and
//! the times of the user's files elsewhere can still be changed; processes can be seen. Not reached are: files that may not
//! be written, the content of masked ones, sockets of any kind, other processes.
//!
//! A process can only restrict itself, and in a program with threads nothing of that may run between a process's birth and
//! its program. So this program is started once more, as a helper with one thread: it watches ([`supervise`]), itself not
//! confined, and its child restricts itself and becomes the command ([`enter`]).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::CommandSpec;

mod enter;
mod supervise;

/// The first argument by which the program knows that it is to confine a command.
pub const CONFINE: &str = "confine-command";

/// Exit status when the wall could not be built; nothing ran.
const NO_WALL: u8 = 125;

/// What one command may touch, as arguments of the helper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Profile {
    /// The process that wants the command; it ends with that.
    owner: u32,
    directory: PathBuf,
    /// The filter of system calls.
    filter: PathBuf,
    writable: Vec<PathBuf>,
    /// Not to be read.
    masked: Vec<PathBuf>,
    network: bool,
    /// The command itself.
    program: Vec<OsString>,
}

/// The helper's start, up to the command's own arguments.
pub(super) fn command(
    helper: &Path,
    spec: &CommandSpec<'_>,
    own_folder: &Path,
    masked: &[PathBuf],
    filter: PathBuf,
) -> Command {
    let there = |path: &&PathBuf| path.exists();
    let profile = Profile {
        owner: std::process::id(),
        directory: spec.directory.to_path_buf(),
        filter,
        writable: spec.writable.iter().filter(there).cloned().chain([own_folder.to_path_buf()]).collect(),
        masked: masked.iter().filter_map(|path| path.canonicalize().ok()).collect(),
        network: spec.network,
        program: Vec::new(),
    };
    let mut command = Command::new(helper);
    command.arg(CONFINE).args(profile.arguments());
    command
}

/// Does what the program was started for, with the arguments that follow [`CONFINE`]. To be called before the program has a
/// second thread. Returns the exit status, and what is to be said on standard error if there was no wall.
pub fn confine(arguments: &[OsString]) -> (u8, Option<String>) {
    let Some(profile) = Profile::parse(arguments) else { return no_wall("its arguments make no sense") };
    match supervise::supervise(&profile) {
        Ok(supervise::Role::Watched(status)) => (status, None),
        Ok(supervise::Role::Command) => no_wall(enter::enter(&profile)),
        Err(error) => no_wall(error),
    }
}

fn no_wall(error: impl std::fmt::Display) -> (u8, Option<String>) {
    (NO_WALL, Some(format!("offshoot: the command could not be confined, so it did not run: {error}")))
}

impl Profile {
    fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut say = |option: &str, value: &OsStr| arguments.extend([option.into(), value.to_owned()]);
        say("--owner", self.owner.to_string().as_ref());
        say("--directory", self.directory.as_ref());
        say("--filter", self.filter.as_ref());
        for path in &self.writable {
            say("--writable", path.as_ref());
        }
        for path in &self.masked {
            say("--masked", path.as_ref());
        }
        if self.network {
            say("--network", "open".as_ref());
        }
        arguments.push("--".into());
        arguments.extend(self.program.iter().cloned());
        arguments
    }

    fn parse(arguments: &[OsString]) -> Option<Self> {
        let mut profile = Self::default();
        let mut rest = arguments.iter();
        loop {
            let option = rest.next()?;
            if option == "--" {
                break;
            }
            let value = rest.next()?;
            match option.to_str()? {
                "--owner" => profile.owner = value.to_str()?.parse().ok()?,
                "--directory" => profile.directory = value.into(),
                "--filter" => profile.filter = value.into(),
                "--writable" => profile.writable.push(value.into()),
                "--masked" => profile.masked.push(value.into()),
                "--network" => profile.network = true,
                _ => return None,
            }
        }
        profile.program = rest.cloned().collect();
        (!profile.program.is_empty()).then_some(profile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_survives_being_made_into_arguments() {
        use std::os::unix::ffi::OsStringExt as _;
        let odd = PathBuf::from(OsString::from_vec(b"/a \xff--".to_vec()));
        let profile = Profile {
            owner: 7,
            directory: odd.clone(),
            filter: "/filter".into(),
            writable: vec![odd.clone(), "--".into()],
            masked: vec![odd],
            network: true,
            program: vec!["/bin/bash".into(), "--".into(), "--owner".into()],
        };
        assert_eq!(Profile::parse(&profile.arguments()), Some(profile));
        assert_eq!(Profile::parse(&["--".into()]), None, "nothing to run");
        assert_eq!(Profile::parse(&["--writable".into()]), None);
        assert_eq!(confine(&[]).0, NO_WALL);
    }
}
