//! Which model a child gets, and who is told when it isn't the one that was asked for.

use offshoot_agents::model::Provider;
use offshoot_protocol::AgentView;
use offshoot_tests::{Received, Setup, World, in_child, in_fork, in_root, result_of};
use serde_json::json;

fn codes(agent: &AgentView) -> Vec<&str> {
    agent.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

#[tokio::test]
async fn the_environment_is_stronger_than_the_call_the_call_than_the_role_the_role_than_the_parent() {
    let role = "---\nname: odd\ndescription: d\nmodel: role-1\n---\nYou are odd.\n";
    for (environment, of_call, role_name, model) in [
        (Some("environment-1"), Some("call-1"), "odd", "environment-1"),
        (None, Some("call-1"), "odd", "call-1"),
        (None, None, "odd", "role-1"),
        (None, Some("inherit"), "odd", "claude-test"),
        (None, None, "general-purpose", "claude-test"),
    ] {
        let setup = Setup { model_override: environment.map(str::to_owned), ..Setup::default() };
        let call = json!({"prompt": "dig", "subagent_type": role_name, "model": of_call});
        let script = [
            in_root().when_told("go").call("Agent", call),
            in_child("dig").text("dug"),
            in_root().when_result("dug").text("Done."),
        ];
        let world = World::with(setup, script).await;
        world.write_role("odd", role);
        world.say("go").await;
        world.settled().await;
        let child = world.agent("dig").await;
        assert_eq!((child.model.as_str(), codes(&child)), (model, vec![]));
        let requests = world.server.finish();
        assert_eq!(requests[1].body["model"], model, "{environment:?} {of_call:?} {role_name}");
    }
}

#[tokio::test]
async fn names_for_models_are_a_table_that_settings_add_to() {
    let settings =
        json!({"modelAliases": {"Haiku": "small-1", "local": "qwen3", "claude-test": "claude-own"}}).to_string();
    let setup = Setup { config: vec![("settings.json", settings)], ..Setup::default() };
    let call = |model: &str| json!({"prompt": model, "subagent_type": "explore", "model": model});
    let world = World::with(
        setup,
        [
            in_root()
                .when_told("go")
                .call("Agent", call("haiku"))
                .call("Agent", call("LOCAL"))
                .call("Agent", call("opus")),
            in_child("haiku").text("looked"),
            in_child("LOCAL").text("looked"),
            in_child("opus").text("looked"),
            in_root().when_result("looked").text("Done."),
        ],
    )
    .await;
    world.say("go").await;
    world.settled().await;
    let mut models = Vec::new();
    for title in ["haiku", "LOCAL", "opus"] {
        models.push(world.agent(title).await.model);
    }
    assert_eq!(models[..2], ["small-1", "qwen3"]);
    assert_eq!(world.view().await.agents[0].model, "claude-own", "the root's, too");
    assert!(models[2].starts_with("claude-opus"), "what the settings leave out stays: {models:?}");
    world.server.finish();
}

#[tokio::test]
async fn a_model_that_a_call_asks_for_a_fork_is_left_out_and_everybody_is_told() {
    let world = World::new([
        in_root().when_told("go").call("Agent", json!({"prompt": "dig", "description": "d", "model": "opus"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("dig").text("Scope: dig"),
        in_root().when_told("<task-notification>").text("Noted."),
    ])
    .await;
    world.say("go").await;
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
    let fork = world.agent("d").await;
    assert_eq!((fork.model.as_str(), codes(&fork)), ("claude-test", vec!["model_ignored"]));
    let requests = world.server.finish();
    let results: Vec<_> =
        requests.iter().filter(|request| !request.mentions("<fork-directive>")).flat_map(Received::results).collect();
    let launched = result_of(&results.iter().find(|(_, content, _)| content.contains("async_launched")).unwrap().1);
    assert!(launched["warnings"][0].as_str().unwrap().contains("its parent's model"), "{launched}");
}

#[tokio::test]
async fn a_model_that_does_not_exist_is_replaced_and_everybody_is_told() {
    let world = World::new([
        in_root().when_told("go").call(
            "Agent",
            json!({"prompt": "dig", "description": "d", "subagent_type": "general-purpose", "model": "no such model"}),
        ),
        in_child("dig").text("dug"),
        in_root().when_result("dug").text("Done."),
    ])
    .await;
    world.say("go").await;
    world.settled().await;
    let child = world.agent("d").await;
    assert_eq!(child.model, "claude-test");
    assert_eq!(child.warnings[0].code, "unknown_model");
    let requests = world.server.finish();
    let result = result_of(&requests[2].result());
    assert!(result["warnings"][0].as_str().unwrap().contains("no such model"), "{result}");
}

#[tokio::test]
async fn a_model_that_the_provider_does_not_have_is_replaced_by_the_parents_with_a_warning() {
    let call = |model: &str| json!({"prompt": model, "subagent_type": "explore", "model": model});
    let world = World::new([
        in_root().when_told("look").call("Agent", call("gpt-x")).call("Agent", call("claude-other")),
        in_child("gpt-x").text("looked"),
        in_child("claude-other").text("looked"),
        in_root().when_result("looked").text("Found."),
    ])
    .await;
    world.workbench.set_known_models(Provider::Anthropic, vec!["claude-test".to_owned(), "claude-other".to_owned()]);
    world.say("look").await;
    world.settled().await;
    let (unknown, known) = (world.agent("gpt-x").await, world.agent("claude-other").await);
    assert_eq!((unknown.model.as_str(), known.model.as_str()), ("claude-test", "claude-other"));
    assert_eq!((codes(&unknown), codes(&known)), (vec!["unknown_model"], vec![]));
    world.server.finish();
}
