//! The fold: what a session's events add up to. Pure: no files, no clock.
//!
//! [`Fold`] is the only state of a session. Live agents read it, windows get a copy of its [`SessionView`], and a restart
//! builds it again from the log, so restarting, reopening a window and replaying a test are the same code path.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use offshoot_protocol::{
    AgentCreated, AgentId, AgentKind, AgentOutcome, AgentState, AgentView, Answer, AppliedView, CallId, CallState,
    CallView, Conversation, Event, EventBody, Message, ReviewView, SessionId, SessionView, ShellView, Timestamp,
    TurnOutcome, WorktreeState,
};

use crate::policy::narrower;
use crate::transcript::Transcript;

mod activity;
mod context;
mod requests;
mod review;
mod transcript;
mod turns;

/// How many of an agent's last hooks its view keeps. The log has all of them.
const HOOKS_SHOWN: usize = 20;

/// A session as its events tell it.
pub struct Fold {
    /// What windows see.
    pub view: SessionView,
    /// The number of the last event applied.
    pub cursor: u64,
    /// Rules that a person granted in this session, oldest first.
    pub grants: Vec<Grant>,
    agents: HashMap<AgentId, Node>,
}

/// Rules that a person granted while answering a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// For whom they hold.
    pub scope: GrantScope,
    /// The rules, in the usual spelling.
    pub rules: Vec<String>,
}

/// For whom a granted rule holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantScope {
    /// One agent.
    Agent(AgentId),
    /// An agent and all below it.
    Subtree(AgentId),
    /// Everybody in the session.
    Session,
}

/// What the fold keeps of an agent beside its view.
struct Node {
    created: AgentCreated,
    transcript: Transcript,
    calls: HashMap<CallId, CallView>,
    /// Model calls since the agent was created or last began a run after an end.
    steps_of_run: u32,
    /// Who writes its messages.
    author: Arc<str>,
    /// Tokens that its next request will have, as far as is known; 0 before the first answer of a segment.
    context_tokens: u64,
    /// What was asked for it.
    requests: requests::Requests,
    /// When the current run began.
    run_started_at: Option<Timestamp>,
}

impl Fold {
    /// The fold of nothing: the session exists by name only until `session_created` is applied.
    pub fn new(session: SessionId) -> Self {
        let view = SessionView {
            id: session,
            project: String::new(),
            title: String::new(),
            mode: offshoot_protocol::PermissionMode::Default,
            created_at: Timestamp::UNIX_EPOCH,
            agents: Vec::new(),
            requests: Vec::new(),
            shells: Vec::new(),
            applied: Vec::new(),
        };
        Self { view, cursor: 0, grants: Vec::new(), agents: HashMap::new() }
    }

    /// The session's first agent.
    pub fn root(&self) -> Option<&AgentView> {
        self.view.agents.first()
    }

    /// An agent's view.
    pub fn agent(&self, id: &AgentId) -> Option<&AgentView> {
        self.view.agents.iter().find(|agent| agent.id == *id)
    }

    /// What an agent was created with.
    pub fn created(&self, id: &AgentId) -> Option<&AgentCreated> {
        self.agents.get(id).map(|node| &node.created)
    }

    /// An agent's transcript: a handle, O(1).
    pub fn transcript(&self, id: &AgentId) -> Transcript {
        self.agents.get(id).map(|node| node.transcript.clone()).unwrap_or_default()
    }

    /// Model calls of the agent's current run.
    pub fn steps_of_run(&self, id: &AgentId) -> u32 {
        self.agents.get(id).map_or(0, |node| node.steps_of_run)
    }

    /// Tokens that the agent's next request will have, as far as is known; 0 before the first answer behind a summary.
    pub fn context_tokens(&self, id: &AgentId) -> u64 {
        self.agents.get(id).map_or(0, |node| node.context_tokens)
    }

    /// When the agent's current run began (UTC).
    pub fn run_started_at(&self, id: &AgentId) -> Option<Timestamp> {
        self.agents.get(id).and_then(|node| node.run_started_at)
    }

    /// The agents directly below one, in the order of their creation.
    pub fn children<'a>(&'a self, id: &'a AgentId) -> impl Iterator<Item = &'a AgentView> {
        self.view.agents.iter().filter(move |agent| agent.parent.as_ref() == Some(id))
    }

    /// Whether `id` is `ancestor` or stands below it.
    pub fn is_within(&self, id: &AgentId, ancestor: &AgentId) -> bool {
        let mut current = Some(id);
        while let Some(at) = current {
            if at == ancestor {
                return true;
            }
            current = self.agent(at).and_then(|agent| agent.parent.as_ref());
        }
        false
    }

    /// The calls of the agent's last message that have no results message yet, with what is known of each. Empty when the
    /// transcript is complete: then a request may leave.
    pub fn unanswered_calls(&self, id: &AgentId) -> Vec<(CallId, Option<CallView>)> {
        let Some(node) = self.agents.get(id) else { return Vec::new() };
        let Some(last) = node.transcript.last() else { return Vec::new() };
        last.calls().map(|(call, ..)| (call.clone(), node.calls.get(call).cloned())).collect()
    }

    /// Up to `limit` messages before message `before` (absent: the end), with the state of their calls.
    pub fn conversation(&self, id: &AgentId, before: Option<u32>, limit: u32) -> Option<Conversation> {
        let node = self.agents.get(id)?;
        let end = before.unwrap_or(u32::MAX).min(node.transcript.len());
        let first = end.saturating_sub(limit);
        let shown = node.transcript.prefix(end);
        // What stands before it isn't even looked at.
        let messages: Vec<Message> =
            shown.messages_from(first).into_iter().map(|stored| stored.message.clone()).collect();
        let calls: BTreeMap<String, CallView> =
            messages.iter().flat_map(Message::calls).map(|(call, ..)| (call.0.clone(), self.call(id, call))).collect();
        Some(Conversation { agent: id.clone(), cursor: self.cursor, first, messages, calls })
    }

    /// A call's state: the agent's own, else what its transcript says, else what the agent it inherited from knows.
    fn call(&self, id: &AgentId, call: &CallId) -> CallView {
        let mut current = self.agents.get(id);
        while let Some(node) = current {
            if let Some(view) = node.calls.get(call) {
                return view.clone();
            }
            current = node.created.inherited.as_ref().and_then(|inherited| self.agents.get(&inherited.from));
        }
        CallView { state: CallState::Pending, started_at: None, result: None }
    }

    /// Takes one event in. Events of one session must come in order, each once.
    pub fn apply(&mut self, event: &Event) {
        self.cursor = event.seq;
        match (&event.body, &event.agent) {
            (EventBody::SessionCreated { project, title, mode }, _) => {
                self.view.project.clone_from(project);
                self.view.title.clone_from(title);
                self.view.mode = *mode;
                self.view.created_at = event.at;
            }
            (EventBody::SessionRenamed { title }, _) => self.view.title.clone_from(title),
            (EventBody::ModeChanged { mode }, _) => self.change_mode(*mode),
            (EventBody::AgentCreated(created), Some(id)) => self.create(id, created, event.at),
            (body, Some(id)) => self.apply_to_agent(id, body, event.at),
            (_, None) => {}
        }
    }

    fn change_mode(&mut self, mode: offshoot_protocol::PermissionMode) {
        let before = std::mem::replace(&mut self.view.mode, mode);
        for agent in &mut self.view.agents {
            agent.mode = if agent.mode == before { mode } else { narrower(mode, agent.mode) };
        }
    }

    fn create(&mut self, id: &AgentId, created: &AgentCreated, at: Timestamp) {
        let transcript = created
            .inherited
            .as_ref()
            .map_or_else(Transcript::default, |inherited| self.transcript(&inherited.from).prefix(inherited.messages));
        let messages = transcript.len();
        let node = Node {
            created: created.clone(),
            transcript,
            calls: HashMap::new(),
            steps_of_run: 0,
            author: created.model.as_str().into(),
            context_tokens: 0,
            requests: requests::Requests::default(),
            run_started_at: None,
        };
        self.agents.insert(id.clone(), node);
        let state = if created.kind == AgentKind::Root { AgentState::Idle } else { AgentState::Queued };
        self.view.agents.push(AgentView {
            id: id.clone(),
            parent: created.parent.clone(),
            call: created.call.clone(),
            kind: created.kind,
            role: created.role.clone(),
            title: created.title.clone(),
            color: created.color.clone(),
            directory: created.directory.clone(),
            model: created.model.clone(),
            background: created.background,
            mode: created.mode,
            inherited: created.inherited.clone(),
            state,
            activity: String::new(),
            worktree: None,
            setup: Vec::new(),
            changes: None,
            review: ReviewView::default(),
            messages,
            steps: 0,
            calls: 0,
            usage: offshoot_protocol::Usage::default(),
            spending: Vec::new(),
            misses: Vec::new(),
            queue: Vec::new(),
            compaction: None,
            todos: Vec::new(),
            warnings: Vec::new(),
            hooks: Vec::new(),
            outcome: None,
            created_at: at,
            turns: Vec::new(),
            started_at: None,
            ended_at: None,
        });
    }

    fn apply_to_agent(&mut self, id: &AgentId, body: &EventBody, at: Timestamp) {
        let Some(agent) = self.view.agents.iter_mut().find(|agent| agent.id == *id) else { return };
        let Some(node) = self.agents.get_mut(id) else { return };
        match body {
            EventBody::InputReceived { input } => agent.queue.push(input.clone()),
            EventBody::InputWithdrawn { input } => {
                agent.queue.retain(|queued| queued.id != *input);
                review::unsend(&mut agent.review, input);
            }
            EventBody::TurnStarted => {
                // An agent without an end begins a run with every turn.
                let has_no_end = matches!(agent.kind, AgentKind::Root | AgentKind::Teammate);
                if has_no_end || agent.outcome.take().is_some() || node.run_started_at.is_none() {
                    node.steps_of_run = 0;
                    node.run_started_at = Some(at);
                }
                node.requests.is_summing_up = false;
                agent.state = AgentState::Running;
                turns::begin(agent, at);
            }
            EventBody::MessageAppended { message, inputs, .. } => {
                agent.queue.retain(|queued| !inputs.contains(&queued.id));
                transcript::append(agent, node, message.clone());
            }
            EventBody::ResultsAppended { calls, message, inputs, .. } => {
                agent.queue.retain(|queued| !inputs.contains(&queued.id));
                let whole = transcript::with_results(node, calls, message);
                transcript::append(agent, node, whole);
            }
            EventBody::StepEnded(step) => requests::ended(agent, node, step, at),
            EventBody::AnswerLost { asked, usage } => requests::lost(agent, asked, *usage),
            EventBody::ModelWaiting { retry_in_ms, reason, .. } => {
                let wait = jiff::SignedDuration::from_millis(i64::try_from(*retry_in_ms).unwrap_or(i64::MAX));
                agent.state = AgentState::WaitingForApi { until: at.checked_add(wait).unwrap_or(at) };
                agent.activity.clone_from(reason);
            }
            EventBody::CallStarted { call } => {
                agent.state = AgentState::Running;
                agent.calls += 1;
                if let Some(line) = activity::of_call(&node.transcript, call) {
                    agent.activity = line;
                }
                let view = CallView { state: CallState::Running, started_at: Some(at), result: None };
                node.calls.insert(call.clone(), view);
            }
            EventBody::CallEnded { call, result } => {
                let started_at = node.calls.get(call).and_then(|view| view.started_at);
                let view = CallView { state: CallState::Ended, started_at, result: Some(result.clone()) };
                node.calls.insert(call.clone(), view);
            }
            EventBody::TurnEnded { outcome } => end_turn(agent, outcome, at),
            EventBody::AgentEnded { outcome } => {
                agent.ended_at = Some(at);
                agent.state = match outcome {
                    AgentOutcome::Completed { .. } => AgentState::Completed,
                    AgentOutcome::Failed { message, .. } => AgentState::Failed { message: message.clone() },
                    AgentOutcome::Stopped => AgentState::Stopped,
                    AgentOutcome::Interrupted => AgentState::Interrupted,
                };
                agent.outcome = Some(outcome.clone());
            }
            EventBody::MovedToBackground => agent.background = true,
            EventBody::PermissionRequested { request } => {
                agent.state = AgentState::WaitingForPermission;
                if let Some(view) = node.calls.get_mut(&request.call) {
                    view.state = CallState::WaitingForPermission;
                }
                self.view.requests.push(request.clone());
            }
            EventBody::PermissionDecided { request, answer, .. } => {
                self.grant(id, answer);
                self.end_request(id, request);
            }
            EventBody::PermissionWithdrawn { request, .. } => self.end_request(id, request),
            EventBody::ShellStarted { .. } | EventBody::ShellEnded { .. } => self.apply_to_shell(id, body, at),
            EventBody::ChangesApplied { merge, agents, changes, commit, .. } => self.view.applied.push(AppliedView {
                merge: merge.clone(),
                into: id.clone(),
                agents: agents.clone(),
                changes: *changes,
                commit: commit.clone(),
                undone: false,
                at,
            }),
            EventBody::ChangesUndone { merge } => {
                for applied in self.view.applied.iter_mut().filter(|applied| applied.merge == *merge) {
                    applied.undone = true;
                }
            }
            other => {
                context::apply(agent, node, other);
                note(agent, other);
            }
        }
    }

    fn apply_to_shell(&mut self, agent: &AgentId, body: &EventBody, at: Timestamp) {
        match body {
            EventBody::ShellStarted { task, call, command, output_file } => self.view.shells.push(ShellView {
                id: task.clone(),
                agent: agent.clone(),
                call: call.clone(),
                command: command.clone(),
                output_file: output_file.clone(),
                outcome: None,
                started_at: at,
                ended_at: None,
            }),
            EventBody::ShellEnded { task, outcome } => {
                if let Some(shell) = self.view.shells.iter_mut().find(|shell| shell.id == *task) {
                    shell.outcome = Some(outcome.clone());
                    shell.ended_at = Some(at);
                }
            }
            _ => {}
        }
    }

    fn grant(&mut self, agent: &AgentId, answer: &Answer) {
        let (scope, rules) = match answer {
            Answer::AllowForAgent { rules } => (GrantScope::Agent(agent.clone()), rules),
            Answer::AllowForSubtree { rules } => (GrantScope::Subtree(agent.clone()), rules),
            Answer::AllowForSession { rules } | Answer::AllowAlways { rules } => (GrantScope::Session, rules),
            Answer::AllowOnce | Answer::Deny { .. } => return,
        };
        self.grants.push(Grant { scope, rules: rules.clone() });
    }

    /// Takes a request off the list; the agent goes on unless another of its calls still waits.
    fn end_request(&mut self, id: &AgentId, request: &offshoot_protocol::RequestId) {
        let Some(at) = self.view.requests.iter().position(|pending| pending.id == *request) else { return };
        let ended = self.view.requests.remove(at);
        let asks = |pending: &offshoot_protocol::PermissionRequest| {
            pending.asker.last().is_some_and(|asker| asker.agent == *id)
        };
        let still_waiting = self.view.requests.iter().any(asks);
        if let Some(agent) = self.view.agents.iter_mut().find(|agent| agent.id == *id)
            && agent.state == AgentState::WaitingForPermission
            && !still_waiting
        {
            agent.state = AgentState::Running;
        }
        if let Some(view) = self.agents.get_mut(id).and_then(|node| node.calls.get_mut(&ended.call))
            && view.state == CallState::WaitingForPermission
        {
            view.state = CallState::Running;
        }
    }
}

/// A turn is over; whoever has an end is told to be at it by another fact.
fn end_turn(agent: &mut AgentView, outcome: &TurnOutcome, at: Timestamp) {
    turns::end(agent, at);
    // What was to be done at the next step is done in the next turn, unless the person wants peace.
    if *outcome != TurnOutcome::Finished || agent.kind != AgentKind::Root {
        agent.compaction = None;
    }
    if matches!(agent.kind, AgentKind::Root | AgentKind::Teammate) {
        agent.state = match outcome {
            TurnOutcome::Finished | TurnOutcome::Interrupted => AgentState::Idle,
            TurnOutcome::Failed { message, .. } => AgentState::IdleAfterFailure { message: message.clone() },
        };
    }
}

/// Takes in what changes nothing but one field of an agent.
fn note(agent: &mut AgentView, body: &EventBody) {
    match body {
        EventBody::WorktreePlanned { worktree } => {
            agent.worktree = Some(worktree.clone());
            agent.setup.clear();
        }
        EventBody::SetupRan(ran) => agent.setup.push(ran.clone()),
        EventBody::WorktreeCreated { worktree } => agent.worktree = Some(worktree.clone()),
        EventBody::WorktreeRemoved { kept_as } => {
            if let Some(worktree) = &mut agent.worktree {
                worktree.state = WorktreeState::Removed { kept_as: kept_as.clone() };
            }
        }
        EventBody::ChangesCounted { changes } => agent.changes = Some(*changes),
        EventBody::Reviewed { fact } => review::apply(&mut agent.review, fact),
        EventBody::TodosChanged { todos } => agent.todos.clone_from(todos),
        EventBody::Warned { warning } => agent.warnings.push(warning.clone()),
        EventBody::HookRan(ran) => {
            if agent.hooks.len() == HOOKS_SHOWN {
                agent.hooks.remove(0);
            }
            agent.hooks.push(ran.clone());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
