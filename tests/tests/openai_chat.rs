//! The Chat Completions client against a real server on this machine.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::sync::Arc;

use futures_util::TryStreamExt;
use offshoot_agents::model::openai_chat::OpenAiChat;
use offshoot_agents::model::{
    Endpoint, Model, ModelError, ModelEvent, Provider, Request, RequestHead, Secret, StopReason, ToolDefinition,
};
use offshoot_agents::transcript::Transcript;
use offshoot_protocol::{Block, Message, MessageRole, Origin};
use offshoot_tests::{Scripted, reply};
use serde_json::json;

fn request(head: &Arc<RequestHead>, transcript: &Transcript) -> Request {
    let (head, transcript) = (head.clone(), transcript.clone());
    Request { head, transcript, fork_point: None, session: "s-test".into(), agent: "a-1".into() }
}

fn head() -> Arc<RequestHead> {
    Arc::new(RequestHead {
        provider: Provider::Openai,
        model: "local".to_owned(),
        system: "You work.".to_owned(),
        tools: vec![ToolDefinition {
            name: "Read".to_owned(),
            description: "Reads".to_owned(),
            input_schema: json!({"type": "object"}),
        }],
        max_tokens: 100,
        thinking_budget: None,
    })
}

async fn answer(model: &OpenAiChat, request: Request) -> Result<(Message, StopReason), ModelError> {
    let events: Vec<ModelEvent> = model.stream(request).try_collect().await?;
    assert_eq!(events.first(), Some(&ModelEvent::Started));
    let Some(ModelEvent::Ended { stop, .. }) = events.last().cloned() else { panic!("no end: {events:?}") };
    let blocks = events.into_iter().filter_map(|event| match event {
        ModelEvent::BlockEnded { block, .. } => Some(block),
        _ => None,
    });
    Ok((Message { role: MessageRole::Assistant, blocks: blocks.collect() }, stop))
}

#[tokio::test]
async fn a_conversation_with_calls_keeps_its_bytes_from_turn_to_turn() {
    let server = Scripted::start([
        reply()
            .chunks([
                r#"{"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"hm","content":"Grün 🦀"}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"Read","arguments":"{ \"b\": 1,\"a\":2.0}"}}]}}]}"#,
                r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
                "[DONE]",
            ])
            .pieces(3),
        reply().chunks([r#"{"choices":[{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"}]}"#]),
        reply().chunks([r#"{"choices":[{"index":0,"delta":{"content":"Bye."},"finish_reason":"stop"}]}"#, "[DONE]"]),
    ]);
    let model = OpenAiChat::new(Endpoint::new(format!("{}/v1", server.url()), Some(Secret::new("k-1")))).unwrap();
    let head = head();
    let mut transcript = Transcript::default();
    transcript.push(Message::user("hello", Origin::User));
    let (message, stop) = answer(&model, request(&head, &transcript)).await.unwrap();
    assert_eq!((message.text().as_str(), stop), ("Grün 🦀", StopReason::ToolUse));
    let result = |id: &str| Block::Result { id: id.into(), content: "a file".to_owned(), is_error: false };
    transcript.push(message);
    transcript.push(Message { role: MessageRole::User, blocks: vec![result("c1")] });
    let (message, stop) = answer(&model, request(&head, &transcript)).await.unwrap();
    assert_eq!(stop, StopReason::EndTurn);
    transcript.push(message);
    transcript.push(Message::user("thanks", Origin::User));
    answer(&model, request(&head, &transcript)).await.unwrap();

    let received = server.finish();
    assert_eq!(received[0].header("authorization"), "Bearer k-1");
    assert_eq!(received[0].agent(), "a-1");
    assert_eq!(
        received[2].body["messages"],
        json!([
            {"role": "system", "content": "You work."},
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "Grün 🦀", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "Read", "arguments": "{ \"b\": 1,\"a\":2.0}"}}
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "a file"},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "thanks"},
        ])
    );
    for pair in received.windows(2) {
        let (before, after) = (&pair[0].raw, &pair[1].raw);
        assert!(after.starts_with(before.strip_suffix(b"]}").unwrap()));
    }
}

#[tokio::test]
async fn failures_are_told() {
    let server = Scripted::start([
        reply().answer(404, "application/json", r#"{"error":"model \"local\" not found, key k-1"}"#),
        reply().chunks([r#"{"choices":[{"index":0,"delta":{"content":"par"}}]}"#]),
        reply().chunks([r#"{"error":{"message":"overheated","code":503}}"#]),
    ]);
    let model = OpenAiChat::new(Endpoint::new(server.url(), Some(Secret::new("k-1")))).unwrap();
    let mut transcript = Transcript::default();
    transcript.push(Message::user("hello", Origin::User));
    let mut texts = Vec::new();
    for _ in 0..3 {
        texts.push(answer(&model, request(&head(), &transcript)).await.unwrap_err().to_string());
    }
    assert_eq!(
        texts,
        [
            "the provider answered 404: model \"local\" not found, key [key]",
            "the answer broke off: the connection ended before the answer did",
            "the provider answered 503: overheated",
        ]
    );
    server.finish();
}
