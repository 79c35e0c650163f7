//! The order in which an `Agent` call is judged, and every code that it can get.

use offshoot_agents::policy::{RuleKind, RuleSource, Rules};
use offshoot_agents::settings::{Forks, Settings};
use offshoot_protocol::{AgentKind, AgentState, Command, PermissionMode};
use offshoot_tests::{Gate, Setup, World, in_child, in_fork, in_root, reply, result_of};
use serde_json::{Value, json};

#[tokio::test]
async fn every_refusal_has_its_code_and_starts_nothing() {
    for (input, code, says) in [
        (json!({"prompt": "  "}), "invalid_arguments", "prompt"),
        (json!({"prompt": "x", "isolation": "vm"}), "invalid_arguments", "isolation"),
        (json!({"prompt": "x", "team_name": "t", "name": "n"}), "invalid_arguments", "Teams"),
        (json!({"prompt": "x", "subagent_type": "Explorer"}), "unknown_subagent_type", "explore"),
    ] {
        let world = World::new([
            reply().when_told("go").call("Agent", input.clone()),
            reply().when_result(code).text("Understood."),
        ])
        .await;
        world.say("go").await;
        let view = world.settled().await;
        assert_eq!(view.agents.len(), 1, "{input}");
        let requests = world.server.finish();
        assert_eq!(requests.len(), 2);
        let (_, content, is_error) = requests[1].results().remove(0);
        assert!(is_error && content.contains(says), "{input} → {content}");
    }
}

/// What a root gets for this call. Nothing is started for it and no model called but the root's own.
async fn refused(setup: Setup, roles: &[(&str, &str)], input: Value) -> Value {
    let script = [
        reply().when_told("go").call("Agent", input.clone()),
        reply().when(|request| request.results().len() == 1).text("Understood."),
    ];
    let world = World::with(setup, script).await;
    for (name, text) in roles {
        world.write_role(name, text);
    }
    world.say("go").await;
    let view = world.settled().await;
    assert_eq!(view.agents.len(), 1, "{input}");
    let requests = world.server.finish();
    assert_eq!(requests.len(), 2, "{input}");
    let (_, content, is_error) = requests[1].results().remove(0);
    assert!(is_error, "{input} → {content}");
    result_of(&content)
}

fn set(change: impl FnOnce(&mut Settings)) -> Setup {
    let mut setup = Setup::default();
    change(&mut setup.settings);
    setup
}

fn denying(rule: &str) -> Rules {
    let mut rules = Rules::default();
    rules.add(RuleKind::Deny, RuleSource::User, [rule]);
    rules
}

#[tokio::test]
async fn of_several_reasons_the_first_counts() {
    let full = || set(|settings| settings.agent_limit = 0);
    let denied = |rule| Setup { rules: denying(rule), ..full() };
    let roomy = |rule| Setup { rules: denying(rule), git: false, ..Setup::default() };
    let in_worktree = || json!({"prompt": "x", "isolation": "worktree"});
    for (setup, input, code) in [
        (full(), json!({"prompt": "", "team_name": "t", "subagent_type": "nobody"}), "invalid_arguments"),
        (full(), json!({"prompt": "x", "subagent_type": "nobody"}), "unknown_subagent_type"),
        (denied("Agent(fork)"), json!({"prompt": "x"}), "subagent_limit_reached"),
        (roomy("Agent(fork)"), in_worktree(), "permission_denied"),
        (roomy("Agent(explore)"), json!({"prompt": "x", "subagent_type": "explore"}), "permission_denied"),
        (roomy("Agent(reviewer)"), in_worktree(), "isolation_unavailable"),
    ] {
        let refusal = refused(setup, &[], input.clone()).await;
        assert_eq!(refusal["code"], code, "{input}");
    }
}

#[tokio::test]
async fn over_the_sessions_limit_nothing_starts_and_the_model_is_told_not_to_retry() {
    let gate = Gate::new();
    let call = |name: &str| json!({"prompt": name, "description": name, "isolation": "worktree"});
    // Side by side, and each takes a while: the limit holds all the same.
    let world = World::with(
        set(|settings| settings.agent_limit = 2),
        [
            in_root()
                .when_told("go")
                .call("Agent", call("one"))
                .call("Agent", call("two"))
                .call("Agent", call("three")),
            in_root().when(|request| request.results().len() == 3).text("Waiting."),
            in_fork("one").gate(&gate).text("Scope: one"),
            in_fork("two").gate(&gate).text("Scope: two"),
            in_root().when_told("<task-notification>").repeated().text("Noted."),
        ],
    )
    .await;
    world.say("go").await;
    let request =
        world.server.request_where(|request| request.results().len() == 3 && !request.mentions("<fork-directive>"));
    let results = request.await.results();
    let refused: Vec<&String> = results.iter().filter(|result| result.2).map(|result| &result.1).collect();
    assert_eq!(refused.len(), 1, "{results:?}");
    let refusal = result_of(refused[0]);
    assert_eq!(refusal["code"], "subagent_limit_reached");
    assert!(refusal["message"].as_str().unwrap().contains("Don't try again"), "{refusal}");
    gate.open();
    world.until("both are done", |view| view.agents[1..].iter().all(|fork| fork.outcome.is_some())).await;
    world.settled().await;
    assert_eq!(world.view().await.agents.len(), 3);
    world.server.finish();
}

#[tokio::test]
async fn more_than_run_at_once_wait_visibly() {
    let gate = Gate::new();
    let mut root = in_root().when_told("go");
    let mut script = vec![in_root().when(|request| request.results().len() == 9).text("Waiting.")];
    for at in 1..=9 {
        root = root.call("Agent", json!({"prompt": format!("part {at}"), "description": format!("part {at}")}));
        script.push(in_fork(&format!("part {at}")).gate(&gate).text("Scope: x"));
    }
    script.push(root);
    script.push(in_root().when_told("<task-notification>").repeated().text("Noted."));
    let world = World::new(script).await;
    world.say("go").await;
    // The root's two, and eight forks.
    world.server.request(10).await;
    world.until("the root waits", |view| view.agents[0].state == AgentState::Idle).await;
    let view = world.view().await;
    let count = |state: &AgentState| view.agents.iter().filter(|agent| agent.state == *state).count();
    assert_eq!((count(&AgentState::Running), count(&AgentState::Queued)), (8, 1));
    gate.open();
    world.until("all are done", |view| view.agents[1..].iter().all(|fork| fork.outcome.is_some())).await;
    world.settled().await;
    world.server.finish();
}

#[tokio::test]
async fn with_the_background_off_whatever_needs_it_is_refused() {
    let role = "---\nname: sleeper\ndescription: d\nbackground: true\n---\nYou sleep.\n";
    for input in [
        json!({"prompt": "x"}),
        json!({"prompt": "x", "subagent_type": "sleeper"}),
        json!({"prompt": "x", "subagent_type": "explore", "run_in_background": true}),
    ] {
        let refusal = refused(set(|settings| settings.background = false), &[("sleeper", role)], input.clone()).await;
        assert_eq!(refusal["code"], "background_disabled", "{input}");
    }
    let world = World::with(set(|settings| settings.background = false), []).await;
    let fork = Command::Fork {
        agent: world.root.clone(),
        directive: "x".into(),
        isolation: offshoot_protocol::Isolation::Shared,
        messages: None,
    };
    assert!(world.try_wish(fork).await.is_err());
    let subagent = Command::StartSubagent {
        role: "explore".into(),
        brief: "x".into(),
        isolation: offshoot_protocol::Isolation::Shared,
    };
    assert!(world.try_wish(subagent).await.is_err());
    assert_eq!(world.view().await.agents.len(), 1);
}

#[tokio::test]
async fn a_role_without_tools_starts_nothing_and_its_entries_are_named() {
    let role = |tools: &str| format!("---\nname: odd\ndescription: d\n{tools}\n---\nYou are odd.\n");
    for (tools, named) in [
        ("tools: []", "empty"),
        ("tools: [Raed, Wrte]", "Raed"),
        ("tools: [Read]\ndisallowed_tools: [Read]", "disallowed_tools"),
        ("tools: [Write]\npermission: plan", "plan"),
    ] {
        let refusal =
            refused(Setup::default(), &[("odd", &role(tools))], json!({"prompt": "x", "subagent_type": "odd"})).await;
        assert_eq!(refusal["code"], "subagent_configuration_error", "{tools}");
        assert!(refusal["message"].as_str().unwrap().contains(named), "{tools} → {refusal}");
    }
}

#[tokio::test]
async fn without_forks_a_call_without_a_type_starts_the_general_role() {
    let headless = Setup { interactive: false, ..set(|settings| settings.forks = Forks::Interactive) };
    for setup in [set(|settings| settings.forks = Forks::Never), headless] {
        let world = World::with(
            setup,
            [
                in_root()
                    .when_told("go")
                    .call("Agent", json!({"prompt": "dig", "description": "d", "subagent_type": " "})),
                in_child("dig").text("dug"),
                in_root().when_result("dug").text("Done."),
            ],
        )
        .await;
        world.say("go").await;
        world.settled().await;
        let child = world.agent("d").await;
        assert_eq!((child.kind, child.role.as_deref()), (AgentKind::Subagent, Some("general-purpose")));
        world.server.finish();
    }
}

#[tokio::test]
async fn a_fork_is_in_the_background_whatever_the_call_says() {
    let gate = Gate::new();
    let world = World::with(
        set(|settings| settings.mode = PermissionMode::AcceptEdits),
        [
            in_root()
                .when_told("go")
                .call("Agent", json!({"prompt": "dig", "description": "d", "run_in_background": false})),
            in_root().when_result("async_launched").text("Waiting."),
            in_fork("dig").gate(&gate).text("Scope: dig"),
            in_root().when_told("<task-notification>").text("Noted."),
        ],
    )
    .await;
    world.say("go").await;
    world.until("the root waits", |view| view.agents[0].activity == "Waiting.").await;
    assert!(world.agent("d").await.background);
    gate.open();
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
    world.server.finish();
}

#[tokio::test]
async fn no_role_takes_the_place_of_the_fork() {
    let role = "---\nname: fork\ndescription: d\ntools: [Read]\n---\nYou are no fork.\n";
    let named = refused(Setup::default(), &[("fork", role)], json!({"prompt": "x", "subagent_type": "fork"})).await;
    assert_eq!(named["code"], "unknown_subagent_type");
    let world = World::new([
        in_root().when_told("go").call("Agent", json!({"prompt": "dig", "description": "d"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("dig").text("Scope: dig"),
        in_root().when_told("<task-notification>").text("Noted."),
    ])
    .await;
    world.write_role("fork", role);
    world.say("go").await;
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
    let fork = world.agent("d").await;
    assert_eq!((fork.kind, fork.role), (AgentKind::Fork, None));
    let (roles, warnings) = world.workbench.roles(world.repository.path());
    assert!(roles.iter().all(|role| role.name != "fork"));
    assert!(warnings.iter().any(|it| it.path.ends_with("fork.md") && it.line == 2 && it.message.contains("reserved")));
    world.server.finish();
}
