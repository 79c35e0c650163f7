//! Another model answers.

use offshoot_agents::model::Provider;
use offshoot_protocol::{Command, EventBody};
use offshoot_tests::{World, in_root, reply};
use serde_json::json;

async fn switch(world: &World, model: &str) {
    world.wish(Command::SetModel { agent: world.root.clone(), model: model.into() }).await;
}

#[tokio::test]
async fn reasoning_goes_only_to_the_model_that_wrote_it() {
    let script = [
        in_root().when_told("one").thinking("mine", "c2lnLWE=").redacted("cmVkLWE=").text("One."),
        in_root().when_told("two").thinking("yours", "c2lnLWI=").text("Two."),
        in_root().when_told("three").text("Three."),
        in_root().when_told("four").text("Four."),
    ];
    let mut world = World::new(script).await;
    world.say("one").await;
    world.settled().await;
    switch(&world, "claude-other").await;
    world.say("two").await;
    world.settled().await;
    switch(&world, "claude-test").await;
    world.say("three").await;
    world.settled().await;
    world = world.restart().await;
    world.say("four").await;
    world.settled().await;

    let view = world.view().await;
    assert_eq!(view.agents[0].model, "claude-test");
    let lost = view.agents[0].warnings.iter().filter(|warning| warning.code == "cache_lost");
    assert_eq!(lost.count(), 2, "{:?}", view.agents[0].warnings);
    let changed = world.events().await.into_iter().filter(|event| matches!(event.body, EventBody::HeadChanged(_)));
    assert_eq!(changed.count(), 2);
    // The log keeps everything.
    let messages = serde_json::to_string(&world.messages(&world.root).await).unwrap();
    assert!(messages.contains("c2lnLWE=") && messages.contains("cmVkLWE=") && messages.contains("c2lnLWI="));

    let requests = world.server.finish();
    let has = |at: usize, text: &str| String::from_utf8_lossy(&requests[at].raw).contains(text);
    assert_eq!(requests[1].body["model"], "claude-other");
    assert!(!has(1, "c2lnLWE=") && !has(1, "cmVkLWE=") && has(1, "One."));
    assert_eq!(requests[2].body["model"], "claude-test");
    assert!(has(2, "c2lnLWE=") && has(2, "cmVkLWE="), "its own reasoning stands behind the same prefix again");
    assert!(!has(2, "c2lnLWI=") && has(2, "Two."));
    // The first model's own part is what it always was, and after a restart nothing changes.
    let open = |at: usize| requests[at].without_marks().strip_suffix("]}]}").unwrap().to_owned();
    assert!(requests[2].without_marks().starts_with(&open(0)));
    assert!(requests[3].without_marks().starts_with(&open(2)));
}

#[tokio::test]
async fn only_an_agent_at_rest_gets_another_model_and_only_one_that_could_be() {
    let gate = offshoot_tests::Gate::new();
    let world =
        World::new([reply().gate(&gate).call("Read", json!({"file_path": "README.md"})), reply().text("Done.")]).await;
    let wish = |model: &str| Command::SetModel { agent: world.root.clone(), model: model.into() };
    for model in ["", " ", "3000", "no such model!", "claude-test"] {
        world.try_wish(wish(model)).await.unwrap_err();
    }
    world.say("go").await;
    world.server.request(1).await;
    let rejected = world.try_wish(wish("claude-other")).await.unwrap_err();
    assert!(rejected.message.contains("working"), "{rejected}");
    gate.open();
    world.settled().await;
    world.wish(wish("opus")).await;
    assert!(world.view().await.agents[0].model.starts_with("claude-opus"));
    // Once the provider has said what it has, nothing else is taken.
    world.workbench.set_known_models(Provider::Anthropic, vec!["claude-test".to_owned(), "claude-other".to_owned()]);
    let rejected = world.try_wish(wish("claude-gone")).await.unwrap_err();
    assert!(rejected.message.contains("claude-gone") && rejected.hint.contains("claude-other"), "{rejected:?}");
    world.wish(wish("claude-other")).await;
    assert_eq!(world.view().await.agents[0].model, "claude-other");
    world.server.finish();
}

#[tokio::test]
async fn forks_of_an_agent_have_its_new_model() {
    let script = [
        in_root().when_told("one").text("One."),
        offshoot_tests::in_fork("branch").text("Scope: x"),
        in_root().when_told("<task-notification>").text("Noted."),
    ];
    let world = World::new(script).await;
    world.say("one").await;
    world.settled().await;
    switch(&world, "claude-other").await;
    let isolation = offshoot_protocol::Isolation::Shared;
    world
        .wish(Command::Fork { agent: world.root.clone(), directive: "branch".into(), isolation, messages: None })
        .await;
    let view = world.settled().await;
    assert_eq!(view.agents[1].model, "claude-other");
    assert_eq!(world.server.finish()[1].body["model"], "claude-other");
}
