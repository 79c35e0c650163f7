//! Hooks in the loop: makes what they read, records that they ran, and keeps what they say until it can be told.
//!
//! The loop's own files have one line for each moment. What a hook says to the model waits in [`Remarks`] for the next
//! message; what ends the turn waits there for the next look. No lock is held while a hook runs.

use std::collections::HashSet;

use offshoot_protocol::{
    AgentKind, AgentView, Block, CallId, CallResult, EventBody, FailureCode, HookRan, Input, InputId, Message,
    MessageRole, Origin, RawJson, TurnOutcome, Warning,
};
use serde_json::{Value, json};

use super::Worker;
use super::step::lock;
use crate::hooks::{HookDetail, HookEvent, HookInput, Outcome};
use crate::prompt;
use crate::tool::ToolError;

/// How often in a row hooks may keep an agent from stopping. The field's programs have a similar bound.
const MOST_KEPT: u32 = 8;

/// What hooks have said to an agent that was not taken up yet.
#[derive(Debug, Default)]
pub struct Remarks {
    /// For the model, ready to stand in a message.
    told: Vec<String>,
    /// Why the turn ends.
    stop: Option<String>,
    /// The person's texts that may be given to the model.
    passed: HashSet<InputId>,
    /// Whether the turn has not yet taken its first message.
    opening: bool,
    /// Whether the hooks of the agent's start ran.
    begun: bool,
    /// How often the agent was kept from stopping in this turn.
    kept: u32,
}

impl Worker {
    /// Runs the hooks of a moment and records that they ran. What they tell the model and whether they end the turn is
    /// taken up by the loop; the rest is the caller's.
    pub(crate) async fn hooked(
        &self,
        event: HookEvent,
        subject: &str,
        detail: impl FnOnce() -> HookDetail + Send,
    ) -> Outcome {
        let hooks = &self.powers.hooks;
        if hooks.is_silent(event, subject) {
            return Outcome::default();
        }
        let Some(agent) = self.journal.read(|fold| fold.agent(&self.id).cloned()) else { return Outcome::default() };
        let input = self.input(agent, detail());
        let outcome = hooks.run(event, &input, subject).await;
        for ran in &outcome.ran {
            let ran = HookRan {
                event: event.name().to_owned(),
                command: ran.command.clone(),
                exit: ran.exit,
                duration_ms: u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
                warning: ran.warning.clone(),
            };
            self.journal.record(&self.id, EventBody::HookRan(ran));
        }
        let about = about(event, &input.detail);
        let mut remarks = lock(&self.remarks);
        remarks.told.extend(outcome.context.iter().map(|text| prompt::hook_remark(&about, text)));
        if remarks.stop.is_none() {
            remarks.stop.clone_from(&outcome.stop);
        }
        drop(remarks);
        outcome
    }

    fn input(&self, agent: AgentView, detail: HookDetail) -> HookInput {
        HookInput {
            session_id: self.journal.session().clone(),
            cwd: self.powers.place.directory.clone(),
            permission_mode: agent.mode,
            agent_id: agent.id,
            agent_kind: agent.kind,
            agent_name: agent.role,
            parent_id: agent.parent,
            transcript_path: None,
            detail,
        }
    }

    /// `PreToolUse`. Refuses the call, or says why a person has to be asked about it.
    pub(super) async fn before_call(
        &self,
        call: &CallId,
        tool: &str,
        input: &Value,
    ) -> Result<Option<String>, ToolError> {
        let outcome = self.hooked(HookEvent::PreToolUse, tool, || tool_detail(call, tool, input.clone(), None)).await;
        refuse(&outcome)?;
        Ok(outcome.ask)
    }

    /// `PermissionRequest`. Refuses the call before anybody is asked.
    pub(super) async fn before_asking(&self, call: &CallId, tool: &str, input: &Value) -> Result<(), ToolError> {
        let detail = || tool_detail(call, tool, input.clone(), None);
        refuse(&self.hooked(HookEvent::PermissionRequest, tool, detail).await)
    }

    /// `PostToolUse` and `PostToolUseFailure`. An objection is told to the model behind the results.
    pub(super) async fn after_call(&self, call: &CallId, tool: &str, input: &RawJson, result: &CallResult) {
        let event = if result.is_error { HookEvent::PostToolUseFailure } else { HookEvent::PostToolUse };
        let detail = || {
            let response = json!({"content": result.content, "is_error": result.is_error, "code": result.code});
            tool_detail(call, tool, serde_json::from_str(&input.0).unwrap_or_default(), Some(response))
        };
        if let Some(objection) = self.hooked(event, tool, detail).await.blocked {
            let about = format!("{event}, about the call {call} of {tool}");
            lock(&self.remarks).told.push(prompt::hook_objection(&about, &objection));
        }
    }

    /// Forgets what ended an earlier turn.
    pub(super) fn open_remarks(&self) {
        let mut remarks = lock(&self.remarks);
        (remarks.stop, remarks.opening, remarks.kept) = (None, true, 0);
    }

    /// The hooks of the agent's start, before its first turn: `SessionStart` for the root each time the session was opened;
    /// `SubagentStart` for a child once. An objection ends the turn.
    pub(super) async fn begin_agent(&self) -> Result<(), TurnOutcome> {
        if std::mem::replace(&mut lock(&self.remarks).begun, true) {
            return Ok(());
        }
        let Some(agent) = self.journal.read(|fold| fold.agent(&self.id).cloned()) else { return Ok(()) };
        let outcome = if agent.kind == AgentKind::Root {
            let source = if agent.messages == 0 { "startup" } else { "resume" };
            let detail = || HookDetail::Start { source: source.to_owned() };
            self.hooked(HookEvent::SessionStart, source, detail).await
        } else if agent.steps > 0 {
            return Ok(());
        } else {
            self.hooked(HookEvent::SubagentStart, subject_of(&agent), || HookDetail::None).await
        };
        objected(outcome)
    }

    /// Whether the hooks of the agent's start ran since it was brought to life.
    pub(crate) fn has_begun(&self) -> bool {
        lock(&self.remarks).begun
    }

    /// `UserPromptSubmit` for every text of a person that waits. One that is objected to is withdrawn, with a warning.
    /// Returns the last objection.
    pub(super) async fn screen(&self) -> Option<String> {
        if self.passes_all() {
            return None;
        }
        let waiting: Vec<Input> = self.journal.read(|fold| {
            let queue = fold.agent(&self.id).map(|agent| agent.queue.as_slice()).unwrap_or_default();
            queue.iter().filter(|input| input.origin == Origin::User).cloned().collect()
        });
        let mut objection = None;
        for Input { id, text, .. } in waiting {
            if lock(&self.remarks).passed.contains(&id) {
                continue;
            }
            let outcome = self.hooked(HookEvent::UserPromptSubmit, "", || HookDetail::Prompt { prompt: text }).await;
            let Some(why) = outcome.blocked.or(outcome.stop) else {
                lock(&self.remarks).passed.insert(id);
                continue;
            };
            self.take_back(&[id], format!("A hook kept a message from the agent: {why}"));
            objection = Some(why);
        }
        objection
    }

    fn passes_all(&self) -> bool {
        self.powers.hooks.is_silent(HookEvent::UserPromptSubmit, "")
    }

    /// What may be taken into a message: everything but a person's text that hooks have not looked at.
    pub(super) fn passing(&self) -> impl Fn(&Input) -> bool + use<> {
        let all = self.passes_all();
        let passed = if all { HashSet::new() } else { lock(&self.remarks).passed.clone() };
        move |input| all || input.origin != Origin::User || passed.contains(&input.id)
    }

    /// The turn was interrupted. A message that it had not taken yet is taken back: hooks would run on it again and again.
    pub(super) fn take_back_unseen(&self) {
        if !std::mem::take(&mut lock(&self.remarks).opening) || self.powers.hooks.is_empty() {
            return;
        }
        let waiting: Vec<InputId> = self.journal.read(|fold| {
            let queue = fold.agent(&self.id).map(|agent| agent.queue.as_slice()).unwrap_or_default();
            queue.iter().filter(|input| input.origin == Origin::User).map(|input| input.id.clone()).collect()
        });
        if !waiting.is_empty() {
            self.take_back(
                &waiting,
                "The message was taken back: its hooks were interrupted. Send it again.".to_owned(),
            );
        }
    }

    fn take_back(&self, inputs: &[InputId], message: String) {
        self.journal.decide(|fold| {
            let queue = fold.agent(&self.id).map(|agent| agent.queue.as_slice()).unwrap_or_default();
            let waits = |input: &&InputId| queue.iter().any(|queued| queued.id == **input);
            let withdrawn = inputs.iter().filter(waits).cloned().map(|input| EventBody::InputWithdrawn { input });
            let warned = EventBody::Warned { warning: Warning { code: "hook".to_owned(), message } };
            (withdrawn.chain([warned]).map(|body| (Some(self.id.clone()), body)).collect(), ())
        });
    }

    /// What hooks say to the model, for the message that is being made.
    pub(super) fn take_told(&self) -> Vec<Block> {
        let mut remarks = lock(&self.remarks);
        remarks.opening = false;
        let told = std::mem::take(&mut remarks.told);
        told.into_iter().map(|text| Block::Text { text, origin: Origin::Reminder }).collect()
    }

    /// Fails when a hook ended the turn.
    pub(super) fn check_stop(&self) -> Result<(), TurnOutcome> {
        lock(&self.remarks).stop.take().map_or(Ok(()), |message| Err(ended(&message)))
    }

    /// `Stop` for the root, `SubagentStop` for a child: when the model has nothing more to do. Returns whether a hook keeps
    /// the agent at work; then its reason stands in a new message.
    pub(super) async fn is_kept(&self) -> bool {
        let (agent, transcript) = self.journal.read(|fold| (fold.agent(&self.id).cloned(), fold.transcript(&self.id)));
        let Some(agent) = agent else { return false };
        let kept = lock(&self.remarks).kept;
        let (event, subject) = match agent.kind {
            AgentKind::Root => (HookEvent::Stop, ""),
            _ => (HookEvent::SubagentStop, subject_of(&agent)),
        };
        let detail = || HookDetail::Stop {
            stop_hook_active: kept > 0,
            last_assistant_message: transcript.last().map(Message::text).unwrap_or_default(),
        };
        let outcome = self.hooked(event, subject, detail).await;
        let Some(reason) = outcome.blocked.filter(|_| outcome.stop.is_none()) else { return false };
        if kept == MOST_KEPT {
            let message = format!("A hook kept the agent from stopping {MOST_KEPT} times in a row; it stops now.");
            let warning = Warning { code: "hook".to_owned(), message };
            self.journal.record(&self.id, EventBody::Warned { warning });
            return false;
        }
        lock(&self.remarks).kept = kept + 1;
        let text = prompt::hook_objection(&format!("{event}: do not stop yet"), &reason);
        let mut blocks = vec![Block::Text { text, origin: Origin::Reminder }];
        blocks.extend(self.take_told());
        self.journal.decide(|fold| {
            let index = fold.transcript(&self.id).len();
            let message = Message { role: MessageRole::User, blocks };
            (vec![(Some(self.id.clone()), EventBody::MessageAppended { index, message, inputs: Vec::new() })], ())
        });
        true
    }
}

/// What a matcher of a child's events is held against.
fn subject_of(agent: &AgentView) -> &str {
    agent.role.as_deref().unwrap_or("fork")
}

fn tool_detail(call: &CallId, tool: &str, input: Value, response: Option<Value>) -> HookDetail {
    HookDetail::Tool {
        tool_name: tool.to_owned(),
        tool_input: input,
        tool_response: response,
        tool_use_id: call.clone(),
    }
}

/// The moment in words, for the model.
fn about(event: HookEvent, detail: &HookDetail) -> String {
    match detail {
        HookDetail::Tool { tool_name, tool_use_id, .. } => {
            format!("{event}, about the call {tool_use_id} of {tool_name}")
        }
        _ => event.to_string(),
    }
}

fn refuse(outcome: &Outcome) -> Result<(), ToolError> {
    if let Some(reason) = &outcome.blocked {
        let reason = prompt::defang(reason);
        let message = format!("A hook does not allow this call: {reason} Do not try it by another way.");
        return Err(ToolError::new("permission_denied", message));
    }
    match &outcome.stop {
        Some(reason) => Err(ToolError::new("hook_stopped", format!("Not run: {}", prompt::defang(reason)))),
        None => Ok(()),
    }
}

fn objected(outcome: Outcome) -> Result<(), TurnOutcome> {
    outcome.blocked.or(outcome.stop).map_or(Ok(()), |message| Err(ended(&message)))
}

/// A turn that a hook ended.
pub(super) fn ended(reason: &str) -> TurnOutcome {
    TurnOutcome::Failed { code: FailureCode::Hook, message: format!("A hook ended the work: {reason}") }
}
