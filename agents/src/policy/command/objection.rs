//! What rules and the never-automatic list have against anything that a command could start or touch.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::shell::{Everything, SimpleCommand};

use super::super::command_pattern::Hit;
use super::super::operand::{self, Target, Touch};
use super::super::paths::forms;
use super::super::protected;
use super::super::rule::{Family, Rule};
use super::super::rules::RuleSet;
use super::super::wildcard::Token;
use super::{Judge, is_device};

/// Paths of one command that are compared with rules; with more, a person looks at it.
const MAX_PATHS: usize = 600;

/// What forbids or asks.
#[derive(Default)]
pub(super) struct Objection<'a> {
    /// A rule that surely speaks of a command or path.
    pub(super) rule: Option<&'a Rule>,
    /// Why it can't be told whether one does.
    pub(super) unclear: Option<String>,
}

impl<'a> Judge<'a> {
    /// What `rules`, which deny or ask, have against anything that could be started.
    pub(super) fn objection(&self, rules: &'a RuleSet, everything: &Everything) -> Objection<'a> {
        let mut out = Objection { rule: rules.tool(self.call.tool, Some(&Family::Bash)), unclear: None };
        let mut seen = HashSet::new();
        for command in &everything.commands {
            if out.rule.is_some() {
                return out;
            }
            if rules.has_commands() && seen.insert(&command.argv) {
                let (hit, rule) = rules.command(&command.argv);
                match (hit, rule) {
                    (Hit::Yes, rule) => out.rule = rule,
                    (Hit::Maybe, Some(rule)) => {
                        out.unclear.get_or_insert_with(|| unclear(&rule.text));
                    }
                    _ => {}
                }
            }
        }
        if out.rule.is_none() {
            let by_path = self.path_objection(rules, everything);
            out.rule = by_path.rule;
            out.unclear = out.unclear.or(by_path.unclear);
        }
        if !everything.complete && rules.has_commands() {
            out.unclear.get_or_insert_with(|| {
                "it can't be told what all it would start, and rules forbid some commands".to_owned()
            });
        }
        out
    }

    fn path_objection(&self, rules: &'a RuleSet, everything: &Everything) -> Objection<'a> {
        let mut out = Objection::default();
        let mut seen = HashSet::new();
        let moved = |command: &SimpleCommand| {
            command
                .assignments
                .iter()
                .any(|assignment| matches!(assignment.name.as_str(), "HOME" | "PWD" | "OLDPWD" | "CDPATH"))
        };
        let about_paths = [Family::Read, Family::Edit].iter().any(|family| rules.has_paths(family));
        if about_paths && everything.commands.iter().any(moved) {
            out.unclear = Some("it changes what `~` or relative paths mean, and rules forbid some paths".to_owned());
        }
        for family in [Family::Read, Family::Edit] {
            let whole = rules.tool("", Some(&family));
            if !rules.has_paths(&family) && whole.is_none() {
                continue;
            }
            for (touch, target) in everything.commands.iter().flat_map(operand::targets) {
                let own = if touch == Touch::Read { family == Family::Read } else { family == Family::Edit };
                if !own || is_device(&target) || !seen.insert(format!("{touch:?}{target:?}")) {
                    continue;
                }
                if seen.len() > MAX_PATHS {
                    out.unclear = Some("it names too many paths to compare with the rules that forbid some".to_owned());
                    return out;
                }
                let found = self.path_rule(rules, &family, &target);
                if found.is_some() {
                    out.rule = found;
                    return out;
                }
            }
        }
        out
    }

    fn path_rule(&self, rules: &'a RuleSet, family: &Family, target: &Target) -> Option<&'a Rule> {
        self.folders.iter().find_map(|folder| match target {
            Target::Path(path) => {
                let forms = forms(&operand::absolute(path, folder, self.call.home), self.call.paths);
                rules.path_any("", family, &forms, self.places)
            }
            Target::Glob(glob) => {
                let parts = operand::glob_components(glob, folder, self.call.home)?;
                // A wildcard in front doesn't match hidden names.
                let hidden = |rule: &&Rule| !starts_open(&parts) || !names_hidden(rule);
                rules.path_overlap(family, &parts, self.places).filter(hidden)
            }
            Target::Unknown => None,
        })
    }

    /// Why no mode and no rule lets this run unasked.
    pub(super) fn never_automatic(&self, everything: &Everything) -> Option<String> {
        let mut seen = HashSet::new();
        for command in &everything.commands {
            if operand::removes_unknown(command) {
                return Some("it removes a folder whose name isn't known before it runs".to_owned());
            }
            for (touch, target) in operand::targets(command) {
                if touch == Touch::Read || is_device(&target) || !seen.insert(format!("{touch:?}{target:?}")) {
                    continue;
                }
                if seen.len() > MAX_PATHS {
                    return Some("it changes too many paths to look at each".to_owned());
                }
                if let Some(why) = self.protected(touch, &target) {
                    return Some(why);
                }
            }
        }
        None
    }

    fn protected(&self, touch: Touch, target: &Target) -> Option<String> {
        let Target::Path(path) = target else { return self.protected_glob(touch, target) };
        self.folders.iter().find_map(|folder| {
            let path = operand::absolute(path, folder, self.call.home);
            let forms = forms(&path, self.call.paths);
            let why = match touch {
                Touch::Remove => protected::never_removed(&forms, self.places),
                _ => protected::never_written(&forms, self.places, self.call.settings),
            };
            why.map(|why| format!("{} is never changed automatically: {why}", path.display()))
        })
    }

    fn protected_glob(&self, touch: Touch, target: &Target) -> Option<String> {
        let Target::Glob(glob) = target else { return None };
        self.folders.iter().find_map(|folder| {
            let parts = operand::glob_components(glob, folder, self.call.home)?;
            let literal: PathBuf = parts
                .iter()
                .take_while(|part| part.iter().all(|token| matches!(token, Token::Char(_))))
                .map(|part| {
                    part.iter().map(|token| if let Token::Char(c) = token { *c } else { '?' }).collect::<String>()
                })
                .collect();
            let above = Path::new("/").join(literal);
            let forms = forms(&above, self.call.paths);
            let bare =
                parts.last().is_some_and(|part| part.iter().all(|token| !matches!(token, Token::Char(c) if *c != '.')));
            let why = match touch {
                // Everything in the project is the project.
                Touch::Remove if bare => protected::never_removed(&forms, self.places),
                Touch::Remove => None,
                _ => protected::never_written(&forms, self.places, self.call.settings),
            };
            why.map(|why| format!("what is in {} is never changed automatically: {why}", above.display()))
        })
    }
}

fn unclear(rule: &str) -> String {
    format!("it can't be told before it runs whether the rule `{rule}` forbids it")
}

/// Whether the last component of a glob begins with a wildcard.
fn starts_open(parts: &[Vec<Token>]) -> bool {
    parts.last().and_then(|part| part.first()).is_some_and(|token| !matches!(token, Token::Char(_)))
}

/// Whether a rule names a hidden file.
fn names_hidden(rule: &Rule) -> bool {
    let spec = rule.text.split_once('(').map_or("", |(_, spec)| spec);
    spec.trim_end_matches(')').rsplit('/').next().is_some_and(|name| name.starts_with('.'))
}
