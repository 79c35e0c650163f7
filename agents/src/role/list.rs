//! Lists of tools in a role file, however they are written: in brackets, with dashes, or as one text with commas.
//!
//! Commas inside of parentheses don't divide: `Bash(git log a, b)` is one item.

use std::ops::Range;

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Its text, without quotes.
    pub(super) text: String,
    /// Its bytes in the file, quotes included.
    pub(super) span: Range<usize>,
}

/// Divides the list that stands in `span`. Its first character says how it is written: `[`, `-`, or anything else for
/// a text with commas. Empty items are passed over.
pub(super) fn split(text: &str, span: Range<usize>) -> Vec<Item> {
    let whole = &text[span.clone()];
    if whole.starts_with('[') && whole.ends_with(']') {
        commas(text, span.start + 1..span.end - 1)
    } else if whole.starts_with("- ") {
        dashes(text, span)
    } else {
        commas(text, span)
    }
}

/// Divides at commas outside of parentheses and quotes.
pub(super) fn commas(text: &str, span: Range<usize>) -> Vec<Item> {
    let mut items = Vec::new();
    let mut start = span.start;
    let mut depth = 0_usize;
    let mut at = span.start;
    while at < span.end {
        let rest = &text[at..span.end];
        let character = rest.chars().next().expect("`at` is a character boundary before the end");
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                push(text, start..at, &mut items);
                start = at + 1;
            }
            // A quote opens a quoted item only where an item starts.
            '"' | '\'' if text[start..at].trim().is_empty() => {
                at = quote_end(text, at, span.end);
                continue;
            }
            '#' if starts_comment(text, at, span.end) => {
                push(text, start..at, &mut items);
                at += rest.find('\n').unwrap_or(rest.len());
                start = at;
                continue;
            }
            _ => {}
        }
        at += character.len_utf8();
    }
    push(text, start..span.end, &mut items);
    items
}

/// Divides at lines that start with a dash.
fn dashes(text: &str, span: Range<usize>) -> Vec<Item> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut at = span.start;
    for line in text[span].split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let end = at + (0..line.len()).find(|i| starts_comment(line, *i, line.len())).unwrap_or(line.len());
        let inner = &line[indent..];
        if let Some(rest) = inner.strip_prefix('-')
            && rest.starts_with([' ', '\t', '\r', '\n'])
        {
            pieces.push(at + indent + 1..end);
        } else if !inner.starts_with('#')
            && !inner.is_empty()
            && let Some(last) = pieces.last_mut()
        {
            last.end = end;
        }
        at += line.len();
    }
    let mut items = Vec::new();
    for piece in pieces {
        push(text, piece, &mut items);
    }
    items
}

fn push(text: &str, range: Range<usize>, items: &mut Vec<Item>) {
    let whole = &text[range.clone()];
    let trimmed = whole.trim();
    if trimmed.is_empty() {
        return;
    }
    let start = range.start + (whole.len() - whole.trim_start().len());
    let words: Vec<&str> = trimmed.lines().map(str::trim).collect();
    items.push(Item { text: unquote(&words.join(" ")).to_owned(), span: start..start + trimmed.len() });
}

/// Whether a `#` at `at` starts a comment: one between blanks does, `issue #12` doesn't.
fn starts_comment(text: &str, at: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    bytes[at] == b'#'
        && at > 0
        && bytes[at - 1].is_ascii_whitespace()
        && bytes[..end].get(at + 1).is_none_or(u8::is_ascii_whitespace)
}

/// Takes away a pair of quotes around a text that isn't YAML; escapes in it stay as they are.
pub(super) fn unquote(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

/// Where the quoted text that starts at `start` ends, its closing quote included; `limit` if it never does.
pub(super) fn quote_end(text: &str, start: usize, limit: usize) -> usize {
    let bytes = &text.as_bytes()[..limit];
    let quote = bytes[start];
    let mut at = start + 1;
    while at < limit {
        match bytes[at] {
            b'\\' if quote == b'"' => at += 1,
            // Two single quotes are one of the text.
            b'\'' if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') => at += 1,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    limit
}

/// Whether every parenthesis of `text` has its partner.
pub(super) fn is_balanced(text: &str) -> bool {
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &str) -> Vec<String> {
        split(list, 0..list.len()).into_iter().map(|item| item.text).collect()
    }

    #[test]
    fn commas_in_parentheses_do_not_divide() {
        assert_eq!(texts("Read, Bash(git log a, b) ,,Grep"), ["Read", "Bash(git log a, b)", "Grep"]);
        assert_eq!(texts("[ 'A' , \"B, C\", Bash(rm {a,b}) ]"), ["A", "B, C", "Bash(rm {a,b})"]);
        assert_eq!(texts("Read, Bash(git, Grep"), ["Read", "Bash(git, Grep"]);
    }

    #[test]
    fn dashes_with_comments_and_lines_that_go_on() {
        assert_eq!(texts("- A # why\n  # note\n  - Bash(x\n      y)\n  -\n  - B#1\n"), ["A", "Bash(x y)", "B#1"]);
    }

    #[test]
    fn spans_are_exact() {
        let list = "[ é,  \"Grep\" ]";
        let spans: Vec<&str> = split(list, 0..list.len()).into_iter().map(|item| &list[item.span]).collect();
        assert_eq!(spans, ["é", "\"Grep\""]);
    }

    #[test]
    fn quotes_end_where_they_do() {
        assert_eq!(quote_end(r#""a\"b" c"#, 0, 8), 6);
        assert_eq!(quote_end("'it''s' c", 0, 9), 7);
        assert_eq!(quote_end("'open", 0, 5), 5);
    }
}
