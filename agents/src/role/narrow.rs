//! Which tools a subagent gets. Pure; it grants nothing that the parent's list doesn't have.

use offshoot_protocol::{PermissionMode, RoleSource};

use super::Role;
use super::grant::Grant;
use super::parse::shown;

/// Tools that only the root has: children neither delegate nor run teams.
pub const DELEGATION_TOOLS: [&str; 5] = ["Agent", "SendMessage", "TeamTaskCreate", "TeamTaskList", "TeamTaskUpdate"];

/// Tools that change nothing but the agent's own plan: all that `permission: plan` leaves.
pub const READ_ONLY_TOOLS: [&str; 7] = ["Read", "Grep", "Glob", "WebFetch", "TodoWrite", "TaskList", "TaskOutput"];

/// Tools of an agent that runs in the background, besides `mcp__…`: none that waits for a task or a person.
pub const ASYNCHRONOUS_TOOLS: [&str; 9] =
    ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "WebFetch", "TodoWrite", "Commit"];

/// What a subagent may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSet {
    /// Names of its tools, in the order of the parent's list.
    pub tools: Vec<String>,
    /// Rules that allow calls without asking, from entries such as `Bash(git diff *)` in `tools`.
    pub allow_rules: Vec<String>,
    /// Rules that deny calls, from such entries in `disallowed_tools`. To be added to the session's.
    pub deny_rules: Vec<String>,
}

/// A role that leaves no tool. The model reads it as `subagent_configuration_error`; no model is called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("role {role} can't start: {reason}. Nothing was started; correct {path}, or use another role.", role = shown(.role))]
pub struct ToolConfigurationError {
    /// The role's name.
    pub role: String,
    /// Its file.
    pub path: String,
    /// Which entries leave nothing, and why.
    pub reason: String,
}

/// The tools of `all` that `role` may use: denied ones removed, then only those of `tools` when given, then delegation,
/// then what its mode and the background forbid.
///
/// An entry with an argument is about calls, not about the tool: in `tools` it gives the tool and an allow rule, in
/// `disallowed_tools` a deny rule. A plugin's role gives no allow rules.
pub fn effective_tools(all: &[&str], role: &Role, background: bool) -> Result<ToolSet, ToolConfigurationError> {
    // A deny list fails closed: an entry that can't be read denies the whole tool, and so does a name in the wrong case.
    let bare = |tool| Grant { tool, argument: None };
    let deny = |entry| Grant::parse(entry).unwrap_or_else(|| bare(entry.split('(').next().unwrap_or(entry).trim()));
    let denied: Vec<Grant<'_>> = role.disallowed_tools.iter().map(|entry| deny(entry.as_str())).collect();
    let is_denied = |name: &str| {
        let bare = denied.iter().filter(|grant| grant.argument.is_none());
        bare.into_iter().any(|grant| grant.covers(name) || grant.tool.eq_ignore_ascii_case(name))
    };
    let allowed: Option<Vec<Grant<'_>>> =
        role.tools.as_ref().map(|tools| tools.iter().filter_map(|entry| Grant::parse(entry)).collect());
    let is_allowed = |name: &str| allowed.as_ref().is_none_or(|grants| grants.iter().any(|grant| grant.covers(name)));
    let is_plan = role.permission == Some(PermissionMode::Plan);

    let fits = |name: &&&str| {
        !is_denied(name)
            && is_allowed(name)
            && !DELEGATION_TOOLS.contains(*name)
            && (!is_plan || READ_ONLY_TOOLS.contains(*name))
            && (!background || name.starts_with("mcp__") || ASYNCHRONOUS_TOOLS.contains(*name))
    };
    let tools: Vec<String> = all.iter().filter(fits).map(|name| (*name).to_owned()).collect();
    if tools.is_empty() {
        let reason = why_none(all, role, background, &is_denied, &is_allowed);
        return Err(ToolConfigurationError { role: role.name.clone(), path: role.path.clone(), reason });
    }
    let rules = |entries: &[String]| -> Vec<String> {
        let with_argument = |entry: &&String| Grant::parse(entry).is_some_and(|grant| grant.argument.is_some());
        entries.iter().filter(with_argument).map(|entry| entry.trim().to_owned()).collect()
    };
    let has_tool = |rule: &String| Grant::parse(rule).is_some_and(|grant| tools.iter().any(|tool| grant.covers(tool)));
    let mut allow_rules =
        if role.source == RoleSource::Plugin { Vec::new() } else { rules(role.tools.as_deref().unwrap_or_default()) };
    allow_rules.retain(has_tool);
    Ok(ToolSet { tools, allow_rules, deny_rules: rules(&role.disallowed_tools) })
}

fn why_none(
    all: &[&str],
    role: &Role,
    background: bool,
    is_denied: &dyn Fn(&str) -> bool,
    is_allowed: &dyn Fn(&str) -> bool,
) -> String {
    let Some(entries) = &role.tools else {
        return match role.disallowed_tools.as_slice() {
            [] => "no tool is left for it here".to_owned(),
            denied => format!("`disallowed_tools` ({}) leaves no tool", listed(denied)),
        };
    };
    if entries.is_empty() {
        return "`tools` is an empty list".to_owned();
    }
    let reason = if !all.iter().any(|name| is_allowed(name)) {
        "there are no such tools"
    } else if all.iter().all(|name| !is_allowed(name) || is_denied(name)) {
        "`disallowed_tools` takes all of them away"
    } else if role.permission == Some(PermissionMode::Plan) {
        "none of them is left under `permission: plan`, which only reads"
    } else if background {
        "none of them is left in the background"
    } else {
        "a child can't have them"
    };
    format!("`tools` lists {}, but {reason}", listed(entries))
}

fn listed(entries: &[String]) -> String {
    let mut names: Vec<String> = entries.iter().take(10).map(|entry| shown(entry)).collect();
    if entries.len() > 10 {
        names.push("…".to_owned());
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::parse::{Origin, parse};
    use super::super::samples::TOOLS;
    use super::*;

    const ALL: [&str; 16] = [
        "Read",
        "Write",
        "Edit",
        "Bash",
        "Grep",
        "Glob",
        "TodoWrite",
        "Agent",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "SendMessage",
        "WebFetch",
        "Commit",
        "mcp__db__query",
        "mcp__mail__send",
    ];

    fn role(entries: &str) -> Role {
        let file = format!("---\nname: r\ndescription: d\n{entries}\n---\nB");
        let origin = Origin { source: RoleSource::User, path: "/r.md".to_owned() };
        parse(file.as_bytes(), &origin, &TOOLS).role.unwrap()
    }

    fn tools(entries: &str, background: bool) -> Vec<String> {
        effective_tools(&ALL, &role(entries), background).unwrap().tools
    }

    #[test]
    fn without_lists_everything_but_delegation() {
        let all = tools("", false);
        assert_eq!(all.len(), ALL.len() - 2);
        assert!(!all.iter().any(|tool| tool == "Agent" || tool == "SendMessage"));
        assert_eq!(tools("tools: [Agent, Read]", false), ["Read"]);
    }

    #[test]
    fn denied_ones_go_whatever_tools_says() {
        assert_eq!(tools("tools: [Read, Bash]\ndisallowed_tools: [bash]", false), ["Read"]);
        assert_eq!(tools("tools: [Read, Bash]\ndisallowed_tools: Bash(rm", false), ["Read"]);
        assert!(!tools("disallowed_tools: [mcp__db]", false).contains(&"mcp__db__query".to_owned()));
        assert_eq!(tools("tools: [Read, mcp__mail]", false), ["Read", "mcp__mail__send"]);
    }

    #[test]
    fn entries_with_arguments_become_rules() {
        let set = effective_tools(
            &ALL,
            &role("tools: [Read, Bash(git diff *), Edit(/src/**)]\ndisallowed_tools: [Bash(git push *), Edit]"),
            false,
        )
        .unwrap();
        assert_eq!(set.tools, ["Read", "Bash"]);
        assert_eq!(set.allow_rules, ["Bash(git diff *)"], "no rule for a tool that isn't there");
        assert_eq!(set.deny_rules, ["Bash(git push *)"]);
    }

    #[test]
    fn plan_only_reads_and_the_background_waits_for_nothing() {
        let plan = ["Read", "Grep", "Glob", "TodoWrite", "TaskList", "TaskOutput", "WebFetch"];
        assert_eq!(tools("permission: plan", false), plan);
        let background = tools("", true);
        assert!(background.contains(&"mcp__db__query".to_owned()) && background.contains(&"Bash".to_owned()));
        assert!(!background.iter().any(|tool| tool.starts_with("Task")));
        let both = ["Read", "Grep", "Glob", "TodoWrite", "WebFetch"];
        assert_eq!(tools("permission: plan", true), both);
    }

    #[test]
    fn nothing_left_is_an_error_that_names_the_entries() {
        for (entries, background, words) in [
            ("tools: []", false, "empty list"),
            ("tools: [Telepathy]", false, "`Telepathy`, but there are no such tools"),
            ("tools: [Bash]\ndisallowed_tools: [Bash]", false, "takes all of them away"),
            (
                "tools: [Bash, Write]\npermission: plan",
                false,
                "`Bash`, `Write`, but none of them is left under `permission: plan`",
            ),
            ("tools: [TaskStop]", true, "in the background"),
            ("tools: [Agent]", false, "a child can't have them"),
            ("disallowed_tools: ['*']", false, "`disallowed_tools` (`*`)"),
        ] {
            let error = effective_tools(&ALL, &role(entries), background).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("/r.md"), "{entries}: {error}");
        }
    }
}
