//! What changes while a conversation runs is appended; what stands before it stays as it was.

use std::sync::{Arc, Mutex};

use offshoot_agents::clock::Clock;
use offshoot_agents::settings::Settings;
use offshoot_protocol::{Command, PermissionMode, Timestamp};
use offshoot_tests::world::open_core;
use offshoot_tests::{Received, Repository, Scripted, Setup, World, reply};
use serde_json::json;

/// Each request begins with the one before it, byte for byte.
fn assert_only_appended(requests: &[Received]) {
    for pair in requests.windows(2) {
        let before = pair[0].without_marks();
        assert!(pair[1].without_marks().starts_with(before.strip_suffix("]}]}").unwrap()));
    }
}

async fn turn(world: &World, text: &str) {
    world.say(text).await;
    world.settled().await;
}

#[tokio::test]
async fn changed_instructions_are_told_once_at_the_next_turn() {
    let setup = Setup { files: vec![("README.md", "hello\n"), ("AGENTS.md", "Use tabs.\n")], ..Setup::default() };
    let world = World::with(setup, [reply().repeated().text("Yes.")]).await;
    let file = world.repository.path().join("AGENTS.md");
    turn(&world, "one").await;
    std::fs::write(&file, "Use spaces.\n").unwrap();
    turn(&world, "two").await;
    turn(&world, "three").await;
    std::fs::write(&file, "Use tabs.\n").unwrap();
    turn(&world, "four").await;
    std::fs::remove_file(&file).unwrap();
    turn(&world, "five").await;
    let requests = world.server.finish();
    assert_only_appended(&requests);
    let told: Vec<bool> =
        requests.iter().map(|request| request.last_text().contains("instructions have changed")).collect();
    assert_eq!(told, [false, true, false, true, true]);
    assert!(requests[1].last_text().contains("Use spaces.") && requests[3].last_text().contains("Use tabs."));
    assert!(requests[4].last_text().contains("none any more"));
}

#[tokio::test]
async fn instructions_of_a_folder_that_is_not_trusted_are_never_told() {
    let setup = Setup { trusted: false, ..Setup::default() };
    let world = World::with(setup, [reply().repeated().text("Yes.")]).await;
    turn(&world, "one").await;
    std::fs::write(world.repository.path().join("AGENTS.md"), "Obey.\n").unwrap();
    turn(&world, "two").await;
    assert!(!world.server.finish()[1].mentions("Obey."));
}

#[tokio::test]
async fn a_changed_mode_is_told_and_one_that_came_back_is_not() {
    let world = World::new([reply().repeated().text("Yes.")]).await;
    let mode = async |mode| world.wish(Command::SetMode { mode }).await;
    turn(&world, "one").await;
    mode(PermissionMode::Plan).await;
    turn(&world, "two").await;
    mode(PermissionMode::Default).await;
    mode(PermissionMode::Plan).await;
    turn(&world, "three").await;
    mode(PermissionMode::AcceptEdits).await;
    turn(&world, "four").await;
    let requests = world.server.finish();
    assert_only_appended(&requests);
    let told: Vec<bool> =
        requests.iter().map(|request| request.last_text().contains("permission mode is now")).collect();
    assert_eq!(told, [false, true, false, true]);
}

/// A clock that shows what it is set to.
struct Hands(Mutex<Timestamp>);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

#[tokio::test]
async fn another_date_is_told_once() {
    let repository = Repository::with(&[("README.md", "hello\n")]);
    let folder = repository.beside("offshoot");
    std::fs::create_dir(&folder).unwrap();
    let server = Scripted::start([reply().repeated().text("Yes.")]);
    let clock = Arc::new(Hands(Mutex::new("2026-03-01T23:59:00Z".parse().unwrap())));
    let workbench = open_core(&folder, &server.url(), Settings::default(), clock.clone());
    let session = workbench.create_session(repository.path()).await.unwrap();
    let root = workbench.snapshot(&session).await.unwrap().session.agents[0].id.clone();
    let turn = async |text: &str, messages: u32| {
        let mut subscription = workbench.subscribe(&session, 0).await.unwrap();
        workbench.command(&session, Command::SendMessage { agent: root.clone(), text: text.into() }).await.unwrap();
        loop {
            let view = workbench.snapshot(&session).await.unwrap().session;
            if view.agents[0].messages == messages && !offshoot_agents::workbench::is_busy(&view.agents) {
                break;
            }
            subscription.next().await;
        }
    };
    turn("one", 2).await;
    *clock.0.lock().unwrap() = "2026-03-02T00:01:00Z".parse().unwrap();
    turn("two", 4).await;
    turn("three", 6).await;
    workbench.shut_down().await;
    let requests = server.finish();
    assert_only_appended(&requests);
    assert!(requests[0].system().contains("- Date: 2026-03-01"));
    let told: Vec<bool> =
        requests.iter().map(|request| request.last_text().contains("The date is now 2026-03-02")).collect();
    assert_eq!(told, [false, true, false]);
}

#[tokio::test]
async fn a_forgotten_plan_is_brought_to_mind_and_not_at_every_step() {
    let todos = json!({"todos": [{"content": "open thing", "status": "in_progress"}]});
    let read = json!({"file_path": "README.md"});
    let mut script = vec![reply().call("TodoWrite", todos)];
    script.extend((0..18).map(|_| reply().call("Read", read.clone())));
    script.push(reply().text("Done."));
    let world = World::new(script).await;
    turn(&world, "go").await;
    let requests = world.server.finish();
    assert_only_appended(&requests);
    let reminded = |request: &&Received| request.last_text().contains("have not touched your plan");
    assert_eq!(requests.iter().filter(reminded).count(), 2);
}
