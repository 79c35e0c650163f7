//! The strict reading, on tree-sitter's bash grammar.
//!
//! The tree is not believed where it can be checked: no error node, every kind of node on an allow-list, nothing but
//! blanks between the leaves (newlines only where bash takes them as separators), and the text of every word read a second
//! time by the rules of the shell. Never covers here-documents, functions, arithmetic, arrays, `case`, `[[`, backticks.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

use super::characters::odd_character;
use super::{Assignment, MAX_PARSED, NotUnderstood, Parsed, Redirection, RedirectionKind, SimpleCommand, Word};

mod words;

/// Opening brackets in one text; more make the parser's ambiguous branches grow.
const MAX_BRACKETS: usize = 48;
/// Brackets within brackets.
const MAX_DEPTH: usize = 10;
/// Statements within statements.
const MAX_STATEMENTS: usize = 32;
/// `|` in one text: the parser's time grows with their square.
const MAX_PIPES: usize = 200;
/// Reports of progress after which the parser is stopped. An ordinary text of the greatest length needs about 100.
const MAX_PROGRESS: usize = 250;

/// Words that bash reads as syntax at the place of a command's name, where the grammar sometimes doesn't.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function",
    "in", "time", "coproc", "{", "}", "!", "[[", "]]",
];

/// Reads `text`. Everything that it would start is in the answer, or there is no answer.
pub fn parse(text: &str) -> Result<Parsed, NotUnderstood> {
    if text.len() > MAX_PARSED {
        return Err(NotUnderstood::TooLong);
    }
    if let Some(found) = odd_character(text) {
        return Err(NotUnderstood::OddCharacter(found));
    }
    check_nesting(text)?;
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).expect("the grammar is built for this parser");
    let mut reports = 0;
    let mut progress = |_: &ParseState| {
        reports += 1;
        if reports > MAX_PROGRESS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    let tree = parser
        .parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
        .ok_or(NotUnderstood::TooComplex)?;
    let root = tree.root_node();
    if root.has_error() {
        return Err(NotUnderstood::Syntax);
    }
    let mut walk = Walk { text, parts: Vec::new(), depth: 0 };
    walk.blank(0, root.start_byte(), true)?;
    walk.statements(root, &[], &[])?;
    walk.blank(root.end_byte(), text.len(), true)?;
    if walk.parts.is_empty() {
        return Err(NotUnderstood::Construct("no command at all".to_owned()));
    }
    Ok(Parsed { parts: walk.parts })
}

/// Counts brackets before the parser sees them, quoted ones too: a text that needs more than this is asked for anyway.
fn check_nesting(text: &str) -> Result<(), NotUnderstood> {
    if text.bytes().filter(|&byte| byte == b'|').count() > MAX_PIPES {
        return Err(NotUnderstood::TooComplex);
    }
    let (mut depth, mut total) = (0_usize, 0_usize);
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' | b'[' => {
                depth += 1;
                total += 1;
            }
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH || total > MAX_BRACKETS {
            return Err(NotUnderstood::TooComplex);
        }
    }
    Ok(())
}

struct Walk<'a> {
    text: &'a str,
    parts: Vec<SimpleCommand>,
    depth: usize,
}

type Read<T> = Result<T, NotUnderstood>;

fn construct<T>(what: impl Into<String>) -> Read<T> {
    Err(NotUnderstood::Construct(what.into()))
}

/// A cursor walks siblings in linear time, which asking for each by its number doesn't.
fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

impl<'a> Walk<'a> {
    fn source(&self, node: Node<'_>) -> &'a str {
        &self.text[node.byte_range()]
    }

    /// Checks that there is nothing but blanks between two bytes.
    fn blank(&self, from: usize, to: usize, newlines: bool) -> Read<()> {
        let gap = self.text.get(from..to).unwrap_or("?");
        if gap.bytes().all(|byte| byte == b' ' || (newlines && byte == b'\n')) {
            Ok(())
        } else {
            construct("something between its words that isn't understood")
        }
    }

    /// Statements between `open` and `close` tokens, separated as bash separates them. `redirections` of an enclosing
    /// group belong to each of them.
    fn statements(&mut self, node: Node<'_>, tokens: &[&str], redirections: &[Redirection]) -> Read<()> {
        let mut end = node.start_byte();
        let mut separated = true;
        for child in children(node) {
            self.blank(end, child.start_byte(), true)?;
            separated |= self.text[end..child.start_byte()].contains('\n');
            end = child.end_byte();
            match child.kind() {
                "comment" => self.comment(child)?,
                ";" | "&" | "\n" if !child.is_named() => separated = true,
                token if !child.is_named() && tokens.contains(&token) => separated = true,
                "elif_clause" | "else_clause" => self.statements(child, &["elif", "then", "else"], redirections)?,
                "do_group" => self.statements(child, &["do", "done"], redirections)?,
                _ if !separated => return construct("two commands without a separator"),
                _ => {
                    self.statement(child, redirections)?;
                    separated = false;
                }
            }
        }
        Ok(())
    }

    fn comment(&self, node: Node<'_>) -> Read<()> {
        let before = self.text[..node.start_byte()].bytes().next_back();
        let after = self.text.as_bytes().get(node.end_byte());
        let whole = before.is_none_or(|byte| byte == b' ' || byte == b'\n') && after.is_none_or(|&byte| byte == b'\n');
        if whole && self.source(node).starts_with('#') && !self.source(node).contains('\n') {
            Ok(())
        } else {
            construct("a comment that isn't understood")
        }
    }

    fn statement(&mut self, node: Node<'_>, redirections: &[Redirection]) -> Read<()> {
        if self.depth > MAX_STATEMENTS {
            return Err(NotUnderstood::TooComplex);
        }
        self.depth += 1;
        let done = self.statement_of_kind(node, redirections);
        self.depth -= 1;
        done
    }

    fn statement_of_kind(&mut self, node: Node<'_>, redirections: &[Redirection]) -> Read<()> {
        match node.kind() {
            "command" => self.command(node, redirections),
            "variable_assignment" | "variable_assignments" => self.assignments(node, redirections),
            "list" => self.list(node, redirections),
            "pipeline" => self.joined(node, &["|", "|&"], redirections),
            "negated_command" => self.negated(node, redirections),
            "redirected_statement" => self.redirected(node, redirections),
            "subshell" => self.bracketed(node, "(", ")", redirections),
            "compound_statement" => self.bracketed(node, "{", "}", redirections),
            "if_statement" => self.statements(node, &["if", "then", "fi"], redirections),
            "while_statement" => self.statements(node, &["while", "until"], redirections),
            "for_statement" => self.for_loop(node, redirections),
            other => construct(name_of(other)),
        }
    }

    /// `a && b || c`. Lists lean to the left, one level for each operator: a long one is no deep one.
    fn list(&mut self, node: Node<'_>, redirections: &[Redirection]) -> Read<()> {
        let mut spine = vec![node];
        while let Some(first) = spine.last().and_then(|last| last.child(0)).filter(|first| first.kind() == "list") {
            spine.push(first);
        }
        while let Some(node) = spine.pop() {
            self.joined(node, &["&&", "||"], redirections)?;
        }
        Ok(())
    }

    fn joined(&mut self, node: Node<'_>, operators: &[&str], redirections: &[Redirection]) -> Read<()> {
        let mut end = node.start_byte();
        let mut after_operator = true;
        for child in children(node) {
            if node.kind() == "list" && child.kind() == "list" && child.start_byte() == node.start_byte() {
                // Already read, see `list`.
                end = child.end_byte();
                after_operator = false;
                continue;
            }
            self.blank(end, child.start_byte(), after_operator && end > node.start_byte())?;
            end = child.end_byte();
            let is_operator = !child.is_named() && operators.contains(&child.kind());
            if is_operator == after_operator {
                return construct("operators that aren't understood");
            }
            if !is_operator {
                // `!` negates a whole pipeline; bash refuses it within one.
                if node.kind() == "pipeline"
                    && child.kind() == "negated_command"
                    && child.start_byte() > node.start_byte()
                {
                    return construct("a negation that isn't understood");
                }
                self.statement(child, redirections)?;
            }
            after_operator = is_operator;
        }
        if after_operator { construct("an operator without a command") } else { Ok(()) }
    }

    fn negated(&mut self, node: Node<'_>, redirections: &[Redirection]) -> Read<()> {
        let mut parts = children(node).into_iter();
        let (Some(mark), Some(body), None) = (parts.next(), parts.next(), parts.next()) else {
            return construct("a negation that isn't understood");
        };
        if self.source(mark) != "!" || body.start_byte() == mark.end_byte() {
            return construct("a negation that isn't understood");
        }
        self.blank(mark.end_byte(), body.start_byte(), false)?;
        self.statement(body, redirections)
    }

    fn bracketed(&mut self, node: Node<'_>, open: &str, close: &str, redirections: &[Redirection]) -> Read<()> {
        let source = self.source(node);
        let inside = source.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        // `{` is a word for bash: only a blank behind it makes it a bracket. `((` is arithmetic.
        let plain = |inside: &str| match open {
            "{" => inside.starts_with([' ', '\n']),
            _ => !inside.starts_with('('),
        };
        if !inside.is_some_and(plain) {
            return construct("brackets that aren't understood");
        }
        self.statements(node, &[open, close], redirections)
    }

    fn for_loop(&mut self, node: Node<'_>, redirections: &[Redirection]) -> Read<()> {
        let mut end = node.start_byte();
        let mut name = None;
        let mut values = Vec::new();
        let mut closed = false;
        for (at, child) in children(node).into_iter().enumerate() {
            let newlines = child.kind() == "do_group";
            self.blank(end, child.start_byte(), newlines)?;
            closed |= self.text[end..child.start_byte()].contains('\n');
            end = child.end_byte();
            match (at, child.kind()) {
                (0, "for") | (2, "in") => {}
                (1, "variable_name") => name = Some(self.variable(child)?),
                (3.., ";") => closed = true,
                (3.., "do_group") if closed => {
                    let Some(name) = name.take() else { return construct("a loop that isn't understood") };
                    // The loop's variable is set to each value in turn: as far as permission goes, it is assigned.
                    let assignments = values.drain(..).map(|value| Assignment { name: name.clone(), value }).collect();
                    let text = self.text[node.start_byte()..child.start_byte()].trim_end().to_owned();
                    self.parts.push(SimpleCommand { assignments, text, ..SimpleCommand::default() });
                    self.statements(child, &["do", "done"], redirections)?;
                }
                (3.., _) if child.is_named() && !closed => values.push(self.word(child)?),
                _ => return construct("a loop that isn't understood"),
            }
        }
        if name.is_some() { construct("a loop that isn't understood") } else { Ok(()) }
    }

    fn redirected(&mut self, node: Node<'_>, outer: &[Redirection]) -> Read<()> {
        let mut redirections = outer.to_vec();
        let mut end = node.start_byte();
        let mut body = None;
        for child in children(node) {
            self.blank(end, child.start_byte(), false)?;
            end = child.end_byte();
            match child.kind() {
                "file_redirect" => self.redirection(child, &mut redirections)?,
                "herestring_redirect" => self.here_string(child)?,
                _ if body.is_none() && redirections.len() == outer.len() => body = Some(child),
                other => return construct(name_of(other)),
            }
        }
        let Some(body) = body else { return construct("a redirection without a command") };
        let before = self.parts.len();
        let simple = matches!(body.kind(), "command" | "variable_assignment");
        // The grammar puts `a | b > x` together as a pipeline that is redirected; for bash it is `b`.
        let of_last = matches!(body.kind(), "list" | "pipeline");
        self.statement(body, if of_last { outer } else { &redirections })?;
        if (simple || of_last)
            && self.parts.len() > before
            && let Some(last) = self.parts.last_mut()
        {
            if of_last {
                last.redirections.extend_from_slice(&redirections[outer.len()..]);
                last.text.push_str(&self.text[body.end_byte()..node.end_byte()]);
            } else {
                self.text[node.byte_range()].clone_into(&mut last.text);
            }
        }
        Ok(())
    }

    fn redirection(&mut self, node: Node<'_>, out: &mut Vec<Redirection>) -> Read<()> {
        let mut end = node.start_byte();
        let mut operator = None;
        let mut targets = Vec::new();
        for child in children(node) {
            let glued = operator.is_none();
            self.blank(end, child.start_byte(), false)?;
            if glued && end != child.start_byte() {
                return construct("a redirection that isn't understood");
            }
            end = child.end_byte();
            match child.kind() {
                "file_descriptor" if operator.is_none() && self.source(child).bytes().all(|b| b.is_ascii_digit()) => {}
                ">" | ">>" | ">|" | "&>" | "&>>" | ">&" | "<" | "<&" if operator.is_none() => {
                    operator = Some(self.source(child));
                }
                _ if child.is_named() && operator.is_some() => targets.push(self.word(child)?),
                other => return construct(name_of(other)),
            }
        }
        let (Some(operator), [target]) = (operator, targets.as_slice()) else {
            return construct("a redirection that isn't understood");
        };
        let target = target.clone();
        let literal = target.literal().unwrap_or_default();
        let is_number = !literal.is_empty() && literal.bytes().all(|byte| byte.is_ascii_digit());
        match operator {
            ">&" | "<&" if is_number => {}
            "<&" => return construct("a redirection that isn't understood"),
            _ if target.has_glob() || target.may_split() => {
                return construct("a redirection to a name that isn't known");
            }
            // Bash opens network connections by these names.
            _ if ["/dev/tcp/", "/dev/udp/"].iter().any(|name| target.prefix().starts_with(name)) => {
                return construct("a network connection by redirection");
            }
            _ => {
                let kind = if operator == "<" { RedirectionKind::Read } else { RedirectionKind::Write };
                out.push(Redirection { kind, target });
            }
        }
        Ok(())
    }

    fn here_string(&mut self, node: Node<'_>) -> Read<()> {
        let mut parts = children(node).into_iter();
        let (Some(operator), Some(value), None) = (parts.next(), parts.next(), parts.next()) else {
            return construct("a here-string that isn't understood");
        };
        self.blank(operator.end_byte(), value.start_byte(), false)?;
        if self.source(operator) != "<<<" {
            return construct("a here-string that isn't understood");
        }
        self.word(value).map(drop)
    }

    fn command(&mut self, node: Node<'_>, outer: &[Redirection]) -> Read<()> {
        let mut command = SimpleCommand { redirections: outer.to_vec(), ..SimpleCommand::default() };
        let mut end = node.start_byte();
        let mut first = true;
        for child in children(node) {
            self.blank(end, child.start_byte(), false)?;
            if !first && end == child.start_byte() {
                return construct("words without a blank between them");
            }
            first = false;
            end = child.end_byte();
            match child.kind() {
                "variable_assignment" if command.argv.is_empty() => {
                    let assignment = self.assignment(child)?;
                    command.assignments.push(assignment);
                }
                "command_name" if command.argv.is_empty() => {
                    let Some(name) = child.child(0).filter(|_| child.child_count() == 1) else {
                        return construct("a name that isn't understood");
                    };
                    let word = self.word(name)?;
                    match word.literal() {
                        None | Some("") => return construct("a name that isn't known before it runs"),
                        Some(text) if text.contains([' ', '\n']) => return construct("a name with a blank in it"),
                        Some(text) if RESERVED.contains(&text) => return construct(format!("`{text}`")),
                        Some(text) if text.contains('=') => return construct("a name with `=` in it"),
                        Some(_) => command.argv.push(word),
                    }
                }
                "file_redirect" => self.redirection(child, &mut command.redirections)?,
                "herestring_redirect" => self.here_string(child)?,
                _ if child.is_named() && !command.argv.is_empty() => {
                    let word = self.word(child)?;
                    command.argv.push(word);
                }
                other => return construct(name_of(other)),
            }
        }
        if command.argv.is_empty() {
            return construct("a command without a name");
        }
        self.source(node).clone_into(&mut command.text);
        self.parts.push(command);
        Ok(())
    }

    fn assignments(&mut self, node: Node<'_>, outer: &[Redirection]) -> Read<()> {
        let mut command = SimpleCommand { redirections: outer.to_vec(), ..SimpleCommand::default() };
        if node.kind() == "variable_assignment" {
            command.assignments.push(self.assignment(node)?);
        } else {
            let mut end = node.start_byte();
            for child in children(node) {
                self.blank(end, child.start_byte(), false)?;
                end = child.end_byte();
                let assignment = self.assignment(child)?;
                command.assignments.push(assignment);
            }
        }
        self.source(node).clone_into(&mut command.text);
        self.parts.push(command);
        Ok(())
    }

    fn assignment(&mut self, node: Node<'_>) -> Read<Assignment> {
        let mut parts = children(node).into_iter();
        let (Some(name), Some(equals)) = (parts.next(), parts.next()) else {
            return construct("an assignment that isn't understood");
        };
        if node.kind() != "variable_assignment" || equals.kind() != "=" || name.end_byte() != equals.start_byte() {
            return construct("an assignment that isn't understood");
        }
        let name = self.variable(name)?;
        let value = match (parts.next(), parts.next()) {
            (None, None) => Word::default(),
            (Some(value), None) if value.start_byte() == equals.end_byte() => self.word(value)?,
            _ => return construct("an assignment that isn't understood"),
        };
        Ok(Assignment { name, value })
    }

    fn variable(&self, node: Node<'_>) -> Read<String> {
        let name = self.source(node);
        if node.kind() == "variable_name" && is_name(name) {
            Ok(name.to_owned())
        } else {
            construct("a variable that isn't understood")
        }
    }
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn name_of(kind: &str) -> String {
    match kind {
        "heredoc_redirect" => "a here-document".to_owned(),
        "function_definition" => "a function".to_owned(),
        "declaration_command" => "a declaration (`export`, `declare`, …)".to_owned(),
        "unset_command" => "`unset`".to_owned(),
        "test_command" => "a test in brackets".to_owned(),
        "case_statement" => "`case`".to_owned(),
        "c_style_for_statement" | "arithmetic_expansion" => "arithmetic".to_owned(),
        "brace_expression" => "a brace expansion".to_owned(),
        "ansi_c_string" | "translated_string" => "a quotation that begins with `$`".to_owned(),
        other => format!("something that isn't covered (`{}`)", other.replace('_', " ")),
    }
}

#[cfg(test)]
mod tests;
