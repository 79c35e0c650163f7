//! Putting values into a JSON text in the text's own style.

use serde::Serialize as _;
use serde_json::Value;

use super::json::{Document, Node};

/// How a text is laid out, and the text.
pub(super) struct Splice<'d> {
    text: &'d str,
    newline: &'static str,
    /// One level of indentation.
    unit: String,
}

impl<'d> Splice<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        let text = document.text.as_str();
        let newline = if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" };
        // The first member of the file, where it has a line of its own, is one level deep.
        let first = document.root.members().and_then(|members| members.first());
        let unit = first.and_then(|first| indentation(text, first.key_start)).filter(|unit| !unit.is_empty());
        Self { text, newline, unit: unit.unwrap_or("  ").to_owned() }
    }

    /// The text with `values` at the end of a list, or with one value as the member `key` at the end of an object.
    /// `last_end` is where the container's last value ends, if it has one.
    pub(super) fn append(
        &self,
        container: &Node,
        last_end: Option<usize>,
        values: &[Value],
        key: Option<&str>,
    ) -> String {
        let (start, end) = (container.span.start, container.span.end);
        let close = end - 1;
        // Indentation of what stands in the container: as its last value has it, or one level more than its own line's.
        let own_line = last_end.and_then(|_| self.first_child_indentation(start));
        let is_flat = last_end.is_some() && own_line.is_none();
        let outer = line_indentation(self.text, start).to_owned();
        let inner = own_line.map_or_else(|| format!("{outer}{}", self.unit), str::to_owned);
        let mut new = String::new();
        for (number, value) in values.iter().enumerate() {
            if number > 0 || last_end.is_some() {
                new.push(',');
            }
            if !is_flat {
                new.push_str(self.newline);
                new.push_str(&inner);
            } else if number > 0 || last_end.is_some() {
                new.push(' ');
            }
            if let Some(key) = key {
                new.extend([Value::from(key).to_string().as_str(), ": "]);
            }
            if is_flat {
                new.push_str(&value.to_string());
            } else {
                new.push_str(&self.render(value, &inner));
            }
        }
        match last_end {
            Some(at) => format!("{}{new}{}", &self.text[..at], &self.text[at..]),
            None => format!("{}{new}{}{outer}{}", &self.text[..=start], self.newline, &self.text[close..]),
        }
    }

    /// The indentation of a container's first child, if it has a line of its own.
    fn first_child_indentation(&self, start: usize) -> Option<&'d str> {
        let inside = &self.text[start + 1..];
        let child = start + 1 + (inside.len() - inside.trim_start().len());
        inside[..child - start - 1].contains('\n').then(|| indentation(self.text, child)).flatten()
    }

    /// The value over several lines, of which all but the first begin with `indentation`.
    fn render(&self, value: &Value, indentation: &str) -> String {
        let mut bytes = Vec::new();
        let layout = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        value
            .serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, layout))
            .expect("a value can be written to memory");
        // Line ends inside of texts are escaped, so these are all between them.
        String::from_utf8_lossy(&bytes).replace('\n', &format!("{}{indentation}", self.newline))
    }
}

/// The white space before `at`, if nothing else stands before it in its line.
fn indentation(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n')? + 1;
    Some(&text[line..at]).filter(|before| before.bytes().all(|byte| matches!(byte, b' ' | b'\t')))
}

/// The white space at the beginning of the line that `at` is in.
fn line_indentation(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let rest = &text[line..];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}
