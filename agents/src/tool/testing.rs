//! A place to try tools in.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use offshoot_protocol::{AgentId, CallId};
use serde_json::Value;

use super::{
    AgentCall, CommitCall, Commits, Delegate, FileMemory, OutputSink, ShellJob, Tasks, Tool, ToolContext, ToolError,
    ToolOutput,
};
use crate::boundary::Place;

/// An isolated agent's folders on the disk, and its memory.
pub(super) struct Bench {
    _root: tempfile::TempDir,
    pub(super) place: Place,
    pub(super) files: Arc<FileMemory>,
    pub(super) output: Arc<Mutex<String>>,
    forbidden: Option<&'static str>,
}

struct NoDelegate;

fn nothing() -> ToolError {
    ToolError::new("unknown_task", "no tasks here")
}

#[async_trait]
impl Tasks for NoDelegate {
    fn list(&self, _: &AgentId) -> String {
        "[]".to_owned()
    }

    async fn output(&self, _: &AgentId, _: &str, _: Option<Duration>) -> Result<String, ToolError> {
        Err(nothing())
    }

    async fn stop(&self, _: &AgentId, _: &str) -> Result<String, ToolError> {
        Err(nothing())
    }

    async fn message(&self, _: &AgentId, _: &str, _: &str) -> Result<String, ToolError> {
        Err(nothing())
    }

    /// Runs the job to its end, into a file beside the test's folders.
    async fn start_shell(&self, _: &AgentId, call: &CallId, job: ShellJob) -> Result<String, ToolError> {
        let file = std::env::temp_dir().join(format!("offshoot-shell-{}-{call}", std::process::id()));
        let outcome = (job.run)(file.clone()).await;
        let output = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(&file);
        Ok(format!("{outcome:?}: {output}"))
    }
}

#[async_trait]
impl Commits for NoDelegate {
    async fn commit(&self, _: &AgentId, _: CommitCall) -> Result<Option<crate::worktree::Committed>, ToolError> {
        Ok(None)
    }
}

#[async_trait]
impl Delegate for NoDelegate {
    async fn delegate(&self, _: &AgentId, _: &CallId, _: AgentCall) -> Result<ToolOutput, ToolError> {
        Err(ToolError::new("nested_agent_forbidden", "no agents here"))
    }

    fn revoke(&self, _: &AgentId, _: &[CallId]) {}
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    /// Beside the test program, for commands, which have a `/tmp` of their own.
    pub(super) fn for_commands() -> Self {
        let program = std::env::current_exe().unwrap();
        Self::at(tempfile::tempdir_in(program.parent().unwrap()).unwrap())
    }

    fn at(root: tempfile::TempDir) -> Self {
        let path = root.path().canonicalize().unwrap();
        let folder = |name: &str| -> PathBuf {
            std::fs::create_dir(path.join(name)).unwrap();
            path.join(name)
        };
        let place =
            Place { directory: folder("work"), main_checkout: Some(folder("main")), scratch: folder("scratch") };
        Self { _root: root, place, files: Arc::default(), output: Arc::default(), forbidden: None }
    }

    /// Forbids reading files of this name.
    pub(super) fn forbid(mut self, name: &'static str) -> Self {
        self.forbidden = Some(name);
        self
    }

    /// Writes a file of the agent's directory.
    pub(super) fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.place.directory.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Reads a file of the agent's directory.
    pub(super) fn bytes(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.place.directory.join(path)).unwrap()
    }

    pub(super) fn context(&self) -> ToolContext {
        let output = self.output.clone();
        ToolContext {
            agent: AgentId::from("a1"),
            call: CallId::from("c1"),
            place: self.place.clone(),
            files: self.files.clone(),
            output: OutputSink::new(move |text| output.lock().unwrap().push_str(text)),
            is_forbidden: Arc::new({
                let forbidden = self.forbidden;
                move |path| forbidden.is_some_and(|name| path.ends_with(name))
            }),
            delegate: Arc::new(NoDelegate),
        }
    }

    pub(super) async fn run(&self, tool: &dyn Tool, input: Value) -> Result<ToolOutput, ToolError> {
        tool.run(input, &self.context()).await
    }
}
