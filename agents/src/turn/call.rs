//! Calls: each is parsed, decided, perhaps asked about, run and answered.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all, maybe_done};
use offshoot_protocol::{
    Access, AgentId, Answer, Asker, CallId, CallResult, Delta, EventBody, Input, Message, MessageRole, Origin,
    PermissionMode, PermissionRequest, RawJson, RequestId, TurnOutcome,
};
use serde_json::Value;
use tracing::Instrument as _;

use super::{Begun, Law, Powers, Worker, news, output, storage};
use crate::boundary::Place;
use crate::policy::{self, Decision, DiskPaths, RuleKind, RuleSource, Rules, Verdict};
use crate::tool::{OutputSink, Refusal, Tool, ToolContext, ToolError, ToolOutput, agent};
use crate::view::{Fold, GrantScope};

/// Runs all calls of the last message, those that have begun already to their end, and appends their results as one user message, in the order of the calls. Returns
/// whether there were any.
pub(super) async fn answer_all<'w>(worker: &'w Worker, mut begun: Begun<'w>) -> Result<bool, TurnOutcome> {
    let (calls, transcript) =
        worker.journal.read(|fold| (fold.unanswered_calls(&worker.id), fold.transcript(&worker.id)));
    if calls.is_empty() {
        return Ok(false);
    }
    let last = transcript.last().expect("unanswered calls stand in a last message");
    let calls: Vec<_> = last.calls().collect();

    // Neighbours that change nothing run side by side; the others one after another, in the model's order.
    let is_parallel = |name: &str| worker.powers.toolbox.get(name).is_none_or(|tool| tool.is_parallel());
    for group in calls.chunk_by(|(_, a, _), (_, b, _)| is_parallel(a) && is_parallel(b)) {
        let answers = group.iter().map(|(id, name, input)| match begun.take(id) {
            Some(answering) => answering,
            None => maybe_done(answer(worker, (*id).clone(), (*name).to_owned(), (*input).clone())),
        });
        let mut answers: Vec<_> = answers.collect();
        join_all(&mut answers).await;
        let results = answers.iter_mut().filter_map(|answer| Pin::new(answer).take_output());
        results.collect::<Result<(), _>>()?;
        worker.check_stop()?;
    }
    let ids: Vec<CallId> = calls.iter().map(|(id, ..)| (*id).clone()).collect();
    worker.screen().await;
    worker.check_stop()?;
    let passes = worker.passing();
    let mut blocks = worker.take_told();
    blocks.extend(news::of_step(worker));
    worker.journal.decide(|fold| {
        let queue = fold.agent(&worker.id).map(|agent| agent.queue.as_slice()).unwrap_or_default();
        // What a person, its parent or a reminder says while the agent works reaches it with the results; task
        // notifications wait for the turn's end.
        let is_taken = |input: &Input| input.origin != Origin::Notification && passes(input);
        let (said, inputs) = Worker::queued(queue, is_taken);
        blocks.extend(said);
        let message = Message { role: MessageRole::User, blocks };
        let index = fold.transcript(&worker.id).len();
        let body = EventBody::ResultsAppended { index, calls: ids, message, inputs };
        (vec![(Some(worker.id.clone()), body)], ())
    });
    Ok(true)
}

/// A call on its way. An error is one of the turn, not of the call.
pub(super) type Answering<'w> = BoxFuture<'w, Result<(), TurnOutcome>>;

/// Runs one call and records its end.
pub(super) fn answer(worker: &Worker, id: CallId, name: String, input: RawJson) -> Answering<'_> {
    let span = tracing::info_span!("call", call_id = %id, tool = name);
    async move { run_and_record(worker, &id, &name, &input).await }.instrument(span).boxed()
}

async fn run_and_record(worker: &Worker, id: &CallId, name: &str, input: &RawJson) -> Result<(), TurnOutcome> {
    let started = tokio::time::Instant::now();
    worker.journal.record(&worker.id, EventBody::CallStarted { call: id.clone() });
    if let Some(isolation) = &worker.powers.isolation {
        isolation.verify().await?;
    }
    let admitted = admit(worker, id, name, input).await;
    let has_run = admitted.is_ok();
    let outcome = match admitted {
        Ok((tool, value)) => tool.run(value, &context(worker, id, name)).await,
        Err(error) => Err(error),
    };
    let todos = outcome.as_ref().ok().and_then(|output| output.todos.clone());
    let (content, detail, code) = match outcome {
        Ok(ToolOutput { content, detail, .. }) => (content, detail, None),
        Err(error) => (error.content(), error.detail.as_deref().cloned(), Some(error.code.to_owned())),
    };
    let (content, full) = output::bounded(worker, content).await;
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let result = CallResult { content, is_error: code.is_some(), code, full, detail, duration_ms };
    let (seq, ()) = worker.journal.decide(|_| {
        let about = |body| (Some(worker.id.clone()), body);
        let mut facts = vec![about(EventBody::CallEnded { call: id.clone(), result: result.clone() })];
        facts.extend(todos.map(|todos| about(EventBody::TodosChanged { todos })));
        (facts, ())
    });
    worker.journal.stored(seq).await.map_err(|error| storage(&error))?;
    if has_run {
        worker.after_call(id, name, input, &result).await;
    }
    Ok(())
}

/// Parses a call, lets hooks look at it, and decides on it. Returns what is to be run.
async fn admit<'w>(
    worker: &'w Worker,
    id: &CallId,
    name: &str,
    input: &RawJson,
) -> Result<(&'w Arc<dyn Tool>, Value), ToolError> {
    let powers = &worker.powers;
    let mut value: Value = serde_json::from_str(&input.0).map_err(|error| {
        ToolError::invalid(format!("The input is not valid JSON ({error}). It was: {}", excerpt(&input.0)))
    })?;
    // A call to delegate goes on to where it is refused with the reason that holds for this agent.
    let head = worker.speaker().head.clone();
    let is_known = |name: &str| name == agent::NAME || head.tools.iter().any(|known| known.name == name);
    let tool = powers.toolbox.get(name).filter(|_| is_known(name));
    let tool = tool.ok_or_else(|| {
        let known: Vec<&str> = head.tools.iter().map(|tool| tool.name.as_str()).collect();
        ToolError::new("unknown_tool", format!("This agent has no tool {name}. It has: {}.", known.join(", ")))
    })?;
    let mut access = tool.access(&value, &powers.place)?;
    if let Access::Read { path } = &access
        && let Some(file) = output::restore(worker, Path::new(path)).await
        && let Some(named) = value.get_mut("file_path")
    {
        *named = file.display().to_string().into();
        access = tool.access(&value, &powers.place)?;
    }
    let hook = worker.before_call(id, name, &value).await?;
    let mode = worker.journal.read(|fold| fold.agent(&worker.id).map(|agent| agent.mode).unwrap_or_default());
    // Whoever turned asking off has been told that commands aren't confined.
    let caution = tool.caution().filter(|_| mode != PermissionMode::Bypass);
    let stricter = match (hook, caution) {
        (Some(hook), Some(caution)) => Some(format!("{hook}; {caution}")),
        (hook, caution) => hook.or(caution),
    };
    permit(worker, id, name, &value, input, access, stricter.as_deref()).await?;
    Ok((tool, value))
}

fn context(worker: &Worker, id: &CallId, tool: &str) -> ToolContext {
    let journal = worker.journal.clone();
    let (agent, call) = (worker.id.clone(), id.clone());
    let written = AtomicU32::new(0);
    let output = OutputSink::new(move |text| {
        let units = u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
        let offset = written.fetch_add(units, Ordering::Relaxed);
        journal.stream(&Delta::Output { agent: agent.clone(), call: call.clone(), offset, text: text.to_owned() });
    });
    ToolContext {
        agent: worker.id.clone(),
        call: id.clone(),
        place: worker.powers.place.clone(),
        files: worker.powers.files.clone(),
        output,
        is_forbidden: forbidden(worker, tool),
        delegate: worker.powers.delegate.clone(),
    }
}

/// Lets the call pass, or says why not. Asking suspends it here. `hook` is why a hook wants a person to decide.
pub(crate) async fn permit(
    worker: &Worker,
    id: &CallId,
    tool: &str,
    value: &Value,
    input: &RawJson,
    access: Access,
    hook: Option<&str>,
) -> Result<(), ToolError> {
    let (mut decision, mode) = decide(worker, tool, &access, value);
    if let Some(reason) = hook {
        decision = policy::asked_by_hook(decision, mode, reason);
    }
    match decision.verdict {
        Verdict::Allow => return Ok(()),
        Verdict::Deny => {
            let message = format!("Not permitted: {}. Do not try it by another way.", decision.reason);
            return Err(Refusal::PermissionDenied.because(message));
        }
        Verdict::Ask => {}
    }
    worker.before_asking(id, tool, value).await?;
    let request = request(worker, id, tool, input, access.clone(), decision);
    // A rule doesn't answer a hook.
    let is_decided = || hook.is_none() && decide(worker, tool, &access, value).0.verdict == Verdict::Allow;
    let answer = worker
        .powers
        .approvals
        .ask(&worker.id, request, is_decided)
        .await
        .map_err(|error| ToolError::new("storage", error.to_string()))?;
    match answer {
        Answer::Deny { reason } => {
            let said = reason.map(|reason| format!(" They said: {reason}")).unwrap_or_default();
            let message = format!("The developer did not allow this call.{said} Do not try it by another way.");
            Err(Refusal::PermissionDenied.because(message))
        }
        Answer::AllowOnce
        | Answer::AllowForAgent { .. }
        | Answer::AllowForSubtree { .. }
        | Answer::AllowForSession { .. }
        | Answer::AllowAlways { .. } => Ok(()),
    }
}

fn decide(worker: &Worker, tool: &str, access: &Access, input: &Value) -> (Decision, PermissionMode) {
    let (mode, rules) = worker.journal.read(|fold| {
        let mode = fold.agent(&worker.id).map(|agent| agent.mode).unwrap_or_default();
        (mode, with_grants(fold, &worker.id, &worker.powers.law.rules))
    });
    let Powers { law, place, .. } = &worker.powers;
    (policy::decide(&call(law, place, tool, access, input), &rules, mode), mode)
}

fn call<'a>(law: &'a Law, place: &'a Place, tool: &'a str, access: &'a Access, input: &'a Value) -> policy::Call<'a> {
    policy::Call {
        tool,
        access,
        input,
        directory: &place.directory,
        home: &law.home,
        project: &law.project,
        settings: &law.settings,
        paths: &DiskPaths,
    }
}

/// The files that a call which reads many must leave out.
fn forbidden(worker: &Worker, tool: &str) -> Arc<dyn Fn(&Path) -> bool + Send + Sync> {
    let (journal, id) = (worker.journal.clone(), worker.id.clone());
    let (law, place, tool) = (worker.powers.law.clone(), worker.powers.place.clone(), tool.to_owned());
    // Most calls never ask, and the rules may be many.
    let filter = LazyLock::new(move || {
        let rules = journal.read(|fold| with_grants(fold, &id, &law.rules));
        policy::read_filter(&tool, &place.directory, &law.home, &law.project, rules)
    });
    Arc::new(move |path| filter(path))
}

/// The agent's rules and those that were granted to it while the session ran.
fn with_grants(fold: &Fold, id: &AgentId, rules: &Rules) -> Rules {
    let mut rules = rules.clone();
    for grant in &fold.grants {
        let holds = match &grant.scope {
            GrantScope::Agent(agent) => agent == id,
            GrantScope::Subtree(top) => fold.is_within(id, top),
            GrantScope::Session => true,
        };
        if holds {
            rules.add(RuleKind::Allow, RuleSource::Session, &grant.rules);
        }
    }
    rules
}

fn request(
    worker: &Worker,
    id: &CallId,
    tool: &str,
    input: &RawJson,
    access: Access,
    decision: Decision,
) -> PermissionRequest {
    let (asker, role) = worker.journal.read(|fold| {
        let mut path = Vec::new();
        let mut current = fold.agent(&worker.id);
        while let Some(agent) = current {
            path.push(Asker { agent: agent.id.clone(), kind: agent.kind, title: agent.title.clone() });
            current = agent.parent.as_ref().and_then(|parent| fold.agent(parent));
        }
        path.reverse();
        (path, fold.agent(&worker.id).and_then(|agent| agent.role.clone()))
    });
    PermissionRequest {
        id: RequestId(worker.ids.next("r-")),
        asker,
        role,
        directory: worker.powers.place.directory.display().to_string(),
        isolated: worker.powers.isolation.is_some(),
        call: id.clone(),
        tool: tool.to_owned(),
        input: input.clone(),
        access,
        reason: decision.reason,
        suggested_rules: decision.suggested_rules,
        created_at: worker.journal.clock().now(),
    }
}

fn excerpt(text: &str) -> String {
    let cut = text.floor_char_boundary(500);
    if cut < text.len() { format!("{}…", &text[..cut]) } else { text.to_owned() }
}
