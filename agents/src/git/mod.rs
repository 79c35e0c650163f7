//! The `git` program, started so that nothing a repository contains can run, and repositories opened for reading.
//!
//! A checkout is *discovered* once ([`discover`]); afterwards every process is told the git directory, the common
//! directory and the working tree from that record ([`Checkout`]), so that a replaced `.git` file or a repointed
//! `commondir` changes nothing. The environment is built from nothing. Hooks, the file-system monitor, background
//! maintenance, external diffs and, in a folder that isn't trusted, every filter are off.
//!
//! What is never done here: reading the environment of this process, asking for a password, opening an editor, printing
//! a diff through git (trees are compared by `changes`).

pub(crate) mod attributes;
mod capture;
mod checkout;
pub(crate) mod index;
mod process;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(crate) use capture::to_path;
pub use capture::{Capture, Captured, Quarantine};
pub(crate) use checkout::missing_filters;
pub use checkout::{Checkout, DiscoverError, Found, Head, Repository, Trust, discover};
pub use process::Cancel;
use process::Input;

/// Longest time a git process may take unless a command says otherwise: a checkout of a large repository on a slow disk
/// fits in.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Most bytes a git process may write to standard output unless a command says otherwise.
const OUTPUT_LIMIT: usize = 256 << 20;

/// Names the null device of the platform, as git understands it.
const NOWHERE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Git's well-known hash of the empty tree (SHA-1 repositories).
pub const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Which program, and the little of the person's environment that it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSettings {
    /// The program, as a path or a name that is looked up in `path`.
    pub program: PathBuf,
    /// `PATH` of the process: filters such as `git-lfs` are found there.
    pub path: OsString,
    /// The person's home directory; absent: git sees no configuration of theirs.
    pub home: Option<PathBuf>,
    /// More variables (`XDG_CONFIG_HOME`; `SystemRoot` on Windows). Variables that git or this module sets win.
    pub environment: Vec<(OsString, OsString)>,
}

/// Starts git processes.
#[derive(Clone, Debug)]
pub struct Git(Arc<GitSettings>);

/// What a git process came to.
#[derive(Clone, Debug)]
pub struct Output {
    /// Standard output, whole.
    pub stdout: Vec<u8>,
    /// Standard error, its first 16 KiB.
    pub stderr: String,
    /// Exit code; absent when a signal ended it.
    pub exit: Option<i32>,
}

/// A git call that didn't work.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program couldn't be started.
    #[error("`{command}` could not be started in {directory}: {source}", directory = .directory.display())]
    Start {
        /// The command line.
        command: String,
        /// Where.
        directory: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It ended with another exit code than 0.
    #[error(
        "`{command}` failed in {directory} ({}): {stderr}",
        exit.map_or("ended by a signal".to_owned(), |code| format!("exit {code}")), directory = .directory.display()
    )]
    Failed {
        /// The command line.
        command: String,
        /// Where.
        directory: PathBuf,
        /// Exit code; absent when a signal ended it.
        exit: Option<i32>,
        /// What it wrote to standard error, bounded.
        stderr: String,
    },
    /// It took too long and was ended.
    #[error("`{command}` in {directory} took longer than {} s and was ended", .limit.as_secs(), directory = .directory.display())]
    TimedOut {
        /// The command line.
        command: String,
        /// Where.
        directory: PathBuf,
        /// How long it was given.
        limit: Duration,
    },
    /// It wrote too much and was ended.
    #[error("`{command}` in {directory} wrote more than {limit} bytes and was ended", directory = .directory.display())]
    TooMuchOutput {
        /// The command line.
        command: String,
        /// Where.
        directory: PathBuf,
        /// The bound.
        limit: usize,
    },
    /// Somebody cancelled it.
    #[error("cancelled")]
    Cancelled,
    /// Reading or writing the repository in this process failed.
    #[error("{what}: {}", .source.message())]
    Library {
        /// What was tried, on what.
        what: String,
        /// Why it failed.
        source: git2::Error,
    },
    /// A file couldn't be read or written.
    #[error("{what}: {source}")]
    Io {
        /// What was tried, on what.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl GitError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    pub(crate) fn library(what: impl Into<String>) -> impl FnOnce(git2::Error) -> Self {
        let what = what.into();
        move |source| Self::Library { what, source }
    }
}

impl Git {
    /// Git with these settings.
    pub fn new(settings: GitSettings) -> Self {
        Self(Arc::new(settings))
    }

    /// A command that works on `checkout`, in its working tree.
    pub fn on<'a>(&'a self, checkout: &'a Checkout) -> Command<'a> {
        Command {
            git: self,
            checkout,
            args: Vec::new(),
            directory: &checkout.work_tree,
            variables: Vec::new(),
            configuration: Vec::new(),
            input: Input::Nothing,
            cancel: None,
            patience: PATIENCE,
            limit: OUTPUT_LIMIT,
            hooks: false,
        }
    }

    /// Whether `program` can be found in the `PATH` that git processes get.
    pub(crate) fn finds(&self, program: &str) -> bool {
        let is_file = |path: PathBuf| path.is_file();
        if program.contains(std::path::MAIN_SEPARATOR) {
            return is_file(PathBuf::from(program));
        }
        std::env::split_paths(&self.0.path).any(|folder| {
            is_file(folder.join(program)) || cfg!(windows) && is_file(folder.join(format!("{program}.exe")))
        })
    }
}

/// A git process that is about to be started.
#[must_use]
pub struct Command<'a> {
    git: &'a Git,
    checkout: &'a Checkout,
    args: Vec<OsString>,
    directory: &'a Path,
    variables: Vec<(&'static str, OsString)>,
    configuration: Vec<(String, String)>,
    input: Input,
    cancel: Option<&'a Cancel>,
    patience: Duration,
    limit: usize,
    hooks: bool,
}

impl<'a> Command<'a> {
    /// One more argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// More arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Another index than the checkout's own.
    pub fn index(self, index: &Path) -> Self {
        self.variable("GIT_INDEX_FILE", index)
    }

    /// One more variable.
    pub fn variable(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name, value.as_ref().to_owned()));
        self
    }

    /// One more configuration value, which beats the repository's.
    pub fn config(mut self, key: &str, value: &str) -> Self {
        self.configuration.push((key.to_owned(), value.to_owned()));
        self
    }

    /// What it reads from standard input; nothing otherwise.
    pub fn input(mut self, input: Vec<u8>) -> Self {
        self.input = Input::Bytes(input);
        self
    }

    /// A file that it keeps open until it ends, instead of standard input. Whoever waits for a lock on that file waits for
    /// the process, too, even when this program is killed meanwhile.
    pub fn holding(mut self, file: File) -> Self {
        self.input = Input::Held(file);
        self
    }

    /// What ends it early.
    pub fn cancel(mut self, cancel: &'a Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// How long it may take.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Lets the repository's hooks run: only because the person said so, and never in a folder that isn't trusted.
    pub fn with_hooks(mut self, hooks: bool) -> Self {
        self.hooks = hooks && self.checkout.trust == Trust::Trusted;
        self
    }

    /// Runs it; another exit code than 0 is an error.
    pub fn run(self) -> Result<Output, GitError> {
        let (directory, command) = (self.directory.to_path_buf(), self.line());
        let output = self.run_any()?;
        if output.exit == Some(0) {
            return Ok(output);
        }
        Err(GitError::Failed { command, directory, exit: output.exit, stderr: output.stderr })
    }

    /// Runs it, whatever its exit code.
    pub fn run_any(mut self) -> Result<Output, GitError> {
        if self.checkout.trust == Trust::Untrusted {
            // Asked each time: `info/attributes` can name any filter, and there is no switch against that file.
            for driver in filters(self.git, self.checkout)? {
                self.configuration.extend(silenced(&driver));
            }
        }
        self.start()
    }

    fn start(self) -> Result<Output, GitError> {
        let settings = &self.git.0;
        let mut command = std::process::Command::new(&settings.program);
        command.current_dir(self.directory).env_clear();
        command.envs(settings.environment.iter().map(|(name, value)| (name, value)));
        command.env("PATH", &settings.path).env("LC_ALL", "C");
        if let Some(home) = &settings.home {
            command.env("HOME", home);
        }
        command.envs(CONSTANT);
        command.env("GIT_DIR", &self.checkout.git_dir);
        command.env("GIT_COMMON_DIR", &self.checkout.common_dir);
        command.env("GIT_WORK_TREE", &self.checkout.work_tree);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));

        let mut configuration: Vec<(&str, &str)> = CONFIGURATION.to_vec();
        if !self.hooks {
            configuration.push(("core.hooksPath", NOWHERE));
        }
        if self.checkout.trust == Trust::Untrusted {
            command.envs([("GIT_NO_LAZY_FETCH", "1"), ("GIT_ATTR_NOSYSTEM", "1"), ("GIT_ATTR_SOURCE", EMPTY_TREE)]);
            configuration.extend([("core.attributesFile", NOWHERE), ("protocol.allow", "never")]);
        }
        configuration.extend(self.configuration.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        let silent: Vec<_> = self.checkout.filters_off.iter().flat_map(|driver| silenced(driver)).collect();
        configuration.extend(silent.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        // By variables and not by `-c`: these take keys with an `=` in them, and errors stay readable.
        command.env("GIT_CONFIG_COUNT", configuration.len().to_string());
        for (n, (key, value)) in configuration.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{n}"), key).env(format!("GIT_CONFIG_VALUE_{n}"), value);
        }
        command.args(&self.args);
        let about = process::About { command: self.line(), directory: self.directory.to_path_buf() };
        process::run(command, about, self.input, self.cancel, self.patience, self.limit)
    }

    fn line(&self) -> String {
        let args = self.args.iter().map(|arg| arg.to_string_lossy());
        ["git".into()].into_iter().chain(args).collect::<Vec<_>>().join(" ")
    }
}

/// Variables of every process.
const CONSTANT: [(&str, &str); 10] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_PAGER", "cat"),
    ("GIT_ADVICE", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
];

/// Configuration of every process: what could run a program, start something in the background, or make the result
/// depend on taste.
const CONFIGURATION: [(&str, &str); 14] = [
    ("core.fsmonitor", "false"),
    ("safe.bareRepository", "explicit"),
    ("submodule.recurse", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("core.splitIndex", "false"),
    ("core.untrackedCache", "false"),
    ("core.quotePath", "false"),
    ("color.ui", "false"),
    ("worktree.useRelativePaths", "false"),
    ("worktree.guessRemote", "false"),
    // Git's parallel workers write some files that have another encoding (`working-tree-encoding`) without it.
    ("checkout.workers", "1"),
    ("commit.gpgSign", "false"),
    ("core.safecrlf", "false"),
];

/// What makes a filter driver do nothing.
fn silenced(driver: &str) -> [(String, String); 4] {
    let key = |name: &str| format!("filter.{driver}.{name}");
    [
        (key("clean"), String::new()),
        (key("smudge"), String::new()),
        (key("process"), String::new()),
        (key("required"), "false".to_owned()),
    ]
}

/// Names of all filter drivers that some configuration file defines. Runs nothing of them.
pub(crate) fn filters(git: &Git, checkout: &Checkout) -> Result<Vec<String>, GitError> {
    let mut names: Vec<String> = filter_commands(git, checkout)?.into_iter().map(|(driver, _)| driver).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Every configured filter command with the driver it belongs to.
pub(crate) fn filter_commands(git: &Git, checkout: &Checkout) -> Result<Vec<(String, String)>, GitError> {
    let output = git.on(checkout).args(["config", "--null", "--get-regexp", r"^filter\."]).start()?;
    let entries = output.stdout.split(|byte| *byte == 0).filter_map(|entry| {
        let entry = String::from_utf8_lossy(entry);
        let (key, value) = entry.split_once('\n').unwrap_or((&entry, ""));
        let (driver, _) = key.strip_prefix("filter.")?.rsplit_once('.')?;
        Some((driver.to_owned(), value.to_owned()))
    });
    Ok(entries.collect())
}

/// An index entry that says nothing of a file on disk.
pub(crate) fn index_entry(path: Vec<u8>, id: git2::Oid, mode: u32) -> git2::IndexEntry {
    let zero = git2::IndexTime::new(0, 0);
    git2::IndexEntry {
        ctime: zero,
        mtime: zero,
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path,
    }
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
