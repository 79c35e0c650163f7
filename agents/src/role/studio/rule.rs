//! What one entry of a role's list comes to, with calls that it speaks of. Examples for a person; it decides nothing.

use offshoot_protocol::RoleRule;

use super::super::Grant;
use super::super::parse::{closest, shown};

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
    let problem = if is_known {
        String::new()
    } else {
        let near = closest(grant.tool, known.iter().copied());
        let hint = near.first().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        format!("there is no tool {} here{hint}", shown(grant.tool))
    };
    let (matches, misses) = grant.argument.map_or_else(Default::default, |argument| examples(grant.tool, argument));
    RoleRule { valid: true, problem, matches, misses }
}

/// Calls that a pattern speaks of, and some that look alike.
fn examples(tool: &str, argument: &str) -> (Vec<String>, Vec<String>) {
    match tool {
        "Bash" => commands(argument),
        "Read" | "Edit" | "Write" | "Grep" | "Glob" => paths(argument),
        _ => (Vec::new(), Vec::new()),
    }
}

fn commands(pattern: &str) -> (Vec<String>, Vec<String>) {
    let prefix = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *"));
    match prefix {
        Some(prefix) if !prefix.contains('*') => (
            vec![prefix.to_owned(), format!("{prefix} --help")],
            vec![format!("{prefix} && rm -r build"), format!("{prefix}x")],
        ),
        None if !pattern.contains('*') => {
            (vec![pattern.to_owned()], vec![format!("{pattern} --help"), format!("{pattern} && rm -r build")])
        }
        _ => (vec![pattern.replace('*', "x")], Vec::new()),
    }
}

fn paths(pattern: &str) -> (Vec<String>, Vec<String>) {
    if !pattern.contains('*') {
        return (vec![pattern.to_owned()], Vec::new());
    }
    let deep = pattern.replace("**/*", "a/b/file").replace("**", "a/b/file").replace('*', "file");
    (vec![deep], Vec::new())
}
