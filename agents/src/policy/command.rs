//! The decision on commands.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use offshoot_protocol::PermissionMode;

use crate::shell::{self, Everything, Piece, RedirectionKind, SimpleCommand, Variables, Word};

use super::command_pattern::{Hit, exact_pattern};
use super::danger::dangers;
use super::harmless::harmless;
use super::judge::{PathCall, by_rule, path_finding};
use super::operand::{self, Target, Touch};
use super::paths::{Places, forms};
use super::rule::{Family, Matcher, Rule};
use super::rules::{RuleSet, Rules};
use super::wildcard::Token;
use super::{Call, Finding, PartDecision, Verdict, protected, wrapper};

/// Paths of one command that are compared with rules; with more, a person looks at it.
const MAX_PATHS: usize = 600;
/// Folders that a command may change to and that paths are tried in.
const MAX_FOLDERS: usize = 8;
/// Blanks in a row from which on a reader may miss what comes behind them.
const MAX_BLANKS: usize = 8;

struct Judge<'a> {
    call: &'a Call<'a>,
    places: &'a Places,
    rules: &'a Rules,
    mode: PermissionMode,
    /// The folders that a part may run in.
    folders: Vec<PathBuf>,
    /// Whether it may also run in one that isn't known.
    anywhere: bool,
    known: Variables,
}

/// What forbids or asks.
#[derive(Default)]
struct Objection<'a> {
    /// A rule that surely speaks of a command or path.
    rule: Option<&'a Rule>,
    /// Why it can't be told whether one does.
    unclear: Option<String>,
}

/// Steps 3 to 8 of [`super::decide`] for a command line.
pub(super) fn judge(text: &str, call: &Call<'_>, places: &Places, rules: &Rules, mode: PermissionMode) -> Finding {
    if text.len() >= shell::MAX_COMMAND {
        let reason =
            format!("a command of {} bytes is too long to be run; the limit is {}", text.len(), shell::MAX_COMMAND);
        return Finding::new(Verdict::Deny, reason, None);
    }
    let mut known = Variables::default();
    known.add("HOME", Word { pieces: vec![Piece::Home] });
    known.add("PWD", Word::literal_of(call.directory.to_string_lossy()));
    let everything = shell::everything(text, &known);
    let (folders, anywhere) = folders(&everything.commands, call);
    let judge = Judge { call, places, rules, mode, folders, anywhere, known };
    judge.decide(text, &everything)
}

/// The agent's directory and those to which the command changes.
fn folders(commands: &[SimpleCommand], call: &Call<'_>) -> (Vec<PathBuf>, bool) {
    let mut folders = vec![call.directory.to_path_buf()];
    let mut anywhere = false;
    let mut changes = operand::changed_folders(commands);
    changes.dedup();
    for change in changes {
        let Some(change) = change else {
            anywhere = true;
            continue;
        };
        for base in folders.clone() {
            let folder = super::paths::normalised(&operand::absolute(&change, &base, call.home));
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        if folders.len() > MAX_FOLDERS {
            folders.truncate(MAX_FOLDERS);
            return (folders, true);
        }
    }
    (folders, anywhere)
}

impl<'a> Judge<'a> {
    fn decide(&self, text: &str, everything: &Everything) -> Finding {
        let parsed = shell::parse(text);
        let parts = parsed.as_ref().map(|parsed| parsed.parts.as_slice()).unwrap_or_default();
        let denied = self.objection(&self.rules.deny, everything);
        if let Some(rule) = denied.rule {
            let mut finding = Finding::new(Verdict::Deny, by_rule("forbids", rule), Some(rule));
            finding.decision.parts = parts.iter().map(|part| self.denied_part(part)).collect();
            return finding;
        }
        let never = self.never_automatic(everything).or(denied.unclear);
        if let Some(reason) = never {
            let part =
                |part: &SimpleCommand| PartDecision { text: part.text.clone(), verdict: Verdict::Ask, rule: None };
            let mut finding = Finding { never_automatic: true, ..Finding::new(Verdict::Ask, reason, None) };
            finding.decision.parts = parts.iter().map(part).collect();
            return finding;
        }
        let asked = self.objection(&self.rules.ask, everything);
        let mut finding = match &parsed {
            Ok(parsed) => self.parts(&parsed.parts),
            Err(why) => Finding::new(Verdict::Ask, format!("the command isn't understood with certainty: {why}"), None),
        };
        if !is_plainly_visible(text) {
            finding.decision.suggested_rules.clear();
        }
        if let Some(rule) = asked.rule {
            let reads_only = finding.reads_only;
            let parts = finding.decision.parts;
            finding = Finding { reads_only, ..Finding::new(Verdict::Ask, by_rule("asks for", rule), Some(rule)) };
            finding.decision.parts = parts;
        } else if let (Some(reason), Verdict::Allow) = (asked.unclear, finding.decision.verdict) {
            finding.decision.verdict = Verdict::Ask;
            finding.decision.reason = reason;
        }
        finding
    }

    fn denied_part(&self, part: &SimpleCommand) -> PartDecision {
        let reachable = shell::everything(&part.text, &self.known);
        let rule = self.objection(&self.rules.deny, &reachable).rule.map(|rule| rule.text.clone());
        let verdict = if rule.is_some() { Verdict::Deny } else { Verdict::Allow };
        PartDecision { text: part.text.clone(), verdict, rule }
    }

    /// What `rules`, which deny or ask, have against anything that could be started.
    fn objection(&self, rules: &'a RuleSet, everything: &Everything) -> Objection<'a> {
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
        for family in [Family::Read, Family::Edit] {
            let whole = rules.tool("", Some(&family));
            if !rules.has_paths(&family) && whole.is_none() {
                continue;
            }
            for (touch, target) in everything.commands.iter().flat_map(operand::targets) {
                let own = if touch == Touch::Read { &family == &Family::Read } else { family == Family::Edit };
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
    fn never_automatic(&self, everything: &Everything) -> Option<String> {
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

    /// Every part on its own. The whole is as good as its worst part.
    fn parts(&self, parts: &[SimpleCommand]) -> Finding {
        let mut out = Finding { reads_only: true, ..Finding::new(Verdict::Allow, "every part only reads", None) };
        let mut can_suggest = true;
        for part in parts {
            let mut assigned = None;
            let alone = part.argv.is_empty();
            for assignment in &part.assignments {
                let fine = if alone {
                    wrapper::is_local_variable(&assignment.name)
                } else {
                    wrapper::is_harmless_variable(&assignment.name)
                };
                if !fine {
                    assigned = Some(format!("`{}` can change what commands do", assignment.name));
                }
            }
            if let Some(reason) = assigned {
                can_suggest = false;
                let finding = Finding::new(Verdict::Ask, format!("`{}`: {reason}", part.text), None);
                merge(&mut out, &part.text, finding);
            } else if !alone {
                let finding = self.command(part, 0);
                can_suggest &= finding.decision.verdict != Verdict::Ask || !finding.decision.suggested_rules.is_empty();
                merge(&mut out, &part.text, finding);
            } else if part.redirections.is_empty() {
                merge(
                    &mut out,
                    &part.text,
                    Finding { reads_only: true, ..Finding::new(Verdict::Allow, "an assignment", None) },
                );
            }
            for (sign, finding) in self.redirections(part) {
                can_suggest &= finding.decision.verdict != Verdict::Ask || !finding.decision.suggested_rules.is_empty();
                merge(&mut out, &sign, finding);
            }
        }
        if !can_suggest {
            out.decision.suggested_rules.clear();
        }
        out
    }

    fn redirections(&self, part: &SimpleCommand) -> Vec<(String, Finding)> {
        let everything = self.rule_for_everything();
        let mut out = Vec::new();
        for redirection in &part.redirections {
            let expanded = self
                .known
                .expand(&SimpleCommand { argv: vec![redirection.target.clone()], ..SimpleCommand::default() });
            let target = expanded.first().and_then(|command| operand::target(command.argv.first()?));
            let reads = redirection.kind == RedirectionKind::Read;
            let sign = if reads { "<" } else { ">" };
            let text = match &target {
                Some(Target::Path(path)) => format!("{sign} {path}"),
                _ => format!("{sign} …"),
            };
            if target.as_ref().is_some_and(is_device) {
                continue;
            }
            let family = if reads { Family::Read } else { Family::Edit };
            let finding = match (&target, everything) {
                (_, Some(rule)) if !reads => Finding::new(Verdict::Allow, by_rule("allows", rule), Some(rule)),
                (Some(Target::Path(path)), _) if !self.anywhere || is_absolute(path) => self.worst(&family, path),
                _ => Finding::new(Verdict::Ask, format!("`{text}` names a file that isn't known before it runs"), None),
            };
            out.push((text, finding));
        }
        out
    }

    /// The decision on a path in the folder for which it is strictest.
    fn worst(&self, family: &Family, path: &str) -> Finding {
        let with = PathCall { call: self.call, places: self.places, rules: self.rules, mode: self.mode };
        let decide = |folder: &PathBuf| path_finding(&with, family, &operand::absolute(path, folder, self.call.home));
        let all = self.folders.iter().map(decide);
        all.max_by_key(|finding| finding.decision.verdict).expect("there is always the agent's directory")
    }

    fn rule_for_everything(&self) -> Option<&'a Rule> {
        let whole = |rule: &&Rule| matches!(&rule.matcher, Matcher::Command(pattern) if pattern.is_everything());
        let allow = &self.rules.allow;
        allow.tool(self.call.tool, Some(&Family::Bash)).or_else(|| allow.command_rules(Some("")).find(whole))
    }

    fn command(&self, part: &SimpleCommand, depth: usize) -> Finding {
        let argv = &part.argv;
        let everything = self.rule_for_everything();
        match (self.by_itself(argv), everything) {
            (Some(finding), None) => return finding,
            (Some(finding), Some(_)) if finding.decision.verdict == Verdict::Allow => return finding,
            (_, Some(rule)) => return Finding::new(Verdict::Allow, by_rule("allows", rule), Some(rule)),
            (None, None) => {}
        }
        let elsewhere = self.anywhere || self.folders.len() > 1;
        let dangers = dangers(argv, elsewhere);
        let mut missed = None;
        for rule in self.rules.allow.command_rules(argv.first().and_then(Word::literal)) {
            let Matcher::Command(pattern) = &rule.matcher else { continue };
            if !pattern.covers(argv) {
                continue;
            }
            match dangers.iter().find(|danger| danger.at >= pattern.spelled_words()) {
                None => return self.checked(argv, Finding::new(Verdict::Allow, by_rule("allows", rule), Some(rule))),
                Some(danger) => missed = missed.or(Some((rule, danger))),
            }
        }
        if let Some(inner) = wrapper::inner(argv).filter(|inner| inner.same && depth < wrapper::MAX_DEPTH) {
            let inner = self.command(&SimpleCommand { argv: inner.argv, ..part.clone() }, depth + 1);
            if inner.decision.verdict == Verdict::Allow {
                return inner;
            }
        }
        let reason = match missed {
            Some((rule, danger)) => {
                let word = argv.get(danger.at).and_then(Word::literal).unwrap_or("…");
                format!("`{}`: the rule `{}` doesn't cover `{word}`: {}", part.text, rule.text, danger.why)
            }
            None => format!("no rule allows `{}`", part.text),
        };
        let mut finding = Finding::new(Verdict::Ask, reason, None);
        let savable = dangers.iter().all(|danger| danger.at != usize::MAX);
        finding
            .decision
            .suggested_rules
            .extend(exact_pattern(argv).filter(|_| savable).map(|exact| format!("Bash({exact})")));
        finding
    }

    /// A rule allows the command; what it may read or change must not be forbidden in ways that can't be seen from it.
    fn checked(&self, argv: &[Word], finding: Finding) -> Finding {
        let rules = &self.rules.deny;
        let hides = |family: &Family| rules.has_paths(family);
        let opaque = argv[1..].iter().any(|word| !word.is_known()) && (hides(&Family::Read) || hides(&Family::Edit));
        let recursive = hides(&Family::Read) && harmless(argv).is_some_and(|harmless| harmless.recursive);
        if opaque || recursive {
            return Finding::new(Verdict::Ask, "it may touch files that a rule forbids", None);
        }
        finding
    }

    /// What runs without a rule: commands that only read, and only what may be read.
    fn by_itself(&self, argv: &[Word]) -> Option<Finding> {
        let allowed = |reason: &str| Finding { reads_only: true, ..Finding::new(Verdict::Allow, reason, None) };
        if matches!(argv.first()?.literal(), Some("cd")) {
            let inside = |folder: &PathBuf| {
                forms(folder, self.call.paths)
                    .iter()
                    .all(|form| self.places.roots.iter().any(|root| form.below(root).is_some()))
            };
            let fine = argv.len() == 2 && !self.anywhere && self.folders.iter().all(inside);
            return fine.then(|| allowed("changing to a folder of the project needs no rule"));
        }
        let expanded = self.known.expand(&SimpleCommand { argv: argv.to_vec(), ..SimpleCommand::default() });
        let harmless = harmless(&expanded.first()?.argv)?;
        let git_elsewhere = argv[0].literal() == Some("git") && (self.anywhere || self.folders.len() > 1);
        if git_elsewhere || harmless.recursive && self.rules.deny.has_paths(&Family::Read) {
            return None;
        }
        for word in &harmless.reads {
            match operand::target(word)? {
                Target::Path(path) => {
                    // `git show HEAD:.env` names a file behind the colon.
                    for path in
                        [Some(path.as_str()), path.split_once(':').map(|(_, behind)| behind)].into_iter().flatten()
                    {
                        if self.anywhere && !is_absolute(path) {
                            return None;
                        }
                        let finding = self.worst(&Family::Read, path);
                        if finding.decision.verdict != Verdict::Allow {
                            return Some(finding);
                        }
                    }
                }
                Target::Glob(glob) => {
                    let open = glob.iter().rposition(|token| !matches!(token, Token::Char(_))).map_or(0, |at| at + 1);
                    let end: String =
                        glob[open..].iter().map(|token| if let Token::Char(c) = token { *c } else { '?' }).collect();
                    if protected::may_be_secret(&end)
                        || end.contains('/') && glob.contains(&Token::Any) && self.anywhere
                    {
                        return None;
                    }
                }
                Target::Unknown => return None,
            }
        }
        Some(allowed("it only reads"))
    }
}

/// Adds the decision on a part to the whole.
fn merge(whole: &mut Finding, text: &str, part: Finding) {
    let Finding { decision, never_automatic, reads_only } = part;
    whole.never_automatic |= never_automatic;
    whole.reads_only &= reads_only;
    let rule = decision.rule.clone();
    whole.decision.parts.push(PartDecision { text: text.to_owned(), verdict: decision.verdict, rule });
    for suggested in decision.suggested_rules {
        if !whole.decision.suggested_rules.contains(&suggested) {
            whole.decision.suggested_rules.push(suggested);
        }
    }
    let first_rule = decision.verdict == whole.decision.verdict
        && whole.decision.rule.is_none()
        && decision.verdict == Verdict::Allow;
    if decision.verdict > whole.decision.verdict || first_rule {
        whole.decision.verdict = decision.verdict;
        whole.decision.reason = decision.reason;
        whole.decision.rule = decision.rule;
    }
}

fn unclear(rule: &str) -> String {
    format!("it can't be told before it runs whether the rule `{rule}` forbids it")
}

/// Whether a reader sees all of it at a glance, so that a rule made from it can be offered.
fn is_plainly_visible(text: &str) -> bool {
    !text.trim_end_matches('\n').contains('\n')
        && !text.contains(&" ".repeat(MAX_BLANKS))
        && shell::odd_character(text).is_none()
}

/// Devices that swallow or repeat what is written to them.
fn is_device(target: &Target) -> bool {
    const DEVICES: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero"];
    matches!(target, Target::Path(path) if DEVICES.contains(&path.as_str()))
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path == "~" || path.starts_with("~/")
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
