use std::sync::mpsc;

use offshoot_protocol::{Event, EventBody, PermissionMode, SessionId, Timestamp};

use super::{Log, LogError, connect};

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
