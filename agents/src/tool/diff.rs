//! The diff of one edit, for the person who is asked and for the result.

use std::fmt::Write as _;
use std::time::Duration;

use similar::{Algorithm, TextDiff};

/// Most bytes of a diff.
const MAX_BYTES: usize = 48 * 1024;
/// Most characters of a line in it.
const MAX_LINE: usize = 600;
/// After this long, the rest is shown as replaced as a whole.
const MAX_TIME: Duration = Duration::from_millis(200);

/// A unified diff with three lines of context and without file headers. Longer ones are cut at a line, and say so.
pub(super) fn unified(old: &str, new: &str) -> String {
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(MAX_TIME).diff_lines(old, new);
    let mut out = String::new();
    let mut left_out = 0_usize;
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        let mut push = |line: &str| {
            if left_out == 0 && out.len() + line.len() < MAX_BYTES {
                out.push_str(line);
            } else {
                left_out += 1;
            }
        };
        push(&format!("{}\n", hunk.header()));
        for change in hunk.iter_changes() {
            let text = change.value();
            let ended = text.ends_with('\n');
            let line = shorten(text.trim_end_matches('\n'));
            let note = if ended { "" } else { "\n\\ No newline at end of file" };
            push(&format!("{}{line}{note}\n", change.tag()));
        }
    }
    if left_out > 0 {
        let _ = writeln!(out, "… {left_out} more lines of this diff are not shown");
    }
    out
}

/// Cuts a line after [`MAX_LINE`] characters.
fn shorten(line: &str) -> std::borrow::Cow<'_, str> {
    match line.char_indices().nth(MAX_LINE) {
        None => line.into(),
        Some((cut, _)) => format!("{}… ({} more bytes)", &line[..cut], line.len() - cut).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_lines_and_missing_newlines() {
        assert_eq!(unified("a\nb\nc", "a\nB\nc"), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\\ No newline at end of file\n");
        assert_eq!(unified("same\n", "same\n"), "");
    }

    #[test]
    fn is_bounded() {
        let lines = |word: &str| (0..60_000).map(|n| format!("{word} {n}")).collect::<Vec<_>>().join("\n");
        let diff = unified(&lines("old"), &lines("new"));
        assert!(diff.len() < MAX_BYTES + 100);
        assert!(diff.contains("more lines of this diff are not shown"));
        assert!(unified("", &"x".repeat(1 << 20)).len() < 4096);
    }
}
