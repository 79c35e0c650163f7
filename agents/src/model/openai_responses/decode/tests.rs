use offshoot_protocol::{Message, MessageRole};

use super::*;
use crate::model::decoding::{self, call, text};

fn decode_after(transcript: Transcript, pieces: &[&str]) -> (Vec<ModelEvent>, Result<bool, ModelError>) {
    decoding::run(Decoder::new(transcript), pieces)
}

fn decode(pieces: &[&str]) -> (Vec<Block>, StopReason, Usage) {
    decoding::answer(Decoder::new(Transcript::default()), pieces)
}

const COMPLETED: &str = r#"{"type":"response.completed","response":{"status":"completed"}}"#;
const MESSAGE: &str =
    r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","content":[]}}"#;

#[test]
fn the_providers_own_stream() {
    let reasoning = r#"{"id":"rs_1","type":"reasoning", "summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"zz","n":1.50}"#;
    let done = format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{reasoning}}}"#);
    let (events, end) = decode_after(
        Transcript::default(),
        &[
            r#"{"type":"response.created","sequence_number":0,"response":{"id":"r","status":"in_progress"}}"#,
            r#"{"type":"response.in_progress","response":{}}"#,
            r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
            r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0,"part":{}}"#,
            r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"a"}"#,
            r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1,"part":{}}"#,
            r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"b"}"#,
            &done,
            r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"message","role":"assistant","content":[]}}"#,
            r#"{"type":"response.content_part.added","output_index":1,"content_index":0,"part":{"type":"output_text","text":""}}"#,
            r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"Grün"}"#,
            r#"{"type":"response.brand_new","output_index":"odd","delta":7}"#,
            r#"{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":" 🦀"}"#,
            r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"Grün 🦀","annotations":[]}]}}"#,
            r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"c1","name":"Read","arguments":""}}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{ \"x\":"}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"1e400}"}"#,
            r#"{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{ \"x\":1e400}"}"#,
            r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c1","name":"Read","arguments":"{ \"x\":1e400}","status":"completed"}}"#,
            r#"{"type":"response.completed","response":{"status":"completed","error":null,"incomplete_details":null,"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":90},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3}}}}"#,
        ],
    );
    assert!(end.unwrap());
    let usage = Usage { input: 10, cache_read: 90, cache_write: 0, output: 7 };
    let thinking = Block::Thinking { thinking: "a\n\nb".to_owned(), signature: reasoning.to_owned() };
    let delta = |text: &str| ModelEvent::TextDelta { block: 1, text: text.to_owned() };
    let thought = |text: &str| ModelEvent::ThinkingDelta { block: 0, text: text.to_owned() };
    let input = |text: &str| ModelEvent::InputDelta {
        block: 2,
        call: "c1".into(),
        name: "Read".to_owned(),
        text: text.to_owned(),
    };
    assert_eq!(
        events,
        [
            ModelEvent::Started,
            thought("a"),
            thought("\n\n"),
            thought("b"),
            ModelEvent::BlockEnded { index: 0, block: thinking },
            delta("Grün"),
            delta(" 🦀"),
            ModelEvent::BlockEnded { index: 1, block: text("Grün 🦀") },
            input(""),
            input("{ \"x\":"),
            input("1e400}"),
            ModelEvent::BlockEnded { index: 2, block: call("c1", "Read", "{ \"x\":1e400}") },
            ModelEvent::Counted(usage),
            ModelEvent::Ended { stop: StopReason::ToolUse, usage },
        ]
    );
}

#[test]
fn what_a_failed_answer_is_billed_comes_before_its_error() {
    let failed = r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"Sorry"},"usage":{"input_tokens":100,"output_tokens":7}}}"#;
    let (events, end) = decode_after(Transcript::default(), &[failed]);
    let usage = Usage { input: 100, cache_read: 0, cache_write: 0, output: 7 };
    assert_eq!(events, [ModelEvent::Started, ModelEvent::Counted(usage)]);
    assert!(end.is_err());
}

#[test]
fn items_side_by_side_end_in_their_order() {
    let (blocks, ..) = decode(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"a","name":"A"}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"b","name":"B"}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"b\":1}"}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"b","name":"B"}}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a","name":"A","arguments":{"n": 1.0}}}"#,
        COMPLETED,
    ]);
    assert_eq!(blocks, [call("a", "A", "{\"n\": 1.0}"), call("b", "B", "{\"b\":1}")]);
}

#[test]
fn a_server_that_sends_only_whole_items_is_understood() {
    let (blocks, stop, usage) = decode(&[
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"hi"},{"type":"new","text":7}]}}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"web_search_call", "n":1.50}}"#,
        COMPLETED,
    ]);
    assert_eq!(
        blocks,
        [text("hi"), Block::Opaque { raw: RawJson(r#"{"type":"web_search_call", "n":1.50}"#.to_owned()) }]
    );
    assert_eq!((stop, usage), (StopReason::EndTurn, Usage::default()));
}

#[test]
fn ids_that_are_missing_or_taken_are_replaced() {
    let mut transcript = Transcript::default();
    transcript.push(Message { role: MessageRole::Assistant, blocks: vec![call("c", "A", "{}")] });
    let (events, _) = decode_after(
        transcript,
        &[
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"A","arguments":""}}"#,
            r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","name":"A"}}"#,
        ],
    );
    for (index, id) in [(0, "call_1_0"), (1, "call_1_1")] {
        assert!(events.contains(&ModelEvent::BlockEnded { index, block: call(id, "A", "{}") }), "{events:?}");
    }
}

#[test]
fn an_answer_that_the_limit_cut_keeps_its_text_and_drops_the_half_call() {
    let added = r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"c","name":"A"}}"#;
    let delta = r#"{"type":"response.output_text.delta","output_index":0,"delta":"half"}"#;
    for (reason, stop) in [
        ("max_output_tokens", StopReason::MaxTokens),
        ("content_filter", StopReason::Refusal),
        ("tired", StopReason::Unknown("tired".to_owned())),
    ] {
        let end = format!(
            r#"{{"type":"response.incomplete","response":{{"status":"incomplete","incomplete_details":{{"reason":"{reason}"}}}}}}"#
        );
        let (blocks, found, _) = decode(&[MESSAGE, delta, added, &end]);
        assert_eq!((blocks, found), (vec![text("half")], stop));
    }
}

#[test]
fn a_refusal_is_told_apart_from_an_answer() {
    let (blocks, stop, _) = decode(&[
        MESSAGE,
        r#"{"type":"response.refusal.delta","output_index":0,"delta":"No."}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"No."}]}}"#,
        COMPLETED,
    ]);
    assert_eq!((blocks, stop), (vec![text("No.")], StopReason::Refusal));
}

#[test]
fn errors_behind_a_good_status_are_told() {
    for (event, status, retryable) in [
        (r#"{"type":"error","code":"rate_limit_exceeded","message":"Slow","param":null}"#, 429, true),
        (r#"{"type":"error","error":{"type":"invalid_request_error","code":"x","message":"Wrong"}}"#, 400, false),
        (r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"Sorry"}}}"#, 500, true),
        (r#"{"type":"response.failed","response":{"error":{"code":"insufficient_quota","message":"x"}}}"#, 429, false),
        (
            r#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"x"}}}"#,
            400,
            false,
        ),
    ] {
        let error = decode_after(Transcript::default(), &[MESSAGE, event]).1.unwrap_err();
        assert!(matches!(&error, ModelError::Status { status: found, .. } if *found == status), "{error:?}");
        assert_eq!(error.is_retryable(), retryable, "{event}");
    }
    assert!(!decode_after(Transcript::default(), &[MESSAGE]).1.unwrap(), "a stream without its end has none");
}

#[test]
fn events_that_make_no_sense_together_are_refused() {
    for events in [
        &[MESSAGE, MESSAGE][..],
        &[r#"{"type":"response.output_item.added","output_index":0}"#],
        &[MESSAGE, r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"x"}"#],
        &[r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call"}}"#],
        &[r#"{"type":"response.failed","response":{"error":null}}"#],
        &["not json"],
    ] {
        let end = decode_after(Transcript::default(), events).1;
        assert!(matches!(end, Err(ModelError::Protocol { .. })), "{events:?}: {end:?}");
    }
}

#[test]
fn characters_that_a_server_cut_in_halves_are_joined() {
    let (blocks, ..) = decode(&[
        MESSAGE,
        r#"{"type":"response.output_text.delta","output_index":0,"delta":"a \ud83e"}"#,
        r#"{"type":"response.output_text.delta","output_index":0,"delta":"\udd80 b"}"#,
        COMPLETED,
    ]);
    assert_eq!(blocks, [text("a 🦀 b")]);
}
