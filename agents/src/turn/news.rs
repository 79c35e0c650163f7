//! What has changed since the agent was last told of it: appended as a reminder, so that what stands before stays as it is.
//!
//! What it was told is what its requests say: the head, and the reminders of the transcript's last segment.

use offshoot_protocol::{AgentKind, AgentView, Block, MessageRole, Origin, TodoStatus};

use super::Worker;
use crate::instructions;
use crate::prompt;
use crate::tool::todo_write;
use crate::transcript::Transcript;
use crate::view::Fold;

/// After how many answers without a look at it a plan counts as forgotten.
const FORGOTTEN_AFTER: usize = 8;

/// News for the first message of a turn.
pub(super) fn of_turn(worker: &Worker) -> Vec<Block> {
    let mut news = of_step(worker);
    news.extend(of_instructions(worker));
    news
}

/// News for a message of results.
pub(super) fn of_step(worker: &Worker) -> Vec<Block> {
    let speaker = worker.speaker();
    let today = jiff::tz::TimeZone::UTC.to_datetime(worker.journal.clock().now()).date();
    worker.journal.read(|fold| {
        let transcript = fold.transcript(&worker.id);
        let date = prompt::date_changed(today);
        let knows_date = match told(&transcript, prompt::DATE_CHANGED) {
            Some(told) => told == date,
            None => !prompt::tells_other_date(&speaker.head.system, today),
        };
        let mode = mode(fold, worker, &transcript);
        let plan = is_plan_forgotten(fold, worker, &transcript).then(|| prompt::PLAN_UNTOUCHED.to_owned());
        (!knows_date).then_some(date).into_iter().chain(mode).chain(plan).map(reminder).collect()
    })
}

/// Whether the root has a plan with something open, and has neither changed nor been reminded of it for several answers.
fn is_plan_forgotten(fold: &Fold, worker: &Worker, transcript: &Transcript) -> bool {
    let is_open = |agent: &AgentView| agent.todos.iter().any(|todo| todo.status != TodoStatus::Completed);
    if !fold.agent(&worker.id).is_some_and(|agent| agent.kind == AgentKind::Root && is_open(agent)) {
        return false;
    }
    let is_about_plan = |block: &Block| match block {
        Block::Call { name, .. } => name == todo_write::NAME,
        Block::Text { text, origin: Origin::Reminder } => text == prompt::PLAN_UNTOUCHED,
        _ => false,
    };
    let since = transcript.segment_newest_first().take_while(|stored| !stored.message.blocks.iter().any(is_about_plan));
    since.filter(|stored| stored.message.role == MessageRole::Assistant).count() >= FORGOTTEN_AFTER
}

fn mode(fold: &Fold, worker: &Worker, transcript: &Transcript) -> Option<String> {
    let now = fold.agent(&worker.id)?.mode;
    let text = prompt::mode_changed(now);
    let knows = match told(transcript, prompt::MODE_CHANGED) {
        Some(told) => told == text,
        None => fold.created(&worker.id)?.mode == now,
    };
    (!knows).then_some(text)
}

/// The project's files may be edited at any time. Whoever was given none by its role is told of none.
fn of_instructions(worker: &Worker) -> Option<Block> {
    let project = worker.upkeep.instructions.as_ref()?;
    let head = worker.speaker().head.clone();
    let (kind, transcript) =
        worker.journal.read(|fold| (fold.agent(&worker.id).map(|agent| agent.kind), fold.transcript(&worker.id)));
    let was_given = prompt::tells_instructions(&head.system);
    if !was_given && !matches!(kind?, AgentKind::Root | AgentKind::Fork) {
        return None;
    }
    let now = instructions::read(project);
    let text = prompt::instructions_changed(&now);
    let knows = match told(&transcript, prompt::INSTRUCTIONS_CHANGED) {
        Some(told) => told == text,
        None if now.is_empty() => !was_given,
        None => head.system.contains(&prompt::instructions(&now)),
    };
    (!knows).then(|| reminder(text))
}

fn reminder(text: String) -> Block {
    Block::Text { text, origin: Origin::Reminder }
}

/// The last reminder of the segment that begins like this.
fn told<'a>(transcript: &'a Transcript, start: &str) -> Option<&'a str> {
    let is_so =
        |block: &Block| matches!(block, Block::Text { text, origin: Origin::Reminder } if text.starts_with(start));
    match transcript.newest_block(is_so)? {
        Block::Text { text, .. } => Some(text),
        _ => None,
    }
}
