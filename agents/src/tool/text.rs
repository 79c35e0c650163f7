//! A file's text and how it is written down: encoding, byte order mark, line ends.
//!
//! What is decoded can be encoded again to the same bytes. What can't is refused here ([`NotText`]), never converted.

/// How a text is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    /// UTF-8 behind a byte order mark.
    Utf8Mark,
    /// UTF-16, little-endian, behind a byte order mark.
    Utf16Le,
    /// UTF-16, big-endian, behind a byte order mark.
    Utf16Be,
}

/// A decoded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) encoding: Encoding,
    /// Without the mark; line ends as they are.
    pub(super) content: String,
}

/// Why bytes are no text that can be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotText {
    /// They contain a zero.
    Binary,
    /// They are text in an encoding that nothing names. Shown with U+FFFD for what isn't UTF-8.
    Unknown(String),
}

impl Encoding {
    /// For people and models.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf8Mark => "UTF-8 with a byte order mark",
            Self::Utf16Le => "UTF-16 (little-endian)",
            Self::Utf16Be => "UTF-16 (big-endian)",
        }
    }

    /// The bytes of `content` in this encoding, the mark included.
    pub(super) fn encode(self, content: &str) -> Vec<u8> {
        let wide = |mark: [u8; 2], unit: fn(u16) -> [u8; 2]| {
            mark.into_iter().chain(content.encode_utf16().flat_map(unit)).collect()
        };
        match self {
            Self::Utf8 => content.as_bytes().to_vec(),
            Self::Utf8Mark => [b"\xEF\xBB\xBF", content.as_bytes()].concat(),
            Self::Utf16Le => wide([0xFF, 0xFE], u16::to_le_bytes),
            Self::Utf16Be => wide([0xFE, 0xFF], u16::to_be_bytes),
        }
    }
}

impl Text {
    /// Decodes a whole file.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, NotText> {
        let (encoding, content) = match bytes {
            [0xEF, 0xBB, 0xBF, rest @ ..] => (Encoding::Utf8Mark, utf8(rest)?),
            [0xFF, 0xFE, rest @ ..] => (Encoding::Utf16Le, utf16(rest, u16::from_le_bytes)?),
            [0xFE, 0xFF, rest @ ..] => (Encoding::Utf16Be, utf16(rest, u16::from_be_bytes)?),
            _ => (Encoding::Utf8, utf8(bytes)?),
        };
        if content.contains('\0') { Err(NotText::Binary) } else { Ok(Self { encoding, content }) }
    }

    /// Whether every line of the file ends in CR LF, and there is one.
    pub(super) fn is_crlf(&self) -> bool {
        is_crlf(&self.content)
    }
}

/// Whether every line ends in CR LF, and there is one.
pub(super) fn is_crlf(content: &str) -> bool {
    let ends = content.matches('\n').count();
    ends > 0 && ends == content.matches("\r\n").count()
}

/// Ends every line with `ending`, whatever it ended with.
pub(super) fn with_line_ends(content: &str, ending: &str) -> String {
    let plain = content.replace("\r\n", "\n");
    if ending == "\n" { plain } else { plain.replace('\n', ending) }
}

fn utf8(bytes: &[u8]) -> Result<String, NotText> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) if bytes.contains(&0) => Err(NotText::Binary),
        Err(_) => Err(NotText::Unknown(String::from_utf8_lossy(bytes).into_owned())),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, NotText> {
    let pairs = bytes.chunks_exact(2);
    let whole = pairs.remainder().is_empty();
    let units: Vec<u16> = pairs.map(|pair| unit([pair[0], pair[1]])).collect();
    match String::from_utf16(&units) {
        Ok(text) if whole => Ok(text),
        _ => Err(NotText::Unknown(String::from_utf16_lossy(&units))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decoded_encodes_to_the_same_bytes() {
        let content = "a\r\nβ 👩‍💻\nno end";
        for encoding in [Encoding::Utf8, Encoding::Utf8Mark, Encoding::Utf16Le, Encoding::Utf16Be] {
            let bytes = encoding.encode(content);
            let text = Text::decode(&bytes).unwrap();
            assert_eq!((text.encoding, text.content.as_str()), (encoding, content));
            assert_eq!(encoding.encode(&text.content), bytes);
        }
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        assert!(matches!(Text::decode(b"caf\xE9\n"), Err(NotText::Unknown(_))));
        assert_eq!(Text::decode(b"\x7fELF\0"), Err(NotText::Binary));
        assert_eq!(Text::decode(b"\xFF\xFE\0\0a\0\0\0"), Err(NotText::Binary), "UTF-32");
        assert!(matches!(Text::decode(b"\xFF\xFEa"), Err(NotText::Unknown(_))), "half a unit");
        assert!(matches!(Text::decode(b"\xFF\xFE\x00\xD8a\0"), Err(NotText::Unknown(_))), "lone surrogate");
    }

    #[test]
    fn line_ends() {
        assert!(is_crlf("a\r\nb\r\n"));
        assert!(!is_crlf("a\r\nb\n") && !is_crlf("a"));
        assert_eq!(with_line_ends("a\nb\r\n", "\r\n"), "a\r\nb\r\n");
        assert_eq!(with_line_ends("a\r\nb", "\n"), "a\nb");
    }
}
