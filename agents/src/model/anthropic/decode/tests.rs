use super::*;

fn decode(events: &[&str]) -> (Vec<ModelEvent>, Result<bool, ModelError>) {
    let mut decoder = Decoder::default();
    let mut out = VecDeque::new();
    let mut last = Ok(false);
    for event in events {
        last = decoder.take(event.as_bytes(), &mut out);
        if last.is_err() {
            break;
        }
    }
    (out.into(), last)
}

/// The blocks of an answer that holds `inner`, and how it ended.
fn blocks(inner: &[&str], stop: &str) -> (Vec<Block>, StopReason) {
    let end = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{stop}"}},"usage":{{"output_tokens":5}}}}"#);
    let mut events = vec![r#"{"type":"message_start","message":{"usage":{"input_tokens":3}}}"#];
    events.extend(inner);
    events.extend([end.as_str(), r#"{"type":"message_stop"}"#]);
    let (out, last) = decode(&events);
    assert!(last.unwrap(), "message_stop is the last event");
    let mut found = Vec::new();
    let mut stop = None;
    for event in out {
        match event {
            ModelEvent::BlockEnded { index, block } => {
                assert_eq!(index as usize, found.len());
                found.push(block);
            }
            ModelEvent::Ended { stop: reason, .. } => stop = Some(reason),
            _ => {}
        }
    }
    (found, stop.unwrap())
}

fn call(deltas: &[&str]) -> Vec<String> {
    let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"Read","input":{}}}"#;
    let mut events = vec![start.to_owned()];
    events.extend(deltas.iter().map(|text| {
        let delta = serde_json::json!({"type": "input_json_delta", "partial_json": text});
        format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#)
    }));
    events.push(r#"{"type":"content_block_stop","index":0}"#.to_owned());
    events
}

#[test]
fn text_and_figures() {
    let (out, last) = decode(&[
        r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_creation_input_tokens":10,"cache_read_input_tokens":20,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grün"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" 🦀"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    assert!(last.unwrap());
    let usage = Usage { input: 3, cache_read: 20, cache_write: 10, output: 7 };
    assert_eq!(
        out,
        [
            ModelEvent::Started,
            ModelEvent::Counted(Usage { input: 3, cache_read: 20, cache_write: 10, output: 1 }),
            ModelEvent::TextDelta { block: 0, text: "Grün".to_owned() },
            ModelEvent::TextDelta { block: 0, text: " 🦀".to_owned() },
            ModelEvent::BlockEnded {
                index: 0,
                block: Block::Text { text: "Grün 🦀".to_owned(), origin: Origin::Model }
            },
            ModelEvent::Ended { stop: StopReason::EndTurn, usage },
        ]
    );
}

#[test]
fn tool_input_is_kept_as_it_was_written() {
    for (deltas, input) in [
        (&[][..], "{}"),
        (&["", ""], "{}"),
        (&["{ \"b\": 1e4", "00, \"a\":0.10,\"b\":2 }"], "{ \"b\": 1e400, \"a\":0.10,\"b\":2 }"),
        (&["{"], "{"),
    ] {
        let events = call(deltas);
        let (found, _) = blocks(&events.iter().map(String::as_str).collect::<Vec<_>>(), "tool_use");
        let expected = Block::Call { id: "c".into(), name: "Read".to_owned(), input: RawJson(input.to_owned()) };
        assert_eq!(found, [expected]);
    }
}

#[test]
fn a_call_opens_with_an_empty_delta() {
    let events = call(&["{}"]);
    let (out, _) = decode(&events.iter().map(String::as_str).collect::<Vec<_>>());
    let delta = |text: &str| ModelEvent::InputDelta {
        block: 0,
        call: "c".into(),
        name: "Read".to_owned(),
        text: text.to_owned(),
    };
    assert_eq!(out[..2], [delta(""), delta("{}")]);
}

#[test]
fn reasoning_and_unknown_blocks_are_kept_to_be_sent_back() {
    let (found, _) = blocks(
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"s2"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking","data":"zz"}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            r#"{"type":"brand_new_event","index":"odd","delta":7}"#,
            r#"{"type":"content_block_start","index":3,"content_block":{"type":"new_block", "n":1.50}}"#,
            r#"{"type":"content_block_delta","index":3,"delta":{"type":"new_delta","text":7}}"#,
            r#"{"type":"content_block_stop","index":3}"#,
        ],
        "end_turn",
    );
    let thinking = |thinking: &str, signature: &str| Block::Thinking {
        thinking: thinking.to_owned(),
        signature: signature.to_owned(),
    };
    assert_eq!(
        found,
        [
            thinking("", "s1"),
            thinking("hm", "s2"),
            Block::RedactedThinking { data: "zz".to_owned() },
            Block::Opaque { raw: RawJson(r#"{"type":"new_block", "n":1.50}"#.to_owned()) },
        ]
    );
}

#[test]
fn stop_reasons() {
    for (text, reason) in [
        ("end_turn", StopReason::EndTurn),
        ("tool_use", StopReason::ToolUse),
        ("max_tokens", StopReason::MaxTokens),
        ("stop_sequence", StopReason::StopSequence),
        ("pause_turn", StopReason::PauseTurn),
        ("refusal", StopReason::Refusal),
        ("model_context_window_exceeded", StopReason::ContextWindow),
        ("tired", StopReason::Unknown("tired".to_owned())),
    ] {
        assert_eq!(blocks(&[], text).1, reason);
        assert_eq!(reason.to_string(), text);
    }
}

#[test]
fn an_error_event_stands_for_a_status() {
    for (kind, status, retryable) in [
        ("overloaded_error", 529, true),
        ("rate_limit_error", 429, true),
        ("api_error", 500, true),
        ("invalid_request_error", 400, false),
        ("new_error", 500, true),
    ] {
        let event = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"Sorry"}}}}"#);
        let (_, last) = decode(&[r#"{"type":"message_start"}"#, &event]);
        let error = last.unwrap_err();
        assert!(
            matches!(&error, ModelError::Status { status: found, message, .. } if *found == status && message == "Sorry")
        );
        assert_eq!(error.is_retryable(), retryable, "{kind}");
    }
}

#[test]
fn events_that_make_no_sense_together_are_refused() {
    let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    for events in [
        &[r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}"#][..],
        &[r#"{"type":"content_block_stop","index":0}"#],
        &[start, start],
        &[start, r#"{"type":"content_block_stop","index":1}"#],
        &[start, r#"{"type":"message_stop"}"#],
        &[r#"{"type":"message_stop"}"#],
        &[r#"{"type":"message_start"}"#, r#"{"type":"message_start"}"#],
        &["not json"],
        &["{\"type\":\"\u{fffd}"],
    ] {
        assert!(matches!(decode(events).1, Err(ModelError::Protocol { .. })), "{events:?}");
    }
}

#[test]
fn characters_that_a_server_cut_in_halves_are_joined() {
    let (found, _) = blocks(
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a \ud83e"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\udd80 b\ud83e"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ],
        "end_turn",
    );
    assert_eq!(found, [Block::Text { text: "a 🦀 b\u{fffd}".to_owned(), origin: Origin::Model }]);
}
