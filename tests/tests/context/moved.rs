//! A session that goes on somewhere else.

use offshoot_protocol::{Command, PermissionMode};
use offshoot_tests::{Setup, World, in_root};
use serde_json::json;

use crate::compaction::summary;
use crate::output::pointer;

#[tokio::test]
async fn an_exported_session_goes_on_behind_its_summary_with_its_model_and_its_long_outputs() {
    let mut setup = Setup::default();
    setup.settings.mode = PermissionMode::Bypass;
    let script = [
        in_root().when_told("first").text("One."),
        summary("We counted to one."),
        in_root().when_told("go").call("Bash", json!({"command": "seq 20000; echo the-end"})),
        in_root().text("Long."),
    ];
    let world = World::with(setup, script).await;
    world.say("first").await;
    world.settled().await;
    world.wish(Command::Compact { agent: world.root.clone(), instructions: String::new() }).await;
    world.settled().await;
    world.say("go").await;
    world.settled().await;
    let path = pointer(&world.server.requests()[3].result());
    world.wish(Command::SetModel { agent: world.root.clone(), model: "claude-other".into() }).await;

    let file = world.repository.beside("session.jsonl");
    world.workbench.export_file(&world.session, &file).await.unwrap();
    world.server.finish();
    std::fs::remove_file(&path).unwrap();

    let script = [
        in_root().when_told("look").call("Read", json!({"file_path": path, "offset": 19_999, "limit": 3})),
        in_root().when_result("the-end").text("There."),
    ];
    let mut other = World::new(script).await;
    other.session = other.workbench.import_file(&file, Some(other.repository.path())).await.unwrap();
    other.root = other.view().await.agents[0].id.clone();
    other.say("look").await;
    other.settled().await;
    let requests = other.server.finish();
    let request = requests.last().unwrap();
    assert_eq!(request.body["model"], "claude-other");
    assert!(request.mentions("We counted to one.") && !request.mentions("One."));
}
