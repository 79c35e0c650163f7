//! Which subjects (mostly tool names) a hook is for.

use regex::{Regex, RegexBuilder};

/// Longest matcher, in bytes.
const LENGTH_LIMIT: usize = 2048;
/// Most memory that one compiled expression may take, in bytes. `(a{1000}){1000}` is refused, not compiled.
const SIZE_LIMIT: usize = 1 << 20;

/// Which subjects a hook is for, as the field writes it:
///
/// - absent, empty or `*`: all;
/// - only letters, digits, `_`, `-`, spaces, `,` and `|`: exactly these names, separated by `|` or `,`. `mcp__server` also
///   stands for every tool of that server;
/// - anything else: a regular expression that is searched for, without anchors (`^Notebook`, `mcp__.*__write`).
///
/// Matching takes time linear in the subject; what needs more (look-around, back references) is no matcher.
#[derive(Clone, Debug)]
pub struct HookMatcher {
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    All,
    Names(Vec<String>),
    Expression(Regex),
}

impl HookMatcher {
    /// Matches everything.
    pub fn all() -> Self {
        Self { text: String::new(), kind: Kind::All }
    }

    /// Reads a matcher. The error says what is wrong with it, for people.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.len() > LENGTH_LIMIT {
            return Err(format!("it has more than {LENGTH_LIMIT} bytes"));
        }
        let text = text.trim();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | ',' | '|');
        let kind = if text.is_empty() || text == "*" {
            Kind::All
        } else if text.chars().all(is_plain) {
            let names: Vec<String> =
                text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
            if names.is_empty() {
                return Err("it names nothing".to_owned());
            }
            Kind::Names(names)
        } else {
            let built = RegexBuilder::new(text).size_limit(SIZE_LIMIT).dfa_size_limit(SIZE_LIMIT).build();
            Kind::Expression(built.map_err(|error| explain(&error))?)
        };
        Ok(Self { text: text.to_owned(), kind })
    }

    /// Whether the hook is for this subject. Letter case counts.
    pub fn is_match(&self, subject: &str) -> bool {
        match &self.kind {
            Kind::All => true,
            Kind::Names(names) => names.iter().any(|name| name == subject || is_tool_of(subject, name)),
            Kind::Expression(expression) => expression.is_match(subject),
        }
    }

    /// As written, without spaces around it.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq for HookMatcher {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for HookMatcher {}

/// Whether `tool` belongs to the server that `name` (`mcp__server`) names.
fn is_tool_of(tool: &str, name: &str) -> bool {
    let Some(server) = name.strip_prefix("mcp__") else { return false };
    !server.contains("__") && tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"))
}

fn explain(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "the regular expression is too large".to_owned(),
        // The library draws the expression over several lines; the last one says what is wrong.
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            format!("it is no regular expression of the supported kind ({})", last.trim_start_matches("error: "))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn matches(matcher: &str, subject: &str) -> bool {
        HookMatcher::new(matcher).unwrap().is_match(subject)
    }

    #[test]
    fn nothing_and_a_star_match_all() {
        for all in ["", "*", " "] {
            assert!(matches(all, "Bash") && matches(all, ""));
        }
        assert!(HookMatcher::all().is_match("x"));
    }

    #[test]
    fn names_are_exact() {
        for (matcher, subject, right) in [
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("Bash", "bash", false),
            ("Edit|Write", "Write", true),
            ("Edit | Write", "Write", true),
            ("Edit, Write", "Edit", true),
            ("Edit|Write", "Edit|Write", false),
            ("mcp__lab", "mcp__lab__read", true),
            ("mcp__lab", "mcp__laboratory__read", false),
            ("mcp__lab__read", "mcp__lab__read__all", false),
        ] {
            assert_eq!(matches(matcher, subject), right, "{matcher} {subject}");
        }
    }

    #[test]
    fn anything_else_is_an_expression() {
        assert!(matches("^Notebook", "NotebookEdit"));
        assert!(!matches("^Notebook$", "NotebookEdit"));
        assert!(matches("mcp__.*__write", "mcp__files__write_all"));
        assert!(matches("Note.*", "NotebookEdit"));
    }

    #[test]
    fn what_cannot_be_matched_in_linear_time_is_refused_in_words() {
        assert!(HookMatcher::new("(?=Bash)").unwrap_err().contains("look-around"));
        assert!(HookMatcher::new("(a)\\1").unwrap_err().contains("backreferences"));
        assert!(HookMatcher::new("(").unwrap_err().contains("unclosed group"));
        assert!(HookMatcher::new("(a{1000}){1000}").unwrap_err().contains("too large"));
        assert!(HookMatcher::new(&"(".repeat(3000)).unwrap_err().contains("2048"));
        assert!(HookMatcher::new("|").is_err());
    }

    #[test]
    fn nested_repetition_takes_linear_time() {
        let matcher = HookMatcher::new("(a+)+$").unwrap();
        let subject = format!("{}!", "a".repeat(100_000));
        let start = Instant::now();
        assert!(!matcher.is_match(&subject));
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    }
}
