//! Texts as YAML: plain where every reader takes it as that text, quoted where not.

use std::fmt::Write as _;

use super::field;
use super::list;
use super::value::TextStyle;

/// Where a text is going to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// Behind a key or a dash.
    Block,
    /// Between brackets.
    Flow,
}

/// `text`, in the style that stood there before if it can be kept. One line, but for [`TextStyle::Block`].
pub(super) fn text(text: &str, style: TextStyle, block_indent: &str, line_ending: &str) -> String {
    match style {
        TextStyle::Double => double(text),
        TextStyle::Single if fits_single(text) => single(text),
        TextStyle::Block if fits_block(text) => block(text, block_indent, line_ending),
        TextStyle::Single | TextStyle::Plain | TextStyle::Loose | TextStyle::Block => {
            plain_or_quoted(text, Spot::Block)
        }
    }
}

/// `text` without quotes if they aren't needed.
pub(super) fn plain_or_quoted(text: &str, spot: Spot) -> String {
    if is_plain(text, spot) { text.to_owned() } else { double(text) }
}

/// Whether every YAML reader takes `text`, without quotes, for that very text. Errs on the side of no.
pub(super) fn is_plain(text: &str, spot: Spot) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let starts_well = first.is_alphanumeric() || "_/.(+".contains(first);
    let inside = |character: char| {
        !is_special(character) && (spot == Spot::Block || !",[]{}".contains(character)) && character != '\t'
    };
    starts_well
        && text.chars().all(inside)
        && text.trim() == text
        && !text.contains(": ")
        && !text.ends_with(':')
        && !text.contains(" #")
        && !is_typed(text)
        && (spot == Spot::Block || list::is_balanced(text))
}

/// Whether a reader might take `text` for nothing, a truth value or a number.
fn is_typed(text: &str) -> bool {
    const WORDS: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "y", "n"];
    let starts_like_a_number = text.trim_start_matches(['+', '.']).starts_with(|first: char| first.is_ascii_digit());
    let is_numeric = text.chars().all(|character| character.is_ascii_hexdigit() || "+-._:xoXOTZ ".contains(character));
    field::is_null(text)
        || WORDS.contains(&text.to_ascii_lowercase().as_str())
        || starts_like_a_number && is_numeric
        || matches!(text.to_ascii_lowercase().as_str(), ".nan" | ".inf" | "+.inf")
}

/// Control characters, and what YAML or editors take for a line break or an encoding mark.
fn is_special(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            special if is_special(special) => {
                write!(out, "\\u{:04x}", special as u32).expect("a string takes everything");
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
    out
}

fn fits_single(text: &str) -> bool {
    !text.chars().any(is_special)
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn fits_block(text: &str) -> bool {
    text.contains('\n') && !text.chars().any(|character| is_special(character) && character != '\n')
}

fn block(text: &str, indent: &str, line_ending: &str) -> String {
    let mut out = String::from("|-");
    for line in text.split('\n') {
        out.push_str(line_ending);
        if !line.is_empty() {
            out.push_str(indent);
            out.push_str(line);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_where_a_reader_could_be_mistaken() {
        for text in
            ["Finds things", "claude-x-4-5", "审阅者", "Bash(git diff *)", "a:b", "x#y", "it's \"so\"", "3 steps"]
        {
            assert!(is_plain(text, Spot::Block), "{text}");
        }
        for text in [
            "",
            "yes",
            "null",
            "~",
            "3000",
            "1.5",
            "0x1f",
            "12:30",
            "a: b",
            "a:",
            "a #b",
            " a",
            "*",
            "- a",
            "[a",
            "a\tb",
            "\u{2028}x",
            "2024-01-01",
        ] {
            assert!(!is_plain(text, Spot::Block), "{text}");
        }
        assert!(!is_plain("Bash(git log a, b)", Spot::Flow));
    }

    #[test]
    fn styles_are_kept_where_they_can_be() {
        let write = |written: &str, style| text(written, style, "  ", "\r\n");
        assert_eq!(write("it's", TextStyle::Single), "'it''s'");
        assert_eq!(write("a\nb", TextStyle::Single), r#""a\nb""#);
        assert_eq!(write("a", TextStyle::Double), "\"a\"");
        assert_eq!(write("a\n\nb", TextStyle::Block), "|-\r\n  a\r\n\r\n  b");
        assert_eq!(write("a", TextStyle::Block), "a");
        assert_eq!(write("a: b", TextStyle::Loose), "\"a: b\"");
        assert_eq!(write("\u{1b}\\", TextStyle::Plain), r#""\u001b\\""#);
    }
}
