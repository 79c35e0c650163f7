//! Characters that make a command look like another one.

/// The first character of `text` that a reader might not see or might take for another, in words; `None` if there is
/// none. Newlines are fine, tabs are not: between words they look like spaces, in a here-document they vanish.
pub fn odd_character(text: &str) -> Option<String> {
    text.chars().find(|&c| is_odd(c)).map(describe)
}

fn describe(c: char) -> String {
    let kind = match c {
        '\t' => "a tab",
        '\r' => "a carriage return",
        '\u{1b}' => "an escape sequence",
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' => {
            "a character that changes the direction of writing"
        }
        c if c.is_control() => "a control character",
        c if c.is_whitespace() => "an unusual space",
        _ => "an invisible character",
    };
    format!("{kind} (U+{:04X})", u32::from(c))
}

/// Control characters, spaces other than the plain one, and what Unicode calls default-ignorable
/// (<https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point>) or interlinear and private.
fn is_odd(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && c != '\n';
    }
    c.is_control()
        || c.is_whitespace()
        || matches!(u32::from(c),
            0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
            | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164 | 0xE000..=0xF8FF | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0
            | 0xFFF0..=0xFFFD | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF | 0xF0000..=0x0010_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_named() {
        for (text, words) in [
            ("ls\trm", "a tab (U+0009)"),
            ("ls\u{200b}", "an invisible character (U+200B)"),
            ("ls \u{202e}x", "a character that changes the direction of writing (U+202E)"),
            ("ls\u{a0}x", "an unusual space (U+00A0)"),
            ("\u{1b}[2K", "an escape sequence (U+001B)"),
            ("a\u{85}", "a control character (U+0085)"),
            ("a\rb", "a carriage return (U+000D)"),
        ] {
            assert_eq!(odd_character(text).as_deref(), Some(words));
        }
    }

    #[test]
    fn ordinary_text_is_not_odd() {
        assert_eq!(odd_character("git commit -m 'größer, 日本語, 🎉'\nls"), None);
    }
}
