//! The loop: ask the model, run the calls it makes, give back their results, until it has nothing more to do.
//!
//! A turn is a future that owns nothing: dropping it at any point leaves the journal consistent, and [`interrupted`]
//! writes down what it leaves behind. Delegation, roles and worktrees are unknown here.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use async_trait::async_trait;
use offshoot_protocol::{
    AgentId, Block, CallId, CallResult, EventBody, FailureCode, Input, Message, MessageRole, Origin, RawJson,
    TurnOutcome,
};

use tracing::Instrument as _;

use crate::approval::Approvals;
use crate::boundary::Place;
use crate::clock::Ids;
use crate::hooks::Hooks;
use crate::journal::Journal;
use crate::log::LogError;
use crate::model::{Model, Request, RequestHead, StopReason};
use crate::policy::Rules;
use crate::prompt;
use crate::settings::Compaction;
use crate::tool::{Delegate, FileMemory, Toolbox};
use crate::transcript::Transcript;
use crate::view::Fold;

mod asking;
mod begun;
pub(crate) mod call;
mod compact;
mod fan_out;
mod hook;
mod news;
mod output;
mod step;

use begun::Begun;
pub use fan_out::{FanOut, LONGEST_WAIT};
pub use hook::Remarks;
pub use step::Partial;

/// An agent at work: who it is, what it asks with, and what its calls may do. Fixed when the agent starts.
pub struct Worker {
    /// Which agent.
    pub id: AgentId,
    /// Who answers, and what stands before its messages.
    pub speaker: RwLock<Arc<Speaker>>,
    /// Where the siblings' common end is, for a fork; see [`crate::model::Request::fork_point`].
    pub fork_point: Option<u32>,
    /// Where its facts go.
    pub journal: Arc<Journal>,
    /// When its first request may leave.
    pub fan_out: Arc<FanOut>,
    /// Makes the ids of its requests.
    pub ids: Arc<Ids>,
    /// What its calls may do.
    pub powers: Powers,
    /// What keeps its conversation short and up to date.
    pub upkeep: Upkeep,
    /// What has been received of the answer that is under way.
    pub partial: Mutex<Partial>,
    /// What hooks have said and nobody has taken up yet.
    pub remarks: Mutex<Remarks>,
}

/// Who answers an agent. Changes only by a `head_changed`.
pub struct Speaker {
    /// What stands before the messages.
    pub head: Arc<RequestHead>,
    /// The client.
    pub model: Arc<dyn Model>,
}

/// What an agent's calls may do, and with what.
pub struct Powers {
    /// All tools. Those that the head doesn't name are refused.
    pub toolbox: Toolbox,
    /// Where it works.
    pub place: Place,
    /// Checked before every call of an isolated agent.
    pub isolation: Option<Arc<dyn Isolated>>,
    /// What decides on its calls.
    pub law: Arc<Law>,
    /// What runs at certain moments, and may object.
    pub hooks: Arc<Hooks>,
    /// What it has read.
    pub files: Arc<FileMemory>,
    /// Where it asks.
    pub approvals: Arc<Approvals>,
    /// Starts its children.
    pub delegate: Arc<dyn Delegate>,
}

/// What keeps an agent's conversation short and up to date.
pub struct Upkeep {
    /// Where outputs that are too long for the model are kept whole.
    pub outputs: PathBuf,
    /// The folder whose instructions for agents count; absent where none do.
    pub instructions: Option<PathBuf>,
    /// When conversations are compacted by themselves.
    pub compaction: Compaction,
}

/// What decides on an agent's calls, beside its mode and what is granted while the session runs.
pub struct Law {
    /// Rules of the settings, the command line and its role.
    pub rules: Rules,
    /// The person's home directory.
    pub home: PathBuf,
    /// The project's main checkout.
    pub project: PathBuf,
    /// Folders of this program's own settings and roles.
    pub settings: Vec<PathBuf>,
}

/// Why an isolated agent can't go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPlace {
    /// For programs.
    pub code: FailureCode,
    /// For people: what happened.
    pub message: String,
}

impl NoPlace {
    /// There was a worktree, and it isn't there any more.
    pub fn missing(message: impl Into<String>) -> Self {
        Self { code: FailureCode::WorktreeMissing, message: message.into() }
    }
}

impl From<NoPlace> for TurnOutcome {
    fn from(NoPlace { code, message }: NoPlace) -> Self {
        Self::Failed { code, message }
    }
}

/// A worktree that must be there.
#[async_trait]
pub trait Isolated: Send + Sync {
    /// Waits until the worktree is made, if it is under way. Says what is wrong when it can't be, or is gone, moved or no
    /// longer ours.
    async fn verify(&self) -> Result<(), NoPlace>;

    /// Returns when the worktree that is under way turns out not to come; otherwise never.
    async fn lost(&self) -> NoPlace {
        std::future::pending().await
    }
}

/// Returns when the agent's worktree can't be made; otherwise never.
pub async fn lost(worker: &Worker) -> NoPlace {
    match &worker.powers.isolation {
        Some(isolation) => isolation.lost().await,
        None => std::future::pending().await,
    }
}

impl Worker {
    /// Who answers now.
    pub fn speaker(&self) -> Arc<Speaker> {
        self.speaker.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets another answer from the next request on.
    pub fn set_speaker(&self, speaker: Speaker) {
        *self.speaker.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(speaker);
    }

    /// What is sent to `speaker` for an answer to `transcript`.
    fn request(&self, speaker: &Speaker, transcript: Transcript) -> Request {
        Request {
            head: speaker.head.clone(),
            transcript,
            fork_point: self.fork_point,
            session: self.journal.session().clone(),
            agent: self.id.clone(),
        }
    }

    /// A call's input as the model wrote it: of the last message, or of the one that is on its way.
    pub(crate) fn input_of(&self, call: &CallId) -> Option<RawJson> {
        self.latest_calls().into_iter().find(|(id, ..)| id == call).map(|(.., input)| input)
    }

    /// The calls of the message that is on its way, or else of the last one: id, tool, input.
    pub(crate) fn latest_calls(&self) -> Vec<(CallId, String, RawJson)> {
        let under_way = step::lock(&self.partial).calls();
        if !under_way.is_empty() {
            return under_way;
        }
        let transcript = self.journal.read(|fold| fold.transcript(&self.id));
        let calls = transcript.last().into_iter().flat_map(Message::calls);
        calls.map(|(id, name, input)| (id.clone(), name.to_owned(), input.clone())).collect()
    }

    /// Takes the queued inputs that `takes` accepts into facts: a message's blocks and the ids delivered by it.
    fn queued(queue: &[Input], takes: impl Fn(&Input) -> bool) -> (Vec<Block>, Vec<offshoot_protocol::InputId>) {
        let given = queue.iter().filter(|input| takes(input));
        given.map(|input| (Block::Text { text: input.text.clone(), origin: input.origin }, input.id.clone())).unzip()
    }
}

/// The span of a turn: tells this agent's work from others' in logs. Steps and calls are spans inside it.
pub fn span(worker: &Worker) -> tracing::Span {
    worker.journal.read(|fold| {
        let agent = fold.agent(&worker.id);
        tracing::info_span!(
            "turn",
            agent_id = %worker.id,
            agent_kind = agent.map(|agent| prompt::kind_word(agent.kind)),
            agent_name = agent.map(|agent| agent.role.as_deref().unwrap_or(&agent.title)),
            parent_id = agent.and_then(|agent| agent.parent.as_ref()).map(AgentId::as_str),
        )
    })
}

/// Begins a turn: records it.
pub fn begin(worker: &Worker) {
    worker.open_remarks();
    worker.journal.record(&worker.id, EventBody::TurnStarted);
}

/// Takes every queued input into a message, as far as hooks let it pass. Where nothing passes there is no turn.
async fn open(worker: &Worker) -> Result<(), TurnOutcome> {
    worker.begin_agent().await?;
    let objection = worker.screen().await;
    let passes = worker.passing();
    let id = &worker.id;
    let is_said = |input: &Input| input.origin != Origin::Reminder && passes(input);
    let nothing_passed =
        || worker.journal.read(|fold| !fold.agent(id).is_some_and(|agent| agent.queue.iter().any(is_said)));
    if let Some(reason) = objection.filter(|_| nothing_passed()) {
        return Err(hook::ended(&reason));
    }
    worker.check_stop()?;
    let mut told = worker.take_told();
    told.extend(news::of_turn(worker));
    worker.journal.decide(|fold| {
        let mut facts = Vec::new();
        let queue = fold.agent(id).map(|agent| agent.queue.as_slice()).unwrap_or_default();
        let (mut blocks, inputs) = Worker::queued(queue, &passes);
        let transcript = fold.transcript(id);
        // A resumed agent that was told nothing new, and whose last word is its own, needs something to answer.
        if blocks.is_empty() && transcript.last().is_none_or(|last| last.role == MessageRole::Assistant) {
            let text = "<reminder>\nYou were resumed. Go on where you stopped.\n</reminder>".to_owned();
            blocks.push(Block::Text { text, origin: Origin::Reminder });
        }
        blocks.extend(told);
        if !blocks.is_empty() {
            let message = Message { role: MessageRole::User, blocks };
            let index = transcript.len();
            facts.push((Some(id.clone()), EventBody::MessageAppended { index, message, inputs }));
        }
        (facts, ())
    });
    Ok(())
}

/// Runs a turn that [`begin`] began, to its end. `max_steps` bounds the model calls of the agent's current run.
pub async fn run(worker: &Worker, max_steps: Option<u32>) -> TurnOutcome {
    match work(worker, max_steps).await {
        Ok(()) => TurnOutcome::Finished,
        Err(outcome) => outcome,
    }
}

async fn work(worker: &Worker, max_steps: Option<u32>) -> Result<(), TurnOutcome> {
    let mut compaction = compact::State::default();
    if compact::is_all(worker) {
        return compaction.on_wish(worker).await;
    }
    compaction.on_wish(worker).await?;
    open(worker).await?;
    loop {
        compaction.before_step(worker).await?;
        let steps = worker.journal.read(|fold| fold.steps_of_run(&worker.id));
        if let Some(max) = max_steps.filter(|max| steps >= *max) {
            let message = format!("It used up its {max} turns. Its transcript is kept; resume it to go on.");
            return Err(TurnOutcome::Failed { code: FailureCode::TurnLimit, message });
        }
        let mut begun = Begun::default();
        let taken = step::take(worker, &mut begun).instrument(tracing::info_span!("step", step = steps + 1)).await;
        let stop = match taken {
            Ok(stop) => stop,
            Err(TurnOutcome::Failed { code: FailureCode::ContextWindow, message }) => {
                compaction.on_overflow(worker, message).await?;
                continue;
            }
            Err(outcome) => return Err(outcome),
        };
        if call::answer_all(worker, begun).await? {
            continue;
        }
        let (code, message) = match stop {
            StopReason::PauseTurn => continue,
            // A `tool_use` without a call leaves nothing to do.
            StopReason::EndTurn | StopReason::StopSequence | StopReason::ToolUse => {
                if worker.is_kept().await {
                    continue;
                }
                return worker.check_stop();
            }
            StopReason::MaxTokens => (
                FailureCode::OutputLimit,
                "The answer was cut at the output limit; a call cut by it was not run.".into(),
            ),
            StopReason::Refusal => (FailureCode::Refusal, "The model declined to answer.".into()),
            StopReason::ContextWindow => {
                let message = "The conversation no longer fits into the model's context.".to_owned();
                compaction.on_overflow(worker, message).await?;
                continue;
            }
            StopReason::Unknown(reason) => (
                FailureCode::UnknownStop,
                format!("The model stopped for a reason this program does not know: {reason}."),
            ),
        };
        return Err(TurnOutcome::Failed { code, message });
    }
}

/// Writes down what a dropped turn left behind: keeps what was received of an answer, and gives every call that has no
/// result an error result saying `why`. After it a request may leave.
pub fn interrupted(worker: &Worker, why: &str) {
    keep_partial(worker);
    settle(&worker.journal, &worker.id, |_, _| why.to_owned());
    worker.take_back_unseen();
}

/// Keeps what was received of an answer whose turn was dropped. Does nothing where nothing was, or where it was kept.
pub fn keep_partial(worker: &Worker) {
    let mut partial = std::mem::take(&mut *step::lock(&worker.partial));
    let lost = partial.lost();
    let id = &worker.id;
    worker.journal.decide(|fold| {
        let index = fold.transcript(id).len();
        let kept = partial.into_message(index);
        let fact = |message| (Some(id.clone()), EventBody::MessageAppended { index, message, inputs: Vec::new() });
        let lost = lost.map(|lost| (Some(id.clone()), lost));
        (lost.into_iter().chain(kept.map(fact)).collect(), ())
    });
}

/// Gives every call of the last message that has no result an error result, and appends the results message. Does nothing
/// where the transcript is complete.
pub fn settle(journal: &Arc<Journal>, id: &AgentId, why: impl Fn(&Fold, &CallId) -> String) {
    journal.decide(|fold| {
        let unanswered = fold.unanswered_calls(id);
        if unanswered.is_empty() {
            return (Vec::new(), ());
        }
        let mut facts = Vec::new();
        let mut calls = Vec::new();
        for (call, view) in unanswered {
            if view.is_none_or(|view| view.result.is_none()) {
                let content = serde_json::json!({"code": "interrupted", "message": why(fold, &call)}).to_string();
                let result = CallResult {
                    content,
                    is_error: true,
                    code: Some("interrupted".to_owned()),
                    full: None,
                    detail: None,
                    duration_ms: 0,
                };
                facts.push((Some(id.clone()), EventBody::CallEnded { call: call.clone(), result }));
            }
            calls.push(call);
        }
        let message = Message { role: MessageRole::User, blocks: Vec::new() };
        let index = fold.transcript(id).len();
        facts.push((Some(id.clone()), EventBody::ResultsAppended { index, calls, message, inputs: Vec::new() }));
        (facts, ())
    });
}

/// The log can't be written: nothing that was confirmed is lost, and nothing more is done.
fn storage(error: &LogError) -> TurnOutcome {
    let message = format!("The log could not be written, so the agent stopped: {error}");
    TurnOutcome::Failed { code: FailureCode::Storage, message }
}
