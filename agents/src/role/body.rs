//! Replaces the prompt of a role file: lines that stay keep their bytes, line endings included.

use std::ops::Range;

use super::relist::Splice;

/// The change that makes `new` the prompt. Blank lines around the old one stay.
pub(super) fn replace(text: &str, body: Range<usize>, new: &str, line_ending: &str) -> Splice {
    let new = new.replace("\r\n", "\n");
    let new = new.trim();
    let old = &text[body.clone()];
    let core = old.trim();
    if core.is_empty() {
        if new.is_empty() {
            return (body.end..body.end, String::new());
        }
        // The closing fence may be the file's last line, without a line break.
        let start = if text[..body.start].ends_with('\n') { "" } else { line_ending };
        return (body.end..body.end, format!("{start}{}{line_ending}", new.replace('\n', line_ending)));
    }
    let start = body.start + (old.len() - old.trim_start().len());
    let old_lines: Vec<&str> = core.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split('\n').collect();
    let same = |(old, new): &(&&str, &&str)| content(old) == **new;
    let head = old_lines.iter().zip(&new_lines).take_while(same).count();
    let most = old_lines.len().min(new_lines.len()) - head;
    let tail = old_lines.iter().rev().zip(new_lines.iter().rev()).take(most).take_while(same).count();
    let mut out = String::new();
    for (index, line) in new_lines.iter().enumerate() {
        let kept = if index < head {
            Some(old_lines[index])
        } else if index >= new_lines.len() - tail {
            Some(old_lines[old_lines.len() - (new_lines.len() - index)])
        } else {
            None
        };
        let is_last = index + 1 == new_lines.len();
        out.push_str(line);
        match kept.map(|kept| &kept[content(kept).len()..]) {
            _ if is_last => {}
            Some(ending) if !ending.is_empty() => out.push_str(ending),
            _ => out.push_str(line_ending),
        }
    }
    (start..start + core.len(), out)
}

fn content(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, new: &str) -> String {
        let fence = text.find('|').unwrap() + 1;
        let (range, new) = replace(text, fence..text.len(), new, "\r\n");
        format!("{}{new}{}", &text[..range.start], &text[range.end..])
    }

    #[test]
    fn lines_that_stay_keep_their_ends() {
        assert_eq!(replaced("|\r\n\r\na\nb\r\nc\nd\r\n\r\n", "a\nX\nY\nc\nd"), "|\r\n\r\na\nX\r\nY\r\nc\nd\r\n\r\n");
        assert_eq!(replaced("|\na\nb", "a"), "|\na");
        assert_eq!(replaced("|\na", "a\nb\n"), "|\na\r\nb");
        assert_eq!(replaced("|\na\nb\n", " "), "|\n\n");
    }

    #[test]
    fn a_missing_prompt_is_added() {
        assert_eq!(replaced("|", "a\nb"), "|\r\na\r\nb\r\n");
        assert_eq!(replaced("\n|", ""), "\n|");
    }
}
