//! Setting single values of a settings file, for the settings page.
//!
//! The file belongs to the person: only the values that are set are put in, replaced or taken out, every other byte stays
//! where it is. A file that isn't understood is never written.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::json::Node;
use super::read_text;
use super::splice::Splice;
use super::write::{WriteError, last_end, lock, parse, replace};

/// Sets top-level values of a settings file, all or none; `None` takes one out. Makes the file and its folder. Blocks on
/// the disk, and up to a second on another program that writes the file.
pub fn set_values(path: &Path, values: &[(&str, Option<Value>)]) -> Result<(), WriteError> {
    let refused = |message: String| WriteError::Refused { path: path.to_path_buf(), message };
    let failed = |source| WriteError::Io { path: path.to_path_buf(), source };
    let folder = path.parent().ok_or_else(|| refused("it has no folder".to_owned()))?;
    // People keep such files elsewhere and link to them: what the link leads to is written.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    fs::create_dir_all(folder).map_err(failed)?;
    let _lock = lock(folder).map_err(failed)?;
    let old = read_text(path, None).map_err(refused)?.unwrap_or_default();
    let mut text = if old.trim_start_matches('\u{feff}').trim().is_empty() { "{}\n".to_owned() } else { old };
    for (key, value) in values {
        text = with(path, text, key, value.as_ref())?;
    }
    replace(&real, text.as_bytes()).map_err(failed)
}

/// The text with a value set or taken out.
fn with(path: &Path, text: String, key: &str, value: Option<&Value>) -> Result<String, WriteError> {
    let document = parse(path, text)?;
    let root = &document.root;
    let Some(members) = root.members() else {
        let (path, line) = (path.to_path_buf(), document.line(root.span.start));
        return Err(WriteError::Shape {
            path,
            line,
            message: format!("the file must be an object, not {}", root.kind()),
        });
    };
    let text = &document.text;
    let at = members.iter().rposition(|member| member.key == key);
    let new = match (at, value) {
        (None, None) => return Ok(document.text),
        (Some(at), Some(value)) => {
            let span = &members[at].value.span;
            format!("{}{value}{}", &text[..span.start], &text[span.end..])
        }
        (None, Some(value)) => {
            Splice::new(&document).append(root, last_end(root), std::slice::from_ref(value), Some(key))
        }
        (Some(at), None) => {
            // The comma goes along: the one before, or for the first member the one behind.
            let (from, to) = match (at.checked_sub(1), members.get(at + 1)) {
                (Some(before), _) => (members[before].value.span.end, members[at].value.span.end),
                (None, Some(next)) => (members[at].key_start, next.key_start),
                (None, None) => (members[at].key_start, members[at].value.span.end),
            };
            format!("{}{}", &text[..from], &text[to..])
        }
    };
    // What was set must be what is read back; if it isn't, the file stays as it is.
    let written = parse(path, new)?;
    let found = written.root.member(key).map(Node::text);
    let is_right = match value {
        None => found.is_none() || members.iter().filter(|member| member.key == key).count() > 1,
        Some(value) => found.is_some_and(|text| value.as_str() == text),
    };
    if is_right {
        Ok(written.text)
    } else {
        Err(WriteError::Refused { path: path.to_path_buf(), message: format!("there is no place for `{key}` in it") })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(before: &str, values: &[(&str, Option<Value>)]) -> Result<String, String> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("new/settings.json");
        if !before.is_empty() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, before).unwrap();
        }
        let result = set_values(&path, values).map_err(|error| error.to_string());
        let after = fs::read_to_string(&path).unwrap_or_default();
        if result.is_err() {
            assert_eq!(after, before, "the file is as it was");
        }
        result.map(|()| after)
    }

    #[test]
    fn values_are_put_in_replaced_and_taken_out_and_the_rest_stays() {
        let url = Some(json!("http://localhost:1/v1"));
        assert_eq!(
            set("", &[("provider", Some(json!("openai"))), ("baseUrl", url.clone()), ("model", None)]).unwrap(),
            "{\n  \"provider\": \"openai\",\n  \"baseUrl\": \"http://localhost:1/v1\"\n}\n"
        );
        let before = "{\r\n\t\"model\" : \"a\",\r\n\t\"x\": 1.50,\r\n\t\"baseUrl\": \"b\"\r\n}";
        assert_eq!(
            set(before, &[("model", Some(json!("c"))), ("baseUrl", None)]).unwrap(),
            "{\r\n\t\"model\" : \"c\",\r\n\t\"x\": 1.50\r\n}"
        );
        assert_eq!(set(before, &[("model", None)]).unwrap(), "{\r\n\t\"x\": 1.50,\r\n\t\"baseUrl\": \"b\"\r\n}");
        assert_eq!(set("{\"model\":\"a\"}", &[("model", None)]).unwrap(), "{}");
        assert_eq!(set("{}", &[("model", None)]).unwrap(), "{}");
    }

    #[test]
    fn a_file_that_is_not_understood_is_left_alone() {
        for before in ["{", "[]", "{\"a\": }"] {
            assert!(set(before, &[("model", Some(json!("x")))]).is_err(), "{before}");
        }
    }
}
