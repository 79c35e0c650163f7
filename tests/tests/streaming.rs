//! What can go wrong with a stream, in every format.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use offshoot_agents::model::anthropic::Anthropic;
use offshoot_agents::model::openai_chat::OpenAiChat;
use offshoot_agents::model::openai_responses::OpenAiResponses;
use offshoot_agents::model::{Endpoint, Model, ModelError, ModelEvent, Provider, Request, RequestHead};
use offshoot_agents::transcript::Transcript;
use offshoot_protocol::{Message, Origin};
use offshoot_tests::{Reply, Scripted, reply};
use serde_json::json;

/// A format, by what its events look like.
struct Format {
    provider: Provider,
    /// What comes before the first text.
    opening: &'static [&'static str],
    /// The event that adds a text.
    text: fn(&str) -> String,
    /// What comes behind the last one.
    closing: &'static [&'static str],
    /// Events that nobody knows, and pings.
    unknown: &'static [&'static str],
    /// An error in the middle.
    error: &'static str,
}

const FORMATS: [Format; 3] = [
    Format {
        provider: Provider::Anthropic,
        opening: &[
            r#"{"type":"message_start","message":{"usage":{"input_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        ],
        text: |text| {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
                .to_string()
        },
        closing: &[
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
            r#"{"type":"message_stop"}"#,
        ],
        unknown: &[
            r#"{"type":"ping"}"#,
            r#"{"type":"brand_new","index":"odd","delta":7}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","text":7}}"#,
        ],
        error: r#"{"type":"error","error":{"type":"overloaded_error","message":"Sorry"}}"#,
    },
    Format {
        provider: Provider::Openai,
        opening: &[r#"{"choices":[{"index":0,"delta":{"role":"assistant"}}]}"#],
        text: |text| json!({"choices": [{"index": 0, "delta": {"content": text}}]}).to_string(),
        closing: &[r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#, "[DONE]"],
        unknown: &[r#"{"object":"brand.new","n":7}"#, r#"{"choices":[{"index":1,"delta":{"content":"other"}}]}"#],
        error: r#"{"error":{"message":"Sorry","code":529}}"#,
    },
    Format {
        provider: Provider::OpenaiResponses,
        opening: &[
            r#"{"type":"response.created","response":{}}"#,
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}"#,
        ],
        text: |text| json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}).to_string(),
        closing: &[r#"{"type":"response.completed","response":{}}"#],
        unknown: &[
            r#"{"type":"keepalive"}"#,
            r#"{"type":"response.brand_new","output_index":"odd","delta":7,"item":{}}"#,
        ],
        error: r#"{"type":"error","code":"overloaded","message":"Sorry"}"#,
    },
];

impl Format {
    fn client(&self, url: &str, idle_limit: Duration) -> Box<dyn Model> {
        let endpoint = Endpoint { idle_limit, ..Endpoint::new(url, None) };
        match self.provider {
            Provider::Anthropic => Box::new(Anthropic::new(endpoint).unwrap()),
            Provider::Openai => Box::new(OpenAiChat::new(endpoint).unwrap()),
            Provider::OpenaiResponses => Box::new(OpenAiResponses::new(endpoint).unwrap()),
            Provider::Demo => panic!("the demo has no format"),
        }
    }

    fn request(&self) -> Request {
        let mut transcript = Transcript::default();
        transcript.push(Message::user("hello", Origin::User));
        let head = RequestHead {
            provider: self.provider,
            model: "m".to_owned(),
            system: String::new(),
            tools: Vec::new(),
            max_tokens: 10,
            thinking_budget: None,
        };
        let (session, agent) = ("s".into(), "a".into());
        Request { head: Arc::new(head), transcript, fork_point: None, session, agent }
    }

    /// The events around these.
    fn around(&self, middle: &[String]) -> Vec<String> {
        let own = |events: &[&str]| events.iter().map(|event| (*event).to_owned()).collect::<Vec<_>>();
        [own(self.opening), middle.to_vec(), own(self.closing)].concat()
    }

    async fn ask(&self, reply: Reply) -> Vec<Result<ModelEvent, ModelError>> {
        let server = Scripted::start([reply]);
        let client = self.client(&server.url(), Endpoint::IDLE_LIMIT);
        client.stream(self.request()).collect().await
    }
}

fn chunks(events: &[String]) -> Reply {
    reply().chunks(events.iter().map(String::as_str))
}

/// The text that came, and how it ended.
fn text(events: &[Result<ModelEvent, ModelError>]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        Ok(ModelEvent::TextDelta { text, .. }) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn error(events: &[Result<ModelEvent, ModelError>]) -> &ModelError {
    events.last().unwrap().as_ref().unwrap_err()
}

#[tokio::test]
async fn a_stream_cut_anywhere_says_the_same_as_a_whole_one() {
    for format in &FORMATS {
        let events = format.around(&[(format.text)("Grün 🦀 "), (format.text)("漢字\u{2028}x")]);
        let whole: Vec<_> = format.ask(chunks(&events)).await.into_iter().map(Result::unwrap).collect();
        let returns =
            events.iter().map(|event| format!("event: x\r\ndata: {event}\r\n\r\n")).collect::<Vec<_>>().concat();
        for size in [1, 2, 3, 7] {
            let cut = format.ask(chunks(&events).pieces(size)).await;
            assert_eq!(cut.into_iter().map(Result::unwrap).collect::<Vec<_>>(), whole, "{:?}", format.provider);
            let cut = format.ask(reply().chunks([]).raw(&returns).pieces(size)).await;
            assert_eq!(cut.into_iter().map(Result::unwrap).collect::<Vec<_>>(), whole, "{:?}", format.provider);
        }
    }
}

#[tokio::test]
async fn what_is_not_known_is_ignored() {
    for format in &FORMATS {
        let unknown = format.unknown.iter().map(|event| (*event).to_owned());
        let middle: Vec<String> = unknown.flat_map(|event| [event, (format.text)("a")]).collect();
        let events = format.ask(chunks(&format.around(&middle))).await;
        assert_eq!(text(&events), "a".repeat(format.unknown.len()));
        assert!(matches!(events.last(), Some(Ok(ModelEvent::Ended { .. }))), "{events:?}");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_and_a_missing_end_are_errors_behind_the_text() {
    for format in &FORMATS {
        let mut events = format.around(&[(format.text)("partial")]);
        events.truncate(format.opening.len() + 1);
        let broken = format.ask(chunks(&events)).await;
        assert_eq!(text(&broken), "partial");
        assert!(matches!(error(&broken), ModelError::Truncated { .. }) && error(&broken).is_retryable(), "{broken:?}");
        events.push(format.error.to_owned());
        let failed = format.ask(chunks(&events)).await;
        assert_eq!(text(&failed), "partial");
        assert!(matches!(error(&failed), ModelError::Status { status: 529, message, .. } if message == "Sorry"));
        assert!(error(&failed).is_retryable());
    }
}

#[tokio::test]
async fn statuses_say_whether_and_when_to_try_again() {
    for format in &FORMATS {
        for (reply, status, wait, retryable) in [
            (reply().status(429).header("retry-after", "3"), 429, Some(3), true),
            (reply().status_with(429, "rate_limit_error", "You have reached your spend limit"), 429, None, false),
            (reply().status(413), 413, None, false),
            (reply().status(408), 408, None, true),
            (reply().status(503), 503, None, true),
            (reply().status(529), 529, None, true),
            (reply().status(401), 401, None, false),
        ] {
            let events = format.ask(reply).await;
            let ModelError::Status { status: found, retry_after, .. } = error(&events) else { panic!("{events:?}") };
            assert_eq!((*found, retry_after.map(|wait| wait.as_secs())), (status, wait));
            assert_eq!(error(&events).is_retryable(), retryable, "{:?} {status}", format.provider);
        }
    }
}

#[tokio::test]
async fn an_event_without_end_is_cut_off() {
    for format in &FORMATS {
        let huge = (format.text)(&"x".repeat(100 * 1024 * 1024));
        let events = format.ask(chunks(&format.around(&[huge]))).await;
        let ModelError::Protocol { reason } = error(&events) else { panic!("{:?}", format.provider) };
        assert!(reason.contains("16 MiB"), "{reason}");
        assert_eq!(text(&events), "");
    }
}

#[tokio::test]
async fn very_many_tiny_events_are_taken_as_they_come() {
    const COUNT: usize = 200_000;
    for format in &FORMATS {
        let one = format!("data: {}\n\n", (format.text)("a"));
        let line =
            |events: &[&str]| events.iter().map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat();
        let all = [line(format.opening), one.repeat(COUNT), line(format.closing)].concat();
        let events = format.ask(reply().chunks([]).raw(&all).pieces(16 * 1024)).await;
        assert_eq!(text(&events).len(), COUNT, "{:?}", error_of(&events));
    }
}

fn error_of(events: &[Result<ModelEvent, ModelError>]) -> Option<&ModelError> {
    events.last().and_then(|event| event.as_ref().err())
}

#[tokio::test]
async fn silence_ends_a_request_and_keeps_what_came() {
    for format in &FORMATS {
        let events = format.around(&[(format.text)("partial")]);
        let open = events[..=format.opening.len()].to_vec();
        let server = Scripted::start([chunks(&open).hang()]);
        // Long enough for a server on this machine under load, short enough to wait for.
        let limit = Duration::from_secs(2);
        let client = format.client(&server.url(), limit);
        let events: Vec<_> = client.stream(format.request()).collect().await;
        assert_eq!(text(&events), "partial");
        assert!(matches!(error(&events), ModelError::Idle { limit: found } if *found == limit), "{events:?}");
    }
}
