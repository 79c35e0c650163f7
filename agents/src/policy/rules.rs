//! The rules that hold for an agent.

use std::collections::HashMap;

use offshoot_protocol::Access;

use crate::shell::{Piece, Word};

use super::command_pattern::Hit;
use super::paths::{Form, Places};
use super::rule::{Family, Matcher, Rule, RuleSource};
use super::wildcard::{self, Token};

/// What a rule does with the calls it speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// They run.
    Allow,
    /// A person is asked, also where they would run otherwise.
    Ask,
    /// They don't run.
    Deny,
}

/// Something to tell about a rule that was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleProblem {
    /// The rule as written.
    pub rule: String,
    /// What it was to do.
    pub kind: RuleKind,
    /// Where it stands.
    pub source: RuleSource,
    /// What is wrong with it.
    pub message: String,
    /// Whether it was left out. The others hold in any case.
    pub left_out: bool,
}

impl std::fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            RuleKind::Allow => "allow",
            RuleKind::Ask => "ask",
            RuleKind::Deny => "deny",
        };
        let end = match (self.left_out, self.kind) {
            (false, _) => "",
            (true, RuleKind::Deny) => ". Until it is corrected, every call is asked about",
            (true, _) => ". The rule was left out, the others hold",
        };
        write!(f, "{}: {kind} rule `{}`: {}{end}", self.source, self.rule, self.message)
    }
}

/// All rules of an agent, whatever they come from. Looked up by what they begin with, so that thousands cost little.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub(super) allow: RuleSet,
    pub(super) ask: RuleSet,
    pub(super) deny: RuleSet,
    /// What was wrong with rules that were added.
    pub problems: Vec<RuleProblem>,
    /// A rule that denies and can't be understood, if there is one: nobody knows what it was to forbid.
    pub(super) doubt: Option<String>,
}

impl Rules {
    /// Makes every call be asked about, because something that may deny it can't be understood. `why` says what, and where.
    pub fn doubt(&mut self, why: impl Into<String>) {
        self.doubt.get_or_insert(why.into());
    }

    /// What makes every call be asked about, if something does.
    pub fn doubted(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    /// Adds rules. A malformed one is left out and reported in [`Rules::problems`]; if it was to deny, everything is asked
    /// about ([`Rules::doubt`]).
    pub fn add<T: AsRef<str>>(&mut self, kind: RuleKind, source: RuleSource, rules: impl IntoIterator<Item = T>) {
        for text in rules {
            let text = text.as_ref();
            let problem =
                |message: String, left_out| RuleProblem { rule: text.to_owned(), kind, source, message, left_out };
            match Rule::read(text, source) {
                Err(message) => {
                    if kind == RuleKind::Deny {
                        self.doubt(format!("the deny rule `{text}` ({source}) can't be understood"));
                    }
                    self.problems.push(problem(message, true));
                }
                Ok(read) => {
                    if let Some(warning) = read.warning {
                        self.problems.push(problem(warning, false));
                    }
                    let widened = read.rule.widened().filter(|_| kind != RuleKind::Allow);
                    match kind {
                        RuleKind::Allow => self.allow.add(read.rule),
                        RuleKind::Ask => self.ask.add(widened.unwrap_or(read.rule)),
                        RuleKind::Deny => self.deny.add(widened.unwrap_or(read.rule)),
                    }
                }
            }
        }
    }

    /// Adds the rules of a project. Those of one that the user has not trusted can only forbid: `allow` is ignored.
    pub fn add_project<T: AsRef<str>>(
        &mut self,
        kind: RuleKind,
        source: RuleSource,
        rules: impl IntoIterator<Item = T>,
        trusted: bool,
    ) {
        if trusted || kind != RuleKind::Allow {
            self.add(kind, source, rules);
        }
    }

    /// These rules and a role's own denials.
    #[must_use]
    pub fn with_role_denials<T: AsRef<str>>(&self, denied: impl IntoIterator<Item = T>) -> Self {
        let mut rules = self.clone();
        rules.add(RuleKind::Deny, RuleSource::Role, denied);
        rules
    }

    /// Number of rules.
    pub fn len(&self) -> usize {
        [&self.allow, &self.ask, &self.deny].iter().map(|set| set.rules.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Rules that do the same.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleSet {
    rules: Vec<Rule>,
    /// Rules for commands by their first word.
    commands: HashMap<String, Vec<usize>>,
    /// Rules for commands whose first word isn't spelled out.
    open_commands: Vec<usize>,
    /// The other rules.
    paths: Vec<usize>,
    tools: Vec<usize>,
    domains: Vec<usize>,
    agents: Vec<usize>,
}

impl RuleSet {
    fn add(&mut self, rule: Rule) {
        let at = self.rules.len();
        match &rule.matcher {
            Matcher::Command(pattern) => match pattern.head() {
                Some(head) => self.commands.entry(head.to_owned()).or_default().push(at),
                None => self.open_commands.push(at),
            },
            Matcher::Path(..) => self.paths.push(at),
            Matcher::Tool(_) => self.tools.push(at),
            Matcher::Domain(_) => self.domains.push(at),
            Matcher::Agent(_) => self.agents.push(at),
        }
        self.rules.push(rule);
    }

    fn at(&self, indices: &[usize]) -> impl Iterator<Item = &Rule> {
        indices.iter().map(|&at| &self.rules[at])
    }

    /// The rule about the tool as a whole.
    pub(super) fn tool(&self, tool: &str, family: Option<&Family>) -> Option<&Rule> {
        let matches = |rule: &&Rule| matches!(&rule.matcher, Matcher::Tool(name) if name.matches(tool, family));
        self.at(&self.tools).find(matches)
    }

    /// The rule about agents of this role.
    pub(super) fn agent(&self, role: &str) -> Option<&Rule> {
        let matches =
            |rule: &&Rule| matches!(&rule.matcher, Matcher::Agent(name) if wildcard::matches(name, role.chars()));
        self.at(&self.agents).find(matches)
    }

    /// The rule about this host.
    pub(super) fn host(&self, host: &str) -> Option<&Rule> {
        let matches = |rule: &&Rule| matches!(&rule.matcher, Matcher::Domain(domain) if domain.matches(host));
        self.at(&self.domains).find(matches)
    }

    /// Whether any rule speaks of hosts.
    pub(super) fn has_hosts(&self) -> bool {
        !self.domains.is_empty()
    }

    /// Whether any rule speaks of particular commands.
    pub(super) fn has_commands(&self) -> bool {
        !self.commands.is_empty() || !self.open_commands.is_empty()
    }

    /// Whether any rule speaks of paths that are read or changed.
    pub(super) fn has_paths(&self, family: &Family) -> bool {
        self.at(&self.paths).any(|rule| matches!(&rule.matcher, Matcher::Path(own, _) if own == family))
    }

    /// Rules for commands that may match, the ones that stand for everything last.
    pub(super) fn command_rules(&self, head: Option<&str>) -> impl Iterator<Item = &Rule> {
        let by_head = match head {
            Some(head) => self.commands.get(head).map(Vec::as_slice).unwrap_or_default().iter().collect::<Vec<_>>(),
            None => self.commands.values().flatten().collect(),
        };
        by_head.into_iter().chain(&self.open_commands).map(|&at| &self.rules[at])
    }

    /// The rule that touches a command, or how far one may.
    pub(super) fn command(&self, argv: &[Word]) -> (Hit, Option<&Rule>) {
        let Some(first) = argv.first() else { return (Hit::No, None) };
        let head = first.literal();
        let (mut hit, mut found) = self.command_as_written(head, argv);
        // `/usr/bin/git` is git; so is a name whose end alone is known.
        if hit != Hit::Yes
            && let Some(base) = first.literal().and_then(|name| name.rsplit_once('/')).map(|(_, base)| base)
        {
            let mut renamed = argv.to_vec();
            renamed[0] = Word { pieces: vec![Piece::Text(base.to_owned())] };
            let (other, rule) = self.command_as_written(Some(base), &renamed);
            if other == Hit::Yes || hit == Hit::No {
                (hit, found) = (other, rule);
            }
        }
        (hit, found)
    }

    fn command_as_written(&self, head: Option<&str>, argv: &[Word]) -> (Hit, Option<&Rule>) {
        let mut maybe = None;
        for rule in self.command_rules(head) {
            let Matcher::Command(pattern) = &rule.matcher else { continue };
            match pattern.touches(argv) {
                Hit::Yes => return (Hit::Yes, Some(rule)),
                Hit::Maybe => maybe = maybe.or(Some(rule)),
                Hit::No => {}
            }
        }
        if maybe.is_some() { (Hit::Maybe, maybe) } else { (Hit::No, None) }
    }

    /// A rule that matches one of the forms of a path. `tool` is who touches it; `family` how.
    pub(super) fn path_any(&self, tool: &str, family: &Family, forms: &[Form], places: &Places) -> Option<&Rule> {
        let matches = |rule: &&Rule| match &rule.matcher {
            Matcher::Path(own, pattern) if speaks_of(own, tool, family) => {
                forms.iter().any(|form| pattern.matches(form, places))
            }
            _ => false,
        };
        self.at(&self.paths).find(matches).or_else(|| self.tool(tool, Some(family)))
    }

    /// Rules that together match all forms of a path: the link and what it leads to. The last one is named.
    pub(super) fn path_all(&self, tool: &str, family: &Family, forms: &[Form], places: &Places) -> Option<&Rule> {
        let mut last = None;
        for form in forms {
            last = Some(self.path_any(tool, family, std::slice::from_ref(form), places)?);
        }
        last
    }

    /// A rule that names a file exactly, in each of its forms: enough to allow what otherwise asks whatever rules say.
    pub(super) fn path_named(&self, tool: &str, family: &Family, forms: &[Form], places: &Places) -> Option<&Rule> {
        let named = |form: &Form| {
            let name = form.components().last()?;
            let matches = |rule: &&Rule| match &rule.matcher {
                Matcher::Path(own, pattern) => {
                    speaks_of(own, tool, family) && pattern.names(name) && pattern.matches(form, places)
                }
                _ => false,
            };
            self.at(&self.paths).find(matches)
        };
        let mut last = None;
        for form in forms {
            last = Some(named(form)?);
        }
        last
    }

    /// A rule that matches some path that the components stand for.
    pub(super) fn path_overlap(&self, family: &Family, glob: &[Vec<Token>], places: &Places) -> Option<&Rule> {
        let matches = |rule: &&Rule| match &rule.matcher {
            Matcher::Path(own, pattern) => own == family && pattern.overlaps(glob, places),
            _ => false,
        };
        self.at(&self.paths).find(matches)
    }
}

fn speaks_of(own: &Family, tool: &str, family: &Family) -> bool {
    match own {
        Family::Only(name) => name == tool,
        own => own == family,
    }
}

/// How a call touches what it touches.
pub(super) fn family_of(access: &Access) -> Option<Family> {
    match access {
        Access::Read { .. } => Some(Family::Read),
        Access::Edit { .. } => Some(Family::Edit),
        Access::Command { .. } => Some(Family::Bash),
        Access::Delegate { .. } => Some(Family::Agent),
        Access::Own => None,
    }
}
