//! Splits a byte stream into server-sent events.
//!
//! Knows lines and fields, nothing of what they mean; never looks at UTF-8, so that a sequence may be split anywhere.
//! The event's name is dropped: every provider repeats it in the data.
//! Format: <https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream>.

/// Most bytes of one event. A longer one is an attack or a mistake, and ends the request.
pub(crate) const MAX_EVENT: usize = 16 * 1024 * 1024;

/// An event grew over its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {} MiB", .limit / (1024 * 1024))]
pub(crate) struct TooLarge {
    limit: usize,
}

/// Gathers events from chunks cut anywhere.
pub(crate) struct Splitter {
    /// The line that the last chunk broke off in.
    line: Vec<u8>,
    /// The data lines of the event so far, each followed by a line feed.
    data: Vec<u8>,
    /// Whether `data` was handed out and is to be forgotten.
    is_taken: bool,
    /// Whether a carriage return ended the last line, so that a line feed right after it belongs to it.
    after_return: bool,
    is_first_line: bool,
    limit: usize,
}

impl Default for Splitter {
    fn default() -> Self {
        Self::with_limit(MAX_EVENT)
    }
}

impl Splitter {
    fn with_limit(limit: usize) -> Self {
        Self { line: Vec::new(), data: Vec::new(), is_taken: false, after_return: false, is_first_line: true, limit }
    }

    /// The data of the next event that ends in `chunk`, which is moved on behind it. `None`: the chunk is used up.
    pub(crate) fn next(&mut self, chunk: &mut &[u8]) -> Result<Option<&[u8]>, TooLarge> {
        if std::mem::take(&mut self.is_taken) {
            self.data.clear();
        }
        loop {
            if self.after_return && !chunk.is_empty() {
                self.after_return = false;
                if chunk[0] == b'\n' {
                    *chunk = &chunk[1..];
                }
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', chunk) else {
                self.check(chunk.len())?;
                self.line.extend_from_slice(chunk);
                *chunk = &[];
                return Ok(None);
            };
            self.check(end)?;
            self.after_return = chunk[end] == b'\r';
            let (rest_of_line, rest) = (&chunk[..end], &chunk[end + 1..]);
            *chunk = rest;
            let is_event_end = if self.line.is_empty() {
                take_line(&mut self.data, rest_of_line, &mut self.is_first_line)
            } else {
                self.line.extend_from_slice(rest_of_line);
                let is_event_end = take_line(&mut self.data, &self.line, &mut self.is_first_line);
                self.line.clear();
                is_event_end
            };
            // An event without data is none.
            if is_event_end && !self.data.is_empty() {
                self.is_taken = true;
                return Ok(Some(&self.data[..self.data.len() - 1]));
            }
        }
    }

    fn check(&self, more: usize) -> Result<(), TooLarge> {
        if self.data.len() + self.line.len() + more > self.limit { Err(TooLarge { limit: self.limit }) } else { Ok(()) }
    }
}

/// Adds a data line to `data`. Returns whether the line ends the event.
fn take_line(data: &mut Vec<u8>, line: &[u8], is_first: &mut bool) -> bool {
    let line = if std::mem::take(is_first) { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    if line.is_empty() {
        return true;
    }
    let value = match line.strip_prefix(b"data") {
        Some(b"") => b"",
        Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
        // Other fields, and comments.
        _ => return false,
    };
    data.extend_from_slice(value);
    data.push(b'\n');
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RECORDED: &str = "\u{feff}event: message_start\r\ndata: {\"a\":\"grün 🦀\"}\r\n\r\n: comment\rdata:one\rdata: two\r\rdata\n\nid: 7\n\n\
                            event: ping\ndata:  spaced\n\ndatabase: no\ndata: last\n\ndata: unfinished\n";

    fn split<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut splitter = Splitter::default();
        let mut events = Vec::new();
        for mut chunk in chunks {
            while let Some(data) = splitter.next(&mut chunk).unwrap() {
                events.push(String::from_utf8(data.to_vec()).unwrap());
            }
        }
        events
    }

    #[test]
    fn fields_comments_and_line_ends_are_understood() {
        assert_eq!(split([RECORDED.as_bytes()]), ["{\"a\":\"grün 🦀\"}", "one\ntwo", "", " spaced", "last"]);
    }

    #[test]
    fn any_two_cuts_give_the_same_events() {
        let bytes = RECORDED.as_bytes();
        let whole = split([bytes]);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                assert_eq!(
                    split([&bytes[..first], &bytes[first..second], &bytes[second..]]),
                    whole,
                    "cut at {first} and {second}"
                );
            }
        }
        assert_eq!(split(bytes.chunks(1)), whole);
    }

    #[test]
    fn an_event_over_the_limit_is_refused_however_it_comes() {
        let long = format!("data: {}\n\n", "x".repeat(90));
        let lines = "data: x\n".repeat(60);
        let endless = "x".repeat(120);
        for text in [&long, &lines, &endless] {
            for size in [1, 7, 1_000] {
                let mut splitter = Splitter::with_limit(80);
                let result = text.as_bytes().chunks(size).try_for_each(|mut chunk| {
                    while splitter.next(&mut chunk)?.is_some() {}
                    Ok(())
                });
                assert_eq!(result, Err(TooLarge { limit: 80 }));
            }
        }
    }

    #[test]
    fn the_limit_is_for_one_event() {
        let mut splitter = Splitter::with_limit(80);
        let text = "data: 0123456789\n\n".repeat(100);
        let mut chunk = text.as_bytes();
        let mut events = 0;
        while splitter.next(&mut chunk).unwrap().is_some() {
            events += 1;
        }
        assert_eq!(events, 100);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_cut_anywhere_give_the_same_events(text in "(data: ?|event|:|\r|\n|\r\n|x|é|🦀){0,60}", size in 1usize..9) {
            let bytes = text.as_bytes();
            prop_assert_eq!(split(bytes.chunks(size)), split([bytes]));
        }
    }
}
