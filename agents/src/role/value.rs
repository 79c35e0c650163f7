//! What one entry of the front matter says: YAML where it is YAML, else the text as it stands there.
//!
//! Hostile YAML meets a wall here: anchors and aliases are refused, never expanded; depth and number of items are bounded.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::layout::{Entry, Unreadable, count_lines};
use super::list::{self, Item};

/// Deepest nesting inside one value.
const DEPTH_LIMIT: usize = 16;
/// Most YAML events of one value.
const EVENT_LIMIT: usize = 4096;

/// A value, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    /// What it is.
    pub(super) kind: ValueKind,
    /// Its bytes, from the first of the value to its last, without a comment behind it. Empty where there is no value.
    pub(super) span: Range<usize>,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueKind {
    /// Nothing stands there.
    Empty,
    /// A text, as YAML reads it.
    Text {
        /// The text.
        text: String,
        /// How it is written.
        style: TextStyle,
    },
    /// A list.
    List {
        /// Its items.
        items: Vec<Item>,
        /// Whether it is written in brackets.
        flow: bool,
    },
    /// A mapping, or something with a type tag: nothing that a role can use as it is.
    Other,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextStyle {
    /// Without quotes.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes.
    Double,
    /// As a block behind `|` or `>`.
    Block,
    /// It is no YAML (`Use when: x`), and taken as the words that stand there.
    Loose,
}

/// Reads the value of `entry`. What isn't YAML comes back as [`TextStyle::Loose`] text.
///
/// # Errors
/// Anchors, aliases, values beyond the limits, and lines that are neither part of a value nor an entry.
pub(super) fn read(text: &str, entry: &Entry) -> Result<Value, Unreadable> {
    let segment = Segment::new(text, entry);
    match segment.yaml()? {
        Some(value) => Ok(value),
        None => segment.loose(),
    }
}

/// The words of a value as they stand in the file: lines joined, comments left out.
pub(super) fn words(text: &str, entry: &Entry) -> String {
    fold(&text[content(text, entry.after_colon..entry.lines.end)])
}

struct Segment<'t> {
    text: &'t str,
    entry: &'t Entry,
    yaml: &'t str,
    /// Byte offset of every character, where they differ from its index.
    offsets: Option<Vec<usize>>,
}

impl<'t> Segment<'t> {
    fn new(text: &'t str, entry: &'t Entry) -> Self {
        let yaml = &text[entry.lines.clone()];
        let offsets = (!yaml.is_ascii()).then(|| yaml.char_indices().map(|(at, _)| at).chain([yaml.len()]).collect());
        Self { text, entry, yaml, offsets }
    }

    fn byte(&self, character: usize) -> usize {
        let inside = match &self.offsets {
            Some(offsets) => offsets.get(character).copied().unwrap_or(self.yaml.len()),
            None => character.min(self.yaml.len()),
        };
        self.entry.lines.start + inside
    }

    fn unreadable(&self, at: usize, message: impl Into<String>) -> Unreadable {
        Unreadable::new(count_lines(&self.text.as_bytes()[..at]), message)
    }

    /// The value, if the entry is well-formed YAML with one key.
    fn yaml(&self) -> Result<Option<Value>, Unreadable> {
        let mut events = Vec::new();
        let mut depth = 0_usize;
        for event in Parser::new_from_str(self.yaml) {
            let Ok((event, span)) = event else { return Ok(None) };
            let at = self.byte(span.start.index());
            match &event {
                Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
                Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > DEPTH_LIMIT {
                return Err(self.unreadable(at, format!("nested more than {DEPTH_LIMIT} deep")));
            }
            if events.len() == EVENT_LIMIT {
                return Err(self.unreadable(at, format!("more than {EVENT_LIMIT} values in one entry")));
            }
            if let Event::Alias(_) = event {
                return Err(self.unreadable(at, ALIAS));
            }
            if anchor(&event) != 0 {
                return Err(self
                    .unreadable(at, "anchors (`&…`) aren't supported; put the text in quotes if it is meant as text"));
            }
            if !matches!(event, Event::StreamStart | Event::StreamEnd | Event::Nothing) {
                events.push((event, span));
            }
        }
        Ok(self.shape(&events))
    }

    /// The value out of the events of `key: value`.
    fn shape(&self, events: &[(Event<'_>, Span)]) -> Option<Value> {
        use Event::{DocumentEnd, DocumentStart, MappingEnd, MappingStart, Scalar};
        let [
            (DocumentStart(false), _),
            (MappingStart(..), _),
            (Scalar(..), _),
            value @ ..,
            (MappingEnd, _),
            (DocumentEnd, _),
        ] = events
        else {
            return None;
        };
        match value {
            [(Scalar(text, style, _, tag), span)] => Some(self.scalar(text, *style, tag.is_some(), *span)),
            [(Event::SequenceStart(_, None), _), items @ .., (Event::SequenceEnd, end)] => {
                let start = self.first_content();
                let flow = self.text[start..].starts_with('[');
                let end = if flow {
                    self.byte(end.start.index()) + 1
                } else {
                    start + self.text[start..self.entry.lines.end].trim_end().len()
                };
                let span = start..end;
                let items = self.items(items, flow).unwrap_or_else(|| list::split(self.text, span.clone()));
                Some(Value { kind: ValueKind::List { items, flow }, span })
            }
            [(MappingStart(..) | Event::SequenceStart(..), _), .., (MappingEnd | Event::SequenceEnd, _)] => {
                let span = content(self.text, self.entry.after_colon..self.entry.lines.end);
                Some(Value { kind: ValueKind::Other, span })
            }
            // A second key in one entry, as `? a`.
            _ => None,
        }
    }

    /// Where the value starts, behind comments on the way to it.
    fn first_content(&self) -> usize {
        let mut at = self.entry.after_colon;
        for line in self.text[at..self.entry.lines.end].split_inclusive('\n') {
            let content = line.trim_start();
            if !content.is_empty() && !content.starts_with('#') {
                return at + (line.len() - content.len());
            }
            at += line.len();
        }
        self.entry.after_colon
    }

    fn scalar(&self, text: &str, style: ScalarStyle, tagged: bool, span: Span) -> Value {
        let whole = content(self.text, self.entry.after_colon..self.entry.lines.end);
        let start = self.byte(span.start.index());
        let (style, span) = match style {
            ScalarStyle::Plain if text.is_empty() && !tagged => {
                // Nothing there but, perhaps, a comment.
                return Value { kind: ValueKind::Empty, span: self.entry.after_colon..self.entry.after_colon };
            }
            ScalarStyle::Plain => (TextStyle::Plain, start..self.byte(span.end.index())),
            ScalarStyle::SingleQuoted => (TextStyle::Single, self.quoted(start)),
            ScalarStyle::DoubleQuoted => (TextStyle::Double, self.quoted(start)),
            ScalarStyle::Literal | ScalarStyle::Folded => {
                // The header (`|`, `>-`) belongs to the value, and every line does.
                let lines = &self.text[self.entry.after_colon..self.entry.lines.end];
                let from = self.entry.after_colon + (lines.len() - lines.trim_start().len());
                (TextStyle::Block, from..self.entry.after_colon + lines.trim_end_matches(['\r', '\n']).len())
            }
        };
        if tagged {
            return Value { kind: ValueKind::Other, span: whole };
        }
        Value { kind: ValueKind::Text { text: text.to_owned(), style }, span }
    }

    /// The parser's span of a quoted text reaches over a comment behind it: its end is looked for here.
    fn quoted(&self, start: usize) -> Range<usize> {
        start..list::quote_end(self.text, start, self.entry.lines.end)
    }

    /// The items of a list, or nothing if they have to be read loosely: mappings (`- Bash(a: b)`), commas inside of
    /// parentheses (`[Bash(a, b)]`).
    fn items(&self, events: &[(Event<'_>, Span)], flow: bool) -> Option<Vec<Item>> {
        let item = |(event, span): &(Event<'_>, Span)| {
            let Event::Scalar(text, style, _, None) = event else { return None };
            if flow && *style == ScalarStyle::Plain && !list::is_balanced(text) {
                return None;
            }
            let start = self.byte(span.start.index());
            let span = match style {
                ScalarStyle::Plain => start..self.byte(span.end.index()),
                ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => self.quoted(start),
                ScalarStyle::Literal | ScalarStyle::Folded => return None,
            };
            Some(Item { text: text.trim().to_owned(), span })
        };
        events.iter().map(item).collect()
    }

    fn loose(&self) -> Result<Value, Unreadable> {
        let span = content(self.text, self.entry.after_colon..self.entry.lines.end);
        let written = &self.text[span.clone()];
        let flow = written.starts_with('[') && written.ends_with(']');
        if !flow {
            self.margin()?;
        }
        let words = fold(written);
        if is_alias(&words) {
            return Err(self.unreadable(span.start, ALIAS));
        }
        if words.starts_with('"') && words.matches('"').count() == 1 {
            return Err(self.unreadable(span.start, "a quote opens here and is never closed"));
        }
        // A dash on the key's own line is a word of the text.
        let block = written.starts_with("- ") && self.text[self.entry.after_colon..span.start].contains('\n');
        if flow || block {
            let items = list::split(self.text, span.clone());
            if let Some(item) = items.iter().find(|item| is_alias(&item.text)) {
                return Err(self.unreadable(item.span.start, ALIAS));
            }
            return Ok(Value { kind: ValueKind::List { items, flow }, span });
        }
        let text = list::unquote(&words).to_owned();
        Ok(Value { kind: ValueKind::Text { text, style: TextStyle::Loose }, span })
    }

    /// Checks that no line below the key starts at the margin, where it is lost between two entries. Items of a list may,
    /// and so may what stands in brackets.
    fn margin(&self) -> Result<(), Unreadable> {
        let mut at = self.entry.lines.start;
        for (index, line) in self.yaml.split_inclusive('\n').enumerate() {
            if index > 0 && !line.starts_with([' ', '\t', '#', '-', '\r', '\n']) {
                let message = "expected `key: value`, or an indented line that goes on with the value";
                return Err(self.unreadable(at, message));
            }
            at += line.len();
        }
        Ok(())
    }
}

const ALIAS: &str = "aliases (`*…`) aren't supported; put the text in quotes if it is meant as text";

/// Whether a text that isn't YAML would be an alias, had its anchor been there: `*a`, but neither `*` nor `*a* b`.
fn is_alias(text: &str) -> bool {
    text.len() > 1 && text.starts_with('*') && !text.contains(char::is_whitespace)
}

fn anchor(event: &Event<'_>) -> usize {
    match event {
        Event::Scalar(_, _, anchor, _) | Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => *anchor,
        _ => 0,
    }
}

/// `range` without blanks at both ends, and without comments at its end.
fn content(text: &str, range: Range<usize>) -> Range<usize> {
    let whole = &text[range.clone()];
    let start = range.start + (whole.len() - whole.trim_start().len());
    let mut end = range.end;
    while start < end {
        end = start + text[start..end].trim_end().len();
        let last_line = text[start..end].rfind('\n').map_or(start, |newline| start + newline + 1);
        match comment_start(&text[last_line..end]) {
            Some(comment) => end = last_line + comment,
            None => return start..end,
        }
    }
    range.start..range.start
}

/// Where a comment starts in a line that isn't read as YAML: a `#` between blanks, so that `issue #12` stays whole.
fn comment_start(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let blank = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    (1..bytes.len()).find(|at| bytes[*at] == b'#' && blank(bytes.get(at - 1)) && blank(bytes.get(at + 1)))
}

/// Joins the lines of a text as YAML does: a blank line becomes a line break, any other break a space.
fn fold(text: &str) -> String {
    let mut out = String::new();
    let mut breaks = 0;
    for line in text.lines() {
        let comment = comment_start(line);
        let line = comment.map_or(line, |at| &line[..at]).trim();
        if line.is_empty() {
            breaks += usize::from(comment.is_none());
            continue;
        }
        match (out.is_empty(), breaks) {
            (true, _) => {}
            (false, 0) => out.push(' '),
            (false, breaks) => out.extend(std::iter::repeat_n('\n', breaks)),
        }
        out.push_str(line);
        breaks = 0;
    }
    out
}
