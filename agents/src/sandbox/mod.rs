//! The kernel's wall around commands: what a shell command of an agent can write, see and reach.
//!
//! [`Sandbox::detect`] finds out by trying what this machine can do; [`Sandbox::prepare`] wraps a command in it. On Linux
//! that is bubblewrap; where namespaces are forbidden, Landlock, which confines *partly*. Where neither is to be had, commands
//! run all the same, *not confined*: everything that shows or asks for one says so ([`Confinement`]). Whether a command may
//! run is decided elsewhere.
//!
//! It never weakens silently: what a command may write is what its [`CommandSpec`] lists, and a wall that can't be built is
//! an error.

use std::ffi::OsString;
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Command;

mod bubblewrap;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod landlock;
mod mountpoints;
mod running;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod seccomp;
#[cfg(test)]
mod tests;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use landlock::{CONFINE, confine};
use mountpoints::{Mountpoints, Planted};
use running::Launcher;
pub use running::Running;

/// Where bubblewrap is looked for. Not along the user's search path, which a project may have lengthened.
pub const BUBBLEWRAP: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// The one shell that commands are written for.
const SHELL: [&str; 3] = ["/bin/bash", "--noprofile", "--norc"];

/// Whether there is a filter of system calls for this processor.
const HAS_FILTER: bool = cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")));

/// How long the two trial commands may take together.
const TRIAL_TIME: Duration = Duration::from_secs(5);

/// How far the kernel confines commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Own namespaces, nothing writable but what is listed, no network unless allowed.
    Bubblewrap {
        /// The program that builds them.
        program: PathBuf,
    },
    /// Nothing writable but what is listed, no sockets unless allowed; but the machine's own processes, devices and folders.
    Landlock {
        /// Why there is nothing better, for people.
        reason: String,
    },
    /// A command can do whatever the user can.
    NotConfined {
        /// Why, for people.
        reason: String,
    },
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bubblewrap { .. } => f.write_str("confined by bubblewrap"),
            Self::Landlock { .. } => f.write_str("partly confined by Landlock"),
            Self::NotConfined { reason } => write!(f, "not confined: {reason}"),
        }
    }
}

/// What one command may use. Paths are absolute, without links.
#[derive(Clone, Copy, Debug)]
pub struct CommandSpec<'a> {
    /// The text for the shell.
    pub command: &'a str,
    /// Where it starts.
    pub directory: &'a Path,
    /// Folders that it may write in, everything beneath included. Those that don't exist are left out.
    pub writable: &'a [PathBuf],
    /// Files and folders in those that it may only read, whether they exist or not.
    pub protected: &'a [PathBuf],
    /// Its whole environment.
    pub environment: &'a [(String, String)],
    /// Whether it may use the network, sockets in the abstract namespace included.
    pub network: bool,
    /// What it may use up.
    pub limits: Limits,
}

/// What a command may use up. Set as soft and hard limits of the shell; a lower limit that the user has stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processes and threads at once. Outside of a process namespace they come on top of the machine's. Only for ordinary
    /// users: the kernel doesn't count root's.
    pub processes: u32,
    /// Writable private memory of one process, in KiB. Not address space, of which some runtimes reserve any amount.
    pub memory_kib: u64,
    /// Size of one file, in KiB.
    pub file_kib: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { processes: 2048, memory_kib: 8 << 20, file_kib: 8 << 20 }
    }
}

/// Why no wall could be built around a command. Nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Where it should start isn't there.
    #[error("{} is not a directory", .0.display())]
    Directory(PathBuf),
    /// Everything would be writable.
    #[error("a command can't be confined to the root of the file system")]
    Root,
    /// The file system refused.
    #[error("{path} could not be protected: {source}", path = .path.display())]
    Protect {
        /// What should have been protected.
        path: PathBuf,
        /// Why it couldn't.
        source: std::io::Error,
    },
    /// The program could not be started.
    #[error("the command could not be started: {0}")]
    Start(#[from] std::io::Error),
}

/// Runs commands behind the best wall that this machine has. See the module.
#[derive(Debug)]
pub struct Sandbox {
    /// What walls are built with, or why there are none.
    wall: Result<Wall, String>,
    mountpoints: Arc<Mountpoints>,
    launcher: Launcher,
}

/// What walls are built with.
#[derive(Debug)]
struct Wall {
    builder: Builder,
    /// What no command may see.
    masked: Vec<PathBuf>,
    materials: Materials,
}

/// Who builds them.
#[derive(Debug)]
enum Builder {
    /// Bubblewrap, this program.
    Bubblewrap(PathBuf),
    /// This program, started as a helper.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is no Landlock elsewhere"))]
    Landlock {
        /// Offshoot itself.
        helper: PathBuf,
        /// Why there is nothing better.
        reason: String,
    },
}

/// With what walls can be built here.
#[derive(Clone, Debug, Default)]
pub struct Builders {
    /// Where bubblewrap may be: see [`BUBBLEWRAP`].
    pub bubblewrap: Vec<PathBuf>,
    /// A program that does [`confine`] when [`CONFINE`] is its first argument: Offshoot itself. Absent: no Landlock.
    pub helper: Option<PathBuf>,
}

/// A command behind its wall, to be given its standard streams and to be [started](Sandbox::start).
#[derive(Debug)]
pub struct Prepared {
    /// The process to start. Its standard input isn't for the caller to change; the command's is empty.
    pub command: Command,
    planted: Planted,
    confined: bool,
}

impl Sandbox {
    /// Tries out the first bubblewrap that exists, and Landlock where that doesn't work: one command that must be able to
    /// write and one that must not really run, in a new folder under `folder`. Takes some 100 ms, and at most 5 s each.
    ///
    /// `masked` are files and folders that no command may see, such as [`credentials`] and Offshoot's own data; they are
    /// seen as empty. `folder` keeps a small folder `wall`, which must last as long as the sandbox.
    pub async fn detect(builders: &Builders, folder: &Path, masked: Vec<PathBuf>) -> Self {
        if !cfg!(target_os = "linux") {
            return Self::not_confined("this platform has no sandbox that Offshoot can use");
        }
        let materials = match Materials::lay_out(folder) {
            Ok(materials) => materials,
            Err(error) => return Self::not_confined(format!("{}: {error}", folder.display())),
        };
        let wall = |builder| Wall { builder, masked: masked.clone(), materials: materials.clone() };
        let reason = match builders.bubblewrap.iter().find(|path| path.is_file()) {
            None => "bubblewrap (bwrap) is not installed".to_owned(),
            Some(program) => {
                let sandbox = Self::new(Ok(wall(Builder::Bubblewrap(program.clone()))));
                match sandbox.works(folder).await {
                    Ok(()) => return sandbox,
                    Err(why) => format!("bubblewrap does not work here: {why}"),
                }
            }
        };
        let Some(helper) = builders.helper.clone().filter(|_| HAS_FILTER) else { return Self::not_confined(reason) };
        let sandbox = Self::new(Ok(wall(Builder::Landlock { helper, reason: reason.clone() })));
        match sandbox.works(folder).await {
            Ok(()) => sandbox,
            Err(why) => Self::not_confined(format!("{reason}; Landlock does not work either: {why}")),
        }
    }

    /// A sandbox that confines nothing, and says why.
    pub fn not_confined(reason: impl Into<String>) -> Self {
        Self::new(Err(reason.into()))
    }

    fn new(wall: Result<Wall, String>) -> Self {
        Self { wall, mountpoints: Arc::default(), launcher: Launcher::new() }
    }

    /// Bubblewrap without trying it out, where it is installed; a notice and nothing elsewhere.
    #[cfg(test)]
    pub(crate) fn installed(masked: Vec<PathBuf>) -> Option<Self> {
        let Some(program) = BUBBLEWRAP.iter().map(PathBuf::from).find(|path| path.is_file()) else {
            println!("NOT TESTED: bubblewrap is not installed");
            return None;
        };
        let folder = std::env::current_exe().unwrap().with_file_name("");
        let builder = Builder::Bubblewrap(program);
        Some(Self::new(Ok(Wall { builder, masked, materials: Materials::lay_out(&folder).unwrap() })))
    }

    /// How far commands are confined.
    pub fn confinement(&self) -> Confinement {
        match &self.wall {
            Ok(Wall { builder: Builder::Bubblewrap(program), .. }) => {
                Confinement::Bubblewrap { program: program.clone() }
            }
            Ok(Wall { builder: Builder::Landlock { reason, .. }, .. }) => {
                Confinement::Landlock { reason: reason.clone() }
            }
            Err(reason) => Confinement::NotConfined { reason: reason.clone() },
        }
    }

    /// Whether the kernel confines commands, wholly or partly.
    pub fn is_confined(&self) -> bool {
        self.wall.is_ok()
    }

    /// How far a command with or without network is confined, for people.
    pub fn label(&self, network: bool) -> String {
        let network = match (&self.wall, network) {
            (Ok(_), false) => ", no network",
            (Ok(_), true) => ", network open",
            (Err(_), _) => "",
        };
        format!("{}{network}", self.confinement())
    }

    /// Builds the wall. Its output goes nowhere until the caller says where.
    pub fn prepare(&self, spec: &CommandSpec<'_>) -> Result<Prepared, SandboxError> {
        if !spec.directory.is_dir() {
            return Err(SandboxError::Directory(spec.directory.to_path_buf()));
        }
        let mut planted = Planted::default();
        let mut environment = spec.environment.to_vec();
        let mut command = match &self.wall {
            Ok(wall @ Wall { builder: Builder::Bubblewrap(program), .. }) => {
                planted = self.mountpoints.plant(spec)?;
                wall.bubblewrap(program, spec)?
            }
            #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
            Ok(Wall { builder: Builder::Landlock { helper, .. }, masked, materials }) => {
                if spec.writable.iter().any(|path| path.parent().is_none()) {
                    return Err(SandboxError::Root);
                }
                let temporary = materials.temporary()?;
                let own = temporary.path().canonicalize()?;
                environment.retain(|(name, _)| name != "TMPDIR");
                environment.push(("TMPDIR".to_owned(), own.to_string_lossy().into_owned()));
                planted = Planted::temporary(temporary);
                landlock::command(helper, spec, &own, masked, materials.filter_without_namespaces(spec.network))
            }
            _ => session_leader(spec.directory),
        };
        command.args(shell(spec, matches!(self.confinement(), Confinement::Bubblewrap { .. })));
        command.env_clear().envs(environment);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Prepared { command, planted, confined: self.is_confined() })
    }

    /// Starts a command. Dropping what is returned ends it.
    pub async fn start(&self, prepared: Prepared) -> Result<Running, SandboxError> {
        Ok(self.launcher.start(prepared).await?)
    }

    /// Whether it does what it should; the error says what went wrong.
    async fn works(&self, folder: &Path) -> Result<(), String> {
        match tokio::time::timeout(TRIAL_TIME, self.try_out(folder)).await {
            Ok(tried) => tried,
            Err(_) => Err("it did not end".to_owned()),
        }
    }

    /// Runs the two trial commands.
    async fn try_out(&self, folder: &Path) -> Result<(), String> {
        let trial =
            tempfile::Builder::new().prefix("sandbox-").tempdir_in(folder).map_err(|error| error.to_string())?;
        let root = trial.path().canonicalize().map_err(|error| error.to_string())?;
        let (inside, outside) = (root.join("inside"), root.join("outside"));
        for path in [&inside, &outside] {
            std::fs::create_dir(path).map_err(|error| error.to_string())?;
        }
        // `outside` must be seen, so that a failure to write there means what it should.
        let environment = [("INSIDE", &inside), ("OUTSIDE", &outside)]
            .map(|(name, path)| (name.to_owned(), path.to_string_lossy().into_owned()));
        let run = async |command: &str| {
            let mut prepared = self
                .prepare(&CommandSpec {
                    command,
                    directory: &inside,
                    writable: std::slice::from_ref(&inside),
                    protected: std::slice::from_ref(&outside),
                    environment: &environment,
                    network: false,
                    limits: Limits::default(),
                })
                .map_err(|error| error.to_string())?;
            prepared.command.stderr(Stdio::piped());
            let mut running = self.start(prepared).await.map_err(|error| error.to_string())?;
            let words = running.error_output().await;
            let status = running.wait().await.map_err(|error| error.to_string())?;
            Ok::<_, String>((status.success(), words))
        };
        let (worked, words) = run("echo > \"$INSIDE/written\" && test -d \"$OUTSIDE\"").await?;
        if !worked || !inside.join("written").exists() {
            let words = words.lines().next().unwrap_or("a command that should work failed").to_owned();
            return Err(words);
        }
        let (wrote, _) = run("echo > \"$OUTSIDE/written\"").await?;
        if wrote || outside.join("written").exists() {
            return Err("a command wrote where it must not".to_owned());
        }
        Ok(())
    }
}

impl Wall {
    fn bubblewrap(&self, program: &Path, spec: &CommandSpec<'_>) -> Result<Command, SandboxError> {
        let mut command = Command::new(program);
        // Bubblewrap takes the filter from its standard input; the shell opens another.
        if HAS_FILTER {
            command.args(["--seccomp", "0"]).stdin(std::fs::File::open(self.materials.filter())?);
        } else {
            command.stdin(Stdio::null());
        }
        command.args(bubblewrap::arguments(spec, &self.masked, &self.materials.empty())?);
        Ok(command)
    }
}

/// The folder of files that walls are built with. They are the same for every program that uses it, and stay.
#[derive(Clone, Debug)]
struct Materials(PathBuf);

impl Materials {
    fn lay_out(folder: &Path) -> std::io::Result<Self> {
        let materials = Self(folder.join("wall"));
        std::fs::create_dir_all(&materials.0)?;
        // Whole or not at all: another program may be reading it.
        let lay = |path: PathBuf, content: &[u8]| -> std::io::Result<()> {
            if std::fs::read(&path).is_ok_and(|there| there == content) {
                return Ok(());
            }
            let mut file = tempfile::NamedTempFile::new_in(&materials.0)?;
            file.write_all(content)?;
            file.persist(path)?;
            Ok(())
        };
        lay(materials.empty(), b"")?;
        #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
        for (file, around) in [
            (materials.filter(), seccomp::Around::Namespaces),
            (materials.filter_without_namespaces(false), seccomp::Around::Machine { network: false }),
            (materials.filter_without_namespaces(true), seccomp::Around::Machine { network: true }),
        ] {
            lay(file, &seccomp::program(around))?;
        }
        Ok(materials)
    }

    /// What is seen in place of a masked file.
    fn empty(&self) -> PathBuf {
        self.0.join("empty")
    }

    /// The filter of system calls.
    fn filter(&self) -> PathBuf {
        self.0.join("filter")
    }

    /// The filter for a command that has no namespaces of its own.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is no Landlock elsewhere"))]
    fn filter_without_namespaces(&self, network: bool) -> PathBuf {
        self.0.join(if network { "filter-network" } else { "filter-alone" })
    }

    /// A new folder for one command's temporary files.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is no Landlock elsewhere"))]
    fn temporary(&self) -> std::io::Result<tempfile::TempDir> {
        tempfile::Builder::new().prefix("tmp-").tempdir_in(&self.0)
    }
}

/// The files and folders under a home directory that hold keys and credentials of well-known programs.
pub fn credentials(home: &Path) -> Vec<PathBuf> {
    [
        ".ssh",
        ".gnupg",
        ".password-store",
        ".local/share/keyrings",
        ".netrc",
        ".git-credentials",
        ".config/git/credentials",
        ".config/gh",
        ".config/glab-cli",
        ".config/hub",
        ".aws",
        ".azure",
        ".config/gcloud",
        ".config/op",
        ".config/sops",
        ".docker",
        ".config/containers/auth.json",
        ".kube",
        ".vault-token",
        ".terraform.d/credentials.tfrc.json",
        ".npmrc",
        ".yarnrc.yml",
        ".pypirc",
        ".cargo/credentials",
        ".cargo/credentials.toml",
        ".gem/credentials",
        ".claude/.credentials.json",
        ".codex/auth.json",
        ".mozilla",
        ".config/google-chrome",
        ".config/chromium",
        ".config/BraveSoftware",
    ]
    .map(|name| home.join(name))
    .into()
}

/// The shell with its limits, as arguments. The outer shell sets them and is replaced by the inner one.
fn shell(spec: &CommandSpec<'_>, counts_alone: bool) -> Vec<OsString> {
    let Limits { processes, memory_kib, file_kib } = spec.limits;
    // Where the kernel counts all processes of the user, those that run already are allowed for.
    let processes = processes.saturating_add(if counts_alone { 0 } else { running_processes() });
    let processes = format!("ulimit -u {processes}; ");
    // The window must survive a machine that runs out of memory: the kernel is told to take the command first.
    let script = format!(
        "exec </dev/null; {{ ulimit -c 0; {processes}ulimit -d {memory_kib}; ulimit -f {file_kib}; echo 500 >/proc/self/oom_score_adj; }} \
         2>/dev/null; exec {} -c \"$1\"",
        SHELL.join(" ")
    );
    let [program, flags @ ..] = SHELL;
    let mut arguments: Vec<OsString> = vec![program.into()];
    arguments.extend(flags.map(OsString::from));
    arguments.extend(["-c".into(), script.into(), "bash".into(), spec.command.into()]);
    arguments
}

/// How many processes and threads the machine runs now (`/proc/loadavg`, `proc(5)`); none where that isn't told.
fn running_processes() -> u32 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let total = load.split_whitespace().nth(3).and_then(|tasks| tasks.split_once('/')?.1.parse().ok());
    total.unwrap_or_default()
}

/// Where there is no sandbox: something that starts the shell in a session of its own, so that it has no terminal to ask
/// for a password on, and so that all of it can be signalled.
fn session_leader(directory: &Path) -> Command {
    let setsid = Path::new("/usr/bin/setsid");
    let mut command = if setsid.is_file() {
        Command::new(setsid)
    } else {
        let mut command = Command::new("/usr/bin/env");
        #[cfg(unix)]
        command.process_group(0);
        command.arg("--");
        command
    };
    command.current_dir(directory).stdin(Stdio::null());
    command
}
