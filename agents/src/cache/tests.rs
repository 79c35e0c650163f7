use super::*;

const MARKED: Caching = Caching::Marked { minimum: 1024 };

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn transcript(texts: &[&str]) -> Transcript {
    let mut transcript = Transcript::default();
    for text in texts {
        transcript.push(Message::user(*text, Origin::User));
    }
    transcript
}

/// Sent at that second, answered a second later.
fn sent(transcript: &Transcript, second: i64, input: u64, cache_read: u64, cache_write: u64) -> Sent {
    Sent {
        head: "h".to_owned(),
        transcript: transcript.clone(),
        at: at(second),
        begun: at(second + 1),
        usage: Usage { input, cache_read, cache_write, output: 100 },
    }
}

fn reason_of(now: &Sent, before: &Sent) -> Option<CacheMiss> {
    missed(now, &Earlier { continued: Some(before), ..Earlier::default() }, MARKED)
}

#[test]
fn a_request_that_reads_what_was_written_misses_nothing() {
    let mut messages = transcript(&["a"]);
    let before = sent(&messages, 0, 3, 0, 10_000);
    messages.push(Message::user("b", Origin::User));
    assert_eq!(reason_of(&sent(&messages, 10, 3, 10_000, 400), &before), None);
    // What differs by less than rounding does.
    assert_eq!(reason_of(&sent(&messages, 10, 203, 9_800, 400), &before), None);
    assert_eq!(missed(&sent(&messages, 10, 3, 0, 10_400), &Earlier::default(), MARKED), None);
}

#[test]
fn each_reason_is_told_from_the_others() {
    let mut messages = transcript(&["a", "b", "c"]);
    let before = sent(&messages, 0, 3, 4_000, 6_000);
    messages.push(Message::user("d", Origin::User));
    let lost = |tokens, reason| Some(CacheMiss { tokens, reason });

    let mut other_head = sent(&messages, 10, 3, 0, 10_400);
    other_head.head = "other".to_owned();
    assert_eq!(reason_of(&other_head, &before), lost(10_000, MissReason::HeadChanged));

    let mut rewritten = before.transcript.prefix(1);
    rewritten.push(Message::user("B", Origin::User));
    let changed = sent(&rewritten, 10, 3, 4_000, 2_000);
    assert_eq!(reason_of(&changed, &before), lost(6_000, MissReason::PrefixChanged { message: 1 }));

    let mut behind_summary = before.transcript.clone();
    behind_summary.begin_segment(Message::user("summary", Origin::Summary));
    let compacted = sent(&behind_summary, 10, 3, 1_000, 400);
    assert_eq!(reason_of(&compacted, &before), lost(9_000, MissReason::Compacted));

    let late = sent(&messages, 301, 3, 0, 10_400);
    assert_eq!(reason_of(&late, &before), lost(10_000, MissReason::Expired { unused_s: 301 }));

    let early = Sent { at: before.at, ..sent(&messages, 0, 3, 0, 10_400) };
    assert_eq!(reason_of(&early, &before), lost(10_000, MissReason::TooEarly));

    let unlucky = sent(&messages, 10, 3, 0, 10_400);
    assert_eq!(reason_of(&unlucky, &before), lost(10_000, MissReason::NotKept));

    let small = sent(&before.transcript, 0, 800, 0, 0);
    assert_eq!(reason_of(&sent(&messages, 10, 900, 0, 0), &small), lost(800, MissReason::TooSmall { minimum: 1024 }));
}

#[test]
fn an_entry_that_others_used_lives_on() {
    let mut messages = transcript(&["a"]);
    let before = sent(&messages, 0, 3, 0, 10_000);
    messages.push(Message::user("b", Origin::User));
    let now = sent(&messages, 400, 3, 0, 10_000);
    let earlier = Earlier { continued: Some(&before), used: Some(at(200)), ..Earlier::default() };
    assert_eq!(missed(&now, &earlier, MARKED).unwrap().reason, MissReason::NotKept);
}

#[test]
fn a_sibling_that_came_first_is_to_be_read_and_one_at_the_same_time_is_not() {
    let parent = transcript(&["a"]);
    let fork = |directive: &str| {
        let mut fork = parent.clone();
        fork.push(Message::user(directive, Origin::Directive));
        fork
    };
    let expired = sent(&parent, 0, 3, 0, 10_000);
    let first = sent(&fork("one"), 1_000, 20, 0, 10_000);
    let earlier = Earlier { continued: Some(&expired), siblings: vec![&first], used: None };
    let after = missed(&sent(&fork("two"), 1_002, 20, 0, 10_000), &earlier, MARKED).unwrap();
    assert_eq!(after.reason, MissReason::NotKept);
    assert!(after.tokens > 9_000, "{after:?}");
    assert_eq!(missed(&sent(&fork("two"), 1_002, 20, 10_000, 0), &earlier, MARKED), None);
    let beside = missed(&sent(&fork("two"), 1_000, 20, 0, 10_000), &earlier, MARKED).unwrap();
    assert_eq!(beside.reason, MissReason::Expired { unused_s: 1_000 });
}

#[test]
fn nothing_is_expected_of_a_provider_that_says_nothing_of_its_cache() {
    let mut messages = transcript(&["a"]);
    let before = sent(&messages, 0, 10_000, 0, 0);
    messages.push(Message::user("b", Origin::User));
    let now = sent(&messages, 10, 10_400, 0, 0);
    let earlier = || Earlier { continued: Some(&before), ..Earlier::default() };
    assert_eq!(missed(&now, &earlier(), MARKED), None);
    assert_eq!(missed(&now, &earlier(), Caching::Automatic { minimum: 1024 }), None);
    let before = sent(&messages, 0, 2_000, 8_192, 0);
    let earlier = Earlier { continued: Some(&before), ..Earlier::default() };
    let miss = missed(&now, &earlier, Caching::Automatic { minimum: 1024 }).unwrap();
    assert_eq!(miss, CacheMiss { tokens: 10_112, reason: MissReason::NotKept });
    assert_eq!(missed(&now, &earlier, Caching::Unknown), None);
}

#[test]
fn a_small_common_end_is_covered_by_the_parents_request_and_a_large_one_is_not() {
    let mut messages = transcript(&["a"]);
    let before = sent(&messages, 0, 3, 0, 10_000);
    messages.push(Message::user("x".repeat(8_000), Origin::Model));
    messages.push(Message::user("a directive of any length ".repeat(1_000), Origin::Directive));
    assert!(is_covered(&messages, "h", &before, before.at, at(299)));
    assert!(!is_covered(&messages, "h", &before, before.at, at(301)));
    assert!(is_covered(&messages, "h", &before, at(100), at(301)));
    assert!(!is_covered(&messages, "other", &before, before.at, at(1)));
    messages.push(Message::user("y".repeat(1_000), Origin::Model));
    assert!(!is_covered(&messages, "h", &before, before.at, at(1)));
    assert!(!is_covered(&transcript(&["a"]), "h", &before, before.at, at(1)));
    let mut behind_summary = before.transcript.clone();
    behind_summary.begin_segment(Message::user("summary", Origin::Summary));
    assert!(!is_covered(&behind_summary, "h", &before, before.at, at(1)));
}
