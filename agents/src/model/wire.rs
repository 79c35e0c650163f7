//! What the formats' encoders and decoders have in common: JSON in, JSON out, and the ends of calls.

use offshoot_protocol::{CallId, RawJson};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::ModelError;
use crate::transcript::Transcript;

/// Sent where a message would be empty: a message may not be.
pub(super) const NOTHING: &str = "(no content)";

/// Reads a part of an event.
pub(super) fn parse<'a, T: Deserialize<'a>>(data: &'a [u8]) -> Result<T, ModelError> {
    serde_json::from_slice(data).map_err(|error| protocol(format!("an event is malformed: {error}")))
}

/// The answer breaks the protocol.
pub(super) fn protocol(reason: impl Into<String>) -> ModelError {
    ModelError::Protocol { reason: reason.into() }
}

/// A piece of text as a server cut it. Those that count in UTF-16 cut characters in halves, which no text can hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece(Vec<u8>);

impl<'de> Deserialize<'de> for Piece {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Piece;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text")
            }

            // The parser gives halves of characters in UTF-8's own pattern, three bytes each.
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Piece, E> {
                Ok(Piece(bytes.to_owned()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Piece, E> {
                Ok(Piece(text.as_bytes().to_owned()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

impl Piece {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A piece that needs no joining.
    pub(super) fn whole(text: &str) -> Self {
        Self(text.as_bytes().to_owned())
    }
}

impl FromIterator<Piece> for Piece {
    fn from_iter<I: IntoIterator<Item = Self>>(pieces: I) -> Self {
        Self(pieces.into_iter().flat_map(|piece| piece.0).collect())
    }
}

/// First halves of characters that wait for their second ones, by block.
#[derive(Default)]
pub(super) struct Halves(Vec<(u32, u32)>);

impl Halves {
    /// The text that a block's next piece adds. A half that nothing completes becomes the sign for what can't be read.
    pub(super) fn join(&mut self, block: u32, piece: &Piece) -> String {
        if self.0.is_empty()
            && let Ok(text) = std::str::from_utf8(&piece.0)
        {
            return text.to_owned();
        }
        let mut waiting = self.take(block);
        let mut text = String::with_capacity(piece.0.len());
        let mut rest = &piece.0[..];
        while !rest.is_empty() {
            let Some((half, at)) = first_half_character(rest) else {
                if waiting.take().is_some() {
                    text.push(char::REPLACEMENT_CHARACTER);
                }
                text.push_str(&String::from_utf8_lossy(rest));
                break;
            };
            if at > 0 {
                if waiting.take().is_some() {
                    text.push(char::REPLACEMENT_CHARACTER);
                }
                text.push_str(&String::from_utf8_lossy(&rest[..at]));
            }
            rest = &rest[at + 3..];
            match (waiting.take(), half) {
                (Some(first), 0xDC00..=0xDFFF) => {
                    let whole = 0x10000 + ((first - 0xD800) << 10) + (half - 0xDC00);
                    text.push(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                (None, 0xD800..=0xDBFF) => waiting = Some(half),
                (before, _) => {
                    if before.is_some() && half < 0xDC00 {
                        waiting = Some(half);
                    }
                    text.push(char::REPLACEMENT_CHARACTER);
                }
            }
        }
        self.0.extend(waiting.map(|half| (block, half)));
        text
    }

    /// What is left of a block at its end.
    pub(super) fn end(&mut self, block: u32) -> &'static str {
        if self.take(block).is_some() { "\u{fffd}" } else { "" }
    }

    fn take(&mut self, block: u32) -> Option<u32> {
        let at = self.0.iter().position(|(waiting, _)| *waiting == block)?;
        Some(self.0.swap_remove(at).1)
    }
}

/// The first half of a character in bytes that are UTF-8 but for those, and where it is.
fn first_half_character(bytes: &[u8]) -> Option<(u32, usize)> {
    let at = bytes.windows(3).position(|three| three[0] == 0xED && three[1] >= 0xA0)?;
    let half = 0xD000 | (u32::from(bytes[at + 1] & 0x3F) << 6) | u32::from(bytes[at + 2] & 0x3F);
    Some((half, at))
}

/// A call's input from what was gathered: a model that wrote nothing meant an object without fields.
pub(super) fn input(gathered: String) -> RawJson {
    RawJson(if gathered.trim().is_empty() { "{}".to_owned() } else { gathered })
}

/// Arguments of a call: JSON text in a string, or, from some servers, the object itself.
pub(super) fn arguments(value: &RawValue) -> Result<Piece, ModelError> {
    match value.get() {
        text if text.starts_with('"') => parse(text.as_bytes()),
        "null" => Ok(Piece::default()),
        object => Ok(Piece::whole(object)),
    }
}

/// The text as it was written, if it is a JSON object.
pub(super) fn object(raw: &str) -> Option<&RawValue> {
    let value: &RawValue = serde_json::from_str(raw).ok()?;
    value.get().starts_with('{').then_some(value)
}

/// The input as the model wrote it, or the stand-in for one that is no JSON object.
pub(super) fn sendable(input: &RawJson) -> &str {
    if object(&input.0).is_some() { &input.0 } else { "{}" }
}

/// Writes a value behind what is there.
pub(super) fn push(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(out, value).expect("a vector takes every byte, and the value has only string keys");
}

/// The id for a call that becomes block `block` of the answer to `transcript`: the one given, unless it is empty or some
/// call of this agent, or of `others`, has it already. Some servers count anew in every answer.
pub(super) fn call_id<'a>(
    transcript: &Transcript,
    given: &str,
    block: u32,
    mut others: impl Iterator<Item = &'a CallId>,
) -> CallId {
    let is_taken = given.is_empty()
        || others.any(|id| id.as_str() == given)
        || transcript.newest_first().any(|stored| stored.message.calls().any(|(known, ..)| known.as_str() == given));
    CallId(if is_taken { format!("call_{}_{block}", transcript.len()) } else { given.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(pieces: &[(u32, &str)]) -> Vec<String> {
        let mut halves = Halves::default();
        let piece = |json: &str| serde_json::from_str::<Piece>(&format!("\"{json}\"")).unwrap();
        let mut texts: Vec<String> = pieces.iter().map(|(block, json)| halves.join(*block, &piece(json))).collect();
        texts.push(format!("{}{}", halves.end(0), halves.end(1)));
        texts
    }

    #[test]
    fn halves_of_characters_are_joined_wherever_they_were_cut() {
        assert_eq!(joined(&[(0, "a \\ud83e"), (0, "\\udd80 b")]), ["a ", "🦀 b", ""]);
        assert_eq!(joined(&[(0, "\\ud83e\\udd80"), (0, "grün")]), ["🦀", "grün", ""]);
        assert_eq!(joined(&[(0, "\\ud83e"), (1, "x"), (0, "\\udd80")]), ["", "x", "🦀", ""]);
        assert_eq!(joined(&[(0, "\\ud83e"), (0, ""), (0, "\\udd80")]), ["", "", "🦀", ""]);
    }

    #[test]
    fn a_half_that_nothing_completes_is_marked() {
        assert_eq!(joined(&[(0, "\\ud83e"), (0, "x")]), ["", "\u{fffd}x", ""]);
        assert_eq!(joined(&[(0, "\\udd80x")]), ["\u{fffd}x", ""]);
        assert_eq!(joined(&[(0, "x\\ud83e")]), ["x", "\u{fffd}"]);
        assert_eq!(joined(&[(0, "\\ud83e\\ud83e\\udd80")]), ["\u{fffd}🦀", ""]);
    }
}
