//! Where changes came from, as the last lines of a commit message and the first ones of a patch. Pure.

use std::fmt::Write;

use offshoot_protocol::{AgentView, MergePart};

/// One line for each agent: its id, its title, how much of its changes, and what they started from.
pub(super) fn trailers<'a>(agents: impl Iterator<Item = (&'a AgentView, Option<&'a MergePart>)>) -> String {
    let mut text = String::new();
    for (agent, part) in agents {
        let mut notes = Vec::new();
        if let Some(part) = part {
            notes.push(format!("{} of {} hunks", part.hunks, part.of));
        }
        if let Some(worktree) = &agent.worktree {
            notes.push(format!("base {}", worktree.base.chars().take(12).collect::<String>()));
        }
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        let _ = writeln!(text, "Offshoot-Agent: {} {}{notes}", agent.id, one_line(&agent.title));
    }
    text
}

/// A commit's message: the person's words, or the agents' titles, and where it came from.
pub(super) fn message(words: &str, titles: &[String], trailers: &str) -> String {
    let words = words.trim();
    let titles: Vec<String> = titles.iter().map(|title| one_line(title)).collect();
    let words = if words.is_empty() { titles.join("; ") } else { words.to_owned() };
    format!("{words}\n\n{trailers}")
}

/// What an agent is asked whose change of a file conflicts.
pub(super) fn conflict(path: &str, ours: &str) -> String {
    let longest = ours.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!(
        "Your change of `{path}` conflicts with what I have there now. Work my version below into your own version of the file \
         in your directory: keep what both of us want, leave no conflict marks, and tell me in one sentence how you settled \
         it.\n\n{fence}\n{ours}\n{fence}"
    )
}

/// A title is a model's text: nothing of it may look like another line.
fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_stays_on_its_line() {
        assert_eq!(one_line("Fix\nSigned-off-by: me\u{1b}[0m"), "Fix Signed-off-by: me [0m");
        assert_eq!(message("", &["one".into(), "two\n".into()], "T\n"), "one; two\n\nT\n");
        assert_eq!(message(" Fix it\n", &[], "T\n"), "Fix it\n\nT\n");
        assert!(conflict("a", "x ```` y").contains("`````\nx ```` y\n`````"));
    }
}
