//! What one entry of a role's list comes to, with calls that it lets run. Examples for a person: the policy says what
//! becomes of them, and nothing is decided here.

use std::path::PathBuf;

use offshoot_protocol::{PermissionMode, RoleRule};
use serde_json::json;

use super::super::Grant;
use super::super::parse::{closest, shown};
use crate::policy::{Question, RuleKind, RuleSource, Rules, Surroundings, TextualPaths, Verdict, explanation};

/// Where the examples are.
const PROJECT: &str = "/home/you/project";

/// Checks an entry against the tools there are.
pub(super) fn check(entry: &str, known: &[&str]) -> RoleRule {
    let entry = entry.trim();
    let Some(grant) = Grant::parse(entry) else {
        let problem = if entry.is_empty() {
            "a tool's name is missing".to_owned()
        } else {
            format!("{} is not a tool or `Tool(argument)`: the parentheses must close at its end", shown(entry))
        };
        return RoleRule { valid: false, problem, matches: Vec::new(), misses: Vec::new() };
    };
    if entry.contains(char::is_control) {
        let problem = "it contains a control character".to_owned();
        return RoleRule { valid: false, problem, matches: Vec::new(), misses: Vec::new() };
    }
    let is_known = grant.tool.starts_with("mcp__") || known.iter().any(|name| grant.covers(name));
    let mut read = Rules::default();
    read.add(RuleKind::Allow, RuleSource::Role, [entry]);
    let doubt = read.problems.first().map(|problem| (problem.message.clone(), problem.left_out));
    let problem = if is_known {
        doubt.as_ref().map_or_else(String::new, |(message, _)| message.clone())
    } else {
        let near = closest(grant.tool, known.iter().copied());
        let hint = near.first().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        format!("there is no tool {} here{hint}", shown(grant.tool))
    };
    let valid = doubt.is_none_or(|(_, left_out)| !left_out);
    let (matches, misses) = match grant.argument {
        Some(argument) if valid => examples(grant.tool, entry, argument),
        _ => Default::default(),
    };
    RoleRule { valid, problem, matches, misses }
}

/// Calls that a rule lets run, and some that look alike and that it doesn't: what the decision itself says of them.
fn examples(tool: &str, entry: &str, argument: &str) -> (Vec<String>, Vec<String>) {
    let (candidates, key) = match tool {
        "Bash" => (commands(argument), "command"),
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => (paths(argument), "file_path"),
        // What reads runs without a rule: there is nothing that an example could show.
        _ => return Default::default(),
    };
    let is_allowed = |call: &String| {
        let question = Question {
            tool: tool.to_owned(),
            input: json!({ key: call }),
            mode: PermissionMode::Default,
            cwd: None,
            allow: vec![entry.to_owned()],
            ask: Vec::new(),
            deny: Vec::new(),
        };
        // Example folders: rules are about how calls are written, and no file is looked at.
        let from = Surroundings {
            project: PathBuf::from(PROJECT),
            home: PathBuf::from("/home/you"),
            settings: Vec::new(),
            rules: Rules::default(),
            paths: &TextualPaths,
        };
        let by_rule = |rule: &Option<String>| rule.as_deref() == Some(entry);
        explanation(&question, &from).is_ok_and(|decision| {
            decision.verdict == Verdict::Allow
                && (by_rule(&decision.rule) || decision.parts.iter().any(|part| by_rule(&part.rule)))
        })
    };
    let (mut matches, mut misses): (Vec<String>, Vec<String>) = candidates.into_iter().partition(is_allowed);
    matches.truncate(3);
    misses.truncate(3);
    (matches, misses)
}

fn commands(pattern: &str) -> Vec<String> {
    let stem = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *")).unwrap_or(pattern);
    let stem = stem.replace('*', "x");
    vec![
        stem.clone(),
        format!("{stem} --all"),
        format!("{stem} -- src/main.rs"),
        format!("{stem} && rm -r build"),
        format!("{stem}x"),
        format!("{stem} > out.txt"),
    ]
}

fn paths(pattern: &str) -> Vec<String> {
    let filled = |deep: &str| pattern.replace("**/*", deep).replace("**", deep).replace('*', "file.md");
    let beneath = |path: String| path.trim_start_matches("./").trim_start_matches('/').to_owned();
    let mut calls: Vec<String> = ["file.md", "deeper/file.md"].into_iter().map(|deep| beneath(filled(deep))).collect();
    calls.extend(["README.md".to_owned(), "src/main.rs".to_owned(), ".git/config".to_owned()]);
    calls.dedup();
    calls
}
