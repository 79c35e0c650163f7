//! The program on the command line, against a real server on this machine: output, errors, exit codes.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use offshoot_tests::program::{self, Done};
use offshoot_tests::{Repository, Scripted};
use serde_json::Value;
use tokio::process::{Child, Command};

mod exec;
mod home;
mod limits;
mod looking;
mod usage;

/// A project, a data folder and a way to start the program on them.
struct Place {
    repository: Repository,
}

impl Place {
    fn new() -> Self {
        Self { repository: Repository::with(&[("README.md", "hello\n"), ("src/a.txt", "one\n")]) }
    }

    /// The program with nothing of this machine's environment.
    fn offshoot(&self, arguments: &[&str]) -> Command {
        program::on(&self.repository, arguments)
    }

    async fn run(&self, arguments: &[&str]) -> Done {
        Done(self.offshoot(arguments).output().await.unwrap())
    }

    /// `exec` against a server.
    async fn exec(&self, server: &Scripted, arguments: &[&str]) -> Done {
        let url = server.url();
        let base = ["exec", "--provider", "anthropic", "--base-url", &url];
        self.run(&[&base[..], arguments].concat()).await
    }

    fn start(&self, server: &Scripted, arguments: &[&str]) -> Child {
        let url = server.url();
        let base = ["exec", "--provider", "anthropic", "--base-url", &url];
        self.offshoot(&[&base[..], arguments].concat()).spawn().unwrap()
    }

    async fn sessions(&self) -> Vec<Value> {
        serde_json::from_str(&self.run(&["sessions", "--json"]).await.out()).unwrap()
    }
}
