//! `offshoot exec`: output, sessions, background agents, how it ends.

use std::process::Stdio;

use offshoot_tests::program::Done;
use offshoot_tests::{Gate, Scripted, reply};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

use super::Place;

#[tokio::test]
async fn the_answer_alone_is_on_standard_output() {
    let place = Place::new();
    let server = Scripted::start([
        reply().text("I look first.").call("Read", json!({"file_path": "README.md"})),
        reply().when_result("hello").text("It says **hello**."),
    ]);
    let done = place.exec(&server, &["What does it say?"]).await;
    done.expect(0);
    assert_eq!(done.out(), "It says **hello**.\n");
    assert!(
        done.err().contains("root: I look first.\n") && done.err().contains("root: Read README.md\n"),
        "{}",
        done.err()
    );
    assert!(!done.err().contains('\u{1b}'), "no colours on a pipe");
    server.finish();
}

#[tokio::test]
async fn a_failure_is_no_success() {
    let place = Place::new();
    let server = Scripted::start([reply().status_with(400, "invalid_request_error", "the model is not there")]);
    let done = place.exec(&server, &["Hello"]).await;
    done.expect(1);
    assert_eq!(done.out(), "");
    assert!(done.err().contains("the model is not there"), "{}", done.err());
    server.finish();
}

#[tokio::test]
async fn events_are_one_line_of_json_each() {
    let place = Place::new();
    let server = Scripted::start([reply().text("Hi\nthere.")]);
    let done = place.exec(&server, &["--json", "Hello"]).await;
    done.expect(0);
    let events: Vec<Value> = done.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], at + 1);
        for field in ["at", "session", "type"] {
            assert!(event[field].is_string(), "{event}");
        }
    }
    assert_eq!(events.last().unwrap()["type"], "turn_ended");
    server.finish();
}

#[tokio::test]
async fn the_prompt_can_come_from_standard_input() {
    let place = Place::new();
    let server = Scripted::start([reply().when_told("from a pipe").text("Read.")]);
    let url = server.url();
    let mut command = place.offshoot(&["exec", "--provider", "anthropic", "--base-url", &url, "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"from a pipe\n").await.unwrap();
    Done(child.wait_with_output().await.unwrap()).expect(0);
    server.finish();
}

#[tokio::test]
async fn a_session_goes_on_with_its_transcript() {
    let place = Place::new();
    let server = Scripted::start([reply().when_told("First").text("One.")]);
    place.exec(&server, &["First"]).await.expect(0);
    server.add(reply().when_told("Second").when_mentioned("One.").text("Two."));
    let done = place.exec(&server, &["--continue", "Second"]).await;
    assert_eq!(done.expect(0).out(), "Two.\n");
    let sessions = place.sessions().await;
    let id = sessions[0]["id"].as_str().unwrap();
    assert!(done.err().contains(&format!("session: {id}\n")), "{}", done.err());
    server.add(reply().when_told("Third").when_mentioned("Two.").text("Three."));
    let done = place.exec(&server, &["--resume", &id[..id.len() - 2], "Third"]).await;
    assert_eq!(done.expect(0).out(), "Three.\n");
    assert_eq!(place.sessions().await.len(), 1);
    server.finish();
}

#[tokio::test]
async fn background_agents_are_waited_for() {
    let place = Place::new();
    let server = Scripted::start([
        reply().when_told("Go").call("Agent", json!({"prompt": "Look at a", "description": "look at a"})),
        reply().when_told("Look at a").text("It is a report."),
        reply().when_result("look at a").text("Started."),
        reply().when_mentioned("It is a report.").text("The fork says: a report."),
    ]);
    let done = place.exec(&server, &["--forks", "always", "Go"]).await;
    done.expect(0);
    assert_eq!(done.out(), "The fork says: a report.\n");
    assert!(done.err().contains("look at a: completed"), "{}", done.err());
}

#[tokio::test]
async fn without_waiting_what_still_ran_is_listed() {
    let place = Place::new();
    let gate = Gate::new();
    let server = Scripted::start([
        reply().when_told("Go").call("Agent", json!({"prompt": "Look at a", "description": "look at a"})),
        reply().when_told("Look at a").gate(&gate).text("Too late."),
        reply().when_result("look at a").text("Started."),
    ]);
    let done = place.exec(&server, &["--forks", "always", "--no-wait", "Go"]).await;
    done.expect(0);
    assert_eq!(done.out(), "Started.\n");
    assert!(done.err().contains("stopped: look at a"), "{}", done.err());
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupted_run_keeps_its_session() {
    let place = Place::new();
    let server = Scripted::start([reply().text("It begins").hang()]);
    let child = place.start(&server, &["Wait"]);
    server.request(1).await;
    let id = child.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().await.unwrap().success());
    let done = Done(child.wait_with_output().await.unwrap());
    done.expect(130);
    assert_eq!(place.sessions().await.len(), 1);
}

#[tokio::test]
async fn a_closed_pipe_is_no_error() {
    let place = Place::new();
    let gate = Gate::new();
    let server = Scripted::start([reply().gate(&gate).text("Nobody reads this.")]);
    let mut child = place.start(&server, &["--json", "Hello"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next_line().await.unwrap().is_some());
    drop(lines);
    gate.open();
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
    server.finish();
}
