//! Whether a call may run: rules, modes, and what no rule opens.
//!
//! [`decide`] is the one decision for every agent at every depth. Pure: it reads no file, no clock, no setting; what it has
//! to know of the file system it asks [`Paths`]. It never asks anybody and never runs anything: it says what is to be done.
//! The boundary (`boundary`, `sandbox`) is another wall, behind this one.
//!
//! `table.txt` beside this file holds scenario, rules and verdict, one a line, for a reader who wants to audit it.

mod command;
mod command_pattern;
mod danger;
mod explain;
mod harmless;
mod judge;
mod mode;
mod operand;
mod path_pattern;
mod paths;
mod protected;
mod rule;
mod rules;
mod scripts;
mod web;
mod wildcard;
mod wrapper;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use offshoot_protocol::{Access, PermissionMode};
use serde::{Deserialize, Serialize};

use paths::{Places, forms};

pub use explain::{Question, Surroundings, access_of, as_json, batch_line, explanation};
pub use mode::{child_mode, name as mode_name, narrower};
pub use paths::{DiskPaths, Paths, TextualPaths};
pub use rule::{Rule, RuleSource};
pub use rules::{RuleKind, RuleProblem, Rules};

/// What to do with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Run it.
    Allow,
    /// Ask a person.
    Ask,
    /// Refuse it.
    Deny,
}

/// A call that wants to run.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// What it would touch.
    pub access: &'a Access,
    /// Its input as the model wrote it. Only tools that reach the network are judged by it.
    pub input: &'a serde_json::Value,
    /// The agent's directory, absolute; commands start there.
    pub directory: &'a Path,
    /// The home directory, absolute.
    pub home: &'a Path,
    /// The project's main checkout, absolute.
    pub project: &'a Path,
    /// Folders of Offshoot's own settings and roles.
    pub settings: &'a [PathBuf],
    /// Answers about the file system.
    pub paths: &'a dyn Paths,
}

/// The decision on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What to do.
    pub verdict: Verdict,
    /// Why, in words, for the person who is asked and the model that is refused.
    pub reason: String,
    /// The rule that decided, as written.
    pub rule: Option<String>,
    /// For a command: what was decided on each part.
    pub parts: Vec<PartDecision>,
    /// The exact rules that *always allow* would save, one per part that no rule allows. Empty: not to be offered.
    pub suggested_rules: Vec<String>,
}

/// The decision on one part of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartDecision {
    /// The part: a command, or a redirection with its operator.
    pub text: String,
    /// What to do.
    pub verdict: Verdict,
    /// The rule that decided, as written.
    pub rule: Option<String>,
}

/// What was found before the mode has its say.
struct Finding {
    decision: Decision,
    /// A person has to be asked, in `bypass` too.
    never_automatic: bool,
    /// It changes nothing: fine in `plan`.
    reads_only: bool,
}

impl Finding {
    fn new(verdict: Verdict, reason: impl Into<String>, rule: Option<&Rule>) -> Self {
        let reason = reason.into();
        let rule = rule.map(|rule| rule.text.clone());
        let decision = Decision { verdict, reason, rule, parts: Vec::new(), suggested_rules: Vec::new() };
        Self { decision, never_automatic: false, reads_only: false }
    }
}

/// Decides on a call. The first of these that speaks has the last word:
///
/// 1. The boundary: a path that may not be written never gets here (`Tool::access` refuses it).
/// 2. Hooks, whose verdict the caller combines with this one: a hook can tighten, never loosen a denial.
/// 3. **Deny rules**, from whatever source, for any part of a command however it is wrapped: deny.
/// 4. The **never-automatic list** (removing `/`, home or the project; writing version control's own files, start files,
///    settings and roles of agents, CI and editor tasks), and commands of which it can't be told whether a deny rule
///    speaks of them: ask, in every mode but `dont-ask` and `plan`, which refuse them.
/// 5. **Ask rules**: ask.
/// 6. The **mode**: `plan` refuses whatever does more than read; `accept-edits` allows edits in the agent's directory.
/// 7. **Allow rules**. A command runs by rule only if it was understood and every part of it is allowed.
/// 8. What only reads runs without a rule: files that aren't secrets, a short list of commands. So do tools that touch
///    nothing outside the agent, and starting an agent, whose calls are decided on by themselves.
/// 9. **Ask**. In `dont-ask` every *ask* becomes a denial, in `bypass` every *ask* but those of step 4 becomes *allow*.
///
/// Which rule is more specific, or comes first, or from where, makes no difference. Where a deny rule can't be understood,
/// whatever would be allowed is asked about, in `bypass` too: it may have been meant.
pub fn decide(call: &Call<'_>, rules: &Rules, mode: PermissionMode) -> Decision {
    let places = Places::new(call.directory, call.home, call.project, call.paths);
    let finding = match call.access {
        Access::Command { command } => {
            let finding = command::judge(command, call, &places, rules, mode);
            judge::tightened_by_name(finding, call, rules)
        }
        _ => judge::judge(call, &places, rules, mode),
    };
    finish(doubted(finding, call, rules), mode)
}

/// What is allowed is asked about while something that may deny it can't be understood.
fn doubted(finding: Finding, call: &Call<'_>, rules: &Rules) -> Finding {
    // Plans and tasks of the agent's own touch nothing that a rule would protect.
    let is_own = *call.access == Access::Own && !call.tool.starts_with("mcp__") && !call.tool.starts_with("Web");
    match &rules.doubt {
        Some(why) if finding.decision.verdict == Verdict::Allow && !is_own => {
            let parts = finding.decision.parts;
            let reads_only = finding.reads_only;
            let mut doubted = Finding { never_automatic: true, reads_only, ..Finding::new(Verdict::Ask, why, None) };
            doubted.decision.parts = parts;
            doubted
        }
        _ => finding,
    }
}

/// The decision once a hook wants a person to decide: what was allowed is asked about, and refused in `dont-ask`. Nothing
/// is loosened, and no rule is suggested: the hook would ask again.
#[must_use]
pub fn asked_by_hook(mut decision: Decision, mode: PermissionMode, reason: &str) -> Decision {
    match decision.verdict {
        Verdict::Deny => return decision,
        Verdict::Ask => decision.reason = format!("{}; {reason}", decision.reason),
        Verdict::Allow if mode == PermissionMode::DontAsk => {
            decision.verdict = Verdict::Deny;
            decision.reason = format!("nobody is asked in this mode: {reason}");
        }
        Verdict::Allow => {
            decision.verdict = Verdict::Ask;
            reason.clone_into(&mut decision.reason);
        }
    }
    decision.suggested_rules.clear();
    decision
}

/// Whether a deny rule forbids reading `path` (absolute), or it is a secret that has to be asked for: tools that read
/// many files leave it out.
pub fn is_read_denied(path: &Path, call: &Call<'_>, rules: &Rules) -> bool {
    let places = Places::new(call.directory, call.home, call.project, call.paths);
    is_read_denied_in(path, call.tool, call.paths, &places, rules)
}

/// A filter for a tool that reads many files: like [`is_read_denied`], with what doesn't change looked up once. Paths are
/// looked up on the disk.
pub fn read_filter(
    tool: &str,
    directory: &Path,
    home: &Path,
    project: &Path,
    rules: Rules,
) -> impl Fn(&Path) -> bool + Send + Sync + use<> {
    let (tool, places) = (tool.to_owned(), Places::new(directory, home, project, &DiskPaths));
    move |path| is_read_denied_in(path, &tool, &DiskPaths, &places, &rules)
}

fn is_read_denied_in(path: &Path, tool: &str, paths: &dyn Paths, places: &Places, rules: &Rules) -> bool {
    let forms = forms(path, paths);
    let family = rule::Family::Read;
    rules.deny.path_any(tool, &family, &forms, places).is_some()
        || protected::secret(&forms).is_some() && rules.allow.path_named(tool, &family, &forms, places).is_none()
}

fn finish(finding: Finding, mode: PermissionMode) -> Decision {
    let Finding { mut decision, never_automatic, reads_only } = finding;
    match mode {
        PermissionMode::Plan if !reads_only && decision.verdict != Verdict::Deny => {
            decision.reason = format!("plan mode only reads, and this may do more ({})", decision.reason);
            decision.verdict = Verdict::Deny;
        }
        PermissionMode::DontAsk if decision.verdict == Verdict::Ask => {
            decision.reason = format!("nobody is asked in this mode: {}", decision.reason);
            decision.verdict = Verdict::Deny;
        }
        PermissionMode::Bypass if decision.verdict == Verdict::Ask && !never_automatic => {
            decision.reason = format!("this mode allows what would be asked: {}", decision.reason);
            decision.verdict = Verdict::Allow;
        }
        _ => {}
    }
    if decision.verdict != Verdict::Ask || never_automatic {
        decision.suggested_rules.clear();
    }
    decision
}
