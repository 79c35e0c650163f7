//! JSON with places: every value knows where it stands in the text, so that a warning can name its line and an edit can
//! leave every other byte alone.

use std::ops::Range;

use serde_json::Value;

/// A JSON text and its value.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) text: String,
    pub(super) root: Node,
    /// Where each line starts.
    lines: Vec<usize>,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) shape: Shape,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Object(Vec<Member>),
    Array(Vec<Node>),
    /// Text, a number, a boolean or `null`.
    Scalar(Value),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_start: usize,
    pub(super) value: Node,
}

/// Why a text is no JSON. Line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) message: String,
}

impl Document {
    /// Reads a text. A byte order mark before it is skipped.
    pub(super) fn parse(text: String) -> Result<Self, SyntaxError> {
        let start = text.len() - text.trim_start_matches('\u{feff}').len();
        // The library validates, and bounds the depth (128); what follows only has to find places.
        if let Err(error) = serde_json::from_str::<Value>(&text[start..]) {
            let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            let message = error.to_string();
            let end = message.rfind(" at line ").unwrap_or(message.len());
            let (line, column) = (number(error.line()), number(error.column()));
            return Err(SyntaxError { line, column, message: message[..end].to_owned() });
        }
        let root = Scanner { text: &text, at: start }.value();
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Ok(Self { text, root, lines })
    }

    /// The line, from 1, of a place in the text.
    pub(super) fn line(&self, at: usize) -> u32 {
        u32::try_from(self.lines.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }
}

impl Node {
    /// The members, if it is an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        if let Shape::Object(members) = &self.shape { Some(members) } else { None }
    }

    /// The items, if it is a list.
    pub(super) fn items(&self) -> Option<&[Node]> {
        if let Shape::Array(items) = &self.shape { Some(items) } else { None }
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        if let Shape::Scalar(Value::String(text)) = &self.shape { Some(text) } else { None }
    }

    /// The value of a member. Of several with one name the last counts, as everywhere.
    pub(super) fn member(&self, key: &str) -> Option<&Node> {
        self.members()?.iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }

    /// What kind of value it is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match &self.shape {
            Shape::Object(_) => "an object",
            Shape::Array(_) => "a list",
            Shape::Scalar(Value::String(_)) => "a text",
            Shape::Scalar(Value::Number(_)) => "a number",
            Shape::Scalar(Value::Bool(_)) => "true or false",
            Shape::Scalar(_) => "null",
        }
    }
}

/// Walks over a text that is known to be JSON.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self) -> Node {
        self.skip_space();
        let start = self.at;
        let shape = match self.byte() {
            b'{' => Shape::Object(self.list(b'}', |scanner| {
                scanner.skip_space();
                let key_start = scanner.at;
                let key = scanner.scalar();
                scanner.skip_space();
                scanner.at += 1; // the colon
                let key = if let Value::String(key) = key { key } else { String::new() };
                Member { key, key_start, value: scanner.value() }
            })),
            b'[' => Shape::Array(self.list(b']', Self::value)),
            _ => Shape::Scalar(self.scalar()),
        };
        Node { span: start..self.at, shape }
    }

    fn list<T>(&mut self, close: u8, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        self.at += 1;
        let mut all = Vec::new();
        loop {
            self.skip_space();
            if self.byte() == close {
                self.at += 1;
                return all;
            }
            if self.byte() == b',' {
                self.at += 1;
            }
            all.push(one(self));
        }
    }

    fn scalar(&mut self) -> Value {
        let start = self.at;
        if self.byte() == b'"' {
            self.at += 1;
            while self.byte() != b'"' {
                self.at += if self.byte() == b'\\' { 2 } else { 1 };
            }
            self.at += 1;
        } else {
            while !matches!(
                self.text.as_bytes().get(self.at),
                None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n')
            ) {
                self.at += 1;
            }
        }
        serde_json::from_str(&self.text[start..self.at]).expect("the whole text was validated")
    }

    fn skip_space(&mut self) {
        while matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    fn byte(&self) -> u8 {
        *self.text.as_bytes().get(self.at).expect("the whole text was validated")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(node: &Node) -> Value {
        match &node.shape {
            Shape::Object(members) => members.iter().map(|member| (member.key.clone(), plain(&member.value))).collect(),
            Shape::Array(items) => items.iter().map(plain).collect(),
            Shape::Scalar(value) => value.clone(),
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..5).prop_map(|all| all.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_reads_what_the_library_reads(value in values(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            let document = Document::parse(text.clone()).unwrap();
            prop_assert_eq!(plain(&document.root), value);
            prop_assert_eq!(document.root.span, 0..text.len());
        }

        #[test]
        fn it_never_panics(text in "[\\[\\]{}:,\" \\\\a1u\n-]{0,40}") {
            let _ = Document::parse(text);
        }
    }

    #[test]
    fn places_are_exact() {
        let document = Document::parse("\u{feff}\r\n{ \"a\" :\n  [\"x\\\"\" , 1.5e3]\n}\n".to_owned()).unwrap();
        let list = document.root.member("a").unwrap();
        assert_eq!(&document.text[list.span.clone()], "[\"x\\\"\" , 1.5e3]");
        assert_eq!(document.line(list.span.start), 3);
        assert_eq!(document.line(document.root.span.start), 2);
        assert_eq!(&document.text[list.items().unwrap()[1].span.clone()], "1.5e3");
    }

    #[test]
    fn syntax_errors_have_a_place_and_depth_is_bounded() {
        let error = Document::parse("{\n  \"a\": 1,\n}".to_owned()).unwrap_err();
        assert_eq!((error.line, error.column, error.message.as_str()), (3, 1, "trailing comma"));
        assert!(Document::parse("[".repeat(100_000)).unwrap_err().message.contains("recursion limit"));
        assert_eq!(Document::parse(String::new()).unwrap_err().line, 1);
        assert!(Document::parse("\"\\ud800\"".to_owned()).is_err());
    }

    #[test]
    fn the_last_of_two_members_counts() {
        let document = Document::parse(r#"{"a":1,"a":2}"#.to_owned()).unwrap();
        assert_eq!(document.root.member("a").unwrap().shape, Shape::Scalar(2.into()));
    }
}
