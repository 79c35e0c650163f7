//! Completes a block of an unknown kind with the deltas that came for it, leaving the rest of it as it was written.

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The block `raw` with `input` (JSON text) as its `input` and `text` behind its `text`. Empty ones leave it byte for byte.
pub(super) fn complete(raw: String, input: &str, text: &str) -> String {
    if input.is_empty() && text.is_empty() {
        return raw;
    }
    let Ok(mut fields) = serde_json::from_str::<Fields>(&raw) else { return raw };
    if let Ok(input) = RawValue::from_string(input.to_owned()) {
        fields.set("input", input);
    }
    if !text.is_empty() {
        let before = fields.get("text").and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        let whole = before.unwrap_or_default() + text;
        fields.set("text", serde_json::value::to_raw_value(&whole).expect("a string is JSON"));
    }
    serde_json::to_string(&fields).expect("raw values are JSON")
}

/// An object's fields in their order, their values as they were written.
struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_without_deltas_stays_byte_for_byte() {
        let raw = "{ \"type\":\"new\", \"x\":1.50 }".to_owned();
        assert_eq!(complete(raw.clone(), "", ""), raw);
    }

    #[test]
    fn deltas_are_put_where_they_belong_and_the_rest_keeps_its_spelling() {
        let raw = r#"{"type":"server_tool_use","input":{},"x":1.50,"text":"a"}"#.to_owned();
        assert_eq!(
            complete(raw, r#"{"q": 1e2}"#, "b"),
            r#"{"type":"server_tool_use","input":{"q": 1e2},"x":1.50,"text":"ab"}"#
        );
    }

    #[test]
    fn input_that_is_no_json_is_left_out() {
        let raw = r#"{"type":"server_tool_use","input":{}}"#.to_owned();
        assert_eq!(complete(raw.clone(), "{\"q", ""), raw);
    }
}
