//! Writes heads and messages in the form of Responses.
//!
//! A message becomes the items it is made of: a text, a call, a result and a piece of reasoning are one each, so that what
//! is appended to a message appends to its bytes.
//! Format: <https://developers.openai.com/api/reference/resources/responses/methods/create>.

use bytes::Bytes;
use offshoot_protocol::{Block, Message, MessageRole};
use serde::Serialize;

use crate::message::{Encoded, WireFormat};
use crate::model::body::Form;
use crate::model::wire::{NOTHING, object, push, sendable};
use crate::model::{Request, RequestHead};

/// How bodies are put together.
pub(super) static FORM: Form = Form {
    format: WireFormat::OpenAiResponses,
    head: |value| (head(value), false),
    message,
    opening: None,
    ending: 0,
    mark: b"",
};

/// Thinking tokens up to which little, and up to which some effort is asked for.
const EFFORTS: [(u32, &str); 2] = [(4_096, "low"), (16_384, "medium")];

/// What stands behind the messages: the session's cache key, so that a root and its forks meet in one cache.
pub(super) fn tail(request: &Request) -> Bytes {
    let mut out = b"],\"prompt_cache_key\":".to_vec();
    push(&mut out, request.session.as_str());
    out.push(b'}');
    out.into()
}

/// Everything up to the opening bracket of the items.
fn head(head: &RequestHead) -> Bytes {
    let mut out = b"{\"model\":".to_vec();
    push(&mut out, &head.model);
    out.extend_from_slice(b",\"max_output_tokens\":");
    push(&mut out, &head.max_tokens);
    out.extend_from_slice(b",\"stream\":true,\"store\":false");
    if can_reason(&head.model) {
        // Nothing is stored there, so reasoning has to travel.
        out.extend_from_slice(b",\"include\":[\"reasoning.encrypted_content\"]");
        if let Some(budget) = head.thinking_budget {
            let effort = EFFORTS.iter().find(|(most, _)| budget <= *most).map_or("high", |(_, effort)| effort);
            out.extend_from_slice(b",\"reasoning\":");
            push(&mut out, &Reasoning { effort, summary: "auto" });
        }
    }
    if !head.tools.is_empty() {
        let tools: Vec<_> = head
            .tools
            .iter()
            .map(|tool| Tool {
                r#type: "function",
                name: &tool.name,
                description: &tool.description,
                parameters: &tool.input_schema,
                strict: false,
            })
            .collect();
        out.extend_from_slice(b",\"tools\":");
        push(&mut out, &tools);
    }
    if !head.system.trim().is_empty() {
        out.extend_from_slice(b",\"instructions\":");
        push(&mut out, &head.system);
    }
    out.extend_from_slice(b",\"input\":[");
    out.into()
}

/// Whether a model may reason. The families that don't are refused when their reasoning is asked for; they are old, so
/// there won't be more of them.
fn can_reason(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    !["gpt-3", "gpt-4", "chatgpt-4"].iter().any(|family| name.starts_with(family))
}

/// A message's items, each with the comma before it.
fn message(message: &Message) -> Encoded {
    let mut out = Vec::new();
    let (role, is_answer) = match message.role {
        MessageRole::User => ("user", false),
        MessageRole::Assistant => ("assistant", true),
    };
    // Reasoning that nothing follows is left from an answer that broke off, and is refused.
    let said = message.blocks.iter().rposition(is_said).map_or(0, |at| at + 1);
    for block in &message.blocks[..said.max(usize::from(!is_answer) * message.blocks.len())] {
        push_item(&mut out, role, block);
    }
    if out.is_empty() {
        item(&mut out, &Plain { role, content: NOTHING });
    }
    Encoded { bytes: out.into(), ..Encoded::default() }
}

/// Whether a block says or does something, rather than leading up to it.
fn is_said(block: &Block) -> bool {
    match block {
        Block::Text { text, .. } => !text.trim().is_empty(),
        Block::Call { .. } | Block::Result { .. } => true,
        Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Opaque { .. } => false,
    }
}

fn push_item(out: &mut Vec<u8>, role: &'static str, block: &Block) {
    match block {
        Block::Text { text, .. } if text.trim().is_empty() => {}
        Block::Text { text, .. } => item(out, &Plain { role, content: text }),
        Block::Call { id, name, input } => {
            let arguments = sendable(input);
            item(out, &Call { r#type: "function_call", id: id.as_str(), name, arguments });
        }
        Block::Result { id, content, .. } => {
            item(out, &Output { r#type: "function_call_output", id: id.as_str(), text: content });
        }
        // Reasoning goes back as the item it came in; that of other providers, and what broke off, is no item.
        Block::Thinking { signature: raw, .. } => raw_item(out, raw),
        Block::Opaque { raw } => raw_item(out, &raw.0),
        Block::RedactedThinking { .. } => {}
    }
}

fn raw_item(out: &mut Vec<u8>, raw: &str) {
    if let Some(raw) = object(raw) {
        item(out, raw);
    }
}

fn item(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    out.push(b',');
    push(out, value);
}

#[derive(Serialize)]
struct Reasoning<'a> {
    effort: &'a str,
    summary: &'static str,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a serde_json::Value,
    strict: bool,
}

#[derive(Serialize)]
struct Plain<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Call<'a> {
    r#type: &'static str,
    #[serde(rename = "call_id")]
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct Output<'a> {
    r#type: &'static str,
    #[serde(rename = "call_id")]
    id: &'a str,
    #[serde(rename = "output")]
    text: &'a str,
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::{Origin, RawJson};
    use serde_json::json;

    use super::*;
    use crate::model::{Provider, ToolDefinition};

    fn written(role: MessageRole, blocks: Vec<Block>) -> String {
        String::from_utf8(message(&Message { role, blocks }).bytes.to_vec()).unwrap()
    }

    fn plain(text: &str) -> Block {
        Block::Text { text: text.to_owned(), origin: Origin::User }
    }

    fn call(input: &str) -> Block {
        Block::Call { id: "c".into(), name: "Read".to_owned(), input: RawJson(input.to_owned()) }
    }

    fn reasoning(item: &str) -> Block {
        Block::Thinking { thinking: "shown".to_owned(), signature: item.to_owned() }
    }

    #[test]
    fn every_block_is_an_item() {
        let result = Block::Result { id: "1".into(), content: "x".to_owned(), is_error: false };
        assert_eq!(
            written(MessageRole::User, vec![result, plain("a"), plain(" "), plain("b")]),
            concat!(
                r#",{"type":"function_call_output","call_id":"1","output":"x"}"#,
                r#",{"role":"user","content":"a"},{"role":"user","content":"b"}"#
            )
        );
        assert_eq!(written(MessageRole::User, vec![]), r#",{"role":"user","content":"(no content)"}"#);
    }

    #[test]
    fn reasoning_goes_back_byte_for_byte_and_only_where_something_follows() {
        let item = r#"{"type":"reasoning", "id":"rs_1","summary":[],"encrypted_content":"zz","n":1.50}"#;
        assert_eq!(
            written(MessageRole::Assistant, vec![reasoning(item), call("{ \"b\":1e400}"), reasoning(item)]),
            format!(r#",{item},{{"type":"function_call","call_id":"c","name":"Read","arguments":"{{ \"b\":1e400}}"}}"#)
        );
        let nothing = r#",{"role":"assistant","content":"(no content)"}"#;
        assert_eq!(written(MessageRole::Assistant, vec![reasoning(item)]), nothing);
        assert_eq!(
            written(MessageRole::Assistant, vec![reasoning("EqQBCgIYAhIM"), plain("hi"), call("{")]),
            concat!(
                r#",{"role":"assistant","content":"hi"}"#,
                r#",{"type":"function_call","call_id":"c","name":"Read","arguments":"{}"}"#
            )
        );
    }

    #[test]
    fn the_head_is_constant_fields_first_and_items_last() {
        let mut value = RequestHead {
            provider: Provider::OpenaiResponses,
            model: "gpt-5.1".to_owned(),
            system: "s".to_owned(),
            tools: vec![ToolDefinition {
                name: "A".to_owned(),
                description: "d".to_owned(),
                input_schema: json!({"type": "object"}),
            }],
            max_tokens: 7,
            thinking_budget: Some(10_000),
        };
        assert_eq!(
            head(&value),
            concat!(
                r#"{"model":"gpt-5.1","max_output_tokens":7,"stream":true,"store":false,"#,
                r#""include":["reasoning.encrypted_content"],"reasoning":{"effort":"medium","summary":"auto"},"#,
                r#""tools":[{"type":"function","name":"A","description":"d","parameters":{"type":"object"},"strict":false}],"#,
                r#""instructions":"s","input":["#
            )
        );
        value.model = "gpt-4.1-mini".to_owned();
        value.system = String::new();
        value.tools.clear();
        assert_eq!(
            head(&value),
            r#"{"model":"gpt-4.1-mini","max_output_tokens":7,"stream":true,"store":false,"input":["#
        );
    }
}
