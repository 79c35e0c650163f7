//! Comments of a review, as the one message that the agent gets. Pure.

use std::fmt::Write;

use offshoot_protocol::{Comment, DiffSide, Passage, Rejected, RejectedCode};

/// Longest comment, in bytes.
const LONGEST: usize = 16 << 10;

/// Most bytes of quoted text in the message, for one comment.
const QUOTED: usize = 4 << 10;

/// Whether a comment can be kept.
pub(super) fn check(passage: &Passage, text: &str) -> Result<(), Rejected> {
    let invalid = |message: &str| Err(Rejected::new(RejectedCode::Invalid, message, ""));
    if text.trim().is_empty() {
        return invalid("The comment is empty.");
    }
    if passage.path.is_empty() || passage.first == 0 || passage.last < passage.first {
        return invalid("The comment is about no line.");
    }
    check_length(text)?;
    check_length(&passage.quoted)
}

/// Whether a text is short enough to be kept.
pub(super) fn check_length(text: &str) -> Result<(), Rejected> {
    if text.len() > LONGEST {
        let message = format!("The comment is longer than {} KB.", LONGEST >> 10);
        return Err(Rejected::new(RejectedCode::Invalid, message, "Shorten it, or send it as a message."));
    }
    Ok(())
}

/// What the agent is given. Every comment has the place and the quoted lines that it was made about: they may have moved since.
pub(super) fn message(comments: &[&Comment]) -> String {
    let number = comments.len();
    let mut text = match number {
        1 => "I reviewed your changes and have one comment.".to_owned(),
        _ => format!("I reviewed your changes and have {number} comments."),
    };
    for (n, comment) in comments.iter().enumerate() {
        let _ = write!(text, "\n\n{}. {}:\n", n + 1, place(comment));
        let mut quoted = comment.passage.quoted.as_str();
        if let Some((at, _)) =
            quoted.char_indices().take_while(|(at, _)| *at <= QUOTED).last().filter(|_| quoted.len() > QUOTED)
        {
            quoted = &quoted[..at];
        }
        for line in quoted.lines() {
            let _ = writeln!(text, "> {line}");
        }
        let _ = write!(text, "\n{}", comment.text);
    }
    text
}

fn place(comment: &Comment) -> String {
    let Passage { path, side, first, last, .. } = &comment.passage;
    let lines = if first == last { format!("line {first}") } else { format!("lines {first}–{last}") };
    match side {
        DiffSide::Now => format!("`{path}`, {lines}"),
        DiffSide::Base => {
            let base: String = comment.base.chars().take(10).collect();
            format!("`{path}`, {lines} of the version that you started from ({base})")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(side: DiffSide, first: u32, last: u32, quoted: &str, text: &str) -> Comment {
        let passage = Passage { path: "src/a.rs".into(), side, first, last, quoted: quoted.into(), hunk: None };
        Comment { id: "c-1".into(), passage, base: "0123456789abcdef".into(), text: text.into(), sent: None }
    }

    #[test]
    fn every_comment_has_its_place_and_its_lines() {
        let one = comment(DiffSide::Now, 3, 3, "let x = 1;", "Use a constant.");
        let two = comment(DiffSide::Base, 7, 8, "fn old() {\n}", "Why did this go?\nIt is used.");
        let expected = "I reviewed your changes and have 2 comments.\n\n\
            1. `src/a.rs`, line 3:\n> let x = 1;\n\nUse a constant.\n\n\
            2. `src/a.rs`, lines 7–8 of the version that you started from (0123456789):\n> fn old() {\n> }\n\n\
            Why did this go?\nIt is used.";
        assert_eq!(message(&[&one, &two]), expected);
    }

    #[test]
    fn what_is_no_comment_is_refused() {
        let passage = |first, last| comment(DiffSide::Now, first, last, "", "").passage;
        assert!(check(&passage(1, 1), " \n").is_err());
        assert!(check(&passage(0, 1), "x").is_err());
        assert!(check(&passage(3, 2), "x").is_err());
        assert!(check(&passage(1, 1), &"x".repeat(20 << 10)).is_err());
        assert!(check(&passage(1, 2), "x").is_ok());
    }

    #[test]
    fn a_long_quotation_is_cut_between_letters() {
        let long = comment(DiffSide::Now, 1, 1, &"ü".repeat(10_000), "short");
        assert!(message(&[&long]).len() < QUOTED + 200);
    }
}
