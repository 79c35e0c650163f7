//! Tools: what a model can do. One `.rs` and one `.md` (the prose the model reads) per tool.
//!
//! A tool says what a call would touch ([`Tool::access`]) and does it ([`Tool::run`]). Whether it may is decided outside,
//! between the two. A tool never throws through the loop: a failure is a [`ToolError`], which the model reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use offshoot_protocol::{Access, AgentId, CallId, ResultDetail, ShellOutcome, Todo};
use serde_json::Value;

use crate::boundary::Place;
use crate::model::ToolDefinition;
use crate::sandbox::{Limits, Sandbox};

/// A capability that a model can call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// The name the model calls it by.
    fn name(&self) -> &'static str;

    /// Prose for the model: the tool's `.md` file.
    fn description(&self) -> &'static str;

    /// JSON schema of the input. Static: a change would invalidate every cached prefix.
    fn schema(&self) -> Value;

    /// Whether calls may run at the same time as their neighbours in the message. False for whatever changes something.
    fn is_parallel(&self) -> bool {
        false
    }

    /// Whether a call begins as soon as its own input is complete, while the rest of the message is still on its way.
    /// Dropping such a call must end what it started; what goes on by itself is called back by [`Delegate::revoke`].
    fn is_early(&self, _input: &Value) -> bool {
        false
    }

    /// What the call would touch, for the permission decision. Errors are malformed inputs and paths outside the
    /// boundary: the call is answered with them and nobody is asked.
    fn access(&self, input: &Value, place: &Place) -> Result<Access, ToolError>;

    /// Why calls are asked about although rules allow them, if so: what should stand around them isn't there.
    fn caution(&self) -> Option<String> {
        None
    }

    /// Does it. Must stay inside `context.place`. Dropping the future ends everything that it started.
    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// What a running call gets to know and to use.
pub struct ToolContext {
    /// Whose call.
    pub agent: AgentId,
    /// Which call.
    pub call: CallId,
    /// Where the agent works.
    pub place: Place,
    /// What the agent has read, so that an edit can refuse what changed since.
    pub files: Arc<FileMemory>,
    /// Where output goes while the call runs.
    pub output: OutputSink,
    /// Files that tools which read many leave out without a word, asked with their absolute path, from any thread.
    pub is_forbidden: Arc<dyn Fn(&Path) -> bool + Send + Sync>,
    /// Starts agents.
    pub delegate: Arc<dyn Delegate>,
}

/// What a call came to.
#[derive(Clone, Debug, Default)]
pub struct ToolOutput {
    /// What the model is told, whole: the turn bounds it and stores what it cuts.
    pub content: String,
    /// More for the window.
    pub detail: Option<ResultDetail>,
    /// A new plan, from `TodoWrite`.
    pub todos: Option<Vec<Todo>>,
}

impl ToolOutput {
    /// Only a text.
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}

/// A failure that the model reads as `{"code": …, "message": …}`, with what came out before it under that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// For programs, in `snake_case`.
    pub code: &'static str,
    /// What was tried, on what, why it failed, what to do.
    pub message: String,
    /// More for the window.
    pub detail: Option<Box<ResultDetail>>,
    /// What came out before it failed, handed to the model as it is; mostly empty.
    pub output: String,
}

impl ToolError {
    /// A failure with its two parts.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None, output: String::new() }
    }

    /// The input has the wrong shape.
    pub fn invalid(message: impl Into<String>) -> Self {
        Refusal::InvalidArguments.because(message)
    }

    /// The result's text: one JSON line, and under it the output if there is any.
    pub fn content(&self) -> String {
        let line = serde_json::json!({"code": self.code, "message": self.message});
        if self.output.is_empty() { line.to_string() } else { format!("{line}\n{}", self.output) }
    }
}

impl From<crate::boundary::BoundaryError> for ToolError {
    fn from(error: crate::boundary::BoundaryError) -> Self {
        Self::new("outside_boundary", error.to_string())
    }
}

/// Takes what a running call writes, for the window. Bounded and lossy by design: the result repairs it.
#[derive(Clone)]
pub struct OutputSink(Arc<dyn Fn(&str) + Send + Sync>);

impl OutputSink {
    /// A sink that hands every piece to `take`, which must not block.
    pub fn new(take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// A sink that forgets.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    /// More output.
    pub fn write(&self, text: &str) {
        (self.0)(text);
    }
}

/// An `Agent` call, parsed: every string trimmed, nothing unknown in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentCall {
    /// The directive or brief; not empty.
    pub prompt: String,
    /// What the tree shows; absent: made from `prompt`.
    pub description: Option<String>,
    /// The role; absent: a fork.
    pub subagent_type: Option<String>,
    /// A model for a subagent.
    pub model: Option<String>,
    /// Whether it gets its own worktree.
    pub isolated: bool,
    /// What the call says about waiting; absent: as the role says.
    pub run_in_background: Option<bool>,
    /// A teammate's name.
    pub name: Option<String>,
    /// The team; wins over `subagent_type`.
    pub team_name: Option<String>,
    /// Whether a teammate must have its plan approved.
    pub plan_mode_required: bool,
}

/// Starts agents on behalf of a call. Implemented by the tree.
#[async_trait]
pub trait Delegate: Tasks + Commits {
    /// Routes the call, starts the agent, and waits for it when it runs in the foreground. The output is the result that
    /// the calling model reads.
    async fn delegate(&self, agent: &AgentId, call: &CallId, wish: AgentCall) -> Result<ToolOutput, ToolError>;

    /// Ends what these calls of the agent started, without a word to it: the message that made them never came about.
    fn revoke(&self, agent: &AgentId, calls: &[CallId]);
}

/// What runs in the background for an agent. Implemented by the tree. Every answer is the text the calling model reads.
#[async_trait]
pub trait Tasks: Send + Sync {
    /// The agent's tasks: agents that it started and shell commands.
    fn list(&self, agent: &AgentId) -> String;

    /// What a task has come to. With `patience`, waits that long for its end.
    async fn output(&self, agent: &AgentId, task: &str, patience: Option<Duration>) -> Result<String, ToolError>;

    /// Stops a task of the agent's, for good.
    async fn stop(&self, agent: &AgentId, task: &str) -> Result<String, ToolError>;

    /// Gives a text to an agent that this one started, named by id or title. One that has ended goes on with it.
    async fn message(&self, agent: &AgentId, to: &str, text: &str) -> Result<String, ToolError>;

    /// Runs a shell command as a task of the agent's.
    async fn start_shell(&self, agent: &AgentId, call: &CallId, job: ShellJob) -> Result<String, ToolError>;
}

/// A shell command, ready to run in the background.
pub struct ShellJob {
    /// The command line, for people.
    pub command: String,
    /// Runs it to its end, writing its output to the file that is given. Dropping the future ends it.
    pub run: Box<dyn FnOnce(PathBuf) -> BoxFuture<'static, ShellOutcome> + Send>,
}

/// The tools an agent's calls are looked up in.
#[derive(Clone, Default)]
pub struct Toolbox(Vec<Arc<dyn Tool>>);

impl Toolbox {
    /// A toolbox with these tools, in the order in which models are told of them.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self(tools)
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.0.iter().find(|tool| tool.name() == name)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|tool| tool.name())
    }

    /// What models are told.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let define = |tool: &Arc<dyn Tool>| ToolDefinition {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            input_schema: tool.schema(),
        };
        self.0.iter().map(define).collect()
    }
}

pub mod agent;
mod bash;
mod capture;
mod commands;
pub(crate) mod commit;
mod diff;
pub(crate) mod disk;
mod edit;
mod file_memory;
mod glob;
mod grep;
mod input;
mod named_files;
mod read;
mod refusal;
mod send_message;
mod task_list;
mod task_output;
mod task_stop;
#[cfg(test)]
mod testing;
mod text;
pub mod todo_write;
mod tree_walk;
mod web_fetch;
mod write;

pub use commands::{Commands, Ran};
pub use commit::{CommitCall, Commits};
pub use file_memory::{FileMemory, Seen};
pub use named_files::named_files;
pub use refusal::Refusal;
pub use web_fetch::{Lookup, SystemLookup, Web};

/// What the standard tools are made with.
#[derive(Clone)]
pub struct Options {
    /// Runs the commands of `Bash`.
    pub sandbox: Arc<Sandbox>,
    /// What those get to know.
    pub environment: Environment,
    /// Whether commands may use the network.
    pub network: bool,
    /// Folders outside that commands may write, such as a package cache: absolute, without links.
    pub writable: Vec<PathBuf>,
    /// What one command may use up.
    pub limits: Limits,
    /// What `WebFetch` may reach.
    pub web: Web,
    /// Whether commands that can't be confined run where rules allow them; otherwise each is asked about.
    pub unconfined_allowed: bool,
}

/// The environment of commands, built from nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `PATH`.
    pub path: String,
    /// `HOME`.
    pub home: String,
    /// `LANG`.
    pub lang: String,
    /// `TERM`.
    pub term: String,
    /// What the user lists beside those: names and values.
    pub extra: Vec<(String, String)>,
}

/// The tools that every agent's toolbox starts from, in the order in which models are told of them.
pub fn standard(options: Options) -> Vec<Arc<dyn Tool>> {
    let web = options.web.clone();
    vec![
        Arc::new(read::Read),
        Arc::new(write::Write),
        Arc::new(edit::Edit),
        Arc::new(bash::Bash::new(options)),
        Arc::new(grep::Grep),
        Arc::new(glob::Glob),
        Arc::new(todo_write::TodoWrite),
        Arc::new(task_list::TaskList),
        Arc::new(task_output::TaskOutput),
        Arc::new(task_stop::TaskStop),
        Arc::new(send_message::SendMessage),
        Arc::new(commit::Commit),
        Arc::new(web_fetch::WebFetch(web)),
    ]
}

/// Does blocking work off the threads that drive agents.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|failure| {
        Err(ToolError::new("internal", format!("The tool failed: {failure}. Nothing is known of what it did.")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every agent's requests begin with these definitions: a change costs all running conversations their cached prefix.
    #[test]
    fn the_standard_tools_and_their_order_are_fixed() {
        let tools = standard(Options {
            sandbox: Arc::new(Sandbox::not_confined("a test")),
            environment: Environment::default(),
            network: false,
            writable: Vec::new(),
            limits: Limits::default(),
            web: Web::default(),
            unconfined_allowed: false,
        });
        let toolbox = Toolbox::new(tools);
        let names: Vec<_> = toolbox.names().collect();
        assert_eq!(names[..7], ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "TodoWrite"]);
        assert_eq!(names[7..], ["TaskList", "TaskOutput", "TaskStop", "SendMessage", "Commit", "WebFetch"]);
        let parallel: Vec<_> = names.iter().filter(|name| toolbox.get(name).unwrap().is_parallel()).collect();
        assert_eq!(parallel, [&"Read", &"Grep", &"Glob", &"TaskList", &"TaskOutput", &"WebFetch"]);
        for definition in toolbox.definitions() {
            let schema = definition.input_schema;
            assert_eq!(schema["additionalProperties"], false, "{}", definition.name);
            for field in schema["required"].as_array().unwrap() {
                assert!(schema["properties"][field.as_str().unwrap()].is_object(), "{}: {field}", definition.name);
            }
            assert!((100..2500).contains(&definition.description.len()), "{}", definition.name);
        }
    }

    #[test]
    fn a_failures_output_is_handed_on_as_it_is() {
        let error = ToolError { output: "a\n\"b\"\n".to_owned(), ..ToolError::new("command_failed", "exit status 1") };
        assert_eq!(error.content(), "{\"code\":\"command_failed\",\"message\":\"exit status 1\"}\na\n\"b\"\n");
    }
}
