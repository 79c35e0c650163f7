//! The lenient reading: finds whatever could be a command, in any text, in one pass.
//!
//! Knows quotes, substitutions, here-documents and comments, but where it can't be certain of them it also reads the text
//! as if they weren't there. It finds too much rather than too little.

use super::{Assignment, Piece, Redirection, RedirectionKind, SimpleCommand, Word};

mod quotes;

/// Substitutions within substitutions that are followed; deeper brackets only separate commands.
const MAX_DEPTH: usize = 24;
/// Commands found in one text. What lies beyond isn't looked at, and [`Found::complete`] says so.
const MAX_COMMANDS: usize = 5_000;

/// The longest word in which braces are expanded, in bytes.
const MAX_BRACED: usize = 2_000;

/// Words in front of a command that are syntax.
const KEYWORDS: &[&str] =
    &["{", "}", "!", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "time", "coproc"];

/// What a lenient reading found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The commands, in no particular order.
    pub(super) commands: Vec<SimpleCommand>,
    /// False when a limit was reached.
    pub(super) complete: bool,
}

/// Everything in `text` that could be a command.
pub(super) fn scan(text: &str) -> Found {
    let mut scan = Scan::new(text, true);
    scan.run(0, &[]);
    let mut found = Found { complete: !scan.overflow, commands: scan.commands };
    if scan.uncertain {
        // Every line once more on its own: a quotation or here-document that was misread ends with its line.
        for line in text.lines() {
            let mut again = Scan::new(line, false);
            again.commands = std::mem::take(&mut found.commands);
            again.run(0, &[]);
            found.complete &= !again.overflow;
            found.commands = again.commands;
        }
    }
    found
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    commands: Vec<SimpleCommand>,
    /// Here-documents whose bodies begin behind the next newline: delimiter, and whether tabs are stripped.
    here_documents: Vec<(String, bool)>,
    /// Whether `#` and `<<` have their meaning.
    documents: bool,
    uncertain: bool,
    overflow: bool,
}

#[derive(Default)]
struct Draft {
    command: SimpleCommand,
    word: Option<Word>,
    /// Characters of the word that were unquoted, braces among them: for brace expansion.
    raw: String,
    redirection: Option<RedirectionKind>,
    start: usize,
    in_list: Option<String>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str, documents: bool) -> Self {
        Self {
            text,
            at: 0,
            commands: Vec::new(),
            here_documents: Vec::new(),
            documents,
            uncertain: false,
            overflow: false,
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Reads commands until one of `closing`, or the end.
    fn run(&mut self, depth: usize, closing: &[char]) {
        let mut draft = Draft { start: self.at, ..Draft::default() };
        while let Some(c) = self.peek() {
            if closing.contains(&c) {
                break;
            }
            match c {
                ' ' | '\t' | '\r' => {
                    self.end_word(&mut draft);
                    self.at += 1;
                }
                '\n' => {
                    self.end_command(&mut draft);
                    self.at += 1;
                    self.skip_here_documents(depth);
                    draft.start = self.at;
                }
                '&' if self.rest().starts_with("&>") => self.redirection(&mut draft),
                ';' | '&' | '|' | '(' | ')' => {
                    self.uncertain |= self.rest().starts_with("((");
                    self.end_command(&mut draft);
                    self.at += 1;
                    draft.start = self.at;
                }
                '<' | '>' => self.angle(depth, &mut draft),
                '#' if self.documents && draft.word.is_none() => {
                    self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |end| self.at + end);
                }
                _ => self.piece(c, depth, &mut draft),
            }
        }
        self.end_command(&mut draft);
    }

    fn piece(&mut self, c: char, depth: usize, draft: &mut Draft) {
        let first = draft.word.is_none();
        let mut word = draft.word.take().unwrap_or_default();
        match c {
            '\\' => {
                self.at += 1;
                if let Some(next) = self.peek() {
                    self.at += next.len_utf8();
                    if next == '\n' {
                        self.uncertain = true;
                        if first {
                            return;
                        }
                    } else {
                        word.push_text(next.encode_utf8(&mut [0; 4]));
                    }
                }
            }
            '\'' => {
                self.at += 1;
                let end = self.rest().find('\'').unwrap_or(self.rest().len());
                word.push_text(&self.rest()[..end]);
                self.at = (self.at + end + 1).min(self.text.len());
            }
            '"' => {
                self.at += 1;
                self.double_quoted(depth, &mut word);
            }
            '$' => self.dollar(false, depth, &mut word),
            '`' => self.backtick(false, depth, &mut word),
            '~' if first && is_home(self.rest()) => {
                self.at += 1;
                word.push(Piece::Home);
            }
            '*' | '?' => {
                self.at += 1;
                word.push(Piece::Glob(c));
            }
            '[' => {
                self.at += 1;
                self.uncertain |= first && self.rest().starts_with('[');
                // A set of characters stands for one of them, if it is closed within the word. Sets are short.
                let ends = |c: &char| matches!(c, ' ' | '\n' | ';' | '|' | '&' | '"' | '\'' | ']');
                let inside: usize = self.rest().chars().take(64).take_while(|c| !ends(c)).map(char::len_utf8).sum();
                if inside > 0 && self.rest()[inside..].starts_with(']') {
                    self.at += inside + 1;
                    word.push(Piece::Glob('?'));
                } else {
                    word.push_text("[");
                }
            }
            c => {
                self.at += c.len_utf8();
                draft.raw.push(c);
                word.push_text(c.encode_utf8(&mut [0; 4]));
            }
        }
        draft.word = Some(word);
    }

    fn angle(&mut self, depth: usize, draft: &mut Draft) {
        if self.rest().starts_with("<(") || self.rest().starts_with(">(") {
            self.at += 2;
            let mut word = draft.word.take().unwrap_or_default();
            if depth < MAX_DEPTH {
                self.run(depth + 1, &[')']);
                self.take(")");
            } else {
                self.overflow = true;
            }
            word.push(Piece::Unknown { quoted: true });
            draft.word = Some(word);
        } else if self.take("<<<") {
            self.end_word(draft);
        } else if self.documents && self.rest().starts_with("<<") {
            self.at += 2;
            self.end_word(draft);
            self.here_document();
        } else {
            self.redirection(draft);
        }
    }

    fn redirection(&mut self, draft: &mut Draft) {
        // Digits or `{name}` glued to the operator are the descriptor, not an argument.
        let is_descriptor = |word: &Word| {
            word.literal().is_some_and(|text| {
                text.bytes().all(|byte| byte.is_ascii_digit()) || (text.starts_with('{') && text.ends_with('}'))
            })
        };
        if draft.word.as_ref().is_some_and(is_descriptor) {
            draft.word = None;
            draft.raw.clear();
        }
        self.end_word(draft);
        let operator = ["&>>", "&>", "<>", ">>", ">|", ">&", "<&", ">", "<"].into_iter().find(|&sign| self.take(sign));
        let read = matches!(operator, Some("<" | "<&"));
        draft.redirection = Some(if read { RedirectionKind::Read } else { RedirectionKind::Write });
    }

    fn here_document(&mut self) {
        let strip = self.take("-");
        let rest = self.rest().trim_start_matches([' ', '\t']);
        self.at = self.text.len() - rest.len();
        let end = rest.find([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']).unwrap_or(rest.len());
        let delimiter: String = rest[..end].chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
        self.at += end;
        self.uncertain |= delimiter.is_empty() || rest[..end].contains(['$', '`', '\\']);
        self.here_documents.push((delimiter, strip));
    }

    /// Steps over the bodies of here-documents. Their substitutions run; if anything in the text reads programs from its
    /// input, so do their lines.
    fn skip_here_documents(&mut self, depth: usize) {
        for (delimiter, strip) in std::mem::take(&mut self.here_documents) {
            let mut body = String::new();
            loop {
                let Some(line) = self.rest().split('\n').next().filter(|_| self.at < self.text.len()) else {
                    self.uncertain = true;
                    break;
                };
                self.at = (self.at + line.len() + 1).min(self.text.len());
                if (if strip { line.trim_start_matches('\t') } else { line }) == delimiter {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            let reads_program = |command: &SimpleCommand| {
                command.argv.iter().any(|word| word.literal().is_none_or(super::look_through::is_interpreter))
            };
            if self.commands.iter().any(reads_program) {
                self.nested(&body, depth);
            } else {
                self.expansions(&body, depth);
            }
        }
    }

    /// Reads only the substitutions in a text, as in double quotes.
    fn expansions(&mut self, text: &str, depth: usize) {
        let mut inner = Scan::new(text, self.documents);
        inner.commands = std::mem::take(&mut self.commands);
        while inner.at < text.len() {
            inner.double_quoted(depth + 1, &mut Word::default());
        }
        self.overflow |= inner.overflow;
        self.commands = inner.commands;
    }

    fn end_word(&mut self, draft: &mut Draft) {
        let Some(word) = draft.word.take() else { return };
        let raw = std::mem::take(&mut draft.raw);
        if let Some(kind) = draft.redirection.take() {
            draft.command.redirections.push(Redirection { kind, target: word });
            return;
        }
        if draft.command.argv.is_empty() {
            if let Some(text) = word.literal() {
                if KEYWORDS.contains(&text) {
                    return;
                }
                if matches!(text, "case" | "[[") {
                    self.uncertain = true;
                }
            }
            if let Some(assignment) = as_assignment(&word) {
                draft.command.assignments.push(assignment);
                return;
            }
        }
        if let Some(name) = &draft.in_list {
            draft.command.assignments.push(Assignment { name: name.clone(), value: word.clone() });
        }
        if raw.contains('{') && raw.contains('}') {
            if raw.len() <= MAX_BRACED {
                draft.command.argv.extend(braces(&word));
            } else {
                self.overflow = true;
            }
        }
        draft.command.argv.push(word);
        if let [keyword, name, within] = draft.command.argv.as_slice()
            && matches!(keyword.literal(), Some("for" | "select"))
            && within.literal() == Some("in")
        {
            draft.in_list = name.literal().map(str::to_owned);
        }
    }

    fn end_command(&mut self, draft: &mut Draft) {
        self.end_word(draft);
        draft.in_list = None;
        draft.redirection = None;
        let mut command = std::mem::take(&mut draft.command);
        if command.argv.is_empty() && command.assignments.is_empty() && command.redirections.is_empty() {
            return;
        }
        if self.commands.len() >= MAX_COMMANDS {
            self.overflow = true;
            return;
        }
        self.text[draft.start..self.at.max(draft.start)].trim().clone_into(&mut command.text);
        self.commands.push(command);
    }
}

fn is_home(rest: &str) -> bool {
    rest[1..].chars().next().is_none_or(|c| " /\n;|&)".contains(c))
}

/// Length up to the bracket that closes one already open; the whole text if none does.
fn balanced(text: &str, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            if depth == 0 {
                return at;
            }
            depth -= 1;
        }
    }
    text.len()
}

/// `NAME=value`, `NAME+=value`, `NAME[…]=value`.
fn as_assignment(word: &Word) -> Option<Assignment> {
    let Piece::Text(first) = word.pieces.first()? else { return None };
    let (name, value) = first.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let mut pieces = word.pieces.clone();
    pieces.remove(0);
    let mut out = Word::literal_of(value);
    for piece in pieces {
        out.push(piece);
    }
    Some(Assignment { name: name.to_owned(), value: out })
}

/// Words that a brace expansion makes, at most 64 (bash manual, *Brace Expansion*).
fn braces(word: &Word) -> Vec<Word> {
    let Some(text) = word.literal() else { return Vec::new() };
    let mut open = vec![text.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = open.pop() {
        let inner = text.rfind('{').and_then(|start| Some((start, start + text[start..].find('}')?)));
        match inner {
            Some((start, end)) if open.len() + done.len() < 64 => {
                let (before, after) = (&text[..start], &text[end + 1..]);
                open.extend(text[start + 1..end].split(',').rev().map(|choice| format!("{before}{choice}{after}")));
            }
            _ => done.push(Word::literal_of(text)),
        }
    }
    done
}
