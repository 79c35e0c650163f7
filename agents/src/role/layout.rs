//! Where things stand in a role file: fences, entries of the front matter, body. Byte ranges only; it decodes no value.
//!
//! The front matter is cut into entries by its lines, before any YAML is read: a line that starts at the margin with
//! `key:` opens one. So a value that is no YAML spoils nothing but itself, and the writer knows which lines are whose.

use std::ops::Range;

/// Longest front matter, in bytes.
const FRONT_MATTER_LIMIT: usize = 64 * 1024;
/// Most entries of one front matter.
const ENTRY_LIMIT: usize = 256;

/// A role file, taken apart.
#[derive(Debug)]
pub(super) struct Layout {
    /// What stands between the two fences, whole lines.
    pub(super) front: Range<usize>,
    /// What follows the line of the second fence.
    pub(super) body: Range<usize>,
    /// Line of the first fence, from 1.
    pub(super) fence_line: u32,
    /// How the first line ends.
    pub(super) line_ending: &'static str,
    /// The entries, in the file's order.
    pub(super) entries: Vec<Entry>,
}

/// One `key: value` of the front matter.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The key as written, without quotes around it.
    pub(super) key: String,
    /// The line of the key, from 1.
    pub(super) line: u32,
    /// The lines of key and value, without blank lines and comments at the margin that follow.
    pub(super) lines: Range<usize>,
    /// First byte after the colon.
    pub(super) after_colon: usize,
}

/// Why a file can't be taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    /// Line from 1.
    pub(super) line: u32,
    /// Why, in words.
    pub(super) message: String,
}

impl Unreadable {
    pub(super) fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// Decodes a file strictly: a file that isn't UTF-8 is never guessed at, since it could only be written back damaged.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, Unreadable> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Unreadable::new(1, "the file is UTF-16; save it as UTF-8"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let before = &bytes[..at];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = count_lines(before);
        let column = at - line_start + 1;
        let byte = bytes[at];
        Unreadable::new(
            line,
            format!("not UTF-8: byte {column} of line {line} is 0x{byte:02X}; save the file as UTF-8"),
        )
    })
}

/// The line, from 1, that the byte after `before` stands in.
pub(super) fn count_lines(before: &[u8]) -> u32 {
    let newlines = before.split(|byte| *byte == b'\n').count() - 1;
    u32::try_from(newlines).unwrap_or(u32::MAX).saturating_add(1)
}

impl Layout {
    /// Takes `text` apart. A byte-order mark and blank lines before the first fence are passed over.
    pub(super) fn of(text: &str) -> Result<Self, Unreadable> {
        let mut lines = Lines { text, at: bom(text), number: 0 };
        let opening = loop {
            match lines.next() {
                None if text.trim_start_matches('\u{feff}').is_empty() => {
                    return Err(Unreadable::new(1, "the file is empty"));
                }
                Some(line) if is_fence(line.content) => break line,
                Some(line) if line.content.trim().is_empty() => {}
                _ => return Err(Unreadable::new(1, "no front matter: the first line must be `---`")),
            }
        };
        let front_start = lines.at;
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(line) = lines.next() {
            if is_fence(line.content) {
                return Ok(Self {
                    front: front_start..line.start,
                    body: lines.at..text.len(),
                    fence_line: opening.number,
                    line_ending: if text[..front_start].ends_with("\r\n") { "\r\n" } else { "\n" },
                    entries,
                });
            }
            if lines.at - front_start > FRONT_MATTER_LIMIT {
                let message = format!("the front matter is over {} KiB", FRONT_MATTER_LIMIT / 1024);
                return Err(Unreadable::new(line.number, message));
            }
            if let Some((key, colon)) = key_of(line.content) {
                if entries.len() == ENTRY_LIMIT {
                    return Err(Unreadable::new(
                        line.number,
                        format!("more than {ENTRY_LIMIT} entries in the front matter"),
                    ));
                }
                let after_colon = line.start + colon + 1;
                entries.push(Entry { key, line: line.number, lines: line.start..lines.at, after_colon });
            } else if !is_trivia(line.content) {
                match entries.last_mut() {
                    // Blank lines and comments on the way to this line belong to the value after all.
                    Some(entry) => entry.lines.end = lines.at,
                    None if line.content.trim_start().starts_with('#') => {}
                    None => return Err(Unreadable::new(line.number, "expected `key: value`")),
                }
            }
        }
        let message = "the front matter never ends: a line `---` must stand between it and the prompt";
        Err(Unreadable::new(opening.number, message))
    }
}

struct Lines<'t> {
    text: &'t str,
    at: usize,
    number: u32,
}

struct Line<'t> {
    start: usize,
    number: u32,
    content: &'t str,
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let start = self.at;
        let length = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
        self.at += length;
        self.number += 1;
        Some(Line { start, number: self.number, content: rest[..length].trim_end_matches(['\n', '\r']) })
    }
}

fn bom(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

/// Blank lines, and comments at the margin: an indented `#` may be a word of a text that goes over several lines.
fn is_trivia(line: &str) -> bool {
    line.trim_start().is_empty() || line.starts_with('#')
}

/// The key that a line at the margin opens, and where its colon stands.
fn key_of(line: &str) -> Option<(String, usize)> {
    let first = line.chars().next()?;
    if matches!(first, '"' | '\'') {
        let close = line[1..].find(first)? + 1;
        let rest = &line[close + 1..];
        let colon = close + 1 + rest.find(':')?;
        let fits = line[close + 1..colon].trim().is_empty() && ends_key(&line[colon + 1..]);
        return fits.then(|| (line[1..close].to_owned(), colon));
    }
    if !(first.is_alphanumeric() || first == '_') {
        return None;
    }
    let colon = line.match_indices(':').map(|(at, _)| at).find(|at| ends_key(&line[at + 1..]))?;
    let key = line[..colon].trim_end();
    (!key.contains(" #")).then(|| (key.to_owned(), colon))
}

fn ends_key(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Vec<(String, u32, &str)> {
        let layout = Layout::of(text).unwrap();
        layout.entries.iter().map(|entry| (entry.key.clone(), entry.line, &text[entry.lines.clone()])).collect()
    }

    #[test]
    fn comments_inside_a_value_belong_to_it_and_comments_behind_it_do_not() {
        let text = "---\n# head\ntools:\n  - A\n  # why B\n  - B\n# about the model\nmodel: x # y\n\n---\nBody";
        assert_eq!(
            entries(text),
            [("tools".into(), 3, "tools:\n  - A\n  # why B\n  - B\n"), ("model".into(), 8, "model: x # y\n")]
        );
    }

    #[test]
    fn a_quoted_key_a_key_with_a_colon_and_a_list_at_the_margin() {
        let text = "---\n\"na me\" : x\na:b: c\ntools:\n- A\n---\n";
        let keys: Vec<String> = entries(text).into_iter().map(|(key, ..)| key).collect();
        assert_eq!(keys, ["na me", "a:b", "tools"]);
    }

    #[test]
    fn the_body_may_contain_fences() {
        let text = "\u{feff}\n---\r\na: b\r\n---  \r\nBody\r\n---\r\nmore";
        let layout = Layout::of(text).unwrap();
        assert_eq!(&text[layout.body], "Body\r\n---\r\nmore");
        assert_eq!(layout.line_ending, "\r\n");
        assert_eq!(layout.fence_line, 2);
    }

    #[test]
    fn limits() {
        let many = format!("---\n{}---\n", "k: v\n".repeat(ENTRY_LIMIT + 1));
        assert!(Layout::of(&many).unwrap_err().message.contains("entries"));
        let long = format!("---\nk: {}\n---\n", "x".repeat(FRONT_MATTER_LIMIT));
        assert!(Layout::of(&long).unwrap_err().message.contains("64 KiB"));
    }

    #[test]
    fn not_utf_8_is_said_to_the_byte() {
        assert_eq!(
            decode(b"---\nname: x\ndescription: caf\xe9\n").unwrap_err(),
            Unreadable::new(3, "not UTF-8: byte 17 of line 3 is 0xE9; save the file as UTF-8")
        );
        assert!(decode(b"\xff\xfe-\0").unwrap_err().message.contains("UTF-16"));
    }
}
