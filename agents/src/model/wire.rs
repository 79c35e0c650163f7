//! What the formats' encoders and decoders have in common: JSON in, JSON out, and the ends of calls.

use offshoot_protocol::{CallId, RawJson};
use serde::{Deserialize, Serialize};
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

/// A call's input from what was gathered: a model that wrote nothing meant an object without fields.
pub(super) fn input(gathered: String) -> RawJson {
    RawJson(if gathered.trim().is_empty() { "{}".to_owned() } else { gathered })
}

/// Arguments of a call: JSON text in a string, or, from some servers, the object itself.
pub(super) fn arguments(value: &RawValue) -> Result<String, ModelError> {
    match value.get() {
        text if text.starts_with('"') => parse(text.as_bytes()),
        "null" => Ok(String::new()),
        object => Ok(object.to_owned()),
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
