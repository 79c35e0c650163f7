//! The Anthropic client against a real server on this machine.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use offshoot_agents::model::anthropic::Anthropic;
use offshoot_agents::model::{
    Endpoint, Model, ModelError, ModelEvent, Provider, Request, RequestHead, Secret, StopReason, ToolDefinition,
};
use offshoot_agents::transcript::Transcript;
use offshoot_protocol::{Block, Message, MessageRole, Origin, RawJson, Usage};
use offshoot_tests::{Gate, Scripted, reply};
use serde_json::json;

const KEY: &str = "sk-test-0123456789";

fn client(server: &Scripted) -> Anthropic {
    Anthropic::new(Endpoint::new(server.url(), Some(Secret::new(KEY)))).unwrap()
}

fn impatient(server: &Scripted) -> Anthropic {
    let endpoint = Endpoint { idle_limit: Duration::from_millis(50), ..Endpoint::new(server.url(), None) };
    Anthropic::new(endpoint).unwrap()
}

fn head() -> Arc<RequestHead> {
    let schema = json!({"type": "object", "properties": {"file_path": {"type": "string"}}});
    let tool = |name: &str| ToolDefinition {
        name: name.to_owned(),
        description: format!("The {name} tool"),
        input_schema: schema.clone(),
    };
    Arc::new(RequestHead {
        provider: Provider::Anthropic,
        model: "claude-test".to_owned(),
        system: "You work.".to_owned(),
        tools: vec![tool("Read"), tool("Agent")],
        max_tokens: 1000,
        thinking_budget: Some(1024),
    })
}

fn request(head: &Arc<RequestHead>, agent: &str, transcript: &Transcript) -> Request {
    Request {
        head: head.clone(),
        transcript: transcript.clone(),
        fork_point: None,
        session: "s-test".into(),
        agent: agent.into(),
    }
}

fn ask(text: &str) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push(Message::user(text, Origin::User));
    transcript
}

async fn all(model: &Anthropic, request: Request) -> Vec<Result<ModelEvent, ModelError>> {
    model.stream(request).collect().await
}

/// The answer's message and how it ended.
async fn answer(model: &Anthropic, request: Request) -> (Message, StopReason, Usage) {
    let events: Vec<ModelEvent> = model.stream(request).try_collect().await.unwrap();
    let mut blocks = Vec::new();
    for event in events {
        match event {
            ModelEvent::BlockEnded { block, .. } => blocks.push(block),
            ModelEvent::Ended { stop, usage } => {
                return (Message { role: MessageRole::Assistant, blocks }, stop, usage);
            }
            _ => {}
        }
    }
    panic!("no end");
}

async fn failure(model: &Anthropic, request: Request) -> ModelError {
    let mut events = all(model, request).await;
    events.pop().unwrap().unwrap_err()
}

fn results(message: &Message, content: &str) -> Message {
    let blocks =
        message.calls().map(|(id, ..)| Block::Result { id: id.clone(), content: content.to_owned(), is_error: false });
    Message { role: MessageRole::User, blocks: blocks.collect() }
}

#[tokio::test]
async fn an_answer_is_streamed_and_the_request_says_who_asks() {
    let gate = Gate::new();
    let usage =
        json!({"input_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 4, "output_tokens": 9});
    let server = Scripted::start([reply().thinking("hm", "sig").text("Grün 🦀").gate(&gate).usage(usage).pieces(3)]);
    let model = client(&server);
    let mut events = model.stream(request(&head(), "a-1", &ask("hello")));
    assert_eq!(events.next().await.unwrap().unwrap(), ModelEvent::Started);
    let mut text = String::new();
    while text != "Grün 🦀" {
        if let ModelEvent::TextDelta { text: more, block: 1 } = events.next().await.unwrap().unwrap() {
            text.push_str(&more);
        }
    }
    gate.open();
    let rest: Vec<ModelEvent> = events.try_collect().await.unwrap();
    let usage = Usage { input: 3, cache_read: 20, cache_write: 4, output: 9 };
    assert_eq!(rest.last(), Some(&ModelEvent::Ended { stop: StopReason::EndTurn, usage }));

    let received = server.finish().remove(0);
    assert_eq!((received.session(), received.agent()), ("s-test", "a-1"));
    assert_eq!(received.header("x-api-key"), KEY);
    assert_eq!(received.header("anthropic-version"), "2023-06-01");
    assert_eq!(received.header("content-type"), "application/json");
    assert_eq!(received.header("transfer-encoding"), "");
    assert_eq!(received.body["thinking"], json!({"type": "enabled", "budget_tokens": 1024}));
    assert_eq!(received.tools(), ["Read", "Agent"]);
}

#[tokio::test]
async fn a_later_turn_sends_the_same_bytes_again_down_to_the_models_own_spelling() {
    let input = "{ \"b\": 1e300,\"a\":\"ü\", \"a\":0.10 }";
    let server = Scripted::start([
        reply().thinking("", "sig-1").redacted("zz").text("Reading.").call_with_id("toolu_x", "Read", input),
        reply().text("Done."),
        reply().text("Bye."),
    ]);
    let (model, head) = (client(&server), head());
    let mut transcript = ask("hello");
    let (message, stop, _) = answer(&model, request(&head, "a-1", &transcript)).await;
    assert_eq!(stop, StopReason::ToolUse);
    transcript.push(message.clone());
    transcript.push(results(&message, "a file"));
    let (message, ..) = answer(&model, request(&head, "a-1", &transcript)).await;
    transcript.push(message);
    transcript.push(Message::user("thanks", Origin::User));
    answer(&model, request(&head, "a-1", &transcript)).await;

    let received = server.finish();
    let raw = String::from_utf8(received[1].raw.clone()).unwrap();
    assert!(raw.contains(&format!(r#"{{"type":"tool_use","id":"toolu_x","name":"Read","input":{input}}}"#)));
    assert!(raw.contains(
        r#"[{"type":"thinking","thinking":"","signature":"sig-1"},{"type":"redacted_thinking","data":"zz"},"#
    ));
    for pair in received.windows(2) {
        let (before, after) = (pair[0].without_marks(), pair[1].without_marks());
        assert!(after.starts_with(before.strip_suffix("]}").unwrap()));
    }
}

#[tokio::test]
async fn sibling_forks_differ_only_in_the_directive() {
    let server = Scripted::start([
        reply().for_agent("parent").thinking("plan", "sig").call("Agent", json!({})).call("Agent", json!({})),
        reply().for_agent("fork-1").text("one"),
        reply().for_agent("fork-2").text("two"),
    ]);
    let (model, head) = (client(&server), head());
    let mut parent = ask("delegate");
    let (message, ..) = answer(&model, request(&head, "parent", &parent)).await;
    parent.push(message.clone());
    let fork = |agent: &str, directive: &str| {
        let mut transcript = parent.clone();
        let mut message = results(&message, "started");
        message.blocks.push(Block::Text { text: directive.to_owned(), origin: Origin::Directive });
        let index = transcript.push(message);
        Request { fork_point: Some(index + 1), ..request(&head, agent, &transcript) }
    };
    futures_util::join!(answer(&model, fork("fork-1", "LEFT")), answer(&model, fork("fork-2", "RIGHT")));

    let received = server.finish();
    let raw = |agent: &str| {
        let request = received.iter().find(|request| request.agent() == agent).unwrap();
        String::from_utf8(request.raw.clone()).unwrap()
    };
    let (parent, left, right) = (raw("parent"), raw("fork-1"), raw("fork-2"));
    let (common, rest) = left.split_once("LEFT").unwrap();
    assert_eq!(right, format!("{common}RIGHT{rest}"));
    assert!(left.starts_with(parent.strip_suffix("]}").unwrap()), "the parent's marks stand where they stood");
    assert_eq!(left.matches("cache_control").count(), 4);
}

#[tokio::test]
async fn http_errors_carry_the_providers_words_but_not_the_key() {
    let server = Scripted::start([
        reply().status_with(429, "rate_limit_error", "slow down").header("retry-after", "3"),
        reply().status_with(401, "authentication_error", &format!("invalid key {KEY}")),
        reply().answer(503, "text/html", "<h1>Unavailable</h1>"),
        reply().answer(500, "text/plain", ""),
        reply().answer(307, "text/plain", "").header("location", "http://127.0.0.1:9/"),
        reply().answer(200, "text/html", "<h1>Log in</h1>"),
    ]);
    let (model, head) = (client(&server), head());
    let mut texts = Vec::new();
    for agent in 0..6 {
        let error = failure(&model, request(&head, &format!("a-{agent}"), &ask("x"))).await;
        if agent == 0 {
            let ModelError::Status { retry_after, .. } = error else { panic!("{error}") };
            assert_eq!(retry_after, Some(Duration::from_secs(3)));
        }
        texts.push(format!("{error} {}", error.is_retryable()));
    }
    assert_eq!(
        texts[..5],
        [
            "the provider answered 429: slow down true",
            "the provider answered 401: invalid key [key] false",
            "the provider answered 503: <h1>Unavailable</h1> true",
            "the provider answered 500: Internal Server Error true",
            "the provider answered 307: Temporary Redirect false",
        ]
    );
    assert!(texts[5].contains("text/html instead of a stream") && texts[5].ends_with("false"), "{}", texts[5]);
    server.finish();
}

#[tokio::test]
async fn failures_in_the_middle_keep_what_came_before() {
    let server = Scripted::start([
        reply().text("partial").error_event("overloaded_error", "Overloaded"),
        reply().text("partial").cut_after(4),
        reply().text("partial").unfinished(),
        reply().text("partial").raw("data: nonsense\n\n"),
    ]);
    let (model, head) = (client(&server), head());
    let mut errors = Vec::new();
    for agent in 0..4 {
        let mut events = all(&model, request(&head, &format!("a-{agent}"), &ask("x"))).await;
        errors.push(events.pop().unwrap().unwrap_err());
        let texts = events.into_iter().filter_map(|event| match event.unwrap() {
            ModelEvent::TextDelta { text, .. } => Some(text),
            _ => None,
        });
        assert_eq!(texts.collect::<String>(), "partial");
    }
    assert!(matches!(errors[0], ModelError::Status { status: 529, .. }));
    assert!(matches!(errors[1], ModelError::Truncated { .. }));
    assert!(matches!(errors[2], ModelError::Truncated { .. }));
    assert!(matches!(errors[3], ModelError::Protocol { .. }));
    server.finish();
}

#[tokio::test]
async fn silence_ends_a_request() {
    let server = Scripted::start([reply().text("partial").hang(), reply().hang()]);
    let model = impatient(&server);
    for agent in ["a-1", "a-2"] {
        let error = failure(&model, request(&head(), agent, &ask("x"))).await;
        assert!(matches!(error, ModelError::Idle { limit } if limit == Duration::from_millis(50)));
    }
    server.finish();
}

#[tokio::test]
async fn an_event_without_end_is_bounded() {
    let endless = format!("data: {}", "x".repeat(17 * 1024 * 1024));
    let server = Scripted::start([reply().raw(&endless)]);
    let error = failure(&client(&server), request(&head(), "a", &ask("x"))).await;
    assert_eq!(error.to_string(), "the answer can't be understood: an event of more than 16 MiB");
}

#[tokio::test]
async fn nobody_there_is_a_connection_error() {
    let server = Scripted::start([]);
    let url = server.url();
    drop(server);
    let model = Anthropic::new(Endpoint::new(url.replace("http://", "http://user:pass@"), None)).unwrap();
    let error = failure(&model, request(&head(), "a", &ask("x"))).await;
    assert!(error.is_retryable());
    assert!(error.to_string().starts_with(&format!("could not reach {url}/v1/messages: ")), "{error}");
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let server = Scripted::start([reply().hang(), reply().text("next")]);
    let (model, head) = (client(&server), head());
    let mut events = model.stream(request(&head, "a", &ask("x")));
    events.next().await.unwrap().unwrap();
    drop(events);
    answer(&model, request(&head, "b", &ask("y"))).await;
    server.finish();
}

#[test]
fn an_address_or_key_that_cannot_work_is_refused_at_once() {
    for endpoint in [
        Endpoint::new("api.anthropic.com", None),
        Endpoint::new("https://api.anthropic.com", Some(Secret::new("sk\n1"))),
    ] {
        assert!(matches!(Anthropic::new(endpoint), Err(ModelError::NotConfigured { .. })));
    }
}

#[tokio::test]
async fn the_server_polices_the_wire() {
    let call = |id: &str| Block::Call { id: id.into(), name: "Read".to_owned(), input: RawJson("{}".to_owned()) };
    let mut dangling = ask("x");
    dangling.push(Message { role: MessageRole::Assistant, blocks: vec![call("c")] });
    dangling.push(Message::user("no result", Origin::User));
    let mut starts_wrong = Transcript::default();
    starts_wrong.push(Message { role: MessageRole::Assistant, blocks: vec![call("c")] });
    for (first, second, complaint) in [
        (None, dangling, "the calls [\"c\"] were answered by the results []"),
        (None, starts_wrong, "message 0 is not the user's"),
        (Some(ask("x")), ask("y"), "the prefix changed"),
    ] {
        let server = Scripted::start([reply().text("fine").repeated()]);
        let (model, head) = (client(&server), head());
        if let Some(first) = first {
            answer(&model, request(&head, "a", &first)).await;
        }
        let error = failure(&model, request(&head, "a", &second)).await;
        assert!(error.to_string().contains(complaint), "{error}");
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.finish())).unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().contains(complaint));
    }
}
