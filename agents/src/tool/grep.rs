//! `Grep`: lines by a regular expression, in linear time whatever the expression and the text.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use offshoot_protocol::Access;
use serde::Deserialize;
use serde_json::{Value, json};

use super::tree_walk::{Listing, Pattern, list, shown, stoppable};
use super::{Tool, ToolContext, ToolError, ToolOutput, input};
use crate::boundary::Place;

mod search;
#[cfg(test)]
mod tests;

use search::{Found, Line, Search};

/// Lines or paths shown when the call doesn't say.
const DEFAULT_LIMIT: u32 = 200;
const MAX_LIMIT: u32 = 5000;
/// Most lines of context on either side.
const MAX_CONTEXT: u32 = 50;

/// The tool.
#[derive(Debug)]
pub(super) struct Grep;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    output_mode: Option<OutputMode>,
    case_insensitive: Option<bool>,
    before: Option<u32>,
    after: Option<u32>,
    limit: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    Content,
    Files,
    Count,
}

/// An input, understood.
struct Query {
    matcher: RegexMatcher,
    root: String,
    files: Option<Pattern>,
    mode: OutputMode,
    before: usize,
    after: usize,
    limit: usize,
}

fn parse(input: &Value) -> Result<Query, ToolError> {
    let input: Input = input::parse(input)?;
    if input.pattern.is_empty() {
        return Err(ToolError::invalid("`pattern` is empty."));
    }
    let root = input.path.unwrap_or_else(|| ".".to_owned());
    input::path("path", &root)?;
    let limit = input.limit.unwrap_or(DEFAULT_LIMIT);
    if limit == 0 || limit > MAX_LIMIT {
        return Err(ToolError::invalid(format!("`limit` must be between 1 and {MAX_LIMIT}.")));
    }
    let context = |lines: Option<u32>| lines.unwrap_or(0).min(MAX_CONTEXT) as usize;
    let matcher = RegexMatcherBuilder::new()
        .case_insensitive(input.case_insensitive.unwrap_or(false))
        .crlf(true)
        .build(&input.pattern)
        .map_err(|error| ToolError::invalid(format!("`pattern`: {error}")))?;
    Ok(Query {
        matcher,
        root,
        files: input.glob.map(|glob| Pattern::parse("glob", &glob)).transpose()?,
        mode: input.output_mode.unwrap_or_default(),
        before: context(input.before),
        after: context(input.after),
        limit: limit as usize,
    })
}

#[async_trait]
impl Tool for Grep {
    fn name(&self) -> &'static str {
        "Grep"
    }

    fn description(&self) -> &'static str {
        include_str!("grep.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "Regular expression"},
                "path": {"type": "string", "description": "File or folder to search (your directory)"},
                "glob": {"type": "string", "description": "Only files of this pattern"},
                "output_mode": {"type": "string", "enum": ["content", "files", "count"], "description": "(content)"},
                "case_insensitive": {"type": "boolean", "description": "(false)"},
                "before": {"type": "integer", "minimum": 0, "description": "Lines shown before each match"},
                "after": {"type": "integer", "minimum": 0, "description": "Lines shown after each match"},
                "limit": {"type": "integer", "minimum": 1, "description": "Most lines or paths shown (200)"},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self) -> bool {
        true
    }

    fn access(&self, input: &Value, place: &Place) -> Result<Access, ToolError> {
        let query = parse(input)?;
        Ok(Access::Read { path: place.absolute(&query.root)?.display().to_string() })
    }

    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let query = parse(&input)?;
        let root = context.place.absolute(&query.root)?;
        let directory = context.place.directory.clone();
        let is_forbidden = context.is_forbidden.clone();
        stoppable(move |stop| {
            let Listing { mut files, is_cut } = list(&root, stop)?;
            files.retain(|file| {
                query.files.as_ref().is_none_or(|files| files.matches(&root, file)) && !is_forbidden(file)
            });
            let mut found = report(&query, &directory, files, stop);
            if is_cut {
                found += "\n[not all files were looked at: there are too many; give a path]";
            }
            Ok(ToolOutput::text(found))
        })
        .await
    }
}

/// Searches and writes down what was found, in the order of the paths, until the limit is reached.
fn report(query: &Query, directory: &Path, files: Vec<PathBuf>, stop: &AtomicBool) -> String {
    let search = Search {
        matcher: &query.matcher,
        before: query.before,
        after: query.after,
        lines: if query.mode == OutputMode::Content { query.limit + 1 } else { 0 },
        matches: match query.mode {
            OutputMode::Content => query.limit as u64 + 1,
            OutputMode::Files => 1,
            OutputMode::Count => u64::MAX,
        },
        stop,
    };
    let all = files.len();
    let mut out = Vec::new();
    let mut unsearched = 0;
    let mut is_cut = false;
    search.each(files, |path, found| {
        let Some(found) = found else {
            unsearched += 1;
            return true;
        };
        let name = shown(directory, &path);
        match query.mode {
            OutputMode::Content => lines(&name, &found, &mut out),
            OutputMode::Files => out.push(name),
            OutputMode::Count => out.push(format!("{name}:{}", found.matches)),
        }
        is_cut = out.len() > query.limit;
        !is_cut
    });
    if out.is_empty() {
        out.push(format!("No match in {all} files."));
    }
    if is_cut {
        out.truncate(query.limit);
        out.push(format!(
            "[there is more: only the first {} are shown; narrow the search or raise `limit`]",
            query.limit
        ));
    }
    if unsearched > 0 {
        out.push(format!("[{unsearched} files could not be searched: unreadable, or a line over 16 MB]"));
    }
    out.join("\n")
}

/// The lines of one file, groups set apart where context was asked for.
fn lines(name: &str, found: &Found, out: &mut Vec<String>) {
    for line in &found.lines {
        out.push(match line {
            Line::Match(number, text) => format!("{name}:{number}:{text}"),
            Line::Context(number, text) => format!("{name}-{number}-{text}"),
            Line::Gap => "--".to_owned(),
        });
    }
}
