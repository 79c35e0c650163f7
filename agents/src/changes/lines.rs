//! Line by line: counts and hunks.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use offshoot_protocol::{DiffLine, Hunk, LineKind};
use similar::{Algorithm, DiffOp};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// How far back an enclosing function is looked for, in lines.
const HEADING_DISTANCE: usize = 400;

/// Longest heading, in characters.
const HEADING: usize = 80;

/// How long the best alignment is looked for. After that any alignment is taken: correct, but with more lines.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether content isn't text, by git's rule: a NUL in its first 8000 bytes.
pub(crate) fn is_binary(content: &[u8]) -> bool {
    content[..content.len().min(8_000)].contains(&0)
}

/// Number of lines; a last one without an end counts.
pub(super) fn number(content: &[u8]) -> u32 {
    bound(split(content).count())
}

/// Added and removed lines.
pub(super) fn count(old: &[u8], new: &[u8]) -> (u32, u32) {
    let sum = |lens: &mut dyn Iterator<Item = usize>| bound(lens.sum());
    let ops = Aligned::new(old, new).ops;
    let changed = || ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    (sum(&mut changed().map(|op| op.new_range().len())), sum(&mut changed().map(|op| op.old_range().len())))
}

/// The changed places with their context. Lines end at `\n`; a `\r` before it belongs to the text, so that a change of
/// line endings can be seen.
pub(super) fn hunks(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    let Aligned { old, new, ops } = Aligned::new(old, new);
    similar::group_diff_ops(ops, CONTEXT).iter().map(|group| hunk(&old, &new, group)).collect()
}

/// Both sides' lines, and what happened between them.
struct Aligned<'a> {
    old: Vec<&'a [u8]>,
    new: Vec<&'a [u8]>,
    ops: Vec<DiffOp>,
}

impl<'a> Aligned<'a> {
    fn new(old: &'a [u8], new: &'a [u8]) -> Self {
        let (old, new): (Vec<_>, Vec<_>) = (split(old).collect(), split(new).collect());
        // Equal lines get equal numbers: comparing numbers is much cheaper than comparing lines.
        let mut numbers: HashMap<&[u8], u32> = HashMap::with_capacity(old.len());
        let mut numbered = |lines: &[&'a [u8]]| -> Vec<u32> {
            lines
                .iter()
                .map(|line| {
                    let next = bound(numbers.len());
                    *numbers.entry(line).or_insert(next)
                })
                .collect()
        };
        let (before, after) = (numbered(&old), numbered(&new));
        let deadline = Some(Instant::now() + PATIENCE);
        let ops = similar::capture_diff_slices_deadline(Algorithm::Histogram, &before, &after, deadline);
        Self { old, new, ops }
    }
}

fn split(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split_inclusive(|byte| *byte == b'\n')
}

fn hunk(old: &[&[u8]], new: &[&[u8]], group: &[DiffOp]) -> Hunk {
    let (first, last) = (group.first().map_or(0..0, DiffOp::old_range), group.last().map_or(0..0, DiffOp::old_range));
    let old_lines = first.start..last.end;
    let (first, last) = (group.first().map_or(0..0, DiffOp::new_range), group.last().map_or(0..0, DiffOp::new_range));
    let new_lines = first.start..last.end;
    let mut lines = Vec::with_capacity(old_lines.len() + new_lines.len());
    for op in group {
        if let DiffOp::Equal { .. } = op {
            lines.extend(old[op.old_range()].iter().map(|text| line(LineKind::Context, text)));
        } else {
            lines.extend(old[op.old_range()].iter().map(|text| line(LineKind::Removed, text)));
            lines.extend(new[op.new_range()].iter().map(|text| line(LineKind::Added, text)));
        }
    }
    let start = |range: &std::ops::Range<usize>| if range.is_empty() { 0 } else { bound(range.start + 1) };
    Hunk {
        hash: String::new(),
        old_start: start(&old_lines),
        old_lines: bound(old_lines.len()),
        new_start: start(&new_lines),
        new_lines: bound(new_lines.len()),
        heading: heading(&old[..old_lines.start]),
        lines,
    }
}

fn line(kind: LineKind, text: &[u8]) -> DiffLine {
    let (text, ended) = text.strip_suffix(b"\n").map_or((text, false), |text| (text, true));
    DiffLine { kind, text: String::from_utf8_lossy(text).into_owned(), no_newline: !ended }
}

/// The last line that begins with a letter, `_` or `$`: in most languages what the lines below it belong to.
fn heading(before: &[&[u8]]) -> String {
    let begins = |line: &&&[u8]| line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"_$".contains(byte));
    let found = before.iter().rev().take(HEADING_DISTANCE).find(begins);
    found.map_or(String::new(), |line| String::from_utf8_lossy(line).trim_end().chars().take(HEADING).collect())
}

fn bound(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    /// Lines `<word> <number>`.
    fn numbered(word: &str, numbers: std::ops::Range<u32>) -> String {
        numbers.fold(String::new(), |text, n| text + word + &n.to_string() + "\n")
    }

    fn shown(hunks: &[Hunk]) -> String {
        let mut out = String::new();
        for hunk in hunks {
            let Hunk { old_start, old_lines, new_start, new_lines, heading, lines, .. } = hunk;
            writeln!(out, "@@ -{old_start},{old_lines} +{new_start},{new_lines} @@ {heading}").unwrap();
            for line in lines {
                let sign = match line.kind {
                    LineKind::Context => ' ',
                    LineKind::Added => '+',
                    LineKind::Removed => '-',
                };
                writeln!(out, "{sign}{}{}", line.text, if line.no_newline { "<no end>" } else { "" }).unwrap();
            }
        }
        out
    }

    #[test]
    fn a_hunk_has_its_context_and_the_function_above() {
        let old = "fn one() {\n    1\n    2\n    3\n    4\n    5\n    6\n}\n";
        let new = old.replace("    6\n", "    six\n    seven\n");
        let expected = "@@ -4,5 +4,6 @@ fn one() {\n     3\n     4\n     5\n-    6\n+    six\n+    seven\n }\n";
        assert_eq!(shown(&hunks(old.as_bytes(), new.as_bytes())), expected);
        assert_eq!(count(old.as_bytes(), new.as_bytes()), (2, 1));
    }

    #[test]
    fn far_places_are_hunks_of_their_own_and_near_ones_are_not() {
        let old = numbered("", 1..31);
        let new = old.replace("\n5\n", "\nfive\n").replace("\n10\n", "\nten\n").replace("\n25\n", "\n");
        let hunks = hunks(old.as_bytes(), new.as_bytes());
        assert_eq!(hunks.iter().map(|hunk| hunk.old_start).collect::<Vec<_>>(), [2, 22]);
    }

    #[test]
    fn new_and_missing_line_ends_are_told() {
        assert_eq!(shown(&hunks(b"", b"a\nb")), "@@ -0,0 +1,2 @@ \n+a\n+b<no end>\n");
        assert_eq!(shown(&hunks(b"a\n", b"a")), "@@ -1,1 +1,1 @@ \n-a\n+a<no end>\n");
        assert_eq!(shown(&hunks(b"a\n", b"a\r\n")), "@@ -1,1 +1,1 @@ \n-a\n+a\r\n");
    }

    #[test]
    fn a_rewritten_file_of_a_hundred_thousand_lines_is_counted() {
        let old = numbered("line ", 0..100_000);
        let new = numbered("other ", 0..100_000);
        assert_eq!(count(old.as_bytes(), new.as_bytes()), (100_000, 100_000));
    }
}
