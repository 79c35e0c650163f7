//! `Edit`: one piece of text of a file replaced.

use async_trait::async_trait;
use offshoot_protocol::{Access, ResultDetail};
use serde::Deserialize;
use serde_json::{Value, json};

use super::disk::Slot;
use super::file_memory::Seen;
use super::text::{NotText, Text, with_line_ends};
use super::{FileMemory, Tool, ToolContext, ToolError, ToolOutput, blocking, diff, input};
use crate::boundary::{Place, Target};

/// The tool.
#[derive(Debug)]
pub(super) struct Edit;

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    file_path: String,
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
}

fn parse(input: &Value) -> Result<Input, ToolError> {
    let parsed: Input = input::parse(input)?;
    input::path("file_path", &parsed.file_path)?;
    if parsed.old_string.is_empty() {
        return Err(ToolError::invalid("`old_string` is empty. To create a file, use Write."));
    }
    if parsed.old_string == parsed.new_string {
        return Err(ToolError::invalid("`new_string` is the same as `old_string`: there is nothing to change."));
    }
    Ok(parsed)
}

#[async_trait]
impl Tool for Edit {
    fn name(&self) -> &'static str {
        "Edit"
    }

    fn description(&self) -> &'static str {
        include_str!("edit.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "description": "Absolute path, or relative to your directory"},
                "old_string": {"type": "string", "description": "The text to replace, exactly"},
                "new_string": {"type": "string", "description": "What to put there"},
                "replace_all": {"type": "boolean", "description": "Replace every occurrence (false)"},
            },
            "required": ["file_path", "old_string", "new_string"],
            "additionalProperties": false,
        })
    }

    fn access(&self, input: &Value, place: &Place) -> Result<Access, ToolError> {
        let input = parse(input)?;
        let target = place.target(&input.file_path)?;
        // Whether the text occurs is part of the file's content, which may be forbidden to this agent: an edit that can't
        // be done only has no diff here, and is explained when the call runs.
        let change = || {
            let found = Slot::open(&target, false).ok()?.read().ok()??;
            let text = Text::decode(&found.content).ok()?;
            let new = replace(&text.content, &input).ok()?;
            Some(diff::unified(&text.content, &new))
        };
        Ok(Access::Edit { path: target.path().display().to_string(), diff: change() })
    }

    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input = parse(&input)?;
        let target = context.place.target(&input.file_path)?;
        let files = context.files.clone();
        blocking(move || edit(&target, &input, &files)).await
    }
}

fn edit(target: &Target, input: &Input, files: &FileMemory) -> Result<ToolOutput, ToolError> {
    let slot = Slot::open(target, false)?;
    let path = slot.path().display().to_string();
    let Some(found) = slot.read()? else {
        return Err(ToolError::new("not_found", format!("{path} does not exist. To create it, use Write.")));
    };
    require_current(&path, files.seen(slot.path(), &found.content), "editing")?;
    let text = Text::decode(&found.content).map_err(|error| match error {
        NotText::Binary => ToolError::new("binary_file", format!("{path} is a binary file.")),
        NotText::Unknown(_) => ToolError::new(
            "unknown_encoding",
            format!("{path} is not in UTF-8 (perhaps Latin-1), and editing would convert it. It was left as it is."),
        ),
    })?;
    let new = replace(&text.content, input).map_err(|error| error.explain(&path, &text.content, input))?;
    let bytes = text.encoding.encode(&new);
    slot.replace(&bytes, Some(&found))?;
    files.remember(slot.path(), &bytes);
    let diff = diff::unified(&text.content, &new);
    let content = format!("Edited {path}.");
    Ok(ToolOutput { detail: Some(ResultDetail::Edited { path, diff }), ..ToolOutput::text(content) })
}

/// Refuses to change what the agent hasn't seen as it is now.
pub(super) fn require_current(path: &str, seen: Seen, doing: &str) -> Result<(), ToolError> {
    match seen {
        Seen::Current => Ok(()),
        Seen::Never => Err(ToolError::new("not_read", format!("{path} exists. Read it before {doing} it."))),
        Seen::Changed => Err(ToolError::new(
            "changed_since_read",
            format!(
                "{path} was changed since you read it, by the user or another agent. Read it again before {doing} it."
            ),
        )),
    }
}

/// Why a text can't be replaced.
#[derive(Debug, PartialEq, Eq)]
enum Mismatch {
    Absent,
    /// How often it occurs.
    Ambiguous(usize),
}

/// The content after the edit. The model writes plain line ends; what they match and what they become is as the file has it.
fn replace(content: &str, input: &Input) -> Result<String, Mismatch> {
    let plain = with_line_ends(&input.old_string, "\n");
    let candidates = [input.old_string.clone(), plain.clone(), with_line_ends(&plain, "\r\n")];
    let old = candidates.into_iter().find(|old| content.contains(old.as_str())).ok_or(Mismatch::Absent)?;
    let places: Vec<usize> = content.match_indices(&old).map(|(at, _)| at).collect();
    if places.len() > 1 && input.replace_all != Some(true) {
        return Err(Mismatch::Ambiguous(places.len()));
    }
    let mut out = String::with_capacity(content.len());
    let mut done = 0;
    for at in places {
        out.push_str(&content[done..at]);
        out.push_str(&with_line_ends(&input.new_string, line_end_at(content, at)));
        done = at + old.len();
    }
    out.push_str(&content[done..]);
    Ok(out)
}

/// How the line at `at` ends: as itself, or, in a last line without an end, as the line before.
fn line_end_at(content: &str, at: usize) -> &'static str {
    let next = content[at..].find('\n').map(|offset| at + offset);
    match next.or_else(|| content[..at].rfind('\n')) {
        Some(end) if content[..end].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

impl Mismatch {
    /// The failure as the model reads it, with the nearest text that is there.
    fn explain(&self, path: &str, content: &str, input: &Input) -> ToolError {
        match self {
            Self::Ambiguous(count) => ToolError::new(
                "not_unique",
                format!(
                    "`old_string` occurs {count} times in {path}, at lines {}. Take in neighbouring lines that make it \
                     unique, or set `replace_all`.",
                    line_numbers(content, &input.old_string)
                ),
            ),
            Self::Absent => {
                let hint = nearest(content, &input.old_string);
                ToolError::new("text_not_found", format!("`old_string` does not occur in {path}. {hint}"))
            }
        }
    }
}

/// The lines in which `old` begins: the first ten.
fn line_numbers(content: &str, old: &str) -> String {
    let (content, old) = (with_line_ends(content, "\n"), with_line_ends(old, "\n"));
    let lines: Vec<String> = content
        .match_indices(&old)
        .take(10)
        .map(|(at, _)| (content[..at].matches('\n').count() + 1).to_string())
        .collect();
    lines.join(", ")
}

/// Lines looked at, and characters of each, for a hint.
const HINT_LINES: usize = 20_000;
const HINT_CHARACTERS: usize = 200;

/// Where the file comes closest to the text, as a sentence.
fn nearest(content: &str, old: &str) -> String {
    let numbered = |line: &str| {
        let digits = line.trim_start().chars().take_while(char::is_ascii_digit).count();
        digits > 0 && line.trim_start()[digits..].starts_with('\t')
    };
    if old.lines().next().is_some_and(numbered) {
        return "It seems to contain the line numbers that Read shows: leave them out.".to_owned();
    }
    let lines: Vec<&str> = content.lines().take(HINT_LINES).collect();
    let wanted: Vec<&str> = old.lines().map(str::trim).collect();
    let same = lines
        .windows(wanted.len().max(1))
        .position(|window| window.iter().map(|line| line.trim()).eq(wanted.iter().copied()));
    if let Some(at) = same {
        let (first, last) = (at + 1, at + wanted.len());
        return format!("Lines {first} to {last} differ from it only in white space: copy them exactly.");
    }
    let Some(first) = wanted.iter().find(|line| !line.is_empty()) else {
        return "It is only white space.".to_owned();
    };
    let cut = |line: &str| line.chars().take(HINT_CHARACTERS).collect::<String>();
    let first = cut(first);
    let closest = lines
        .iter()
        .enumerate()
        .map(|(index, line)| (strsim::normalized_levenshtein(&cut(line.trim()), &first), index))
        .max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
    match closest {
        Some((similarity, index)) if similarity > 0.6 => {
            format!("The closest to its first line is line {}: `{}`", index + 1, cut(lines[index]))
        }
        _ => "Nothing in it is similar; read the file again.".to_owned(),
    }
}

#[cfg(test)]
mod tests;
