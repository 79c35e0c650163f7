//! Writes heads and messages in the form of Chat Completions.
//!
//! One of our messages can become several here: each result is a message of its own.

use bytes::Bytes;
use offshoot_protocol::{Block, Message, MessageRole};
use serde::Serialize;

use crate::message::{Encoded, WireFormat};
use crate::model::body::Form;
use crate::model::wire::{NOTHING, push, sendable};
use crate::model::{Request, RequestHead};

/// Bodies for the provider's own servers.
pub(super) static OWN_FORM: Form = form(|value| head(value, "max_completion_tokens"));
/// Bodies for compatible servers, which know the older name.
pub(super) static COMPATIBLE_FORM: Form = form(|value| head(value, "max_tokens"));

/// What stands behind the messages.
pub(super) const TAIL: &[u8] = b"]}";

const fn form(head: fn(&RequestHead) -> (Bytes, bool)) -> Form {
    Form { format: WireFormat::OpenAiChat, head, message, opening: None, ending: 0, mark: b"" }
}

/// What stands behind the messages with a cache key: the session's, so that a root and its forks meet in one cache.
pub(super) fn tail(request: &Request) -> Bytes {
    let mut out = b"],\"prompt_cache_key\":".to_vec();
    push(&mut out, request.session.as_str());
    out.push(b'}');
    out.into()
}

/// Everything before the messages; the system prompt is the first of them.
fn head(head: &RequestHead, limit: &str) -> (Bytes, bool) {
    let mut out = b"{\"model\":".to_vec();
    push(&mut out, &head.model);
    out.extend_from_slice(b",\"");
    out.extend_from_slice(limit.as_bytes());
    out.extend_from_slice(b"\":");
    push(&mut out, &head.max_tokens);
    out.extend_from_slice(b",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    if !head.tools.is_empty() {
        let tools: Vec<_> = head
            .tools
            .iter()
            .map(|tool| Tool {
                r#type: "function",
                function: Function { name: &tool.name, description: &tool.description, parameters: &tool.input_schema },
            })
            .collect();
        out.extend_from_slice(b",\"tools\":");
        push(&mut out, &tools);
    }
    out.extend_from_slice(b",\"messages\":[");
    let has_system = !head.system.trim().is_empty();
    if has_system {
        push(&mut out, &Plain { role: "system", content: &head.system });
    }
    (out.into(), has_system)
}

/// A message, or several, each with the comma before it.
fn message(message: &Message) -> Encoded {
    let mut out = Vec::new();
    match message.role {
        MessageRole::User => {
            for block in &message.blocks {
                if let Block::Result { id, content, .. } = block {
                    out.push(b',');
                    push(&mut out, &Answer { role: "tool", tool_call_id: id.as_str(), content });
                }
            }
            let text = text(message);
            if !text.is_empty() || out.is_empty() {
                let content = if text.is_empty() { NOTHING } else { &text };
                out.push(b',');
                push(&mut out, &Plain { role: "user", content });
            }
        }
        MessageRole::Assistant => {
            let calls: Vec<_> = message
                .calls()
                .map(|(id, name, input)| Call {
                    id: id.as_str(),
                    r#type: "function",
                    function: Called { name, arguments: sendable(input) },
                })
                .collect();
            let text = text(message);
            let content = match (text.is_empty(), calls.is_empty()) {
                (true, true) => Some(NOTHING),
                (true, false) => None,
                (false, _) => Some(text.as_str()),
            };
            out.push(b',');
            push(&mut out, &Assistant { role: "assistant", content, tool_calls: calls });
        }
    }
    Encoded { bytes: out.into(), ..Encoded::default() }
}

/// The texts that say something, in order. What is appended to a message appends to its bytes.
fn text(message: &Message) -> String {
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a serde_json::Value,
}

#[derive(Serialize)]
struct Plain<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Answer<'a> {
    role: &'static str,
    tool_call_id: &'a str,
    content: &'a str,
}

#[derive(Serialize)]
struct Assistant<'a> {
    role: &'static str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: &'a str,
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

    #[test]
    fn results_are_messages_of_their_own_and_stand_before_the_text() {
        let result = |id: &str| Block::Result { id: id.into(), content: "x".to_owned(), is_error: false };
        assert_eq!(
            written(MessageRole::User, vec![result("1"), result("2"), plain("a"), plain(" "), plain("b")]),
            concat!(
                r#",{"role":"tool","tool_call_id":"1","content":"x"},{"role":"tool","tool_call_id":"2","content":"x"}"#,
                r#",{"role":"user","content":"a\n\nb"}"#
            )
        );
        assert!(!written(MessageRole::User, vec![result("1")]).contains("user"));
        assert_eq!(written(MessageRole::User, vec![]), r#",{"role":"user","content":"(no content)"}"#);
    }

    #[test]
    fn arguments_go_back_as_the_model_wrote_them() {
        let thinking = Block::Thinking { thinking: "hm".to_owned(), signature: String::new() };
        assert_eq!(
            written(MessageRole::Assistant, vec![thinking, call("{ \"b\":1e400}")]),
            r#",{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"Read","arguments":"{ \"b\":1e400}"}}]}"#
        );
        assert!(written(MessageRole::Assistant, vec![call("{")]).contains(r#""arguments":"{}""#));
        assert_eq!(written(MessageRole::Assistant, vec![plain("hi")]), r#",{"role":"assistant","content":"hi"}"#);
    }

    #[test]
    fn a_root_and_its_forks_have_one_cache_key() {
        let head = std::sync::Arc::new(RequestHead {
            provider: Provider::Openai,
            model: "m".to_owned(),
            system: String::new(),
            tools: Vec::new(),
            max_tokens: 7,
            thinking_budget: None,
        });
        let of = |agent: &str, fork_point| {
            let transcript = crate::transcript::Transcript::default();
            tail(&Request { head: head.clone(), transcript, fork_point, session: "s-1".into(), agent: agent.into() })
        };
        assert_eq!(of("root", None), r#"],"prompt_cache_key":"s-1"}"#);
        assert_eq!(of("root", None), of("fork", Some(3)));
    }

    #[test]
    fn the_system_prompt_is_the_first_message() {
        let mut value = RequestHead {
            provider: Provider::Openai,
            model: "m".to_owned(),
            system: "s".to_owned(),
            tools: vec![ToolDefinition {
                name: "A".to_owned(),
                description: "d".to_owned(),
                input_schema: json!({"type": "object"}),
            }],
            max_tokens: 7,
            thinking_budget: None,
        };
        let (bytes, has_message) = (OWN_FORM.head)(&value);
        assert!(has_message);
        assert_eq!(
            bytes,
            concat!(
                r#"{"model":"m","max_completion_tokens":7,"stream":true,"stream_options":{"include_usage":true},"#,
                r#""tools":[{"type":"function","function":{"name":"A","description":"d","parameters":{"type":"object"}}}],"#,
                r#""messages":[{"role":"system","content":"s"}"#
            )
        );
        value.system = String::new();
        value.tools.clear();
        let (bytes, has_message) = (COMPATIBLE_FORM.head)(&value);
        assert!(!has_message);
        assert!(bytes.starts_with(br#"{"model":"m","max_tokens":7"#) && bytes.ends_with(br#","messages":["#));
    }
}
