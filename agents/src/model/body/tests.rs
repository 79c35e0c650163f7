use http_body::Body as _;
use offshoot_protocol::{Block, Message, Origin, RawJson};
use serde_json::{Value, json};

use super::*;
use crate::model::Provider;
use crate::model::anthropic::encode;

fn head() -> Arc<RequestHead> {
    Arc::new(RequestHead {
        provider: Provider::Anthropic,
        model: "m".to_owned(),
        system: "s".to_owned(),
        tools: Vec::new(),
        max_tokens: 9,
        thinking_budget: None,
    })
}

fn request(head: &Arc<RequestHead>, transcript: &Transcript, fork_point: Option<u32>) -> Request {
    let (session, agent) = ("s".into(), "a".into());
    Request { head: head.clone(), transcript: transcript.clone(), fork_point, session, agent }
}

fn assistant(text: &str) -> Message {
    Message { role: MessageRole::Assistant, blocks: vec![Block::Text { text: text.to_owned(), origin: Origin::Model }] }
}

fn call(id: &str) -> Message {
    let call = Block::Call { id: id.into(), name: "Agent".to_owned(), input: RawJson("{}".to_owned()) };
    Message { role: MessageRole::Assistant, blocks: vec![call] }
}

fn result(id: &str, directive: Option<&str>) -> Message {
    let mut blocks = vec![Block::Result { id: id.into(), content: "started".to_owned(), is_error: false }];
    blocks.extend(directive.map(|text| Block::Text { text: text.to_owned(), origin: Origin::Directive }));
    Message { role: MessageRole::User, blocks }
}

fn user(text: &str) -> Message {
    Message::user(text, Origin::User)
}

fn body(request: &Request, shared: &Shared) -> Body {
    Body::new(request, shared, Bytes::from_static(b"]}"))
}

fn frames(request: &Request, shared: &Shared) -> Vec<Bytes> {
    let mut body = body(request, shared);
    let promised = body.size_hint().exact().unwrap();
    let frames: Vec<Bytes> = std::iter::from_fn(|| body.next_frame()).collect();
    assert_eq!(frames.iter().map(|frame| frame.len() as u64).sum::<u64>(), promised);
    assert!(body.is_end_stream());
    frames
}

fn text(request: &Request, shared: &Shared) -> String {
    String::from_utf8(frames(request, shared).concat()).unwrap()
}

fn without_marks(text: &str) -> String {
    text.replace(std::str::from_utf8(encode::MARK).unwrap(), "")
}

/// Message index, block index of every mark behind the head.
fn marks(text: &str) -> Vec<(usize, usize)> {
    let value: Value = serde_json::from_str(text).unwrap();
    let messages = value["messages"].as_array().unwrap().iter().enumerate();
    let blocks = messages.flat_map(|(at, message)| {
        message["content"].as_array().unwrap().iter().enumerate().map(move |(block, value)| (at, block, value))
    });
    blocks.filter(|(.., value)| value.get("cache_control").is_some()).map(|(at, block, _)| (at, block)).collect()
}

fn conversation(turns: usize) -> Transcript {
    let mut transcript = Transcript::default();
    for turn in 0..turns {
        transcript.push(user(&format!("question {turn}")));
        transcript.push(assistant(&format!("answer {turn}")));
    }
    transcript
}

#[test]
fn later_turns_keep_the_bytes_and_move_the_marks() {
    let (head, shared) = (head(), Shared::new(&encode::FORM));
    let mut transcript = conversation(2);
    transcript.push(user("third"));
    let earlier = text(&request(&head, &transcript, None), &shared);
    assert_eq!(marks(&earlier), [(2, 0), (4, 0)]);
    transcript.push(assistant("fine"));
    transcript.push(user("fourth"));
    let later = text(&request(&head, &transcript, None), &shared);
    assert_eq!(marks(&later), [(4, 0), (6, 0)]);
    let kept = without_marks(&earlier);
    assert!(without_marks(&later).starts_with(kept.strip_suffix("]}").unwrap()));
}

#[test]
fn sibling_forks_are_equal_up_to_the_directive_and_share_one_prefix() {
    let (head, shared) = (head(), Shared::new(&encode::FORM));
    let mut parent = conversation(50);
    parent.push(user("delegate"));
    let before = text(&request(&head, &parent, None), &shared);
    parent.push(call("c"));
    let fork = |directive: &str| {
        let mut fork = parent.clone();
        let index = fork.push(result("c", Some(directive)));
        request(&head, &fork, Some(index + 1))
    };
    let (left, right) = (fork("left"), fork("right"));
    let in_flight = (body(&left, &shared), body(&right, &shared));
    assert!(Arc::ptr_eq(&in_flight.0.prefix, &in_flight.1.prefix));
    assert_eq!(in_flight.0.prefix.transcript.len(), 100);
    let (left, right) = (text(&left, &shared), text(&right, &shared));
    let common = left.split_once("left").unwrap().0;
    assert_eq!(Some(common), right.split_once("right").map(|(common, _)| common));
    assert_eq!(marks(&left), [(100, 0), (102, 0), (102, 1)]);
    assert!(without_marks(&left).starts_with(without_marks(&before).strip_suffix("]}").unwrap()));
}

#[test]
fn a_fork_keeps_the_mark_at_the_fork_point_and_never_has_more_than_four() {
    let (head, shared) = (head(), Shared::new(&encode::FORM));
    let mut fork = conversation(3);
    fork.push(user("delegate"));
    fork.push(call("c"));
    let point = fork.push(result("c", Some("do"))) + 1;
    for step in 0..4 {
        fork.push(call(&format!("d{step}")));
        fork.push(result(&format!("d{step}"), None));
        let text = text(&request(&head, &fork, Some(point)), &shared);
        assert!(text.matches("cache_control").count() <= 4);
        assert!(marks(&text).contains(&(8, 0)), "the fork point is marked");
    }
}

/// A step with that many calls.
fn many(transcript: &mut Transcript, calls: usize, thinks: bool) -> u32 {
    let id = |at: usize| format!("m{at}");
    let call =
        |at| Block::Call { id: id(at).as_str().into(), name: "Read".to_owned(), input: RawJson("{}".to_owned()) };
    let result = |at| Block::Result { id: id(at).as_str().into(), content: "x".to_owned(), is_error: false };
    let thinking = Block::Thinking { thinking: "hm".to_owned(), signature: "s".to_owned() };
    let blocks = std::iter::once(thinking).filter(|_| thinks).chain((0..calls).map(call)).collect();
    transcript.push(Message { role: MessageRole::Assistant, blocks });
    transcript.push(Message { role: MessageRole::User, blocks: (0..calls).map(result).collect() })
}

#[test]
fn a_mark_bridges_more_blocks_than_a_provider_looks_back_over() {
    let (head, shared) = (head(), Shared::new(&encode::FORM));
    let mut transcript = conversation(1);
    transcript.push(user("q"));
    let mut small = transcript.clone();
    many(&mut small, 10, false);
    assert_eq!(marks(&text(&request(&head, &small, None), &shared)), [(2, 0), (4, 9)]);
    let mut large = transcript.clone();
    many(&mut large, 15, false);
    // Twenty blocks before the last: the answer's eleventh call.
    assert_eq!(marks(&text(&request(&head, &large, None), &shared)), [(2, 0), (3, 9), (4, 14)]);
    // Not on thinking, which would be the one.
    let mut thinking = transcript.clone();
    many(&mut thinking, 10, true);
    assert_eq!(marks(&text(&request(&head, &thinking, None), &shared)), [(2, 0), (3, 1), (4, 9)]);
}

#[test]
fn the_bridge_takes_the_place_of_a_fork_point_that_lies_behind() {
    let (head, shared) = (head(), Shared::new(&encode::FORM));
    let mut fork = conversation(3);
    fork.push(user("delegate"));
    fork.push(call("c"));
    let point = fork.push(result("c", Some("do"))) + 1;
    // Its own first step: the end before is the fork's first message.
    many(&mut fork, 15, false);
    let first = text(&request(&head, &fork, Some(point)), &shared);
    assert_eq!(marks(&first), [(8, 0), (8, 1), (10, 14)]);
    many(&mut fork, 15, false);
    let second = text(&request(&head, &fork, Some(point)), &shared);
    assert_eq!(marks(&second), [(10, 14), (11, 9), (12, 14)]);
    assert!(without_marks(&second).starts_with(without_marks(&first).strip_suffix("]}]}").unwrap()));
}

#[test]
fn neighbours_of_one_role_are_sent_as_one_message() {
    let (head, shared) = (head(), Shared::new(&encode::FORM));
    // Once behind the shared prefix, once inside of it, once where it ends.
    for answers in 0..3 {
        let mut transcript = Transcript::default();
        transcript.push(user("interrupted"));
        transcript.push(user("again"));
        for answer in 0..answers {
            transcript.push(assistant(&format!("a{answer}")));
            transcript.push(user(&format!("q{answer}")));
        }
        transcript.push(user("more"));
        let value: Value = serde_json::from_str(&text(&request(&head, &transcript, None), &shared)).unwrap();
        let messages = value["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 1 + 2 * answers);
        for (index, message) in messages.iter().enumerate() {
            assert_eq!(message["role"], json!(if index % 2 == 0 { "user" } else { "assistant" }));
        }
        let last = messages.last().unwrap()["content"].as_array().unwrap();
        assert_eq!(last.last().unwrap()["text"], json!("more"));
    }
    let mut transcript = conversation(2);
    transcript.push(assistant("goes on"));
    transcript.push(user("q"));
    let value: Value = serde_json::from_str(&text(&request(&head, &transcript, None), &shared)).unwrap();
    assert_eq!(value["messages"][3]["content"].as_array().unwrap().len(), 2);
}

#[test]
fn the_prefix_is_one_frame_for_everybody_and_small_pieces_are_gathered() {
    let (head, shared) = (head(), Shared::new(&encode::FORM));
    let mut transcript = conversation(500);
    transcript.push(user(&"x".repeat(100_000)));
    transcript.push(assistant("a"));
    transcript.push(user("q"));
    let request = request(&head, &transcript, None);
    let first = Body::new(&request, &shared, Bytes::from_static(b"]}"));
    let shared_bytes = first.prefix.bytes.clone();
    let frames = frames(&request, &shared);
    let is_shared = |frame: &Bytes| shared_bytes.as_ptr_range().contains(&frame.as_ptr());
    assert_eq!(frames.iter().filter(|frame| is_shared(frame)).count(), 1, "not copied");
    assert!(frames.len() < 6, "{} frames", frames.len());
    let large = transcript.messages()[1000].encoded(WireFormat::Anthropic, encode::FORM.message).bytes.clone();
    assert!(frames.iter().any(|frame| large.as_ptr_range().contains(&frame.as_ptr())), "what is large isn't copied");
}

#[test]
fn nothing_is_held_when_no_request_is_in_flight() {
    let shared = Shared::new(&encode::FORM);
    let head = head();
    let transcript = conversation(5);
    text(&request(&head, &transcript, None), &shared);
    assert!(shared.prefixes.lock().unwrap().iter().all(|prefix| prefix.strong_count() == 0));
    drop(head);
    assert!(shared.heads.lock().unwrap().iter().all(|(head, _)| head.strong_count() == 0));
}
