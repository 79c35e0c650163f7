//! The Responses client against a real server on this machine.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::sync::Arc;

use futures_util::TryStreamExt;
use offshoot_agents::model::openai_responses::OpenAiResponses;
use offshoot_agents::model::{
    Endpoint, Model, ModelError, ModelEvent, Provider, Request, RequestHead, Secret, StopReason, ToolDefinition,
};
use offshoot_agents::transcript::Transcript;
use offshoot_protocol::{Block, CallId, Message, MessageRole, Origin, RawJson};
use offshoot_tests::{Scripted, reply};
use serde_json::json;

const REASONING: &str = r#"{"id":"rs_1","type":"reasoning", "summary":[],"encrypted_content":"zz","n":1.50}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"usage":{"input_tokens":9,"output_tokens":2}}}"#;

fn request(head: &Arc<RequestHead>, agent: &str, transcript: &Transcript) -> Request {
    let (head, transcript) = (head.clone(), transcript.clone());
    Request { head, transcript, fork_point: None, session: "s-test".into(), agent: agent.into() }
}

fn head() -> Arc<RequestHead> {
    Arc::new(RequestHead {
        provider: Provider::OpenaiResponses,
        model: "gpt-5.1".to_owned(),
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

fn client(server: &Scripted) -> OpenAiResponses {
    OpenAiResponses::new(Endpoint::new(server.url(), Some(Secret::new("k-1")))).unwrap()
}

async fn answer(model: &OpenAiResponses, request: Request) -> Result<(Message, StopReason), ModelError> {
    let events: Vec<ModelEvent> = model.stream(request).try_collect().await?;
    assert_eq!(events.first(), Some(&ModelEvent::Started));
    let Some(ModelEvent::Ended { stop, .. }) = events.last().cloned() else { panic!("no end: {events:?}") };
    let blocks = events.into_iter().filter_map(|event| match event {
        ModelEvent::BlockEnded { block, .. } => Some(block),
        _ => None,
    });
    Ok((Message { role: MessageRole::Assistant, blocks: blocks.collect() }, stop))
}

fn said(text: &str) -> String {
    json!({"type": "response.output_item.done", "output_index": 0,
        "item": {"type": "message", "content": [{"type": "output_text", "text": text}]}})
    .to_string()
}

fn result(id: &CallId) -> Block {
    Block::Result { id: id.clone(), content: "a file".to_owned(), is_error: false }
}

#[tokio::test]
async fn a_conversation_with_reasoning_and_calls_keeps_its_bytes_from_turn_to_turn() {
    let reasoning = format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{REASONING}}}"#);
    let call = r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c1","name":"Read","arguments":"{ \"b\": 1,\"a\":2.0}"}}"#;
    let (done, bye) = (said("Done 🦀."), said("Bye."));
    let server = Scripted::start([
        reply().chunks([reasoning.as_str(), call, COMPLETED]).pieces(3),
        reply().chunks([done.as_str(), COMPLETED]),
        reply().chunks([bye.as_str(), COMPLETED]),
    ]);
    let (model, head) = (client(&server), head());
    let mut transcript = Transcript::default();
    transcript.push(Message::user("hello", Origin::User));
    let (message, stop) = answer(&model, request(&head, "a-1", &transcript)).await.unwrap();
    assert_eq!(stop, StopReason::ToolUse);
    transcript.push(message);
    transcript.push(Message { role: MessageRole::User, blocks: vec![result(&"c1".into())] });
    let (message, stop) = answer(&model, request(&head, "a-1", &transcript)).await.unwrap();
    assert_eq!((message.text().as_str(), stop), ("Done 🦀.", StopReason::EndTurn));
    transcript.push(message);
    transcript.push(Message::user("thanks", Origin::User));
    answer(&model, request(&head, "a-1", &transcript)).await.unwrap();

    let received = server.finish();
    assert_eq!(received[0].header("authorization"), "Bearer k-1");
    assert_eq!(received[0].agent(), "a-1");
    let expected = concat!(
        r#"{"model":"gpt-5.1","max_output_tokens":100,"stream":true,"store":false,"#,
        r#""include":["reasoning.encrypted_content"],"#,
        r#""tools":[{"type":"function","name":"Read","description":"Reads","parameters":{"type":"object"},"strict":false}],"#,
        r#""instructions":"You work.","input":[{"role":"user","content":"hello"},"#,
        r#"{"id":"rs_1","type":"reasoning", "summary":[],"encrypted_content":"zz","n":1.50},"#,
        r#"{"type":"function_call","call_id":"c1","name":"Read","arguments":"{ \"b\": 1,\"a\":2.0}"},"#,
        r#"{"type":"function_call_output","call_id":"c1","output":"a file"},"#,
        r#"{"role":"assistant","content":"Done 🦀."},{"role":"user","content":"thanks"}],"prompt_cache_key":"s-test"}"#
    );
    assert_eq!(String::from_utf8_lossy(&received[2].raw), expected);
    for pair in received.windows(2) {
        let (before, after) = (&pair[0].raw, &pair[1].raw);
        assert!(after.starts_with(before.strip_suffix(br#"],"prompt_cache_key":"s-test"}"#).unwrap()));
    }
}

#[tokio::test]
async fn sibling_forks_differ_only_in_their_directives() {
    let fine = said("fine");
    let server = Scripted::start([reply().chunks([fine.as_str(), COMPLETED]).repeated()]);
    let (model, head) = (client(&server), head());
    let mut parent = Transcript::default();
    parent.push(Message::user("hello", Origin::User));
    let calls =
        ["c1", "c2"].map(|id| Block::Call { id: id.into(), name: "Read".to_owned(), input: RawJson("{}".to_owned()) });
    parent.push(Message { role: MessageRole::Assistant, blocks: calls.to_vec() });
    for (agent, directive) in [("a", "first"), ("b", "second")] {
        let mut fork = parent.clone();
        let directive = Block::Text { text: directive.to_owned(), origin: Origin::Directive };
        let blocks = vec![result(&"c1".into()), result(&"c2".into()), directive];
        fork.push(Message { role: MessageRole::User, blocks });
        answer(&model, request(&head, agent, &fork)).await.unwrap();
    }
    let received = server.finish();
    let before = |raw: &[u8], text: &str| String::from_utf8_lossy(raw).split(text).next().unwrap().to_owned();
    assert_eq!(before(&received[0].raw, "first"), before(&received[1].raw, "second"));
    assert_eq!(received[0].body["prompt_cache_key"], received[1].body["prompt_cache_key"]);
}

#[tokio::test]
async fn the_server_polices_items() {
    let fine = said("fine");
    let call = Block::Call { id: "c".into(), name: "Read".to_owned(), input: RawJson("{}".to_owned()) };
    let ask = |text: &str| {
        let mut transcript = Transcript::default();
        transcript.push(Message::user(text, Origin::User));
        transcript
    };
    let mut dangling = ask("x");
    dangling.push(Message { role: MessageRole::Assistant, blocks: vec![call] });
    dangling.push(Message::user("no result", Origin::User));
    for (first, second, complaint) in
        [(None, dangling, "the calls [\"c\"] have no result"), (Some(ask("x")), ask("y"), "the prefix changed")]
    {
        let server = Scripted::start([reply().chunks([fine.as_str(), COMPLETED]).repeated()]);
        let (model, head) = (client(&server), head());
        if let Some(first) = first {
            answer(&model, request(&head, "a", &first)).await.unwrap();
        }
        let error = answer(&model, request(&head, "a", &second)).await.unwrap_err();
        assert!(error.to_string().contains(complaint), "{error}");
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.finish())).unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().contains(complaint));
    }
}
