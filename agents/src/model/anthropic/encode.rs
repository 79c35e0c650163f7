//! Writes heads and messages in the form of Anthropic Messages.
//!
//! Pure functions from values to bytes: the same value always gives the same bytes, and a message's bytes depend on nothing
//! but the message. Cache marks are not written here; [`Encoded`] remembers where they go.

use bytes::Bytes;
use offshoot_protocol::{Block, Message, MessageRole, Origin};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::message::{Encoded, WireFormat};
use crate::model::body::Form;
use crate::model::wire::{NOTHING, object, push, sendable};
use crate::model::{RequestHead, ToolDefinition};

/// How bodies are put together.
pub(in crate::model) static FORM: Form = Form {
    format: WireFormat::Anthropic,
    head: |value| (head(value), false),
    message,
    opening: Some(|role| opening(role).len()),
    ending: MESSAGE_END.len(),
    mark: MARK,
};

/// A cache mark, as it is inserted before a block's closing brace.
pub(in crate::model) const MARK: &[u8] = br#","cache_control":{"type":"ephemeral"}"#;
/// What stands behind the messages.
pub(super) const TAIL: &[u8] = b"]}";
/// What ends every encoded message.
const MESSAGE_END: &[u8] = b"]}";

/// Sent for an empty result: a failed one may not be empty.
const NO_OUTPUT: &str = "(no output)";

/// The opening of an encoded message, up to its first block. It begins with the comma that separates it from the message
/// before; the first message is sent without it.
fn opening(role: MessageRole) -> &'static [u8] {
    match role {
        MessageRole::User => br#",{"role":"user","content":["#,
        MessageRole::Assistant => br#",{"role":"assistant","content":["#,
    }
}

/// Everything up to the opening bracket of the messages, with the mark at its end.
fn head(head: &RequestHead) -> Bytes {
    let mut out = Vec::with_capacity(4096 + head.system.len());
    out.extend_from_slice(b"{\"model\":");
    push(&mut out, &head.model);
    out.extend_from_slice(b",\"max_tokens\":");
    push(&mut out, &head.max_tokens);
    out.extend_from_slice(b",\"stream\":true");
    if let Some(budget) = head.thinking_budget {
        out.extend_from_slice(b",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":");
        push(&mut out, &budget);
        out.push(b'}');
    }
    let has_system = !head.system.trim().is_empty();
    if let Some((last, before)) = head.tools.split_last() {
        out.extend_from_slice(b",\"tools\":[");
        for tool in before {
            push_tool(&mut out, tool);
            out.extend_from_slice(b"},");
        }
        push_tool(&mut out, last);
        if !has_system {
            out.extend_from_slice(MARK);
        }
        out.extend_from_slice(b"}]");
    }
    if has_system {
        out.extend_from_slice(b",\"system\":[{\"type\":\"text\",\"text\":");
        push(&mut out, &head.system);
        out.extend_from_slice(MARK);
        out.extend_from_slice(b"}]");
    }
    out.extend_from_slice(b",\"messages\":[");
    out.into()
}

/// A tool without its closing brace.
fn push_tool(out: &mut Vec<u8>, tool: &ToolDefinition) {
    out.extend_from_slice(b"{\"name\":");
    push(out, &tool.name);
    out.extend_from_slice(b",\"description\":");
    push(out, &tool.description);
    out.extend_from_slice(b",\"input_schema\":");
    push(out, &tool.input_schema);
}

/// A message, from the comma before it to its closing brace.
fn message(message: &Message) -> Encoded {
    let mut out = opening(message.role).to_vec();
    let mut encoded = Encoded::default();
    let empty = out.len();
    for block in &message.blocks {
        let separator = if out.len() == empty { "" } else { "," };
        let before = out.len();
        out.extend_from_slice(separator.as_bytes());
        match push_block(&mut out, block) {
            Written::Nothing => out.truncate(before),
            Written::Unmarkable => encoded.block_marks.push(None),
            Written::Markable => {
                encoded.block_marks.push(u32::try_from(out.len() - 1).ok());
                if matches!(block, Block::Text { origin: Origin::Directive, .. }) {
                    encoded.fork_mark = encoded.last_mark;
                }
                encoded.last_mark = Some(out.len() - 1);
            }
        }
    }
    if out.len() == empty {
        push(&mut out, &TextBlock { r#type: "text", text: NOTHING });
        encoded.last_mark = Some(out.len() - 1);
        encoded.block_marks.push(u32::try_from(out.len() - 1).ok());
    }
    out.extend_from_slice(MESSAGE_END);
    Encoded { bytes: out.into(), ..encoded }
}

enum Written {
    /// The provider would refuse it; it stands for nothing.
    Nothing,
    /// Reasoning, and blocks that this program doesn't know, may not carry a cache mark.
    Unmarkable,
    Markable,
}

fn push_block(out: &mut Vec<u8>, block: &Block) -> Written {
    match block {
        Block::Text { text, .. } if text.trim().is_empty() => return Written::Nothing,
        Block::Text { text, .. } => push(out, &TextBlock { r#type: "text", text }),
        // Reasoning that nobody signed comes from an answer that broke off, and an item is another provider's.
        Block::Thinking { signature, .. } if signature.is_empty() || object(signature).is_some() => {
            return Written::Nothing;
        }
        Block::Thinking { thinking, signature } => {
            push(out, &ThinkingBlock { r#type: "thinking", thinking, signature });
            return Written::Unmarkable;
        }
        Block::RedactedThinking { data } => {
            push(out, &RedactedBlock { r#type: "redacted_thinking", data });
            return Written::Unmarkable;
        }
        Block::Call { id, name, input } => {
            let call = CallBlock {
                r#type: "tool_use",
                id: id.as_str(),
                name,
                input: object(sendable(input)).expect("what can be sent is an object"),
            };
            push(out, &call);
        }
        Block::Result { id, content, is_error } => {
            let content = if content.trim().is_empty() { NO_OUTPUT } else { content };
            let result = ResultBlock { r#type: "tool_result", tool_use_id: id.as_str(), content, is_error: *is_error };
            push(out, &result);
        }
        Block::Opaque { raw } => {
            let Some(raw) = object(&raw.0) else { return Written::Nothing };
            push(out, raw);
            return Written::Unmarkable;
        }
    }
    Written::Markable
}

#[derive(Serialize)]
struct TextBlock<'a> {
    r#type: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct ThinkingBlock<'a> {
    r#type: &'static str,
    thinking: &'a str,
    signature: &'a str,
}

#[derive(Serialize)]
struct RedactedBlock<'a> {
    r#type: &'static str,
    data: &'a str,
}

#[derive(Serialize)]
struct CallBlock<'a> {
    r#type: &'static str,
    id: &'a str,
    name: &'a str,
    input: &'a RawValue,
}

#[derive(Serialize)]
struct ResultBlock<'a> {
    r#type: &'static str,
    tool_use_id: &'a str,
    content: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::RawJson;
    use serde_json::{Value, json};

    use super::*;
    use crate::model::Provider;

    fn text(message: &Encoded) -> &str {
        std::str::from_utf8(&message.bytes).unwrap()
    }

    fn assistant(blocks: Vec<Block>) -> Encoded {
        message(&Message { role: MessageRole::Assistant, blocks })
    }

    fn call(input: &str) -> Block {
        Block::Call { id: "c".into(), name: "Read".to_owned(), input: RawJson(input.to_owned()) }
    }

    fn plain(text: &str) -> Block {
        Block::Text { text: text.to_owned(), origin: Origin::Model }
    }

    #[test]
    fn tool_input_goes_back_byte_for_byte() {
        for input in ["{ \"b\": 1e400,\n\"a\":\"\\ud800\", \"a\": 0.10 }", "{}"] {
            assert_eq!(
                text(&assistant(vec![call(input)])),
                format!(
                    r#",{{"role":"assistant","content":[{{"type":"tool_use","id":"c","name":"Read","input":{input}}}]}}"#
                )
            );
        }
    }

    #[test]
    fn input_that_is_no_object_gets_a_stand_in() {
        for input in ["{", "", "[]", "7", "{} {}", "\"}\"", "{\"a\":\u{1}}"] {
            assert!(text(&assistant(vec![call(input)])).contains(r#""input":{}}"#), "{input}");
        }
    }

    #[test]
    fn reasoning_goes_back_as_it_came_and_unsigned_reasoning_is_left_out() {
        let thinking = |thinking: &str, signature: &str| Block::Thinking {
            thinking: thinking.to_owned(),
            signature: signature.to_owned(),
        };
        let opaque = r#"{"type":"server_tool_use", "x":1.50}"#;
        let encoded = assistant(vec![
            thinking("", "s1"),
            thinking("a\n", "s2"),
            thinking("unsigned", ""),
            Block::RedactedThinking { data: "zz".to_owned() },
            Block::Opaque { raw: RawJson(opaque.to_owned()) },
            Block::Opaque { raw: RawJson("]}".to_owned()) },
        ]);
        assert_eq!(
            text(&encoded),
            concat!(
                r#",{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s1"},"#,
                r#"{"type":"thinking","thinking":"a\n","signature":"s2"},{"type":"redacted_thinking","data":"zz"},"#,
                r#"{"type":"server_tool_use", "x":1.50}]}"#
            )
        );
        assert_eq!((encoded.last_mark, encoded.fork_mark), (None, None));
    }

    #[test]
    fn no_message_is_empty_and_no_text_block_is() {
        assert!(text(&assistant(vec![])).contains("(no content)"));
        assert!(text(&assistant(vec![plain(" \n")])).contains("(no content)"));
        let encoded = assistant(vec![plain(""), plain("x"), plain("\n")]);
        assert_eq!(text(&encoded), r#",{"role":"assistant","content":[{"type":"text","text":"x"}]}"#);
    }

    #[test]
    fn marks_go_into_the_last_block_that_may_carry_one_and_before_a_directive() {
        let result = |id: &str| Block::Result { id: id.into(), content: String::new(), is_error: true };
        let directive = Block::Text { text: "directive".to_owned(), origin: Origin::Directive };
        let blocks = vec![result("1"), result("2"), plain("frame"), directive, plain("")];
        let encoded = message(&Message { role: MessageRole::User, blocks });
        let mut bytes = encoded.bytes.to_vec();
        for at in [encoded.last_mark.unwrap(), encoded.fork_mark.unwrap()] {
            bytes.splice(at..at, MARK.iter().copied());
        }
        let value: Value = serde_json::from_slice(&bytes[1..]).unwrap();
        let mark = json!({"type": "ephemeral"});
        assert_eq!(
            value["content"],
            json!([
                {"type": "tool_result", "tool_use_id": "1", "content": "(no output)", "is_error": true},
                {"type": "tool_result", "tool_use_id": "2", "content": "(no output)", "is_error": true},
                {"type": "text", "text": "frame", "cache_control": mark},
                {"type": "text", "text": "directive", "cache_control": mark},
            ])
        );
    }

    #[test]
    fn the_head_is_constant_fields_first_and_messages_last() {
        let mut value = RequestHead {
            provider: Provider::Anthropic,
            model: "m".to_owned(),
            system: "be \"good\"".to_owned(),
            tools: ["A", "B"]
                .map(|name| ToolDefinition {
                    name: name.to_owned(),
                    description: "d".to_owned(),
                    input_schema: json!({"type": "object"}),
                })
                .to_vec(),
            max_tokens: 7,
            thinking_budget: Some(1024),
        };
        assert_eq!(
            head(&value),
            concat!(
                r#"{"model":"m","max_tokens":7,"stream":true,"thinking":{"type":"enabled","budget_tokens":1024},"#,
                r#""tools":[{"name":"A","description":"d","input_schema":{"type":"object"}},"#,
                r#"{"name":"B","description":"d","input_schema":{"type":"object"}}],"#,
                r#""system":[{"type":"text","text":"be \"good\"","cache_control":{"type":"ephemeral"}}],"messages":["#
            )
        );
        value.system = String::new();
        let bytes = head(&value);
        let text = std::str::from_utf8(&bytes).unwrap();
        assert!(
            text.ends_with(r#""input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],"messages":["#)
        );
        value.tools.clear();
        value.thinking_budget = None;
        assert_eq!(head(&value), r#"{"model":"m","max_tokens":7,"stream":true,"messages":["#);
    }
}
