use std::sync::mpsc;

use offshoot_protocol::{Event, EventBody, PermissionMode, SessionId, Timestamp};

use super::schema::connect;
use super::{Log, LogError};

fn event(seq: u64, body: EventBody) -> Event {
    Event { seq, at: Timestamp::UNIX_EPOCH, session: SessionId::from("s"), agent: None, body }
}

fn created() -> EventBody {
    EventBody::SessionCreated { project: "/p".into(), title: "first".into(), mode: PermissionMode::Default }
}

fn append(log: &Log, events: Vec<Event>) -> Result<Vec<Event>, LogError> {
    let (done, committed) = mpsc::channel();
    log.append(events, move |result| done.send(result).unwrap());
    committed.recv().unwrap()
}

#[test]
fn what_is_committed_is_read_back_in_order_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(folder.path()).unwrap();
    let renamed = EventBody::SessionRenamed { title: "second".into() };
    append(&log, vec![event(1, created()), event(2, renamed)]).unwrap();
    let hash = log.put_blob(b"content".to_vec());
    log.close();
    drop(log);

    let log = Log::open(folder.path()).unwrap();
    let session = SessionId::from("s");
    let seqs = |cursor| log.events(&session, cursor).unwrap().iter().map(|event| event.seq).collect::<Vec<_>>();
    assert_eq!(seqs(0), [1, 2]);
    assert_eq!(seqs(1), [2]);
    assert_eq!(log.sessions().unwrap()[0].title, "second");
    assert_eq!(log.blob(&hash).unwrap().unwrap(), b"content");
}

#[test]
fn a_second_program_is_told_who_is_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let _first = Log::open(folder.path()).unwrap();
    assert!(matches!(Log::open(folder.path()), Err(LogError::InUse { .. })));
}

#[test]
fn newer_data_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    drop(Log::open(folder.path()).unwrap());
    let path = folder.path().join("offshoot.sqlite");
    connect(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(Log::open(folder.path()), Err(LogError::Newer { found: 99, .. })));
}

#[test]
fn an_event_that_cannot_be_written_is_reported_and_nothing_of_it_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(folder.path()).unwrap();
    append(&log, vec![event(1, created())]).unwrap();
    let renamed = EventBody::SessionRenamed { title: "x".into() };
    // The number 1 is taken: the whole transaction fails.
    assert!(append(&log, vec![event(2, renamed.clone()), event(1, renamed)]).is_err());
    assert_eq!(log.events(&SessionId::from("s"), 0).unwrap().len(), 1);
}

#[test]
fn a_deleted_session_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(folder.path()).unwrap();
    append(&log, vec![event(1, created())]).unwrap();
    log.delete_session(&SessionId::from("s"));
    log.close();
    assert!(log.sessions().unwrap().is_empty());
    assert!(append(&log, vec![event(2, created())]).is_err(), "a closed log refuses");
}

#[test]
fn a_second_program_can_read_what_the_first_one_writes() {
    let folder = tempfile::tempdir().unwrap();
    let first = Log::open(folder.path()).unwrap();
    append(&first, vec![event(1, created())]).unwrap();
    let second = Log::open_read_only(folder.path()).unwrap();
    let renamed = EventBody::SessionRenamed { title: "second".into() };
    append(&first, vec![event(2, renamed.clone())]).unwrap();
    assert_eq!(second.events(&SessionId::from("s"), 0).unwrap().len(), 2);
    assert_eq!(second.sessions().unwrap()[0].title, "second");
    assert!(append(&second, vec![event(3, renamed)]).is_err(), "it only reads");
}

#[test]
fn reading_needs_a_file_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Log::open_read_only(folder.path()).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made");
}

#[test]
fn one_sessions_impossible_fact_does_not_cost_another_session_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(folder.path()).unwrap();
    append(&log, vec![event(1, created())]).unwrap();
    let (done, results) = mpsc::channel();
    let other = Event { session: SessionId::from("other"), ..event(1, created()) };
    // A lock on the file keeps the writer at a first fact, so that both of the others are in one batch.
    let held = connect(&folder.path().join("offshoot.sqlite")).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    let plug = Event { session: SessionId::from("plug"), ..event(1, created()) };
    log.append(vec![plug], |result| assert!(result.is_ok()));
    for (name, events) in [("first", vec![event(7, created()), event(1, created())]), ("other", vec![other])] {
        let done = done.clone();
        log.append(events, move |result| done.send((name, result.is_ok())).unwrap());
    }
    held.execute_batch("COMMIT").unwrap();
    let mut results: Vec<_> = results.iter().take(2).collect();
    results.sort_unstable();
    assert_eq!(results, [("first", false), ("other", true)]);
}
