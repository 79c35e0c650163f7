//! A session as JSON Lines: written out of the log, and read back into it, here or on another machine.
//!
//! The first line is a [`Header`]; then come the contents that events refer to by hash, and the events in order. Keys never
//! reach the log, so none is in such a file. A file that is read is hostile until it has been looked at whole: every line
//! is bounded and checked ([`read`]), what it could reach on this machine or allow there is taken out ([`settle`]), and
//! nothing is stored before the last line was fine.

use std::collections::BTreeSet;
use std::io::Write;

use offshoot_protocol::{BlobHash, Event, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::log::{Log, LogError};

mod read;
mod settle;

pub use read::{Imported, Refused, read};
pub use settle::Place;

/// Version of the files that this program writes. One with a higher number is refused.
pub const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The format's version; also says what the file is.
    pub offshoot_session: u32,
    /// The session's id where it was written.
    pub session: SessionId,
    /// When it was written (UTC).
    pub exported_at: Timestamp,
}

/// A line behind the first one.
#[derive(Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    /// Content, before the first event that refers to it.
    Content {
        hash: BlobHash,
        /// The content where it is text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The content in hexadecimal where it isn't.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<String>,
    },
    /// A fact.
    Event { event: Box<Event> },
}

/// Why a session could not be written out.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    /// There is none.
    #[error("there is no session {0}")]
    NoSession(SessionId),
    /// It could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The file, or whatever is written to, failed.
    #[error("the file could not be written: {0}")]
    File(#[from] std::io::Error),
}

/// Writes a session as the log has it.
pub fn write(log: &Log, session: &SessionId, at: Timestamp, mut out: impl Write) -> Result<(), NotWritten> {
    let events = log.events(session, 0)?;
    if events.is_empty() {
        return Err(NotWritten::NoSession(session.clone()));
    }
    let header = Header { offshoot_session: VERSION, session: session.clone(), exported_at: at };
    write_line(&mut out, &header)?;
    let mut written = BTreeSet::new();
    for event in events {
        let value = serde_json::to_value(&event).map_err(std::io::Error::from)?;
        for hash in hashes(&value) {
            if let Some(content) = log.blob(&hash)?
                && written.insert(hash.clone())
            {
                write_line(&mut out, &content_line(hash, content))?;
            }
        }
        write_line(&mut out, &Line::Event { event: Box::new(event) })?;
    }
    out.flush()?;
    Ok(())
}

fn content_line(hash: BlobHash, content: Vec<u8>) -> Line {
    match String::from_utf8(content) {
        Ok(text) => Line::Content { hash, text: Some(text), bytes: None },
        Err(error) => Line::Content { hash, text: None, bytes: Some(hexadecimal(error.as_bytes())) },
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a string can't fail");
    }
    text
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// Everything in an event that looks like the name of stored content. Which fields hold one is the events' affair.
fn hashes(value: &Value) -> Vec<BlobHash> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let mut found = Vec::new();
    strings(value, &mut |text| {
        if text.len() == 64 && text.bytes().all(is_digit) {
            found.push(BlobHash(text.to_owned()));
        }
    });
    found
}

fn strings(value: &Value, take: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, take)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, take)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
