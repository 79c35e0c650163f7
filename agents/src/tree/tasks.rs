//! Background tasks as agents know them: their children and their shell commands.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use offshoot_protocol::{
    AgentId, AgentOutcome, AgentState, AgentView, CallId, EventBody, Origin, Rejected, RejectedCode, SessionView,
    ShellOutcome, ShellView, TaskId,
};
use serde_json::json;
use tokio::sync::oneshot;

use super::Tree;
use super::delegate::{TreeDelegate, background_disabled};
use super::title::title_of;
use crate::agent::is_running;
use crate::prompt::{self, Notice};
use crate::tool::{Refusal, ShellJob, Tasks, ToolError};

/// Most bytes of a shell command's output that are shown: its end.
const SHELL_TAIL: u64 = 16 * 1024;

/// A shell command that runs.
pub(super) struct Shell {
    agent: AgentId,
    /// Used once, to end it.
    stop: Option<oneshot::Sender<Stopper>>,
}

/// Who stops a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopper {
    /// Its agent, by a call or by ending. It needs no notice.
    Agent,
    /// A person. The agent is told.
    Person,
}

#[async_trait]
impl Tasks for TreeDelegate {
    fn list(&self, agent: &AgentId) -> String {
        self.tree().map_or_else(|_| "[]".to_owned(), |tree| tree.list_tasks(agent))
    }

    async fn output(&self, agent: &AgentId, task: &str, patience: Option<Duration>) -> Result<String, ToolError> {
        self.tree()?.task_output(agent, task, patience).await
    }

    async fn stop(&self, agent: &AgentId, task: &str) -> Result<String, ToolError> {
        self.tree()?.stop_task(agent, task).await
    }

    async fn message(&self, agent: &AgentId, to: &str, text: &str) -> Result<String, ToolError> {
        self.tree()?.message_child(agent, to, text).await
    }

    async fn start_shell(&self, agent: &AgentId, call: &CallId, job: ShellJob) -> Result<String, ToolError> {
        self.tree()?.start_shell(agent, call, job).await
    }
}

/// A task of one agent.
enum Task {
    Agent(Box<AgentView>),
    Shell(ShellView),
}

impl Task {
    fn find(view: &SessionView, owner: &AgentId, id: &str) -> Result<Self, ToolError> {
        let child = view.agents.iter().find(|agent| agent.parent.as_ref() == Some(owner) && agent.id.as_str() == id);
        let shell = || view.shells.iter().find(|shell| shell.agent == *owner && shell.id.as_str() == id);
        let found = child.cloned().map(|child| Self::Agent(Box::new(child)));
        found.or_else(|| shell().cloned().map(Self::Shell)).ok_or_else(|| {
            ToolError::new("unknown_task", format!("You have no task {id:?}. TaskList shows those you have."))
        })
    }

    fn is_over(&self) -> bool {
        match self {
            Self::Agent(child) => !is_running(&child.state),
            Self::Shell(shell) => shell.outcome.is_some(),
        }
    }
}

impl Tree {
    fn list_tasks(&self, owner: &AgentId) -> String {
        let view = self.journal.read(|fold| fold.view.clone());
        let agents = view.agents.iter().filter(|agent| agent.parent.as_ref() == Some(owner)).map(|agent| {
            json!({
                "task_id": agent.id,
                "kind": prompt::kind_word(agent.kind),
                "status": state_word(&agent.state),
                "description": agent.title,
                "activity": agent.activity,
            })
        });
        let shells = view.shells.iter().filter(|shell| shell.agent == *owner).map(|shell| {
            json!({
                "task_id": shell.id,
                "kind": "shell",
                "status": shell.outcome.as_ref().map_or("running", shell_word),
                "description": shell.command,
                "output_file": shell.output_file,
            })
        });
        agents.chain(shells).collect::<serde_json::Value>().to_string()
    }

    async fn task_output(&self, owner: &AgentId, id: &str, patience: Option<Duration>) -> Result<String, ToolError> {
        let find = || self.journal.read(|fold| Task::find(&fold.view, owner, id));
        let mut changed = self.changed.subscribe();
        let mut task = find()?;
        if let Some(patience) = patience {
            let ended = async {
                while !task.is_over() {
                    changed.changed().await.expect("the sender lives as long as self");
                    task = find()?;
                }
                Ok(())
            };
            // Out of patience: what there is now.
            tokio::time::timeout(patience, ended).await.unwrap_or(Ok::<(), ToolError>(()))?;
        }
        Ok(match find()? {
            Task::Agent(child) => self.child_output(&child),
            Task::Shell(shell) => shell_output(&shell).await,
        })
    }

    fn child_output(&self, child: &AgentView) -> String {
        let mut result = json!({"task_id": child.id, "status": state_word(&child.state), "description": child.title});
        match &child.outcome {
            Some(outcome) => {
                let file = self.report_file(&child.id).display().to_string();
                let completed = matches!(outcome, AgentOutcome::Completed { .. });
                let (_, summary) = prompt::outcome(outcome, prompt::REPORT_LIMIT, completed.then_some(file.as_str()));
                result["report"] = json!(prompt::defang(&summary));
            }
            None => result["activity"] = json!(prompt::defang(&child.activity)),
        }
        result.to_string()
    }

    async fn stop_task(&self, owner: &AgentId, id: &str) -> Result<String, ToolError> {
        let task = self.journal.read(|fold| Task::find(&fold.view, owner, id))?;
        if task.is_over() {
            return Err(ToolError::new("not_running", format!("Task {id} has ended already.")));
        }
        match task {
            Task::Agent(child) => {
                self.stop(&child.id).map_err(|rejected| ToolError::new("not_running", rejected.message))?;
            }
            Task::Shell(shell) => {
                self.stop_shell(&shell.id, Stopper::Agent);
            }
        }
        let mut changed = self.changed.subscribe();
        while !self.journal.read(|fold| Task::find(&fold.view, owner, id))?.is_over() {
            changed.changed().await.expect("the sender lives as long as self");
        }
        Ok(json!({"task_id": id, "status": "stopped"}).to_string())
    }

    async fn message_child(&self, owner: &AgentId, to: &str, text: &str) -> Result<String, ToolError> {
        let title = title_of(to);
        let found: Vec<AgentView> = self.journal.read(|fold| {
            let by_id = fold.children(owner).filter(|child| child.id.as_str() == to);
            let by_title = fold.children(owner).filter(|child| child.title == title);
            let found: Vec<_> = by_id.cloned().collect();
            if found.is_empty() { by_title.cloned().collect() } else { found }
        });
        let child = match found.as_slice() {
            [] => return Err(ToolError::new("unknown_task", format!("You have started no agent {to:?}."))),
            [child] => child,
            several => {
                let ids: Vec<&str> = several.iter().map(|child| child.id.as_str()).collect();
                let message = format!("Several agents are called {to:?}: {}. Name one by its id.", ids.join(", "));
                return Err(ToolError::new("ambiguous_name", message));
            }
        };
        let goes_on = !is_running(&child.state);
        self.give(&child.id, text.to_owned(), Origin::Brief).await.map_err(|Rejected { message, hint, .. }| {
            Refusal::SubagentStopped.because(format!("{message} {hint} Only the developer can do that."))
        })?;
        let note =
            if goes_on { "It goes on in the background; you are notified." } else { "It gets it with its next step." };
        Ok(json!({"agent_id": child.id, "status": "delivered", "note": note}).to_string())
    }

    async fn start_shell(self: &Arc<Self>, agent: &AgentId, call: &CallId, job: ShellJob) -> Result<String, ToolError> {
        if !self.means.settings.background {
            return Err(background_disabled());
        }
        let task = TaskId(self.means.kit.ids.next("t-"));
        let file = self.folder.join("tasks").join(format!("{task}.log"));
        let folder = file.parent().expect("the name was joined to a folder");
        tokio::fs::create_dir_all(folder).await.map_err(|error| {
            ToolError::new("storage", format!("Nothing was run: {} can't be made: {error}.", folder.display()))
        })?;
        let command = job.command;
        let started = EventBody::ShellStarted {
            task: task.clone(),
            call: call.clone(),
            command: command.clone(),
            output_file: file.display().to_string(),
        };
        let stored = self.journal.store(agent, started).await;
        stored.map_err(|error| ToolError::new("storage", format!("Nothing was run: {error}")))?;
        let (stop, stopped) = oneshot::channel();
        super::lock(&self.shells).insert(task.clone(), Shell { agent: agent.clone(), stop: Some(stop) });
        let (tree, id, run) = (self.me.clone(), task.clone(), (job.run)(file.clone()));
        super::lock(&self.tasks).spawn(async move {
            let (outcome, is_told) = tokio::select! {
                outcome = run => (outcome, true),
                by = stopped => (ShellOutcome::Stopped, by != Ok(Stopper::Agent)),
            };
            if let Some(tree) = tree.upgrade() {
                tree.shell_ended(&id, outcome, is_told).await;
            }
        });
        self.task_created(agent, task.as_str(), &command).await;
        let note = "It runs in the background. Do not wait for it by polling: you are notified when it ends.";
        let result = json!({"status": "async_launched", "task_id": task, "output_file": file, "note": note});
        Ok(result.to_string())
    }

    async fn shell_ended(&self, task: &TaskId, outcome: ShellOutcome, is_told: bool) {
        let Some(shell) = super::lock(&self.shells).remove(task) else { return };
        let status = shell_word(&outcome);
        let (seq, command) = self.journal.decide(|fold| {
            let command = fold.view.shells.iter().find(|shell| shell.id == *task).map(|shell| shell.command.clone());
            (self.end_shell(&fold.view, task, outcome, is_told), command.unwrap_or_default())
        });
        if let Err(error) = self.journal.stored(seq).await {
            tracing::error!(%task, %error, "a command's end could not be stored");
        }
        self.announce_change();
        if self.means.settings.wake_parent {
            self.tell(&shell.agent, crate::agent::Wish::Wake);
        }
        self.task_completed(&shell.agent, task.as_str(), &command, status).await;
    }

    /// The facts of a command's end and, where `is_told`, the notification to its agent.
    fn end_shell(
        &self,
        view: &SessionView,
        task: &TaskId,
        outcome: ShellOutcome,
        is_told: bool,
    ) -> Vec<(Option<AgentId>, EventBody)> {
        let Some(shell) = view.shells.iter().find(|shell| shell.id == *task) else { return Vec::new() };
        let about = |body| (Some(shell.agent.clone()), body);
        let summary = match &outcome {
            ShellOutcome::Completed => "It ended with exit status 0.".to_owned(),
            ShellOutcome::Failed { message } => message.clone(),
            ShellOutcome::Stopped => "It was stopped.".to_owned(),
            ShellOutcome::Interrupted => "The program ended while it ran.".to_owned(),
        };
        let text = prompt::notification(&Notice {
            task: task.as_str(),
            kind: "shell",
            status: shell_word(&outcome),
            description: &shell.command,
            summary,
            output_file: Some(&shell.output_file),
            worktree: None,
            usage: None,
        });
        let mut facts = vec![about(EventBody::ShellEnded { task: task.clone(), outcome })];
        if is_told {
            facts.push(about(EventBody::InputReceived { input: self.notification(task.clone(), text) }));
        }
        facts
    }

    /// Stops a command for a person.
    pub fn stop_command(&self, task: &TaskId) -> Result<(), Rejected> {
        if self.stop_shell(task, Stopper::Person) {
            return Ok(());
        }
        Err(Rejected::new(RejectedCode::NotApplicable, "The command is not running.", ""))
    }

    /// Whether it ran. Its end is recorded by its own task.
    fn stop_shell(&self, task: &TaskId, by: Stopper) -> bool {
        let stop = super::lock(&self.shells).get_mut(task).and_then(|shell| shell.stop.take());
        stop.is_some_and(|stop| stop.send(by).is_ok())
    }

    /// Stops an agent's commands and waits until they are recorded as ended.
    pub(super) async fn stop_shells(&self, agent: &AgentId) {
        let mut changed = self.changed.subscribe();
        let theirs: Vec<TaskId> = super::lock(&self.shells)
            .iter()
            .filter(|(_, shell)| shell.agent == *agent)
            .map(|(task, _)| task.clone())
            .collect();
        for task in &theirs {
            self.stop_shell(task, Stopper::Agent);
        }
        while theirs.iter().any(|task| super::lock(&self.shells).contains_key(task)) {
            changed.changed().await.expect("the sender lives as long as self");
        }
    }

    /// After a restart: what the log has as running isn't any more.
    pub(super) fn recover_shells(&self) {
        self.journal.decide(|fold| {
            let running = fold.view.shells.iter().filter(|shell| shell.outcome.is_none());
            (
                running
                    .flat_map(|shell| self.end_shell(&fold.view, &shell.id, ShellOutcome::Interrupted, true))
                    .collect(),
                (),
            )
        });
    }
}

/// The end of a command's output, and how it stands.
async fn shell_output(shell: &ShellView) -> String {
    let status = shell.outcome.as_ref().map_or("running", shell_word);
    let line = json!({"task_id": shell.id, "status": status, "output_file": shell.output_file});
    let path = PathBuf::from(&shell.output_file);
    let tail = tokio::task::spawn_blocking(move || tail(&path)).await;
    match tail {
        Ok(Ok(text)) => format!("{line}\n{text}"),
        Ok(Err(error)) => format!("{line}\nThe output can't be read: {error}"),
        Err(error) => format!("{line}\nThe output can't be read: {error}"),
    }
}

fn tail(path: &std::path::Path) -> std::io::Result<String> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    let skipped = length.saturating_sub(SHELL_TAIL);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(SHELL_TAIL).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(if skipped > 0 { format!("[{skipped} bytes before this]\n{text}") } else { text.into_owned() })
}

/// How an agent stands, in a word.
fn state_word(state: &AgentState) -> &'static str {
    match state {
        AgentState::Queued => "queued",
        AgentState::Running => "running",
        AgentState::WaitingForPermission => "waiting for permission",
        AgentState::WaitingForApi { .. } => "waiting for API",
        AgentState::Idle | AgentState::IdleAfterFailure { .. } => "idle",
        AgentState::Completed => "completed",
        AgentState::Failed { .. } => "failed",
        AgentState::Stopped => "stopped",
        AgentState::Interrupted => "interrupted",
    }
}

fn shell_word(outcome: &ShellOutcome) -> &'static str {
    match outcome {
        ShellOutcome::Completed => "completed",
        ShellOutcome::Failed { .. } => "failed",
        ShellOutcome::Stopped => "stopped",
        ShellOutcome::Interrupted => "interrupted",
    }
}
