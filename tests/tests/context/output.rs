//! Outputs that are too long for the model.

use offshoot_tests::{Setup, World, in_root};
use serde_json::json;

/// The path that a cut output points to.
pub(crate) fn pointer(result: &str) -> String {
    let (_, behind) = result.split_once("the whole is in ").unwrap();
    behind.split_once(", which Read shows").unwrap().0.to_owned()
}

#[tokio::test]
async fn a_long_output_is_cut_between_characters_and_read_again_by_its_pointer_even_when_the_file_is_gone() {
    // 40 000 lines of two characters and their ends, of several bytes each.
    let command = "for i in $(seq 20000); do echo 漢é; done; echo the-end";
    let mut setup = Setup::default();
    setup.settings.mode = offshoot_protocol::PermissionMode::Bypass;
    let world = World::with(
        setup,
        [in_root().when_told("go").call("Bash", json!({"command": command})), in_root().text("Long.")],
    )
    .await;
    world.say("go").await;
    world.settled().await;
    let requests = world.server.requests();
    let result = requests[1].result();
    assert!(result.chars().count() < 31_000, "{}", result.chars().count());
    assert!(result.starts_with("漢é") && result.contains("the-end") && !result.contains('\u{fffd}'));
    let path = pointer(&result);

    // The pointer works after a restart, and when nothing but the log is left.
    let world = world.restart().await;
    std::fs::remove_file(&path).unwrap();
    let read = json!({"file_path": path, "offset": 20_001, "limit": 3});
    world.server.add(in_root().when_told("look").call("Read", read));
    world.server.add(in_root().when_result("the-end").text("There."));
    world.say("look").await;
    world.settled().await;
    world.server.finish();
}
