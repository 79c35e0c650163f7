//! The built program.

use std::path::PathBuf;
use std::process::{Output, Stdio};

use tokio::process::Command;

use crate::Repository;

/// The path of `offshoot`, as the workspace built it last.
///
/// # Panics
/// When it isn't there: cargo builds the programs of other packages only when told to.
pub fn offshoot() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let folder = test.ancestors().nth(2).expect("tests lie in <target>/<profile>/deps");
    let program = folder.join(format!("offshoot{}", std::env::consts::EXE_SUFFIX));
    let how = "build it first: cargo build --workspace --bin offshoot --bin offshoot-window (`cargo xtask test` does)";
    assert!(program.exists(), "{} is missing; {how}", program.display());
    program
}

/// The program on a repository, with folders beside it and nothing of this machine's environment.
///
/// # Panics
/// When it isn't built, or the folders can't be made.
pub fn on(repository: &Repository, arguments: &[&str]) -> Command {
    let mut command = Command::new(offshoot());
    let home = repository.beside("home");
    std::fs::create_dir_all(&home).expect("there is room for a folder");
    command.args(arguments).current_dir(repository.path()).env_clear().kill_on_drop(true);
    command.env("PATH", std::env::var_os("PATH").expect("tests have a search path"));
    command.env("HOME", &home).env("TERM", "dumb");
    command.env("XDG_DATA_HOME", repository.beside("data"));
    command.env("XDG_CONFIG_HOME", repository.beside("config"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a program that has ended said.
pub struct Done(pub Output);

impl Done {
    /// Standard output.
    ///
    /// # Panics
    /// When it is no text.
    pub fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).expect("output is text")
    }

    /// Standard error.
    ///
    /// # Panics
    /// When it is no text.
    pub fn err(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).expect("messages are text")
    }

    /// Itself, when it ended with this exit code.
    ///
    /// # Panics
    /// When it ended otherwise.
    #[track_caller]
    pub fn expect(&self, code: i32) -> &Self {
        assert_eq!(self.0.status.code(), Some(code), "out:\n{}\nerr:\n{}", self.out(), self.err());
        self
    }
}

/// The folder that cargo builds into.
///
/// # Panics
/// Never in a test.
pub fn target() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    test.ancestors().nth(3).expect("tests lie in <target>/<profile>/deps").to_path_buf()
}
