//! Rules and modes, pure.

use std::path::Path;

use offshoot_protocol::{Access, PermissionMode};
use serde_json::Value;

/// A call to be decided.
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// What it would do.
    pub access: &'a Access,
    /// Its input.
    pub input: &'a Value,
    /// The agent's directory.
    pub directory: &'a Path,
}

/// What was decided.
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// Rules to save.
    pub suggested_rules: Vec<String>,
}

/// Whether a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes.
    Allow,
    /// A person decides.
    Ask,
    /// No.
    Deny,
}

/// What a rule does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RuleKind {
    /// Allows.
    Allow,
    /// Denies.
    Deny,
}

/// Where it comes from.
#[derive(Clone, Copy)]
pub enum RuleSource {
    /// A role.
    Role,
    /// The session.
    Session,
}

/// Rules.
#[derive(Clone, Default)]
pub struct Rules {
    allow: Vec<String>,
}

impl Rules {
    /// Adds.
    pub fn add<T: AsRef<str>>(&mut self, kind: RuleKind, _source: RuleSource, rules: impl IntoIterator<Item = T>) {
        if kind == RuleKind::Allow {
            self.allow.extend(rules.into_iter().map(|rule| rule.as_ref().to_owned()));
        }
    }
}

/// Decides.
pub fn decide(call: &Call<'_>, rules: &Rules, mode: PermissionMode) -> Decision {
    let rule = match call.access {
        Access::Command { command } => format!("Bash({command})"),
        _ => call.tool.to_owned(),
    };
    let verdict = match (call.access, mode) {
        (Access::Read { .. } | Access::Own | Access::Delegate { .. }, _) | (_, PermissionMode::Bypass) => {
            Verdict::Allow
        }
        (_, PermissionMode::Plan) => Verdict::Deny,
        (Access::Edit { .. }, PermissionMode::AcceptEdits) => Verdict::Allow,
        _ if rules.allow.contains(&rule) => Verdict::Allow,
        (_, PermissionMode::DontAsk) => Verdict::Deny,
        _ => Verdict::Ask,
    };
    Decision { verdict, reason: "no rule covers it".to_owned(), suggested_rules: vec![rule] }
}

/// The narrower of two modes.
pub fn narrower(parent: PermissionMode, child: PermissionMode) -> PermissionMode {
    let _ = child;
    parent
}
