use offshoot_protocol::{Message, MessageRole};

use super::*;
use crate::model::decoding::{self, call, text};

fn decode_after(transcript: Transcript, pieces: &[&str]) -> (Vec<ModelEvent>, Result<bool, ModelError>) {
    decoding::run(Decoder::new(transcript), pieces)
}

fn decode(pieces: &[&str]) -> (Vec<Block>, StopReason, Usage) {
    decoding::answer(Decoder::new(Transcript::default()), pieces)
}

#[test]
fn the_providers_own_stream() {
    let (blocks, stop, usage) = decode(&[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"Grün"},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":" 🦀"},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"Read","arguments":""}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{ \"x\":"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1e0}"}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"Grep","arguments":""}}]}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":90}}}"#,
        "[DONE]",
    ]);
    assert_eq!(blocks, [text("Grün 🦀"), call("a", "Read", "{ \"x\":1e0}"), call("b", "Grep", "{}")]);
    assert_eq!(stop, StopReason::ToolUse);
    assert_eq!(usage, Usage { input: 10, cache_read: 90, cache_write: 0, output: 7 });
}

#[test]
fn interleaved_calls_are_put_together() {
    let (blocks, ..) = decode(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"A","arguments":"{"}},{"index":1,"id":"b","function":{"name":"B","arguments":"{"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"\"b\":1}"}},{"index":0,"function":{"arguments":"}"}}]}}]}"#,
        r#"{"choices":[{"finish_reason":"tool_calls"}]}"#,
    ]);
    assert_eq!(blocks, [call("a", "A", "{}"), call("b", "B", "{\"b\":1}")]);
}

#[test]
fn whole_calls_in_one_chunk_all_numbered_zero_with_a_stop_and_no_figures() {
    let (blocks, stop, usage) = decode(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"A","arguments":"{\"n\":1}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"A","arguments":"{\"n\":2}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    assert_eq!(blocks, [call("a", "A", "{\"n\":1}"), call("b", "A", "{\"n\":2}")]);
    assert_eq!((stop, usage), (StopReason::ToolUse, Usage::default()));
}

#[test]
fn calls_without_ids_get_some_and_arguments_may_be_objects() {
    let (blocks, ..) = decode(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"A","arguments":{"n": 1.0}}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"A","arguments":{}}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"B","arguments":null}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
    ]);
    assert_eq!(
        blocks,
        [call("call_0_0", "A", "{\"n\": 1.0}"), call("call_0_1", "A", "{}"), call("call_0_2", "B", "{}")]
    );
}

#[test]
fn ids_and_names_repeated_with_every_piece_are_one_call() {
    let (blocks, ..) = decode(&[
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"A","arguments":"{\"n\""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"A","arguments":":1}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
    ]);
    assert_eq!(blocks, [call("a", "A", "{\"n\":1}")]);
}

#[test]
fn an_id_that_an_earlier_call_has_is_replaced() {
    let mut transcript = Transcript::default();
    transcript.push(Message { role: MessageRole::Assistant, blocks: vec![call("call_0", "A", "{}")] });
    let (events, _) = decode_after(
        transcript,
        &[
            r#"{"choices":[{"delta":{"content":"x","tool_calls":[{"index":0,"id":"call_0","function":{"name":"A","arguments":"{"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_0","function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}"#,
        ],
    );
    assert!(events.contains(&ModelEvent::BlockEnded { index: 1, block: call("call_1_1", "A", "{}") }), "{events:?}");
}

#[test]
fn reasoning_is_kept_apart_from_text() {
    let thinking = |text: &str| Block::Thinking { thinking: text.to_owned(), signature: String::new() };
    let (blocks, ..) = decode(&[
        r#"{"choices":[{"delta":{"reasoning_content":"h"}}]}"#,
        r#"{"choices":[{"delta":{"reasoning":"m","content":null}}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"text","text":"so"}],"reasoning_content":""}}]}"#,
        r#"{"choices":[{"delta":{"reasoning_content":"again"}}]}"#,
        r#"{"choices":[{"delta":{"refusal":"no"},"finish_reason":"stop"}]}"#,
    ]);
    assert_eq!(blocks, [thinking("hm"), text("so"), thinking("again"), text("no")]);
}

#[test]
fn finish_reasons() {
    for (reason, stop) in [
        ("stop", StopReason::EndTurn),
        ("length", StopReason::MaxTokens),
        ("content_filter", StopReason::Refusal),
        ("tool_calls", StopReason::EndTurn),
        ("tired", StopReason::Unknown("tired".to_owned())),
    ] {
        let chunk = format!(r#"{{"choices":[{{"delta":{{"content":"x"}},"finish_reason":"{reason}"}}]}}"#);
        assert_eq!(decode(&[&chunk, "[DONE]"]).1, stop);
    }
}

#[test]
fn an_end_without_a_finish_reason_is_none() {
    let chunk = r#"{"choices":[{"delta":{"content":"x"},"finish_reason":null}]}"#;
    assert!(!decode_after(Transcript::default(), &[chunk]).1.unwrap());
    let (_, end) = decode_after(Transcript::default(), &[chunk, "[DONE]"]);
    assert!(matches!(end, Err(ModelError::Truncated { .. })));
}

#[test]
fn errors_in_the_stream_are_told() {
    for (error, status, message) in [
        (r#"{"message":"Slow","code":429}"#, 429, "Slow"),
        (r#"{"message":"Slow","type":"rate_limit_exceeded","code":null}"#, 429, "Slow"),
        (r#"{"message":"Long","code":"context_length_exceeded"}"#, 400, "Long"),
        (r#""boom""#, 500, "\"boom\""),
    ] {
        let (_, end) = decode_after(Transcript::default(), &[&format!(r#"{{"error":{error}}}"#)]);
        let Err(ModelError::Status { status: found, message: said, .. }) = end else { panic!("{end:?}") };
        assert_eq!((found, said.as_str()), (status, message));
    }
    let (_, end) = decode_after(Transcript::default(), &["<html>"]);
    assert!(matches!(end, Err(ModelError::Protocol { .. })));
}

#[test]
fn characters_that_a_server_cut_in_halves_are_joined() {
    let (blocks, ..) = decode(&[
        r#"{"choices":[{"delta":{"content":"a \ud83e"}}]}"#,
        r#"{"choices":[{"delta":{"content":"\udd80 b"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"A","arguments":"{\"x\":\"\ud83e"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\udd80\"}"}}]},"finish_reason":"stop"}]}"#,
    ]);
    assert_eq!(blocks, [text("a 🦀 b"), call("c", "A", "{\"x\":\"🦀\"}")]);
}
