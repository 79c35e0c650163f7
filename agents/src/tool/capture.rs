//! What a command writes, while it writes: kept in bounded memory and handed on as valid text.

use std::collections::VecDeque;

/// Bytes kept from the beginning.
const HEAD: usize = 256 * 1024;
/// Bytes kept from the end.
const TAIL: usize = 256 * 1024;

/// The output of one command. See the module.
#[derive(Debug, Default)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    /// The beginning of a UTF-8 sequence whose rest hasn't come yet: at most three bytes.
    open: Vec<u8>,
}

impl Capture {
    /// Takes the next bytes. Returns the text that became whole with them; what is no UTF-8 is U+FFFD in it.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(TAIL)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(TAIL);
        self.tail.drain(..surplus);
        self.tail.extend(rest);

        self.open.extend_from_slice(bytes);
        let mut text = String::with_capacity(self.open.len());
        let mut open = 0;
        let mut chunks = self.open.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if chunks.peek().is_none() && could_go_on(invalid) {
                open = invalid.len();
            } else if !invalid.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        self.open.drain(..self.open.len() - open);
        text
    }

    /// How many bytes have come in all.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The whole output, or its beginning and end with a note of what is missing between them. Valid text.
    pub(super) fn into_text(self) -> String {
        let Self { head, tail, total, .. } = self;
        let missing = total - (head.len() + tail.len()) as u64;
        let tail: Vec<u8> = tail.into();
        if missing == 0 {
            return String::from_utf8_lossy(&[head, tail].concat()).into_owned();
        }
        // Both cuts fall between characters.
        let end = head.len() - head.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
        let start = tail.iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
        let (head, tail) = (String::from_utf8_lossy(&head[..end]), String::from_utf8_lossy(&tail[start..]));
        format!("{head}\n[… {missing} bytes of output are not kept …]\n{tail}")
    }
}

/// Whether these bytes are the beginning of a UTF-8 sequence (RFC 3629) that the next ones could complete.
fn could_go_on(bytes: &[u8]) -> bool {
    let length = match bytes.first() {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => return false,
    };
    bytes.len() < length && std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_split_anywhere_come_out_whole() {
        let whole = "a β 👩‍💻 z";
        for size in 1..5 {
            let mut capture = Capture::default();
            let streamed: String = whole.as_bytes().chunks(size).map(|piece| capture.push(piece)).collect();
            assert_eq!(streamed, whole);
            assert_eq!(capture.into_text(), whole);
        }
    }

    #[test]
    fn invalid_bytes_are_replaced_and_do_not_wait() {
        let mut capture = Capture::default();
        assert_eq!(capture.push(b"a\xFFb\xE9"), "a\u{fffd}b");
        assert_eq!(capture.push(b"c"), "\u{fffd}c");
        assert_eq!(capture.push(b"\xF0\x9F"), "");
        assert_eq!(capture.push(b"\xF0\x9F\x98\x80"), "\u{fffd}😀");
        assert!(capture.push(b"\xED\xA0\x80").contains('\u{fffd}'), "a surrogate");
    }

    #[test]
    fn memory_stays_flat_and_both_ends_are_kept() {
        let mut capture = Capture::default();
        capture.push(b"first ");
        let piece = "é".repeat(50_000);
        for _ in 0..100 {
            capture.push(piece.as_bytes());
        }
        capture.push(b" last");
        assert!(capture.head.capacity() <= 2 * HEAD && capture.tail.capacity() <= 4 * TAIL);
        let text = capture.into_text();
        assert!(text.len() < HEAD + TAIL + 100);
        assert!(text.starts_with("first é") && text.ends_with("é last"));
        assert!(text.contains("bytes of output are not kept") && !text.contains('\u{fffd}'));
    }

    #[test]
    fn one_enormous_piece() {
        let mut capture = Capture::default();
        capture.push(&vec![b'x'; 5 << 20]);
        assert!(capture.tail.len() == TAIL && capture.total() == 5 << 20);
    }
}
