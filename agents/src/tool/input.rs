//! Inputs of calls: parsed strictly, and refused with the name of the field that is wrong.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ToolError;

/// Parses an input. `T` denies unknown fields.
pub(super) fn parse<T: DeserializeOwned>(input: &Value) -> Result<T, ToolError> {
    let Some(fields) = input.as_object() else {
        return Err(ToolError::invalid("The input must be a JSON object."));
    };
    T::deserialize(input).map_err(|error| {
        let error = error.to_string();
        // Serde names missing and unknown fields, but not the one whose value has the wrong type: that is the one
        // without which the complaint is another.
        let without = |field: &String| {
            let mut rest = fields.clone();
            rest.shift_remove(field);
            T::deserialize(&Value::Object(rest)).err().map(|error| error.to_string())
        };
        match fields.keys().find(|field| without(field).as_ref() != Some(&error)) {
            Some(field) if !error.contains(&format!("`{field}`")) => ToolError::invalid(format!("`{field}`: {error}.")),
            _ => ToolError::invalid(format!("{error}.")),
        }
    })
}

/// A path that is what it says: not empty, no NUL.
pub(super) fn path(field: &str, text: &str) -> Result<(), ToolError> {
    if text.trim().is_empty() {
        return Err(ToolError::invalid(format!("`{field}` is empty.")));
    }
    if text.contains('\0') {
        return Err(ToolError::invalid(format!("`{field}` contains a NUL byte.")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Input {
        #[allow(dead_code, reason = "only parsed")]
        name: String,
        #[allow(dead_code, reason = "only parsed")]
        size: Option<u32>,
    }

    #[test]
    fn the_wrong_field_is_named() {
        let message = |input: Value| parse::<Input>(&input).unwrap_err().message;
        assert!(message(json!({"name": 1})).starts_with("`name`: invalid type"));
        assert!(message(json!({"name": "a", "size": "b"})).starts_with("`size`: invalid type"));
        assert!(message(json!({"size": -1, "name": "a"})).starts_with("`size`: invalid value"));
        assert!(message(json!({"name": "a", "sise": 1})).contains("unknown field `sise`"));
        assert!(message(json!({})).contains("missing field `name`"));
        assert!(message(json!([1])).contains("object"));
        assert!(parse::<Input>(&json!({"name": "a", "size": null})).is_ok());
    }
}
