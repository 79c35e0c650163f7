//! Changes a role file and nothing in it that wasn't meant: order, comments, quotes, line endings, a byte-order mark and
//! a missing final newline stay as their author left them.
//!
//! Every change is read back before it is handed out: either the new bytes say exactly what was asked for, or there is an
//! error and the caller keeps the old ones. It writes no file.

use offshoot_protocol::{Isolation, PermissionMode, RoleSource};

use super::key::Key;
use super::layout::{Entry, Unreadable, decode};
use super::parse::{Draft, Origin};
use super::relist::{self, ListStyle, Splice};
use super::value::{TextStyle, Value, ValueKind};
use super::wish::{Wish, Wishes};
use super::{Role, body, emit, field};

/// What shall become of one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// It stays as it is, to the byte.
    #[default]
    Keep,
    /// Its lines go.
    Remove,
    /// It gets this value.
    Set(T),
}

/// What shall be changed in a role file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleEdit {
    /// The name.
    pub name: Change<String>,
    /// When to use it.
    pub description: Change<String>,
    /// Tools it may use, as written; an empty list is no tools at all.
    pub tools: Change<Vec<String>>,
    /// Tools it may not use, as written.
    pub disallowed_tools: Change<Vec<String>>,
    /// A model id or alias.
    pub model: Change<String>,
    /// Most model calls of one run.
    pub max_turns: Change<u32>,
    /// The mode its calls are decided in.
    pub permission: Change<PermissionMode>,
    /// Whether it runs in the background.
    pub background: Change<bool>,
    /// Where it works.
    pub isolation: Change<Isolation>,
    /// A colour name.
    pub color: Change<String>,
    /// Whether the project's instructions are left out of its prompt.
    pub without_instructions: Change<bool>,
    /// A new prompt.
    pub body: Option<String>,
}

/// Why a file wasn't changed. The old bytes are untouched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The file is no role file as it is.
    #[error("line {line}: {message}. Correct the file in a text editor first.")]
    Unreadable {
        /// Line from 1.
        line: u32,
        /// Why.
        message: String,
    },
    /// A value that no role file can have.
    #[error("`{key}`: {message}")]
    Invalid {
        /// Which entry.
        key: &'static str,
        /// Why.
        message: String,
    },
    /// The changed file would not say what was asked for.
    #[error(
        "the file is written in a way that this change can't keep: {message}. Nothing was changed; edit the file by hand."
    )]
    NotKept {
        /// What would differ.
        message: String,
    },
}

impl From<Unreadable> for EditError {
    fn from(unreadable: Unreadable) -> Self {
        Self::Unreadable { line: unreadable.line, message: unreadable.message }
    }
}

/// The bytes of the file with `changes` made. A change that is already so changes no byte.
pub fn edit(original: &[u8], changes: &RoleEdit) -> Result<Vec<u8>, EditError> {
    let text = decode(original)?;
    let draft = read(text)?;
    let Wishes { role: wanted, entries } = Wishes::of(changes, &draft.role)?;
    let camel = draft
        .layout
        .entries
        .iter()
        .any(|entry| entry.key.contains(char::is_uppercase) && Key::of(&entry.key).is_some());
    let file = File { text, draft: &draft, camel };
    let mut splices = Vec::new();
    for (key, wish) in &entries {
        file.change(*key, wish, &mut splices);
    }
    if let Some(new) = &changes.body {
        splices.push(body::replace(text, draft.layout.body.clone(), new, draft.layout.line_ending));
    }
    let result = apply(text, splices);
    check(&draft, &wanted, &result, !matches!(changes.name, Change::Keep))?;
    Ok(result.into_bytes())
}

fn read(text: &str) -> Result<Draft, Unreadable> {
    let origin = Origin { source: RoleSource::User, path: String::new() };
    Draft::read(text, &origin, &[])
}

struct File<'a> {
    text: &'a str,
    draft: &'a Draft,
    /// Whether its keys are in camel case.
    camel: bool,
}

impl File<'_> {
    fn change(&self, key: Key, wish: &Wish, splices: &mut Vec<Splice>) {
        let layout = &self.draft.layout;
        let found = self.draft.found.iter().find(|(other, ..)| *other == key);
        match (wish, found) {
            (Wish::Remove, _) => {
                // All of them: a second one would count as soon as the first is gone.
                let ours = layout.entries.iter().filter(|entry| Key::of(&entry.key) == Some(key));
                splices.extend(ours.map(|entry| (entry.lines.clone(), String::new())));
            }
            (Wish::Value { snake, camel }, Some((_, index, value))) => {
                let entry = &layout.entries[*index];
                let text = if entry.key.contains(char::is_uppercase) { camel } else { snake };
                if !Self::says(key, value, text) {
                    splices.push(self.value(entry, value, text));
                }
            }
            _ if self.is_so(key, wish) => {}
            (Wish::List(wanted), Some((_, index, value))) => {
                let entry = &layout.entries[*index];
                splices.extend(relist::change(self.text, entry, value, wanted, layout.line_ending));
            }
            (Wish::Value { snake, camel }, None) => {
                let text = if self.camel { camel } else { snake };
                // `3` and `true` are numbers and truth values here; a text that looks like one needs quotes.
                let is_text = matches!(key, Key::Name | Key::Description | Key::Model | Key::Color);
                let value = if is_text { emit::plain_or_quoted(text, emit::Spot::Block) } else { text.clone() };
                splices.push(self.line(key, &format!(" {value}")));
            }
            (Wish::List(wanted), None) => {
                let value = relist::fresh(wanted, self.list_style(), layout.line_ending);
                splices.push(self.line(key, &value));
            }
        }
    }

    /// Whether the file says it already, with an entry or without.
    fn is_so(&self, key: Key, wish: &Wish) -> bool {
        let role = &self.draft.role;
        match (key, wish) {
            (Key::Tools, Wish::List(wanted)) => {
                role.tools.as_ref() == Some(wanted) || role.tools.is_none() && wanted.iter().any(|tool| tool == "*")
            }
            (Key::DisallowedTools, Wish::List(wanted)) => role.disallowed_tools == *wanted,
            (Key::Background, Wish::Value { snake, .. }) => role.background.to_string() == *snake,
            (Key::WithoutInstructions, Wish::Value { snake, .. }) => role.without_instructions.to_string() == *snake,
            (Key::Isolation, Wish::Value { snake, .. }) => role.isolation == Isolation::Shared && snake == "shared",
            _ => false,
        }
    }

    /// Whether an entry already has this value, in whatever spelling.
    fn says(key: Key, value: &Value, text: &str) -> bool {
        let ValueKind::Text { text: now, style } = &value.kind else { return false };
        let now = now.trim();
        let is_null = *style == TextStyle::Plain && field::is_null(now);
        match key {
            Key::Name | Key::Description => now == text,
            _ if is_null => false,
            Key::Model => now == text,
            Key::Color => field::color(now).is_ok_and(|color| color == text),
            Key::MaxTurns => field::max_turns(now) == field::max_turns(text),
            Key::Permission => field::permission(now) == field::permission(text),
            Key::Background | Key::WithoutInstructions => field::boolean(now) == field::boolean(text),
            Key::Isolation => field::isolation(now) == field::isolation(text),
            Key::Tools | Key::DisallowedTools => false,
        }
    }

    fn value(&self, entry: &Entry, value: &Value, text: &str) -> Splice {
        let line_ending = self.draft.layout.line_ending;
        match &value.kind {
            ValueKind::Empty => (value.span.clone(), format!(" {}", emit::plain_or_quoted(text, emit::Spot::Block))),
            ValueKind::Text { style, .. } => {
                let indent = block_indent(&self.text[entry.after_colon..entry.lines.end]);
                let is_word =
                    matches!(Key::of(&entry.key), Some(Key::MaxTurns | Key::Background | Key::WithoutInstructions));
                let new = match style {
                    // Numbers and truth values would be put in quotes as texts.
                    TextStyle::Plain | TextStyle::Loose if is_word => text.to_owned(),
                    style => emit::text(text, *style, indent, line_ending),
                };
                (value.span.clone(), new)
            }
            ValueKind::List { .. } | ValueKind::Other => {
                (value.span.clone(), emit::text(text, TextStyle::Plain, "", line_ending))
            }
        }
    }

    /// A new entry, after the one that usually stands before it.
    fn line(&self, key: Key, value: &str) -> Splice {
        let layout = &self.draft.layout;
        let before = self.draft.found.iter().filter(|(other, ..)| *other < key).max_by_key(|(other, ..)| *other);
        let at = match before {
            Some((_, index, _)) => layout.entries[*index].lines.end,
            None => layout.entries.first().map_or(layout.front.start, |entry| entry.lines.start),
        };
        let name = if self.camel { key.camel() } else { key.snake() };
        (at..at, format!("{name}:{value}{}", layout.line_ending))
    }

    /// How the file writes its other list, or how its kind of file does.
    fn list_style(&self) -> ListStyle {
        let mut lists = self.draft.found.iter().filter(|(key, ..)| matches!(key, Key::Tools | Key::DisallowedTools));
        let style = |(_, index, value): &(Key, usize, Value)| {
            relist::style(self.text, &self.draft.layout.entries[*index], value)
        };
        let default = if self.camel { ListStyle::Commas } else { ListStyle::Flow };
        lists.find_map(style).unwrap_or(default)
    }
}

/// The indentation of the first line below the key; two spaces if there is none.
fn block_indent(value: &str) -> &str {
    let line = value.split_inclusive('\n').skip(1).find(|line| !line.trim().is_empty()).unwrap_or("  x");
    let indent = &line[..line.len() - line.trim_start().len()];
    if indent.is_empty() { "  " } else { indent }
}

/// Makes the changes, which don't overlap; those at one place in their order.
fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in splices {
        out.push_str(&text[at..range.start.max(at)]);
        out.push_str(&new);
        at = range.end.max(at);
    }
    out.push_str(&text[at..]);
    out
}

/// Reads the result back: it must say what was asked for, and still be a role if the original was one.
fn check(before: &Draft, wanted: &Role, result: &str, named: bool) -> Result<(), EditError> {
    let not_kept = |message: String| EditError::NotKept { message };
    let after =
        read(result).map_err(|unreadable| not_kept(format!("line {}: {}", unreadable.line, unreadable.message)))?;
    if (before.loads || named && !wanted.description.is_empty()) && !after.loads {
        return Err(not_kept("it would no longer be a role".to_owned()));
    }
    if after.role == *wanted {
        return Ok(());
    }
    Err(not_kept(format!("{} would come out wrong", difference(&after.role, wanted))))
}

fn difference(is: &Role, wanted: &Role) -> &'static str {
    let differs = |key: Key| match key {
        Key::Name => is.name != wanted.name,
        Key::Description => is.description != wanted.description,
        Key::Tools => is.tools != wanted.tools,
        Key::DisallowedTools => is.disallowed_tools != wanted.disallowed_tools,
        Key::Model => is.model != wanted.model,
        Key::MaxTurns => is.max_turns != wanted.max_turns,
        Key::Permission => is.permission != wanted.permission,
        Key::Background => is.background != wanted.background,
        Key::Isolation => is.isolation != wanted.isolation,
        Key::Color => is.color != wanted.color,
        Key::WithoutInstructions => is.without_instructions != wanted.without_instructions,
    };
    Key::ALL.into_iter().find(|key| differs(*key)).map_or("the prompt", Key::snake)
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
