//! What the demo reads off a request: who asks, what was said last, what came out of the calls.
//!
//! Everything is in the transcript. Where a scene stands is written in the ids of its calls, so that it goes on after a
//! restart, and so that a fork never takes its parent's steps for its own.

use std::sync::Arc;

use offshoot_protocol::{Block, CallId, Message, MessageRole, Origin};
use serde_json::Value;

use crate::message::Stored;
use crate::model::{Request, RequestHead};

/// Begins the ids of the demo's calls.
const PREFIX: &str = "demo";
/// What the result of a call says that was interrupted, by a person or because the program ended.
const INTERRUPTED: &str = r#""code":"interrupted""#;

/// A request, looked at.
pub(super) struct Scene<'a> {
    messages: Vec<&'a Message>,
    head: &'a RequestHead,
    /// Index of the message that holds the agent's directive or brief; for the root: 0.
    start: usize,
    is_child: bool,
}

/// What the last message asks for.
pub(super) enum Cue<'a> {
    /// A directive or a brief is to be carried out.
    Task,
    /// The calls of a step came back; this step is next.
    Results(Position),
    /// A person said something.
    Said(&'a str),
    /// Background agents reported.
    Notified,
    /// Nothing but a reminder: go on.
    Resumed,
}

/// A step of a routine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) routine: String,
    pub(super) step: usize,
}

impl Position {
    pub(super) fn new(routine: &str, step: usize) -> Self {
        Self { routine: routine.to_owned(), step }
    }

    /// The id of the step's call number `number` in message `message`: unique within the agent.
    pub(super) fn call_id(&self, message: usize, number: usize) -> CallId {
        CallId(format!("{PREFIX}_{}_{}_{message}_{number}", self.routine, self.step))
    }

    fn of(id: &CallId) -> Option<Self> {
        let mut parts = id.as_str().split('_');
        if parts.next()? != PREFIX {
            return None;
        }
        let routine = parts.next()?.to_owned();
        Some(Self { routine, step: parts.next()?.parse().ok()? })
    }
}

/// A call and what came of it.
pub(super) struct Outcome<'a> {
    pub(super) position: Option<Position>,
    pub(super) name: &'a str,
    pub(super) input: Value,
    pub(super) content: &'a str,
    pub(super) is_error: bool,
}

impl Outcome<'_> {
    /// A text field of the input.
    pub(super) fn field(&self, name: &str) -> &str {
        self.input[name].as_str().unwrap_or_default()
    }

    /// Why it failed, in words.
    pub(super) fn failure(&self) -> Option<String> {
        if !self.is_error {
            return None;
        }
        let parsed: Option<Value> = serde_json::from_str(self.content).ok();
        let message = parsed.as_ref().and_then(|value| value["message"].as_str()).unwrap_or(self.content);
        Some(format!("{} failed: {}", self.name, one_line(message)))
    }

    /// Whether it started an agent that nobody waits for.
    pub(super) fn is_launched(&self) -> bool {
        self.name == "Agent" && !self.is_error && self.content.contains("async_launched")
    }
}

/// A background agent's end, as the notification tells it.
pub(super) struct Notice {
    pub(super) description: String,
    pub(super) status: String,
    pub(super) result: String,
}

impl<'a> Scene<'a> {
    pub(super) fn of(request: &'a Request, messages: &'a [&'a Arc<Stored>]) -> Self {
        let messages: Vec<&Message> = messages.iter().map(|stored| &stored.message).collect();
        let task = messages.iter().rposition(|message| task(message).is_some());
        Self { head: &request.head, start: task.unwrap_or(0), is_child: task.is_some(), messages }
    }

    pub(super) fn is_child(&self) -> bool {
        self.is_child
    }

    /// Number of messages, which is the index of the answer.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// The directive or brief.
    pub(super) fn task(&self) -> &'a str {
        self.messages.get(self.start).and_then(|message| task(message)).unwrap_or_default()
    }

    /// Whether the agent is offered this tool.
    pub(super) fn has_tool(&self, name: &str) -> bool {
        self.head.tools.iter().any(|tool| tool.name == name)
    }

    /// Whether the agent has answered before.
    pub(super) fn has_answered(&self) -> bool {
        self.own().iter().any(|message| message.role == MessageRole::Assistant)
    }

    pub(super) fn cue(&self) -> Cue<'a> {
        let Some(last) = self.messages.last().filter(|message| message.role == MessageRole::User) else {
            return Cue::Resumed;
        };
        if task(last).is_some() {
            return Cue::Task;
        }
        if last.blocks.iter().any(|block| matches!(block, Block::Result { .. }))
            && let Some(next) = self.next_step()
        {
            return Cue::Results(next);
        }
        if let Some(text) = said(last) {
            return Cue::Said(text);
        }
        if last.blocks.iter().any(|block| matches!(block, Block::Text { origin: Origin::Notification, .. })) {
            return Cue::Notified;
        }
        Cue::Resumed
    }

    /// What a person said in the last message, beside whatever else it holds.
    pub(super) fn said(&self) -> Option<&'a str> {
        self.messages.last().and_then(|message| said(message))
    }

    /// The step behind the last one with calls, or that one again when it was interrupted.
    pub(super) fn next_step(&self) -> Option<Position> {
        let mut position = self.last_step()?;
        let outcomes = self.outcomes_of(&position.routine, position.step);
        if !outcomes.iter().any(|outcome| outcome.is_error && outcome.content.contains(INTERRUPTED)) {
            position.step += 1;
        }
        Some(position)
    }

    fn last_step(&self) -> Option<Position> {
        let own = self.own().iter().rev();
        own.filter(|message| message.role == MessageRole::Assistant)
            .find_map(|message| message.calls().find_map(|(id, ..)| Position::of(id)))
    }

    /// All calls of this agent and their outcomes, oldest first. Those it inherited are not among them.
    pub(super) fn outcomes(&self) -> Vec<Outcome<'a>> {
        let own = self.own();
        let pairs = own.iter().zip(own.iter().skip(1));
        pairs
            .flat_map(|(message, answer)| {
                message.calls().filter_map(|(id, name, input)| {
                    let (content, is_error) = answer.blocks.iter().find_map(|block| match block {
                        Block::Result { id: answered, content, is_error } if answered == id => {
                            Some((content, *is_error))
                        }
                        _ => None,
                    })?;
                    let input = serde_json::from_str(&input.0).unwrap_or_default();
                    Some(Outcome { position: Position::of(id), name, input, content, is_error })
                })
            })
            .collect()
    }

    /// The outcomes of one step, of its latest run.
    pub(super) fn outcomes_of(&self, routine: &str, step: usize) -> Vec<Outcome<'a>> {
        let wanted = Position::new(routine, step);
        let mut found: Vec<Outcome<'a>> =
            self.outcomes().into_iter().filter(|outcome| outcome.position.as_ref() == Some(&wanted)).collect();
        // An earlier run of the routine has as many calls as the latest one, or the step was taken once.
        let latest = self.latest_calls(&wanted);
        found.drain(..found.len().saturating_sub(latest));
        found
    }

    fn latest_calls(&self, wanted: &Position) -> usize {
        let calls_of =
            |message: &&&Message| message.calls().filter(|(id, ..)| Position::of(id).as_ref() == Some(wanted)).count();
        self.own().iter().rev().map(|message| calls_of(&message)).find(|count| *count > 0).unwrap_or(0)
    }

    /// All notifications so far, oldest first.
    pub(super) fn notices(&self) -> Vec<Notice> {
        notices_in(&self.messages)
    }

    /// The notifications of the last message.
    pub(super) fn new_notices(&self) -> Vec<Notice> {
        notices_in(&self.messages[self.messages.len().saturating_sub(1)..])
    }

    /// Descriptions of the agents that were started in the background and have not reported yet.
    pub(super) fn awaited(&self) -> Vec<String> {
        let mut reported: Vec<String> = self.notices().into_iter().map(|notice| notice.description).collect();
        let launched = self.outcomes().into_iter().filter(Outcome::is_launched);
        let mut awaited = Vec::new();
        for description in launched.map(|outcome| outcome.field("description").to_owned()) {
            match reported.iter().position(|known| *known == description) {
                Some(at) => _ = reported.remove(at),
                None => awaited.push(description),
            }
        }
        awaited
    }

    /// The agent's own part of the transcript.
    fn own(&self) -> &[&'a Message] {
        // The message with the directive also holds the inherited calls' results, which belong to nobody here.
        &self.messages[if self.is_child { self.start } else { 0 }..]
    }
}

fn notices_in(messages: &[&Message]) -> Vec<Notice> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    let texts = blocks.filter_map(|block| match block {
        Block::Text { text, origin: Origin::Notification } => Some(text),
        _ => None,
    });
    let notice = |text: &String| {
        let summary = tag(text, "summary");
        let line = summary.lines().find_map(|line| line.trim().strip_prefix("Result:"));
        Notice {
            description: one_line(tag(text, "description")),
            status: tag(text, "status").trim().to_owned(),
            result: one_line(line.unwrap_or(summary)),
        }
    };
    texts.map(notice).collect()
}

fn task(message: &Message) -> Option<&str> {
    message.blocks.iter().find_map(|block| match block {
        Block::Text { text, origin: Origin::Directive | Origin::Brief } => Some(text.as_str()),
        _ => None,
    })
}

fn said(message: &Message) -> Option<&str> {
    message.blocks.iter().rev().find_map(|block| match block {
        Block::Text { text, origin: Origin::User } => Some(text.as_str()),
        _ => None,
    })
}

fn tag<'a>(text: &'a str, name: &str) -> &'a str {
    let inner = text.split_once(&format!("<{name}>")).map_or("", |(_, rest)| rest);
    inner.split_once(&format!("</{name}>")).map_or(inner, |(inner, _)| inner)
}

/// The beginning of a text, on one line.
pub(super) fn one_line(text: &str) -> String {
    const MOST: usize = 240;
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match joined.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &joined[..cut]),
        None => joined,
    }
}
