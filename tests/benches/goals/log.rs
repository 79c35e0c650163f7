//! The log: how fast facts get in, and how fast a long session comes out.

use std::sync::mpsc;

use offshoot_agents::log::Log;
use offshoot_protocol::{
    AgentId, CallId, CallResult, Event, EventBody, Message, Origin, PermissionMode, SessionId, Timestamp,
};

use crate::measure::{median, middle, ms, time};
use crate::report::Report;

/// Events of the long session.
const EVENTS: u64 = 100_000;

/// What a window asks for first.
const TAIL: u64 = 200;

fn event(seq: u64) -> Event {
    let body = match seq {
        1 => EventBody::SessionCreated { project: "/p".into(), title: "bench".into(), mode: PermissionMode::Default },
        // What sessions are full of: short facts about calls, and now and then a message.
        _ if seq.is_multiple_of(8) => {
            let message = Message::user("A message of some length, as they are. ".repeat(5), Origin::User);
            EventBody::MessageAppended { index: u32::try_from(seq / 8).unwrap(), message, inputs: Vec::new() }
        }
        _ if seq.is_multiple_of(2) => EventBody::CallStarted { call: CallId::from("toolu_0123456789") },
        _ => EventBody::CallEnded { call: CallId::from("toolu_0123456789"), result: fine() },
    };
    let agent = (seq > 1).then(|| AgentId::from("a-0123456789"));
    Event { seq, at: Timestamp::UNIX_EPOCH, session: SessionId::from("s-0123456789"), agent, body }
}

fn fine() -> CallResult {
    CallResult { content: "fine".into(), is_error: false, code: None, full: None, detail: None, duration_ms: 3 }
}

pub(crate) fn run(report: &mut Report) {
    let mut speeds = Vec::new();
    let mut last = None;
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::open(folder.path()).unwrap();
        let batches: Vec<Vec<Event>> =
            (0..EVENTS / 1_000).map(|batch| (1..=1_000).map(|at| event(batch * 1_000 + at)).collect()).collect();
        let (took, ()) = time(|| {
            let (done, committed) = mpsc::channel();
            let count = batches.len();
            for batch in batches {
                let done = done.clone();
                log.append(batch, move |result| done.send(result.map(|_| ())).unwrap());
            }
            committed.iter().take(count).for_each(|result| result.unwrap());
        });
        speeds.push(EVENTS as f64 / 1_000.0 / took.as_secs_f64());
        last = Some((folder, log));
    }
    report.at_least("events written and confirmed, 1 000 at a time", middle(speeds), "k/s", 100.0);
    let (folder, log) = last.unwrap();
    let session = SessionId::from("s-0123456789");
    let tail = median(9, || ms(time(|| log.events(&session, EVENTS - TAIL).unwrap()).0));
    report.at_most(format!("last {TAIL} of {EVENTS} events read"), tail, "ms", 5.0);
    let whole = median(5, || ms(time(|| log.events(&session, 0).unwrap()).0));
    report.at_most(format!("all {EVENTS} events read"), whole, "ms", 100.0);
    let single = median(9, || {
        let (done, committed) = mpsc::channel();
        let other = SessionId::from(format!("s-{}", fastrand::u64(..)).as_str());
        let first = Event { session: other, ..event(1) };
        ms(time(|| {
            log.append(vec![first], move |result| done.send(result.map(|_| ())).unwrap());
            committed.recv().unwrap().unwrap();
        })
        .0)
    });
    report.note("one fact, until it is confirmed", single, "ms");
    let sync = median(9, || {
        use std::io::Write as _;
        let mut file = std::fs::File::create(folder.path().join("sync")).unwrap();
        file.write_all(&[7; 4096]).unwrap();
        ms(time(|| file.sync_data().unwrap()).0)
    });
    report.note("for comparison: fdatasync of 4 KB in the same folder", sync, "ms");
}
