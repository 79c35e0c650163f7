//! The decision on calls that aren't commands.

use std::path::Path;

use offshoot_protocol::{Access, PermissionMode};

use super::paths::{Places, forms};
use super::rule::{Family, Rule};
use super::rules::{Rules, family_of};
use super::{Call, Finding, Verdict, protected, web};

/// Steps 3 to 8 of [`super::decide`] for a call that isn't a command.
pub(super) fn judge(call: &Call<'_>, places: &Places, rules: &Rules, mode: PermissionMode) -> Finding {
    match call.access {
        Access::Read { path } => path_finding(&PathCall { call, places, rules, mode }, &Family::Read, Path::new(path)),
        Access::Edit { path, .. } => {
            path_finding(&PathCall { call, places, rules, mode }, &Family::Edit, Path::new(path))
        }
        Access::Delegate { role } => named(call, rules, |set| set.agent(role), &format!("Agent({role})"), true),
        Access::Own | Access::Command { .. } if call.tool == "WebFetch" => fetch(call, rules),
        Access::Own | Access::Command { .. } => {
            let outside = call.tool.starts_with("mcp__") || call.tool == "WebSearch";
            let mut finding = named(call, rules, |_| None, call.tool, !outside);
            // A commit in the agent's own worktree is free; one elsewhere is judged as the command that it stands for.
            finding.reads_only &= !call.tool.starts_with("mcp__") && call.tool != "Commit";
            finding
        }
    }
}

/// What stands for a command without being one is also judged by rules that name its tool: they tighten.
pub(super) fn tightened_by_name(finding: Finding, call: &Call<'_>, rules: &Rules) -> Finding {
    if call.tool == "Bash" {
        return finding;
    }
    let by_name = named(call, rules, |_| None, call.tool, true);
    let is_tighter = by_name.decision.rule.is_some() && by_name.decision.verdict > finding.decision.verdict;
    if is_tighter { Finding { reads_only: finding.reads_only, ..by_name } } else { finding }
}

/// A path and what it is judged by.
pub(super) struct PathCall<'a> {
    pub(super) call: &'a Call<'a>,
    pub(super) places: &'a Places,
    pub(super) rules: &'a Rules,
    pub(super) mode: PermissionMode,
}

/// The decision on touching one path, for tools and for what commands read and write.
pub(super) fn path_finding(with: &PathCall<'_>, family: &Family, path: &Path) -> Finding {
    let PathCall { call, places, rules, mode } = *with;
    let forms = forms(path, call.paths);
    let reads = *family == Family::Read;
    let shown = path.display();
    let finding = if let Some(rule) = rules.deny.path_any(call.tool, family, &forms, places) {
        Finding::new(Verdict::Deny, by_rule("forbids", rule), Some(rule))
    } else if let Some(why) = (!reads).then(|| protected::never_written(&forms, places, call.settings)).flatten() {
        Finding {
            never_automatic: true,
            ..Finding::new(Verdict::Ask, format!("{shown} is never written automatically: {why}"), None)
        }
    } else if let Some(rule) = rules.ask.path_any(call.tool, family, &forms, places) {
        Finding::new(Verdict::Ask, by_rule("asks for", rule), Some(rule))
    } else if let Some(what) = reads.then(|| protected::secret(&forms)).flatten() {
        match rules.allow.path_named(call.tool, family, &forms, places) {
            Some(rule) => Finding::new(Verdict::Allow, by_rule("allows", rule), Some(rule)),
            None => Finding::new(Verdict::Ask, format!("{shown} looks like {what}"), None),
        }
    } else if let Some(rule) = rules.allow.path_all(call.tool, family, &forms, places) {
        Finding::new(Verdict::Allow, by_rule("allows", rule), Some(rule))
    } else if reads {
        Finding::new(Verdict::Allow, "reading needs no rule", None)
    } else if mode == PermissionMode::AcceptEdits && inside(&forms, &places.directory) {
        Finding::new(Verdict::Allow, "edits in the agent's directory are accepted", None)
    } else {
        let mut finding = Finding::new(Verdict::Ask, format!("no rule allows changing {shown}"), None);
        finding.decision.suggested_rules.extend(suggested_path(family, path, call));
        finding
    };
    let mut finding = Finding { reads_only: reads, ..finding };
    if reads && finding.decision.verdict == Verdict::Ask && finding.decision.rule.is_none() {
        finding.decision.suggested_rules.extend(suggested_path(family, path, call));
    }
    finding
}

fn inside(forms: &[super::paths::Form], folders: &[Vec<String>]) -> bool {
    forms.iter().all(|form| folders.iter().any(|folder| form.below(folder).is_some_and(|below| !below.is_empty())))
}

/// The rule for exactly this path, unless it has characters that a reader might not see.
fn suggested_path(family: &Family, path: &Path, call: &Call<'_>) -> Option<String> {
    let tool = if *family == Family::Read { "Read" } else { "Edit" };
    let path = super::paths::normalised(path);
    let text = path.to_str().filter(|text| crate::shell::odd_character(text).is_none() && !text.contains('\n'))?;
    if text.split('/').any(|part| part.starts_with(' ') || part.ends_with(' ')) {
        return None;
    }
    let below = [call.directory, call.project].into_iter().find_map(|root| path.strip_prefix(root).ok()?.to_str());
    let spelled = match below {
        Some(below) if !below.is_empty() => format!("/{below}"),
        _ => format!("/{text}"),
    };
    let escaped = spelled.replace('\\', "\\\\").replace('*', "\\*").replace('?', "\\?");
    Some(format!("{tool}({escaped})"))
}

/// A call that a rule names by its tool, or by `find`.
fn named<'r>(
    call: &Call<'_>,
    rules: &'r Rules,
    find: impl Fn(&'r super::rules::RuleSet) -> Option<&'r Rule>,
    suggestion: &str,
    free: bool,
) -> Finding {
    let family = family_of(call.access);
    let look = |set: &'r super::rules::RuleSet| find(set).or_else(|| set.tool(call.tool, family.as_ref()));
    let finding = if let Some(rule) = look(&rules.deny) {
        Finding::new(Verdict::Deny, by_rule("forbids", rule), Some(rule))
    } else if let Some(rule) = look(&rules.ask) {
        Finding::new(Verdict::Ask, by_rule("asks for", rule), Some(rule))
    } else if let Some(rule) = look(&rules.allow) {
        Finding::new(Verdict::Allow, by_rule("allows", rule), Some(rule))
    } else if free {
        Finding::new(Verdict::Allow, "it touches nothing that needs a rule", None)
    } else {
        let mut finding = Finding::new(Verdict::Ask, format!("no rule allows {}", call.tool), None);
        finding.decision.suggested_rules.push(suggestion.to_owned());
        finding
    };
    Finding { reads_only: true, ..finding }
}

fn fetch(call: &Call<'_>, rules: &Rules) -> Finding {
    let address = call.input.get("url").and_then(serde_json::Value::as_str).unwrap_or_default();
    match web::host(address) {
        Ok(host) => named(call, rules, |set| set.host(&host), &format!("WebFetch(domain:{host})"), false),
        Err(why) => {
            let unclear = rules.deny.has_hosts() || rules.deny.tool(call.tool, None).is_some();
            let verdict = if unclear { Verdict::Deny } else { Verdict::Ask };
            let reason = format!("{address:?} isn't fetched by rule: {why}");
            Finding { reads_only: true, never_automatic: unclear, ..Finding::new(verdict, reason, None) }
        }
    }
}

/// `the rule Bash(ls *) (user settings) allows it`
pub(super) fn by_rule(verb: &str, rule: &Rule) -> String {
    format!("the rule `{}` ({}) {verb} it", rule.text, rule.source)
}
