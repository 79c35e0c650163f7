//! Patterns with `*`, against texts that may themselves not be known everywhere.

/// One element of a pattern or a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Exactly this character.
    Char(char),
    /// One character.
    One,
    /// Any number of characters, none too.
    Any,
}

/// Products of lengths beyond which two patterns are taken to overlap.
const MAX_WORK: usize = 1 << 22;

/// Whether `pattern` matches the wholly known `text`. Linear in practice, at most the product of the lengths.
pub(super) fn matches(pattern: &[Token], text: impl Iterator<Item = char> + Clone) -> bool {
    let mut text = text;
    let mut at = 0;
    // Where to go on if a mismatch shows that the last `*` has to take one character more.
    let mut retry = None;
    loop {
        let before = text.clone();
        let next = text.next();
        match (pattern.get(at), next) {
            (Some(Token::Any), _) => {
                at += 1;
                retry = Some((at, before.clone()));
                text = before;
            }
            (Some(Token::Char(wanted)), Some(c)) if *wanted == c => at += 1,
            (Some(Token::One), Some(_)) => at += 1,
            (None, None) => return true,
            _ => {
                let Some((behind, from)) = &mut retry else { return false };
                if from.next().is_none() {
                    return false;
                }
                at = *behind;
                text = from.clone();
            }
        }
    }
}

/// Whether some text matches both.
pub(super) fn overlap(a: &[Token], b: &[Token]) -> bool {
    if a.len().saturating_mul(b.len()) > MAX_WORK {
        return true;
    }
    // `row[j]`: the first `i` elements of `a` and the first `j` of `b` have a common text.
    let mut row = vec![false; b.len() + 1];
    row[0] = true;
    for j in 0..b.len() {
        row[j + 1] = row[j] && b[j] == Token::Any;
    }
    for &left in a {
        let mut diagonal = row[0];
        row[0] = row[0] && left == Token::Any;
        for (j, &right) in b.iter().enumerate() {
            let above = row[j + 1];
            // A `*` stands for nothing, or for one more of what the other side has here.
            row[j + 1] = match (left, right) {
                (Token::Any, _) | (_, Token::Any) => above || row[j],
                (Token::Char(x), Token::Char(y)) => diagonal && x == y,
                _ => diagonal,
            };
            diagonal = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let token = |c| match c {
            '*' => Token::Any,
            '?' => Token::One,
            c => Token::Char(c),
        };
        text.chars().map(token).collect()
    }

    #[test]
    fn stars_match_any_text() {
        for (pattern, text, right) in [
            ("", "", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "ac", true),
            ("a*c", "acb", false),
            ("*b*b", "abab", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
        ] {
            assert_eq!(matches(&tokens(pattern), text.chars()), right, "{pattern} {text}");
            assert_eq!(overlap(&tokens(pattern), &tokens(text)), right, "{pattern} {text}");
            assert_eq!(overlap(&tokens(text), &tokens(pattern)), right, "{pattern} {text}");
        }
    }

    #[test]
    fn patterns_overlap_if_a_text_matches_both() {
        for (a, b, right) in
            [("a*", "*b", true), ("a*", "b*", false), ("*", "*", true), ("a?", "*c", true), ("a*b", "a?", true)]
        {
            assert_eq!(overlap(&tokens(a), &tokens(b)), right, "{a} {b}");
        }
    }

    #[test]
    fn many_stars_stay_fast() {
        let pattern = tokens(&"*a".repeat(200));
        assert!(!matches(&pattern, "ab".repeat(100).chars().chain("c".chars())));
    }
}
