//! From the foreground to the background: who waits changes, and nothing else.

use std::time::Duration;

use offshoot_protocol::{AgentState, Command};
use offshoot_tests::{Gate, Setup, World, in_child, in_root, reply};
use serde_json::json;

#[tokio::test]
async fn a_foreground_child_moves_to_the_background_without_a_restart() {
    let gate = Gate::new();
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "dig", "description": "digger", "subagent_type": "general-purpose"})),
        reply().when(|request| request.mentions("dig") && request.messages().len() == 1).gate(&gate).text("dug"),
        in_root().when_result("async_launched").text("Going on."),
        in_root().when_told("<task-notification>").text("Done."),
    ])
    .await;
    world.say("go").await;
    world.server.request(2).await;
    let digger = world.agent("digger").await;
    assert!(!digger.background);
    world.wish(Command::SendToBackground { agent: digger.id.clone() }).await;
    world.until("the root goes on", |view| view.agents[0].state == AgentState::Idle).await;
    gate.open();
    world.settled().await;
    let requests = world.server.finish();
    let asked = requests.iter().filter(|request| request.agent() == digger.id.as_str()).count();
    assert_eq!(asked, 1, "the same run went on");
}

#[tokio::test]
async fn a_child_that_takes_too_long_moves_by_itself() {
    let gate = Gate::new();
    let mut setup = Setup::default();
    setup.settings.foreground_timeout = Duration::from_millis(20);
    let world = World::with(
        setup,
        [
            in_root()
                .when_told("go")
                .call("Agent", json!({"prompt": "dig", "description": "digger", "subagent_type": "general-purpose"})),
            in_child("dig").gate(&gate).text("dug"),
            in_root().when_result("async_launched").text("Going on."),
            in_root().when_told("dug").text("Done."),
        ],
    )
    .await;
    world.say("go").await;
    let view = world.until("the root goes on", |view| view.agents[0].activity == "Going on.").await;
    assert!(view.agents[1].background && view.agents[1].state == AgentState::Running);
    gate.open();
    world.until("it was told", |view| view.agents[0].activity == "Done.").await;
    world.settled().await;
    let digger = world.agent("digger").await;
    assert_eq!(world.notifications(&world.root).await.len(), 1);
    let requests = world.server.finish();
    assert_eq!(requests.iter().filter(|request| request.agent() == digger.id.as_str()).count(), 1);
}

#[tokio::test]
async fn with_the_background_off_nothing_moves() {
    let gate = Gate::new();
    let mut setup = Setup::default();
    setup.settings.background = false;
    setup.settings.foreground_timeout = Duration::ZERO;
    let world = World::with(
        setup,
        [
            in_root()
                .when_told("go")
                .call("Agent", json!({"prompt": "dig", "description": "digger", "subagent_type": "general-purpose"})),
            in_child("dig").gate(&gate).text("dug"),
            in_root().when_result("dug").text("Done."),
        ],
    )
    .await;
    world.say("go").await;
    world.server.request(2).await;
    let digger = world.agent("digger").await;
    let refused = world.try_wish(Command::SendToBackground { agent: digger.id }).await.unwrap_err();
    assert_eq!(refused.code, offshoot_protocol::RejectedCode::NotApplicable);
    gate.open();
    world.until("it is done", |view| view.agents[0].activity == "Done.").await;
    assert!(!world.agent("digger").await.background);
    world.server.finish();
}

#[tokio::test]
async fn an_interrupted_caller_takes_its_foreground_child_along() {
    let gate = Gate::new();
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "dig", "description": "digger", "subagent_type": "general-purpose"})),
        in_child("dig").gate(&gate).text("dug"),
        in_root().when_told("next").text("Next."),
    ])
    .await;
    world.say("go").await;
    world.server.request(2).await;
    world.wish(Command::Interrupt { agent: world.root.clone() }).await;
    world
        .until("both are at rest", |view| {
            view.agents[0].state == AgentState::Idle && view.agents[1].state == AgentState::Stopped
        })
        .await;
    world.say("next").await;
    world.settled().await;
    // The call's result says it; a notification would say it twice.
    assert!(world.notifications(&world.root).await.is_empty());
    world.server.finish();
}
