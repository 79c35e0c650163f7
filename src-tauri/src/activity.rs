//! What happens in a session, one line per event, for people who read a terminal or a build log.

use std::collections::HashMap;

use offshoot_agents::agent::is_running;
use offshoot_agents::view::Fold;
use offshoot_protocol::{
    Access, AgentId, AgentKind, AgentOutcome, AgentState, AgentView, Answer, CallId, CallResult, DecidedBy, Event,
    EventBody, FailureCode, MessageRole, Origin, PermissionRequest, RequestId, SessionId, TurnOutcome,
};

use crate::console::{Tone, cut, one_line};

/// Longest text of a line, in characters.
const WIDTH: usize = 160;

/// The code of results of calls that were not permitted.
const DENIED: &str = "permission_denied";

/// A session as it is followed from its events.
pub(crate) struct Activity {
    fold: Fold,
    names: HashMap<AgentId, String>,
    /// What each call does, as far as is known: the whole command once a person is asked about it.
    calls: HashMap<(AgentId, CallId), String>,
    requests: HashMap<RequestId, CallId>,
    denied: Vec<String>,
    answer: String,
    outcome: Option<TurnOutcome>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The agent's name.
    pub(crate) name: String,
    /// What it did.
    pub(crate) text: String,
    /// How the name is set off.
    pub(crate) tone: Tone,
}

impl Activity {
    /// Nothing has happened yet.
    pub(crate) fn new(session: SessionId) -> Self {
        Self {
            fold: Fold::new(session),
            names: HashMap::new(),
            calls: HashMap::new(),
            requests: HashMap::new(),
            denied: Vec::new(),
            answer: String::new(),
            outcome: None,
        }
    }

    /// Forgets what a run before this one left: its denials, its answer and its outcome.
    pub(crate) fn begin_run(&mut self) {
        self.denied.clear();
        self.answer.clear();
        self.outcome = None;
    }

    /// Takes an event in; says what is worth a line.
    pub(crate) fn take(&mut self, event: &Event) -> Option<Line> {
        if event.seq <= self.fold.cursor {
            return None;
        }
        self.fold.apply(event);
        let agent = event.agent.as_ref()?;
        self.follow(agent, &event.body);
        let (text, tone) = self.describe(agent, &event.body)?;
        Some(Line { name: self.name(agent), text: cut(&one_line(&text), WIDTH), tone })
    }

    /// The root's name is its kind; a child's is its title, numbered when another has it already.
    fn name(&self, agent: &AgentId) -> String {
        self.names.get(agent).cloned().unwrap_or_else(|| agent.to_string())
    }

    fn follow(&mut self, agent: &AgentId, body: &EventBody) {
        let is_root = self.root().is_some_and(|root| root.id == *agent);
        match body {
            EventBody::AgentCreated(created) => {
                let wanted = if created.kind == AgentKind::Root { "root".to_owned() } else { one_line(&created.title) };
                let taken = |name: &String| self.names.values().any(|other| other == name);
                let numbered = (2..).map(|number| format!("{wanted} ({number})"));
                let name = std::iter::once(wanted.clone()).chain(numbered).find(|name| !taken(name));
                self.names.insert(agent.clone(), name.unwrap_or(wanted));
            }
            EventBody::MessageAppended { message, .. } if is_root && message.role == MessageRole::Assistant => {
                self.answer = message.text();
            }
            EventBody::TurnStarted if is_root => self.outcome = None,
            EventBody::TurnEnded { outcome } if is_root => self.outcome = Some(outcome.clone()),
            EventBody::CallStarted { call } => {
                let activity = self.fold.agent(agent).map(|view| view.activity.clone()).unwrap_or_default();
                self.calls.insert((agent.clone(), call.clone()), activity);
            }
            EventBody::PermissionRequested { request } => {
                self.calls.insert((agent.clone(), request.call.clone()), what(request));
                self.requests.insert(request.id.clone(), request.call.clone());
            }
            EventBody::CallEnded { call, result } => {
                let what = self.calls.remove(&(agent.clone(), call.clone()));
                if result.code.as_deref() == Some(DENIED) {
                    self.denied.push(format!("{}: {}", self.name(agent), what.as_deref().unwrap_or("a call")));
                }
            }
            _ => {}
        }
    }

    fn describe(&self, agent: &AgentId, body: &EventBody) -> Option<(String, Tone)> {
        let view = self.fold.agent(agent)?;
        let line = match body {
            EventBody::AgentCreated(created) => {
                let kind = match created.kind {
                    AgentKind::Root => return None,
                    AgentKind::Fork => "fork",
                    AgentKind::Subagent => "subagent",
                    AgentKind::Teammate => "teammate",
                };
                let role = created.role.as_ref().map(|role| format!(" with role {role}")).unwrap_or_default();
                let parent = created.parent.as_ref().map(|parent| format!(" of {}", self.name(parent)));
                (format!("starts as {kind}{}{role}", parent.unwrap_or_default()), Tone::Strong)
            }
            EventBody::MessageAppended { message, .. } if message.role == MessageRole::Assistant => {
                let text = message.text();
                let has_calls = message.calls().next().is_some();
                // The last text is the answer or the report; it is shown whole, elsewhere.
                return (has_calls && !text.trim().is_empty()).then_some((text, Tone::Faint));
            }
            EventBody::CallStarted { .. } => (view.activity.clone(), Tone::Faint),
            EventBody::CallEnded { result, .. } if result.is_error => (failure(result), Tone::Warning),
            EventBody::ModelWaiting { reason, attempt, retry_in_ms } => {
                let seconds = retry_in_ms.div_ceil(1000);
                (format!("waits {seconds} s after attempt {attempt}: {reason}"), Tone::Warning)
            }
            EventBody::TurnEnded { outcome: TurnOutcome::Failed { message, .. } } => {
                (format!("failed: {message}"), Tone::Bad)
            }
            EventBody::TurnEnded { outcome: TurnOutcome::Interrupted } => ("interrupted".to_owned(), Tone::Warning),
            EventBody::AgentEnded { outcome } => end(view, outcome),
            EventBody::MovedToBackground => ("goes on in the background".to_owned(), Tone::Faint),
            EventBody::PermissionRequested { request } => {
                (format!("asks to run {} ({})", what(request), request.reason), Tone::Warning)
            }
            EventBody::PermissionDecided { request, answer: Answer::Deny { .. }, by } => {
                let call = self.requests.get(request).map(|call| (agent.clone(), call.clone()));
                let what = call.and_then(|key| self.calls.get(&key)).map_or("a call", String::as_str);
                let why = match by {
                    DecidedBy::Headless => "denied, because nobody can be asked here",
                    DecidedBy::User => "denied by a person",
                    DecidedBy::Rule => "denied by a rule",
                };
                (format!("{why}: {what}"), Tone::Bad)
            }
            EventBody::WorktreeCreated { worktree } => {
                (format!("works in {} on branch {}", worktree.path, worktree.branch), Tone::Faint)
            }
            EventBody::Warned { warning } => {
                let about = if warning.code == "settings" { "settings" } else { "warning" };
                (format!("{about}: {}", warning.message), Tone::Warning)
            }
            EventBody::CompactionStarted { .. } => ("compacts its conversation".to_owned(), Tone::Faint),
            EventBody::Compacted(compacted) => {
                (format!("goes on behind a summary of {} messages", compacted.replaced), Tone::Faint)
            }
            EventBody::CompactionFailed { message } => (format!("warning: {message}"), Tone::Warning),
            EventBody::HeadChanged(changed) => {
                (format!("is answered by {} from here on; the provider's cache is lost", changed.model), Tone::Warning)
            }
            EventBody::HookRan(ran) if ran.exit != Some(0) || ran.warning.is_some() => {
                let said = match (&ran.warning, ran.exit) {
                    (Some(warning), _) => warning.clone(),
                    (None, Some(2)) => "objects".to_owned(),
                    (None, Some(exit)) => format!("exit status {exit}"),
                    (None, None) => "was ended".to_owned(),
                };
                (format!("hook at {}: {said}: {}", ran.event, ran.command), Tone::Warning)
            }
            _ => return None,
        };
        Some(line)
    }

    /// The root agent.
    pub(crate) fn root(&self) -> Option<&AgentView> {
        self.fold.root()
    }

    /// The number of the last event taken in.
    pub(crate) fn cursor(&self) -> u64 {
        self.fold.cursor
    }

    /// The root's last text.
    pub(crate) fn answer(&self) -> &str {
        &self.answer
    }

    /// What was not permitted, with the name of who wanted it.
    pub(crate) fn denied(&self) -> &[String] {
        &self.denied
    }

    /// How the root's last turn ended; absent while one runs.
    pub(crate) fn outcome(&self) -> Option<&TurnOutcome> {
        self.outcome.as_ref()
    }

    /// Whether the root's turn is over and nothing waits to begin another. An end and the notification of it are one batch,
    /// so this holds only when asked between batches.
    pub(crate) fn is_answered(&self) -> bool {
        self.outcome.is_some() && self.root().is_some_and(|root| !is_at_work(root))
    }

    /// Names of the children that are still at work.
    pub(crate) fn at_work(&self) -> Vec<String> {
        let children = self.fold.view.agents.iter().skip(1);
        children.filter(|agent| is_at_work(agent)).map(|agent| self.name(&agent.id)).collect()
    }

    /// Whether nothing more will happen by itself.
    pub(crate) fn is_over(&self) -> bool {
        self.is_answered() && self.at_work().is_empty()
    }
}

/// Whether an agent works, or will as soon as it looks at its queue. Reminders wait for a turn that something else begins.
fn is_at_work(agent: &AgentView) -> bool {
    let has_ended = matches!(agent.state, AgentState::Stopped | AgentState::Interrupted);
    let is_told = agent.queue.iter().any(|input| input.origin != Origin::Reminder);
    is_running(&agent.state) || (is_told && !has_ended)
}

/// A failed result on one line. Results of tools are JSON with a message.
fn failure(result: &CallResult) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_str(&result.content).ok();
    let message = parsed.as_ref().and_then(|value| value.get("message")).and_then(serde_json::Value::as_str);
    format!("the call failed: {}", message.unwrap_or(&result.content))
}

fn end(view: &AgentView, outcome: &AgentOutcome) -> (String, Tone) {
    let changes = view.changes.filter(|changes| changes.files > 0).map_or(String::new(), |changes| {
        let files = if changes.files == 1 { "file" } else { "files" };
        format!(", {} {files} changed (+{} -{})", changes.files, changes.added, changes.removed)
    });
    match outcome {
        AgentOutcome::Completed { .. } => (format!("completed{changes}"), Tone::Good),
        AgentOutcome::Failed { message, .. } => (format!("failed{changes}: {message}"), Tone::Bad),
        AgentOutcome::Stopped => (format!("stopped{changes}"), Tone::Warning),
        AgentOutcome::Interrupted => (format!("interrupted{changes}"), Tone::Warning),
    }
}

/// What a request is about.
fn what(request: &PermissionRequest) -> String {
    let detail = match &request.access {
        Access::Read { path } | Access::Edit { path, .. } => path.clone(),
        Access::Command { command } => command.clone(),
        Access::Delegate { role } => role.clone(),
        Access::Own => String::new(),
    };
    one_line(&format!("{} {detail}", request.tool))
}

/// Whether a failure is a limit that was set, rather than something that went wrong.
pub(crate) fn is_limit(outcome: &TurnOutcome) -> bool {
    matches!(outcome, TurnOutcome::Failed { code: FailureCode::TurnLimit, .. })
}

/// A state in one word or two.
pub(crate) fn state_word(state: &AgentState) -> (&'static str, Tone) {
    match state {
        AgentState::Queued => ("queued", Tone::Faint),
        AgentState::Running => ("running", Tone::Strong),
        AgentState::WaitingForPermission => ("waiting for permission", Tone::Warning),
        AgentState::WaitingForApi { .. } => ("waiting for the provider", Tone::Warning),
        AgentState::Idle => ("idle", Tone::Faint),
        AgentState::IdleAfterFailure { .. } => ("idle after a failure", Tone::Bad),
        AgentState::Completed => ("completed", Tone::Good),
        AgentState::Failed { .. } => ("failed", Tone::Bad),
        AgentState::Stopped => ("stopped", Tone::Warning),
        AgentState::Interrupted => ("interrupted", Tone::Warning),
    }
}

#[cfg(test)]
mod tests;
