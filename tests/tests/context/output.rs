//! Outputs that are too long for the model.

use offshoot_tests::{Received, Setup, World, in_child, in_fork, in_root};
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

#[tokio::test]
async fn what_a_child_in_its_worktree_or_a_fork_was_cut_off_from_is_read_by_its_pointer() {
    let long = |name: &str| json!({"command": format!("seq 20000; echo the-end-of-{name}")});
    let isolated = json!({"prompt": "dig", "subagent_type": "general-purpose", "isolation": "worktree"});
    let world = World::with(
        Setup { rules: allow_commands(), ..Setup::default() },
        [
            in_root().when_told("go").call("Bash", long("root")).call("Agent", isolated),
            in_child("dig").when_told("dig").call("Bash", long("child")),
            in_child("dig").when_result("the-end-of-child").text("dug"),
            in_root().when_result("dug").text("Long."),
        ],
    )
    .await;
    world.say("go").await;
    world.settled().await;
    // Its own, from within its worktree, after the folder was cleared.
    let is_cut = |request: &Received| request.results().iter().any(|result| result.1.contains("the-end-of-child"));
    let own = pointer(&world.server.request_where(is_cut).await.result());
    std::fs::remove_file(&own).unwrap();
    let read = |path: &str| json!({"file_path": path, "offset": 20_001, "limit": 3});
    world.server.add(in_child("dig").when_told("look again").call("Read", read(&own)));
    world.server.add(in_child("dig").when_result("the-end-of-child").text("seen"));
    world.server.add(in_root().when_told("seen").text("Noted."));
    let child = world.agent("dig").await.id;
    world.tell(&child, "look again").await;
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;

    // What its parent was cut off from, from a fork's worktree: the pointer is in what it inherits.
    let messages = world.messages(&world.root).await;
    let text = format!("{:?}", messages[2].blocks[0]);
    let inherited = pointer(&text);
    assert_ne!(inherited, own);
    let fork = json!({"prompt": "look", "description": "look", "isolation": "worktree"});
    world.server.add(in_root().when_told("split").call("Agent", fork));
    world.server.add(in_root().when_result("async_launched").text("Waiting."));
    world.server.add(in_fork("look").when_told("look").call("Read", read(&inherited)));
    world.server.add(in_fork("look").when_result("the-end-of-root").text("Scope: seen"));
    world.server.add(in_root().when_told("Scope: seen").text("Noted too."));
    world.say("split").await;
    world.until("it was told", |view| view.agents[0].activity == "Noted too.").await;
    world.server.finish();
}

fn allow_commands() -> offshoot_agents::policy::Rules {
    use offshoot_agents::policy::{RuleKind, RuleSource, Rules};
    let mut rules = Rules::default();
    rules.add(RuleKind::Allow, RuleSource::CommandLine, ["Bash"]);
    rules
}
