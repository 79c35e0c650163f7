//! The decision on commands.

use std::path::PathBuf;

use offshoot_protocol::PermissionMode;

use crate::shell::{self, Everything, Piece, RedirectionKind, SimpleCommand, Variables, Word};

use super::command_pattern::exact_pattern;
use super::danger::dangers;
use super::harmless::harmless;
use super::judge::{PathCall, by_rule, path_finding};
use super::operand::{self, Target};
use super::paths::{Places, forms};
use super::rule::{Family, Matcher, Rule};
use super::rules::Rules;
use super::wildcard::Token;
use super::{Call, Finding, PartDecision, Verdict, protected, wrapper};

/// Folders that a command may change to and that paths are tried in.
const MAX_FOLDERS: usize = 8;
/// Blanks in a row from which on a reader may miss what comes behind them.
const MAX_BLANKS: usize = 8;

mod objection;

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
    let mut everything = shell::everything(text, &known);
    let (folders, anywhere) = folders(&everything.commands, call);
    if folders.len() > 1 || anywhere {
        // `$PWD` may be any of them: for what forbids it is each, for what allows it isn't known.
        for folder in &folders {
            known.add("PWD", Word::literal_of(folder.to_string_lossy()));
        }
        everything = shell::everything(text, &known);
        known = Variables::default();
        known.add("HOME", Word { pieces: vec![Piece::Home] });
    }
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
            (_, Some(rule)) => {
                return self.checked(argv, Finding::new(Verdict::Allow, by_rule("allows", rule), Some(rule)));
            }
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
