//! The first message of a transcript's next segment. Pure.

use std::fmt::Write as _;

use offshoot_protocol::{AgentId, Block, Message, MessageRole, Origin, Todo, TodoStatus};

use super::summary::Summary;
use crate::prompt;
use crate::role::is_announcement;
use crate::transcript::Transcript;
use crate::view::Fold;

/// Most bytes of what the person (or, for a child, its parent) said that are kept word for word.
const WORDS_LIMIT: usize = 20_000;
/// Most bytes of what happened behind the summary.
const TAIL_LIMIT: usize = 16_000;
/// Most bytes of one result in it.
const RESULT_LIMIT: usize = 2_000;

/// The message: what a child was told, the summary, the roles, what was said last, tasks, the plan.
pub(super) fn first_message(fold: &Fold, id: &AgentId, transcript: &Transcript, summary: &Summary) -> Message {
    let mut blocks = vec![text(prompt::summary(&summary.text, transcript.segment_len()), Origin::Summary)];
    let is_frame = |block: &Block| matches!(block, Block::Text { text, origin: Origin::Reminder } if text.starts_with(prompt::FORK_TAG));
    let has_roles =
        |block: &Block| matches!(block, Block::Text { text, origin: Origin::Reminder } if is_announcement(text));
    let is_directive = |block: &Block| matches!(block, Block::Text { origin: Origin::Directive, .. });
    blocks.extend(transcript.newest_block(is_frame).cloned());
    blocks.extend(transcript.newest_block(has_roles).cloned());
    blocks.extend(transcript.newest_block(is_directive).cloned());
    blocks.extend(words(transcript));
    let tail = tail(transcript, summary.messages);
    if !tail.is_empty() {
        blocks.push(reminder(&format!("This happened behind what is summarised:\n{tail}")));
    }
    let tasks = tasks(fold, id);
    if !tasks.is_empty() {
        blocks.push(reminder(&format!("Your background tasks; you are told of the end of those that run:\n{tasks}")));
    }
    let todos = fold.agent(id).map(|agent| plan(&agent.todos)).unwrap_or_default();
    if !todos.is_empty() {
        blocks.push(reminder(&format!("What is open in your plan:\n{todos}")));
    }
    blocks.push(reminder("Go on from here. Read a file again before you edit it."));
    Message { role: MessageRole::User, blocks }
}

fn text(text: String, origin: Origin) -> Block {
    Block::Text { text, origin }
}

fn reminder(words: &str) -> Block {
    text(format!("<reminder>\n{}\n</reminder>", prompt::defang(words.trim_end())), Origin::Reminder)
}

/// What the person or the parent said last, oldest first, as far as it fits; of the very last at least a part.
fn words(transcript: &Transcript) -> Vec<Block> {
    let mut kept = Vec::new();
    let mut left = WORDS_LIMIT;
    'all: for stored in transcript.segment_newest_first() {
        for block in stored.message.blocks.iter().rev() {
            let Block::Text { text: said, origin: origin @ (Origin::User | Origin::Brief) } = block else { continue };
            if said.len() > left && !kept.is_empty() {
                break 'all;
            }
            kept.push(text(shortened(said, left), *origin));
            left = left.saturating_sub(said.len());
        }
    }
    kept.reverse();
    kept
}

/// The messages that the summary doesn't know, in short.
fn tail(transcript: &Transcript, known: u32) -> String {
    let mut out = String::new();
    for stored in transcript.messages_from(known) {
        for block in &stored.message.blocks {
            match block {
                Block::Text { text, origin: Origin::Model } => _ = writeln!(out, "You wrote: {text}"),
                Block::Call { name, input, .. } => {
                    _ = writeln!(out, "You called {name}: {}", shortened(&input.0, RESULT_LIMIT));
                }
                Block::Result { content, .. } => {
                    _ = writeln!(out, "It came to: {}", shortened(content, RESULT_LIMIT));
                }
                Block::Text { text, origin: Origin::Notification } => _ = writeln!(out, "{text}"),
                _ => {}
            }
        }
    }
    shortened(&out, TAIL_LIMIT)
}

/// The background tasks, a line each.
fn tasks(fold: &Fold, id: &AgentId) -> String {
    let mut out = String::new();
    for child in fold.children(id).filter(|child| child.outcome.is_none()) {
        let kind = prompt::kind_word(child.kind);
        _ = writeln!(out, "- {} ({kind}, running): {}", child.id, child.title);
    }
    for shell in fold.view.shells.iter().filter(|shell| shell.agent == *id && shell.outcome.is_none()) {
        _ = writeln!(out, "- {} (shell, running): {}; its output is in {}", shell.id, shell.command, shell.output_file);
    }
    out
}

fn plan(todos: &[Todo]) -> String {
    let mut out = String::new();
    for todo in todos.iter().filter(|todo| todo.status != TodoStatus::Completed) {
        let mark = if todo.status == TodoStatus::InProgress { "in progress" } else { "pending" };
        _ = writeln!(out, "- {} ({mark})", todo.content);
    }
    out
}

/// Head and tail of a text that is longer than `limit` bytes, cut between characters.
fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(limit * 2 / 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - limit / 3)..];
    format!("{head}\n[{} bytes left out here]\n{tail}", text.len() - head.len() - tail.len())
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn texts_are_cut_between_characters() {
        let cut = shortened(&"🦀".repeat(1000), 100);
        assert!(cut.starts_with("🦀") && cut.ends_with("🦀") && cut.len() < 200, "{cut}");
        assert_eq!(shortened("ab", 2), "ab");
    }
}
