//! What stands in the brackets of `Bash(…)`.
//!
//! Commands are compared as a text in which words are separated by single blanks, whatever the quoting and spacing were:
//! blanks within words, empty words and unknown words are replaced by characters that no pattern can spell outside quotes.

use crate::shell::{Piece, Word};

use super::wildcard::{self, Token};

/// A blank within a word.
const INNER_BLANK: char = '\u{E000}';
/// A newline within a word.
const INNER_NEWLINE: char = '\u{E001}';
/// An empty word.
const EMPTY: char = '\u{E002}';
/// Something that isn't known before the command runs.
const UNKNOWN: char = '\u{E003}';

/// How far a pattern and a command agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hit {
    /// Not for any value of what isn't known.
    No,
    /// For some values.
    Maybe,
    /// Surely.
    Yes,
}

/// A pattern for commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandPattern {
    /// The pattern, for a boundary pattern without its ` *`.
    tokens: Vec<Token>,
    /// Whether it ended with ` *`: whatever may follow, behind a blank.
    boundary: bool,
    /// Number of whole words in front of the first wildcard.
    words: usize,
    /// The first word, if it is whole.
    head: Option<String>,
}

impl CommandPattern {
    /// Reads `spec`. `\` in front of `*`, `\`, `'` and `"` takes their meaning away.
    pub(super) fn parse(spec: &str) -> Self {
        let spec = spec.trim();
        let (body, boundary) = match spec.strip_suffix(":*").or_else(|| spec.strip_suffix(" *")) {
            Some(body) if !body.ends_with('\\') => (body.trim_end(), true),
            _ => (spec, false),
        };
        let tokens = tokens_of(body);
        let literal = tokens.iter().position(|token| *token == Token::Any).unwrap_or(tokens.len());
        let whole = literal == tokens.len();
        let blanks: Vec<usize> = (0..literal).filter(|&at| tokens[at] == Token::Char(' ')).collect();
        let words = if whole { blanks.len() + usize::from(!tokens.is_empty()) } else { blanks.len() };
        let end = blanks.first().copied().or(whole.then_some(literal)).filter(|&end| end > 0);
        let char_of = |token: &Token| if let Token::Char(c) = token { Some(*c) } else { None };
        let head = end.map(|end| tokens[..end].iter().filter_map(char_of).collect());
        Self { tokens, boundary, words, head }
    }

    /// Whether it stands for every command.
    pub(super) fn is_everything(&self) -> bool {
        self.tokens.is_empty() && self.boundary || self.tokens == [Token::Any]
    }

    /// The first word, if it is known.
    pub(super) fn head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    /// The number of arguments, the name included, that the pattern spells out from the beginning; all, if it has no
    /// wildcard.
    pub(super) fn spelled_words(&self) -> usize {
        if self.is_exact() { usize::MAX } else { self.words }
    }

    /// Whether it has no wildcard.
    pub(super) fn is_exact(&self) -> bool {
        !self.boundary && !self.tokens.contains(&Token::Any)
    }

    /// Whether it surely covers the command, for rules that allow.
    pub(super) fn covers(&self, argv: &[Word]) -> bool {
        let text = known_text(argv);
        if !self.boundary {
            return wildcard::matches(&self.tokens, text.chars());
        }
        if self.tokens.is_empty() || wildcard::matches(&self.tokens, text.chars()) {
            return true;
        }
        let mut longer = self.tokens.clone();
        longer.extend([Token::Char(' '), Token::Any]);
        wildcard::matches(&longer, text.chars())
    }

    /// How far it covers the command, for rules that deny or ask.
    pub(super) fn touches(&self, argv: &[Word]) -> Hit {
        if self.covers(argv) {
            return Hit::Yes;
        }
        if argv.iter().all(|word| word.literal().is_some()) {
            return Hit::No;
        }
        let text = open_text(argv);
        let mut longer = self.tokens.clone();
        longer.extend([Token::Char(' '), Token::Any]);
        let hit = wildcard::overlap(&self.tokens, &text) || self.boundary && wildcard::overlap(&longer, &text);
        if hit { Hit::Maybe } else { Hit::No }
    }

    /// Why it can never match anything, if it can't.
    pub(super) fn never_matches(spec: &str) -> Option<String> {
        let spec = spec.trim();
        if let Some(at) = spec.find(":*").filter(|at| at + 2 < spec.len()) {
            let (before, behind) = (spec[..at].trim_end(), &spec[at + 2..]);
            return Some(format!("`:*` has its meaning only at the end; write `{before} *{behind}`"));
        }
        let unquoted = outside_quotes(spec);
        let operator = ["&&", "||", ";", "|", "\n", " & "].into_iter().find(|operator| unquoted.contains(operator))?;
        Some(format!("commands are taken apart at `{}`, each part is compared on its own", operator.trim()))
    }
}

fn outside_quotes(spec: &str) -> String {
    let mut quote = None;
    let keep = |c: &char| match quote {
        None if matches!(c, '\'' | '"') => {
            quote = Some(*c);
            false
        }
        None => true,
        Some(open) => {
            if *c == open {
                quote = None;
            }
            false
        }
    };
    spec.chars().filter(keep).collect()
}

fn tokens_of(spec: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut chars = spec.chars().peekable();
    let mut quote: Option<char> = None;
    while let Some(c) = chars.next() {
        match c {
            '\\' if matches!(chars.peek(), Some('*' | '\\' | '\'' | '"')) => out.extend(chars.next().map(Token::Char)),
            '*' => {
                if out.last() != Some(&Token::Any) {
                    out.push(Token::Any);
                }
            }
            '\'' | '"' if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() && chars.clone().any(|other| other == c) => {
                quote = Some(c);
                if chars.peek() == Some(&c) {
                    out.push(Token::Char(EMPTY));
                }
            }
            ' ' if quote.is_some() => out.push(Token::Char(INNER_BLANK)),
            ' ' if out.last() == Some(&Token::Char(' ')) => {}
            c => out.push(Token::Char(c)),
        }
    }
    out
}

/// The command as a text in which what isn't known is a character of its own.
fn known_text(argv: &[Word]) -> String {
    let mut out = String::new();
    for (at, word) in argv.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        if word.pieces.is_empty() {
            out.push(EMPTY);
        }
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => out.extend(text.chars().map(inner)),
                Piece::Glob(c) => out.push(*c),
                Piece::Home => out.push('~'),
                Piece::Variable { .. } | Piece::Unknown { .. } => out.push(UNKNOWN),
            }
        }
    }
    out
}

/// The command as a pattern of what it may become.
fn open_text(argv: &[Word]) -> Vec<Token> {
    let mut out = Vec::new();
    for (at, word) in argv.iter().enumerate() {
        if at > 0 {
            out.push(Token::Char(' '));
        }
        for piece in &word.pieces {
            match piece {
                Piece::Text(text) => out.extend(text.chars().map(inner).map(Token::Char)),
                Piece::Glob('?') => out.push(Token::One),
                Piece::Home => out.push(Token::Char('~')),
                Piece::Glob(_) | Piece::Variable { .. } | Piece::Unknown { .. } => out.push(Token::Any),
            }
        }
    }
    out
}

fn inner(c: char) -> char {
    match c {
        '\n' => INNER_NEWLINE,
        c if c.is_whitespace() => INNER_BLANK,
        c => c,
    }
}

/// The pattern that stands for exactly this command, or `None` if it can't be written on one line or isn't known.
pub(super) fn exact_pattern(argv: &[Word]) -> Option<String> {
    let mut words = Vec::new();
    for word in argv {
        let mut text = String::new();
        let mut plain = !word.pieces.is_empty();
        for piece in &word.pieces {
            match piece {
                Piece::Text(piece) => {
                    plain &= piece.chars().all(|c| c.is_alphanumeric() || "-_./,:=@%+^*?~".contains(c));
                    text += &piece.replace('\\', "\\\\").replace('*', "\\*").replace('\'', "\\'").replace('"', "\\\"");
                }
                Piece::Glob('*') => text += "\\*",
                Piece::Glob(c) => text.push(*c),
                Piece::Home => text.push('~'),
                Piece::Variable { .. } | Piece::Unknown { .. } => return None,
            }
        }
        if text.contains('\n') {
            return None;
        }
        words.push(if plain { text } else { format!("'{text}'") });
    }
    let pattern = words.join(" ");
    // What it is written as has to mean what it was made from.
    let read = CommandPattern::parse(&pattern);
    (read.is_exact() && read.covers(argv) && CommandPattern::never_matches(&pattern).is_none()).then_some(pattern)
}
