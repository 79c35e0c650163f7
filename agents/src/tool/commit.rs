//! `Commit`: a commit, made by the program for an agent whose commands can't write to the repository.

use std::fmt::Write as _;

use async_trait::async_trait;
use offshoot_protocol::{Access, AgentId, ResultDetail};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput, input};
use crate::boundary::Place;
use crate::shell;

/// The name the model calls it by.
pub(crate) const NAME: &str = "Commit";

/// Most bytes of a message.
const MESSAGE_LIMIT: usize = 16 * 1024;

/// What is to be committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitCall {
    /// The message, not empty, with a line end.
    pub message: String,
    /// Absolute paths beneath the agent's directory; none: everything.
    pub paths: Vec<std::path::PathBuf>,
}

/// Commits on behalf of a call. Implemented by the tree.
#[async_trait]
pub trait Commits: Send + Sync {
    /// Commits in the agent's worktree, or in the directory that it shares. Nothing when nothing has changed.
    async fn commit(&self, agent: &AgentId, call: CommitCall) -> Result<Option<crate::worktree::Committed>, ToolError>;
}

/// The tool.
#[derive(Debug)]
pub(super) struct Commit;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    message: String,
    paths: Option<Vec<String>>,
}

fn parse(value: &Value, place: &Place) -> Result<CommitCall, ToolError> {
    let Input { message, paths } = input::parse(value)?;
    let message = message.trim();
    if message.is_empty() {
        return Err(ToolError::invalid("`message` is empty."));
    }
    if message.contains('\0') || message.len() > MESSAGE_LIMIT {
        return Err(ToolError::invalid("`message` contains a NUL byte or has more than 16 KiB."));
    }
    let absolute = |path: &String| {
        input::path("paths", path)?;
        let path = place.absolute(path)?;
        if path.starts_with(&place.directory) {
            return Ok(path);
        }
        // The same words, with the translated path, as for a write.
        Err(place.target(&path.display().to_string()).map_or_else(ToolError::from, |_| {
            ToolError::invalid(format!("{} is not in {}.", path.display(), place.directory.display()))
        }))
    };
    let paths = paths.unwrap_or_default().iter().map(absolute).collect::<Result<_, ToolError>>()?;
    Ok(CommitCall { message: format!("{message}\n"), paths })
}

#[async_trait]
impl Tool for Commit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        include_str!("commit.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "message": {"type": "string", "description": "The whole commit message"},
                "paths": {
                    "type": "array", "items": {"type": "string"},
                    "description": "Files and folders to commit; without it everything that has changed",
                },
            },
            "required": ["message"],
            "additionalProperties": false,
        })
    }

    /// In its own worktree an agent's branch is its own. Elsewhere it is what the person would have typed.
    fn access(&self, input: &Value, place: &Place) -> Result<Access, ToolError> {
        let CommitCall { message, paths } = parse(input, place)?;
        if place.main_checkout.is_some() {
            return Ok(Access::Own);
        }
        let mut named = String::new();
        for path in &paths {
            let below = path.strip_prefix(&place.directory).unwrap_or(path).to_string_lossy();
            let below = if below.is_empty() { ".".into() } else { below };
            let _ = write!(named, " {}", shell::quoted(&below));
        }
        let (what, only) = if paths.is_empty() {
            (" .".to_owned(), String::new())
        } else {
            (named.clone(), format!(" --only --{named}"))
        };
        let message = shell::quoted(message.trim_end());
        Ok(Access::Command { command: format!("git add --all --{what} && git commit -m {message}{only}") })
    }

    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let call = parse(&input, &context.place)?;
        let of_paths = !call.paths.is_empty();
        let Some(done) = context.delegate.commit(&context.agent, call).await? else {
            let what = if of_paths { "Nothing has changed there" } else { "Nothing has changed since the last commit" };
            return Err(ToolError::new("nothing_to_commit", format!("{what}, so there is nothing to commit.")));
        };
        let on = done.branch.as_ref().map_or("on no branch".to_owned(), |branch| format!("on {branch}"));
        let mut text = format!(
            "Committed {} {on}: {} {}, {} insertions(+), {} deletions(-).",
            done.commit,
            done.file_count,
            if done.file_count == 1 { "file" } else { "files" },
            done.insertions,
            done.deletions
        );
        if done.signature_missing {
            text.push_str(
                " It is not signed, although the developer's configuration asks for signatures (commit.gpgSign).",
            );
        }
        for file in &done.files {
            let _ = write!(text, "\n{file}");
        }
        if done.file_count > done.files.len() {
            let _ = write!(text, "\n… and {} more", done.file_count - done.files.len());
        }
        let detail = Some(ResultDetail::Committed {
            commit: done.commit,
            branch: done.branch,
            files: count(done.file_count),
            insertions: count(done.insertions),
            deletions: count(done.deletions),
        });
        Ok(ToolOutput { detail, ..ToolOutput::text(text) })
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    #[test]
    fn in_a_shared_folder_it_is_what_a_person_would_type() {
        let bench = Bench::new();
        let place = Place { main_checkout: None, ..bench.place.clone() };
        let command = |input: Value| match Commit.access(&input, &place).unwrap() {
            Access::Command { command } => command,
            other => panic!("{other:?}"),
        };
        assert_eq!(command(json!({"message": "It's done"})), "git add --all -- . && git commit -m 'It'\\''s done'");
        assert_eq!(
            command(json!({"message": "x", "paths": ["-a b"]})),
            "git add --all -- '-a b' && git commit -m x --only -- '-a b'"
        );
        assert_eq!(Commit.access(&json!({"message": "x"}), &bench.place).unwrap(), Access::Own);
    }

    #[test]
    fn paths_stay_in_the_agents_directory() {
        let bench = Bench::new();
        let main = bench.place.main_checkout.clone().unwrap();
        let error = |path: &str| Commit.access(&json!({"message": "x", "paths": [path]}), &bench.place).unwrap_err();
        let translated = bench.place.directory.join("a");
        assert!(error(main.join("a").to_str().unwrap()).message.contains(translated.to_str().unwrap()));
        assert_eq!(error("../other").code, "outside_boundary");
        assert_eq!(error("a\0").code, "invalid_arguments");
        assert_eq!(Commit.access(&json!({"message": " \n"}), &bench.place).unwrap_err().code, "invalid_arguments");
    }
}
