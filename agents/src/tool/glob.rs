//! `Glob`: files by the pattern of their path.

use std::fmt::Write as _;

use async_trait::async_trait;
use offshoot_protocol::Access;
use serde::Deserialize;
use serde_json::{Value, json};

use super::tree_walk::{Pattern, list, shown, stoppable};
use super::{Tool, ToolContext, ToolError, ToolOutput, input};
use crate::boundary::Place;

/// Most paths shown.
const MAX_PATHS: usize = 500;

/// The tool.
#[derive(Debug)]
pub(super) struct Glob;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    path: Option<String>,
}

/// The pattern, and the folder it starts from.
fn parse(input: &Value) -> Result<(Pattern, String), ToolError> {
    let Input { pattern, path } = input::parse(input)?;
    // An absolute pattern brings its own folder: all up to the first component with a pattern in it.
    if pattern.starts_with('/') {
        let components: Vec<&str> = pattern.split('/').collect();
        let is_plain = |part: &&str| !part.contains(['*', '?', '[', '{', '\\']);
        let plain = components.iter().take_while(|part| is_plain(part)).count().min(components.len() - 1);
        let root = format!("{}/", components[..plain].join("/"));
        input::path("pattern", &root)?;
        return Ok((Pattern::from_root("pattern", &components[plain..].join("/"))?, root));
    }
    let root = path.unwrap_or_else(|| ".".to_owned());
    input::path("path", &root)?;
    Ok((Pattern::parse("pattern", &pattern)?, root))
}

#[async_trait]
impl Tool for Glob {
    fn name(&self) -> &'static str {
        "Glob"
    }

    fn description(&self) -> &'static str {
        include_str!("glob.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "Such as `*.rs`, `src/**/*.ts`"},
                "path": {"type": "string", "description": "Folder to look in (your directory)"},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self) -> bool {
        true
    }

    fn access(&self, input: &Value, place: &Place) -> Result<Access, ToolError> {
        let (_, root) = parse(input)?;
        Ok(Access::Read { path: place.absolute(&root)?.display().to_string() })
    }

    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (pattern, root) = parse(&input)?;
        let root = context.place.absolute(&root)?;
        let directory = context.place.directory.clone();
        let is_forbidden = context.is_forbidden.clone();
        stoppable(move |stop| {
            let listing = list(&root, stop)?;
            let all = listing.files.len();
            let is_meant = |file: &&std::path::PathBuf| pattern.matches(&root, file) && !is_forbidden(file);
            let found: Vec<String> =
                listing.files.iter().filter(is_meant).map(|file| shown(&directory, file)).collect();
            if found.is_empty() {
                return Ok(ToolOutput::text(format!("No file matches, of {all} in {}.", root.display())));
            }
            let mut shown = found[..found.len().min(MAX_PATHS)].join("\n");
            if found.len() > MAX_PATHS {
                let more = found.len() - MAX_PATHS;
                let _ = write!(shown, "\n[{more} more paths; narrow the pattern or the path]");
            }
            if listing.is_cut {
                shown += "\n[not all files were looked at: there are too many; give a path]";
            }
            Ok(ToolOutput::text(shown))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    #[tokio::test]
    async fn finds_sorted_and_leaves_out_what_is_hidden_ignored_or_forbidden() {
        let bench = Bench::new();
        std::fs::create_dir(bench.place.directory.join(".git")).unwrap();
        bench.file(".gitignore", "built\n");
        for path in ["b.rs", "a/c.rs", "a/d.md", "built/e.rs", ".hidden/f.rs", ".git/g.rs", "secret.rs"] {
            bench.file(path, "");
        }
        let bench = bench.forbid("secret.rs");
        let find = async |input: Value| bench.run(&Glob, input).await.unwrap().content;
        assert_eq!(find(json!({"pattern": "*.rs"})).await, "a/c.rs\nb.rs");
        assert_eq!(find(json!({"pattern": "*", "path": "a"})).await, "a/c.rs\na/d.md");
        assert_eq!(find(json!({"pattern": "*.rs", "path": ".hidden"})).await, ".hidden/f.rs");
        let absolute = bench.place.directory.join("*.rs");
        assert_eq!(find(json!({"pattern": absolute})).await, "b.rs", "an absolute pattern says which folder");
        let main = bench.place.main_checkout.clone().unwrap();
        std::fs::write(main.join("m.rs"), "").unwrap();
        assert_eq!(find(json!({"pattern": "*.rs", "path": main})).await, main.join("m.rs").display().to_string());
        assert!(find(json!({"pattern": "*.py"})).await.starts_with("No file matches, of 4 in"));
        let missing = bench.run(&Glob, json!({"pattern": "*", "path": "nowhere"})).await.unwrap_err();
        assert_eq!(missing.code, "not_found");
        let machine = bench.run(&Glob, json!({"pattern": "*", "path": "/proc/self"})).await;
        assert!(!cfg!(target_os = "linux") || machine.unwrap_err().code == "not_a_regular_file");
    }

    #[tokio::test]
    async fn says_what_was_cut() {
        let bench = Bench::new();
        for number in 0..MAX_PATHS + 7 {
            bench.file(&format!("{number:04}"), "");
        }
        let content = bench.run(&Glob, json!({"pattern": "*"})).await.unwrap().content;
        assert_eq!(content.lines().count(), MAX_PATHS + 1);
        assert!(
            content.starts_with("0000\n0001\n") && content.ends_with("[7 more paths; narrow the pattern or the path]")
        );
    }
}
