//! One rule in the field's usual spelling: `Tool` or `Tool(what)`.

use serde::{Deserialize, Serialize};

use super::command_pattern::CommandPattern;
use super::path_pattern::PathPattern;
use super::web::DomainPattern;
use super::wildcard::{self, Token};

/// Where a rule comes from. It decides nothing but who is named: deny beats ask beats allow from whatever source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleSource {
    /// The user's settings.
    User,
    /// The project's shared settings.
    Project,
    /// The project's personal settings.
    Local,
    /// `--allow` and `--deny`.
    CommandLine,
    /// Answers given in this session.
    Session,
    /// The agent's role.
    Role,
}

impl std::fmt::Display for RuleSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::User => "user settings",
            Self::Project => "project settings",
            Self::Local => "local settings",
            Self::CommandLine => "command line",
            Self::Session => "this session",
            Self::Role => "the role",
        })
    }
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// As written.
    pub text: String,
    /// Where it comes from.
    pub source: RuleSource,
    pub(super) matcher: Matcher,
}

/// What a rule speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Matcher {
    /// Every call of a tool or of a family of tools.
    Tool(ToolName),
    /// Commands.
    Command(CommandPattern),
    /// Paths that a family of tools touches.
    Path(Family, PathPattern),
    /// Hosts.
    Domain(DomainPattern),
    /// Agents of a role.
    Agent(Vec<Token>),
}

/// A tool's name in a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ToolName {
    /// Tools that belong together.
    Family(Family),
    /// One tool, or those of a server with `*`.
    Pattern(Vec<Token>),
}

/// Tools that one rule speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Everything that reads files.
    Read,
    /// Everything that changes files.
    Edit,
    /// Commands.
    Bash,
    /// Starting agents.
    Agent,
    /// This tool alone, which reads.
    Only(String),
}

/// Names that a rule may begin with, besides `mcp__…`; the others are reported.
const KNOWN: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "Commit",
    "Edit",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Read",
    "SendMessage",
    "Skill",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// Whether rules and calls may name this tool.
pub(super) fn is_known_tool(name: &str) -> bool {
    KNOWN.contains(&name) || name.starts_with("mcp__")
}

/// A rule that was read, and what to say about it.
pub(super) struct ReadRule {
    pub(super) rule: Rule,
    /// Why it isn't what its author meant, if so.
    pub(super) warning: Option<String>,
}

impl Rule {
    /// Reads a rule; the error says what is wrong with it.
    pub(super) fn read(text: &str, source: RuleSource) -> Result<ReadRule, String> {
        let text = text.trim();
        let (name, spec) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => {
                (name, Some(rest.strip_suffix(')').ok_or("it has no closing bracket at its end")?.trim()))
            }
        };
        if name.is_empty() {
            return Err("it names no tool".to_owned());
        }
        let is_mcp = name.starts_with("mcp__");
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') || is_mcp && c == '*') {
            return Err(format!("`{name}` is no name of a tool"));
        }
        if spec == Some("") {
            return Err(format!("there is nothing in its brackets; write `{name}` for every call"));
        }
        let mut warning = None;
        let matcher = match (name, spec) {
            (_, None) => {
                if !is_mcp && !KNOWN.contains(&name) {
                    warning = Some(unknown(name));
                }
                Matcher::Tool(tool_name(name))
            }
            ("Bash", Some(spec)) => {
                warning = CommandPattern::never_matches(spec);
                Matcher::Command(CommandPattern::parse(spec))
            }
            (
                "Read" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "Grep" | "Glob" | "LS" | "NotebookRead",
                Some(spec),
            ) => {
                let family = match name {
                    "Read" => Family::Read,
                    "Grep" | "Glob" | "LS" | "NotebookRead" => Family::Only(name.to_owned()),
                    _ => Family::Edit,
                };
                Matcher::Path(family, PathPattern::parse(spec)?)
            }
            ("WebFetch", Some(spec)) => {
                let domain = spec.strip_prefix("domain:").ok_or("WebFetch takes `domain:…`")?;
                Matcher::Domain(DomainPattern::parse(domain.trim())?)
            }
            ("Agent" | "Task", Some(spec)) => Matcher::Agent(simple_tokens(spec)),
            (name, Some(_)) if is_mcp || KNOWN.contains(&name) => {
                return Err(format!("nothing can be said about `{name}` in brackets"));
            }
            (name, Some(_)) => return Err(unknown(name)),
        };
        Ok(ReadRule { rule: Rule { text: text.to_owned(), source, matcher }, warning })
    }

    /// The same rule with `:*` in its middle read as `*`: for rules that deny or ask, so that they aren't silently inert.
    pub(super) fn widened(&self) -> Option<Rule> {
        let spec = self.text.strip_prefix("Bash(")?.strip_suffix(')')?.trim();
        let at = spec.find(":*").filter(|at| at + 2 < spec.len())?;
        let pattern = CommandPattern::parse(&format!("{}*{}", &spec[..at], &spec[at + 2..]));
        Some(Rule { matcher: Matcher::Command(pattern), ..self.clone() })
    }
}

fn unknown(name: &str) -> String {
    let nearest = KNOWN.iter().max_by(|a, b| strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b)));
    match nearest.filter(|known| strsim::jaro_winkler(name, known) > 0.8) {
        Some(known) => format!("there is no tool `{name}`; did you mean `{known}`?"),
        None => format!("there is no tool `{name}`"),
    }
}

fn tool_name(name: &str) -> ToolName {
    match name {
        "Read" => ToolName::Family(Family::Read),
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => ToolName::Family(Family::Edit),
        "Bash" => ToolName::Family(Family::Bash),
        "Agent" | "Task" => ToolName::Family(Family::Agent),
        "Grep" | "Glob" | "LS" | "NotebookRead" => ToolName::Family(Family::Only(name.to_owned())),
        // `mcp__server` stands for all of its tools.
        server if server.starts_with("mcp__") && !server[5..].contains("__") && !server.ends_with('*') => {
            let mut tokens = simple_tokens(server);
            tokens.extend([Token::Char('_'), Token::Char('_'), Token::Any]);
            ToolName::Pattern(tokens)
        }
        other => ToolName::Pattern(simple_tokens(other)),
    }
}

impl ToolName {
    /// Whether a call of `tool` is meant that belongs to `family`.
    pub(super) fn matches(&self, tool: &str, family: Option<&Family>) -> bool {
        match self {
            Self::Family(Family::Only(name)) => name == tool,
            Self::Family(own) => Some(own) == family,
            Self::Pattern(tokens) => wildcard::matches(tokens, tool.chars()),
        }
    }
}

fn simple_tokens(text: &str) -> Vec<Token> {
    text.chars().map(|c| if c == '*' { Token::Any } else { Token::Char(c) }).collect()
}
