use offshoot_protocol::{
    AgentCreated, AgentId, AgentKind, Compacted, CompactionTrigger, EventBody, HeadChanged, Message, Origin,
    PermissionMode, WorktreeView,
};
use serde_json::{Value, json};

use super::*;
use crate::view::Fold;

const AT: Timestamp = Timestamp::UNIX_EPOCH;

fn event(seq: u64, agent: Option<&str>, body: EventBody) -> Event {
    Event { seq, at: AT, session: "s-here".into(), agent: agent.map(AgentId::from), body }
}

fn agent(head: &BlobHash, directory: &str, parent: Option<&str>) -> EventBody {
    EventBody::AgentCreated(Box::new(AgentCreated {
        kind: if parent.is_some() { AgentKind::Fork } else { AgentKind::Root },
        parent: parent.map(AgentId::from),
        call: None,
        role: None,
        title: "t".into(),
        color: None,
        directory: directory.into(),
        model: "m".into(),
        head: head.clone(),
        background: true,
        mode: PermissionMode::Bypass,
        max_turns: None,
        allow: vec!["Bash(*)".into()],
        deny: vec!["Bash(rm *)".into()],
        inherited: None,
    }))
}

/// A log with a small session, and the head that its agents have.
fn log(folder: &std::path::Path) -> std::sync::Arc<Log> {
    let log = Log::open(folder).unwrap();
    let head = log.put_blob(b"{\"head\":\"\xc3\xbc\"}".to_vec());
    let other_head = log.put_blob(b"{\"head\":2}".to_vec());
    log.put_blob(b"of another session".to_vec());
    let created =
        EventBody::SessionCreated { project: "/there".into(), title: "t".into(), mode: PermissionMode::Bypass };
    let message = Message::user("a-root said \"hi\"", Origin::User);
    let worktree: WorktreeView = serde_json::from_value(json!({
        "path": "/home/somebody", "branch": "b", "base": "c", "base_is_snapshot": false, "state": {"kind": "live"}
    }))
    .unwrap();
    let changed = HeadChanged { model: "other".into(), head: other_head };
    let summary = Message::user("said hi", Origin::Summary);
    let compacted = Compacted { index: 1, message: summary, replaced: 1, trigger: CompactionTrigger::Manual };
    let events = vec![
        event(1, None, created),
        event(2, Some("a-root"), agent(&head, "/there", None)),
        event(3, Some("a-root"), EventBody::MessageAppended { index: 0, message, inputs: Vec::new() }),
        event(4, Some("a-fork"), agent(&head, "/home/somebody", Some("a-root"))),
        event(5, Some("a-fork"), EventBody::WorktreeCreated { worktree }),
        event(6, Some("a-root"), EventBody::HeadChanged(changed)),
        event(7, Some("a-root"), EventBody::Compacted(compacted)),
    ];
    let (done, stored) = std::sync::mpsc::channel();
    log.append(events, move |result| done.send(result).unwrap());
    stored.recv().unwrap().unwrap();
    log
}

fn exported(log: &Log) -> String {
    let mut file = Vec::new();
    write(log, &"s-here".into(), AT, &mut file).unwrap();
    String::from_utf8(file).unwrap()
}

fn place(renamed: &[(&str, &str)]) -> Place {
    let renamed = renamed.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect();
    Place { project: "/here".into(), nowhere: "/data/elsewhere".into(), renamed }
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path());
    let text = exported(&log);
    let imported = read(text.as_bytes()).unwrap();
    assert_eq!(imported.events, log.events(&"s-here".into(), 0).unwrap());
    assert_eq!(imported.contents.len(), 2, "only what the session refers to");
}

#[test]
fn bytes_that_are_no_text_survive() {
    let line = content_line(crate::log::hash(b"\xff\x00"), b"\xff\x00".to_vec());
    assert_eq!(serde_json::to_value(&line).unwrap()["bytes"], "ff00");
}

#[test]
fn nothing_of_another_machine_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let imported = read(exported(&log(folder.path())).as_bytes()).unwrap();
    let (session, events, _) = imported.settle(&place(&[]));
    let mut fold = Fold::new(session);
    for event in &events {
        fold.apply(event);
    }
    assert_eq!((fold.view.project.as_str(), fold.view.mode), ("/here", PermissionMode::Default));
    let (root, fork) = (&fold.view.agents[0], &fold.view.agents[1]);
    assert_eq!((root.directory.as_str(), root.mode), ("/here", PermissionMode::Default));
    assert_eq!(fork.directory, "/data/elsewhere/a-fork");
    assert_eq!(fork.worktree, None);
    assert!(fork.warnings[0].message.contains("/home/somebody"), "{:?}", fork.warnings);
    let created = fold.created(&root.id).unwrap();
    assert!(created.allow.is_empty(), "what was allowed there isn't here");
    assert_eq!(created.deny, ["Bash(rm *)"], "what was denied there is here, too");
}

#[test]
fn ids_that_are_taken_are_replaced_in_fields_and_texts_stay() {
    let folder = tempfile::tempdir().unwrap();
    let imported = read(exported(&log(folder.path())).as_bytes()).unwrap();
    let renamed = [("s-here", "s-new"), ("a-root", "a-one"), ("a-fork", "a-two")];
    let (session, events, _) = imported.settle(&place(&renamed));
    assert_eq!(session.as_str(), "s-new");
    let mut fold = Fold::new(session);
    for event in &events {
        fold.apply(event);
    }
    let ids: Vec<_> = fold.view.agents.iter().map(|agent| agent.id.as_str()).collect();
    assert_eq!(ids, ["a-one", "a-two"]);
    assert_eq!(fold.view.agents[1].parent, Some("a-one".into()));
    let transcript = fold.transcript(&"a-one".into());
    assert_eq!(transcript.messages()[0].message.text(), "a-root said \"hi\"");
    assert_eq!((transcript.segment_start(), transcript.last().unwrap().text().as_str()), (1, "said hi"));
    assert_eq!(fold.view.agents[0].model, "other");
}

#[test]
fn a_hostile_file_is_refused_and_the_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let good = exported(&log(folder.path()));
    let lines: Vec<Value> = good.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let refused = |line: usize, change: &dyn Fn(&mut Value)| {
        let mut lines = lines.clone();
        change(&mut lines[line - 1]);
        let text: Vec<String> = lines.iter().map(Value::to_string).collect();
        read(text.join("\n").as_bytes()).map(|_| ()).unwrap_err()
    };
    let set =
        |pointer: &'static str, to: Value| move |line: &mut Value| *line.pointer_mut(pointer).unwrap() = to.clone();
    // The header, the session's creation, the head's content, the other events up to the change of the head, for which
    // there is another content before it.
    for (line, change, said) in [
        (1, &set("/offshoot_session", json!(99)) as &dyn Fn(&mut Value), "newer"),
        (1, &set("/session", json!("../../etc")), "no id"),
        (1, &|line| *line = json!({"anything": 1}), "no exported session"),
        (3, &set("/text", json!("other")), "not what its hash says"),
        (3, &|line| *line = json!({"line": "content", "hash": "x", "bytes": "zz"}), "hexadecimal"),
        (3, &|line| *line = json!({"line": "run", "command": "rm"}), "can't be read"),
        (2, &set("/event/seq", json!(2)), "missing"),
        (2, &set("/event/session", json!("s-other")), "another session"),
        (4, &set("/event/agent", json!("a/../b")), "no id"),
        (4, &set("/event/head", json!("0".repeat(64))), "head is missing"),
        (4, &set("/event/parent", json!("a-fork")), "one root"),
        (5, &set("/event/index", json!(7)), "stands where"),
        (5, &set("/event/agent", json!("a-nobody")), "isn't known"),
        (6, &set("/event/agent", json!("a-root")), "created twice"),
        (6, &set("/event/inherited", json!({"from": "a-root", "messages": 9})), "more messages"),
        (9, &set("/event/head", json!("0".repeat(64))), "head is missing"),
        (10, &set("/event/index", json!(0)), "stands where"),
    ] {
        let error = refused(line, &|value| {
            if line == 4 || line == 6 {
                value["event"].as_object_mut().unwrap().entry("parent").or_insert(Value::Null);
                value["event"].as_object_mut().unwrap().entry("inherited").or_insert(Value::Null);
            }
            change(value);
        });
        assert_eq!(error.line, line as u64, "{error}");
        assert!(error.reason.contains(said), "{said}: {error}");
    }
    for (text, said) in
        [("", "empty"), ("\u{0}\n", "no exported session"), (lines[0].to_string().as_str(), "ends before")]
    {
        let error = read(text.as_bytes()).map(|_| ()).unwrap_err();
        assert!(error.reason.contains(said), "{said}: {error}");
    }
}

#[test]
fn a_line_without_an_end_is_not_read_for_ever() {
    let endless = std::io::BufReader::new(std::io::repeat(b'x'));
    let error = read(endless).map(|_| ()).unwrap_err();
    assert!(error.reason.contains("too long"), "{error}");
}
