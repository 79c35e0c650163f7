//! Sessions written to files and read back, by the program itself.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::path::Path;
use std::process::{Command, Output};

use offshoot_agents::log::Log;
use offshoot_agents::view::Fold;
use offshoot_protocol::{SessionId, SessionView};
use offshoot_tests::{Repository, Scripted, in_fork, in_root, program, reply};
use serde_json::{Value, json};

const KEY: &str = "sk-this-is-nobodys-business";

fn offshoot(repository: &Repository, data: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program::offshoot());
    command.args(arguments).arg("--data-dir").arg(repository.beside(data)).current_dir(repository.path());
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", repository.beside("home"));
    command.env("ANTHROPIC_API_KEY", KEY).env("TERM", "dumb").output().unwrap()
}

#[track_caller]
fn done(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn folded(data: &Path, session: &str) -> SessionView {
    let log = Log::open(data).unwrap();
    let session = SessionId::from(session);
    let mut fold = Fold::new(session.clone());
    log.each_event(&session, 0, |event| fold.apply(&event)).unwrap();
    fold.view
}

/// A session with a fork, and a file that it is exported to.
fn exported() -> (Repository, String, std::path::PathBuf) {
    let repository = Repository::with(&[("README.md", "hello\n")]);
    std::fs::create_dir_all(repository.beside("home")).unwrap();
    let server = Scripted::start([
        in_root().when_told("Go").call("Agent", json!({"prompt": "look", "description": "look"})),
        in_fork("look").when_told("look").call("Read", json!({"file_path": "README.md"})),
        in_fork("look").text("Scope: look\nResult: hello"),
        in_root().text("Noted.").repeated(),
    ]);
    let url = server.url();
    let run = ["exec", "--provider", "anthropic", "--base-url", &url, "--forks", "always", "Go"];
    done(&offshoot(&repository, "data", &run));
    server.finish();
    let listed: Value = serde_json::from_str(&done(&offshoot(&repository, "data", &["sessions", "--json"]))).unwrap();
    let session = listed[0]["id"].as_str().unwrap().to_owned();
    let file = repository.beside("session.jsonl");
    done(&offshoot(&repository, "data", &["export", &session, "-o", file.to_str().unwrap()]));
    (repository, session, file)
}

#[test]
fn a_session_survives_the_way_to_another_data_folder() {
    let (repository, session, file) = exported();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains(KEY));
    let printed = done(&offshoot(&repository, "data", &["export", &session]));
    // The dates of the two exports differ.
    assert_eq!(printed.lines().skip(1).collect::<Vec<_>>(), text.lines().skip(1).collect::<Vec<_>>());

    let imported = done(&offshoot(&repository, "other", &["import", file.to_str().unwrap(), "--json"]));
    assert_eq!(serde_json::from_str::<Value>(&imported).unwrap()["imported"], *session);
    let (there, here) = (repository.beside("data"), repository.beside("other"));
    assert_eq!(folded(&here, &session), folded(&there, &session));

    // It goes on there.
    let server = Scripted::start([reply().when_told("And?").text("That is all.")]);
    let url = server.url();
    let go_on = ["exec", "--provider", "anthropic", "--base-url", &url, "--resume", &session, "And?"];
    assert_eq!(done(&offshoot(&repository, "other", &go_on)), "That is all.\n");
    server.finish();
}

#[test]
fn where_it_is_already_it_becomes_another_session() {
    let (repository, session, file) = exported();
    let imported = done(&offshoot(&repository, "data", &["import", file.to_str().unwrap(), "--json"]));
    let new = serde_json::from_str::<Value>(&imported).unwrap()["imported"].as_str().unwrap().to_owned();
    assert_ne!(new, session);
    let data = repository.beside("data");
    let (before, after) = (folded(&data, &session), folded(&data, &new));
    assert_eq!(after.agents.len(), before.agents.len());
    assert!(after.agents.iter().all(|agent| before.agents.iter().all(|other| other.id != agent.id)));
}

#[test]
fn a_file_that_is_none_changes_nothing_and_the_line_is_named() {
    let (repository, _, file) = exported();
    let text = std::fs::read_to_string(&file).unwrap();
    // Cut in the middle of the last line, as a copy that was broken off.
    std::fs::write(&file, &text[..text.len() - 20]).unwrap();
    let refused = offshoot(&repository, "other", &["import", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.contains(&format!("line {}", text.lines().count())), "{told}");
    assert_eq!(done(&offshoot(&repository, "other", &["sessions", "--json"])).trim(), "[]");
}

#[test]
fn a_project_that_is_not_here_has_to_be_named() {
    let (repository, session, file) = exported();
    let text = std::fs::read_to_string(&file).unwrap();
    // Facts name it; the stored contents stay what their hashes say.
    let project = repository.path().to_str().unwrap();
    let moved = |line: &str| {
        if line.contains("\"line\":\"event\"") { line.replace(project, "/nowhere/at/all") } else { line.to_owned() }
    };
    std::fs::write(&file, text.lines().map(moved).collect::<Vec<_>>().join("\n")).unwrap();
    let refused = offshoot(&repository, "other", &["import", file.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not on this machine"));
    done(&offshoot(&repository, "other", &["import", file.to_str().unwrap(), "-C", "."]));
    let view = folded(&repository.beside("other"), &session);
    assert_eq!(Path::new(&view.project), repository.path());
    assert_eq!(Path::new(&view.agents[0].directory), repository.path());
}

#[test]
fn a_session_gets_another_title() {
    let (repository, session, _) = exported();
    done(&offshoot(&repository, "data", &["sessions", "rename", &session[..6], "The parser"]));
    assert_eq!(folded(&repository.beside("data"), &session).title, "The parser");
}
