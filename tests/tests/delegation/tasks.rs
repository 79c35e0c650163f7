//! Background tasks and the tools for them.

use offshoot_protocol::{AgentOutcome, AgentState, Command};
use offshoot_tests::{Gate, Setup, World, in_child, in_fork, in_root, reply, result_of};
use serde_json::json;

#[tokio::test]
async fn a_command_in_the_background_is_a_task() {
    let mut setup = Setup::default();
    setup.settings.mode = offshoot_protocol::PermissionMode::Bypass;
    let world = World::with(
        setup,
        [
            reply()
                .when_told("serve")
                .call("Bash", json!({"command": "echo ready; cat /dev/zero > /dev/null", "run_in_background": true})),
            reply().when_result("async_launched").call(
                "Bash",
                json!({
                    "command": "echo short; exit 3", "run_in_background": true
                }),
            ),
            reply().when_result("async_launched").text("Both run."),
            reply().when_told("exit status 3").call("TaskList", json!({})),
            reply().when_result("\"status\":\"running\"").text("One is left."),
        ],
    )
    .await;
    world.say("serve").await;
    let view = world
        .until("one has failed, one runs", |view| {
            view.shells.len() == 2 && view.shells[1].outcome.is_some() && view.shells[0].outcome.is_none()
        })
        .await;
    let [server, short] = view.shells.as_slice() else { panic!("{:?}", view.shells) };
    world.until("the root was told", |view| view.agents[0].activity.contains("One is left")).await;
    assert_eq!(std::fs::read_to_string(&short.output_file).unwrap(), "short\n");

    world.server.add(reply().when_told("read it").call("TaskOutput", json!({"task_id": server.id})));
    world.server.add(reply().when_result("ready").call("TaskStop", json!({"task_id": server.id})));
    world.server.add(reply().when_result("stopped").text("Stopped it."));
    world.say("read it").await;
    let view = world.until("it is stopped", |view| view.agents[0].activity.contains("Stopped it")).await;
    assert_eq!(view.shells[0].outcome, Some(offshoot_protocol::ShellOutcome::Stopped));
    // It asked for that itself: no notice.
    assert!(view.agents[0].queue.is_empty());
    world.server.finish();
}

#[tokio::test]
async fn a_finished_agent_goes_on_when_its_parent_writes_to_it() {
    let world = World::new([
        in_root().when_told("go").call("Agent", json!({"prompt": "count", "description": "counter"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("count").when_told("count").text("Scope: count\nResult: one"),
        in_root().when_told("Result: one").call("SendMessage", json!({"to": "counter", "message": "and then?"})),
        in_root().when_result("delivered").text("Asked."),
        in_fork("count").when_told("and then?").text("Scope: count\nResult: two"),
        in_root().when_told("Result: two").call("SendMessage", json!({"to": "nobody", "message": "?"})),
        in_root().when_result("unknown_task").text("Done."),
    ])
    .await;
    world.say("go").await;
    world.until("it is done", |view| view.agents[0].activity == "Done.").await;
    let view = world.settled().await;
    assert_eq!(view.agents[1].outcome, Some(AgentOutcome::Completed { report: "Scope: count\nResult: two".into() }));
    world.server.finish();
}

#[tokio::test]
async fn messages_to_a_stopped_agent_and_to_a_name_used_twice_are_refused() {
    let gate = Gate::new();
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "one", "description": "twin"}))
            .call("Agent", json!({"prompt": "two", "description": "twin"}))
            .call("Agent", json!({"prompt": "three", "description": "single"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("one").gate(&gate).text("Scope: one"),
        in_fork("two").gate(&gate).text("Scope: two"),
        in_fork("three").gate(&gate).text("never"),
        in_root()
            .when_told("<status>stopped</status>")
            .call("SendMessage", json!({"to": "single", "message": "go on"})),
        in_root().when_result("subagent_stopped").call("SendMessage", json!({"to": "twin", "message": "and?"})),
        in_root().when_result("ambiguous_name").text("I see."),
        in_root().when_told("<status>completed</status>").repeated().text("Noted."),
    ])
    .await;
    world.say("go").await;
    world.until("the root waits", |view| view.agents[0].activity == "Waiting.").await;
    let single = world.agent("single").await.id;
    world.wish(Command::Stop { agent: single.clone() }).await;
    let view = world.until("it has tried", |view| view.agents[0].activity == "I see.").await;
    assert_eq!(view.agents[3].state, AgentState::Stopped);
    assert!(view.agents[3].queue.is_empty(), "a refused message isn't kept");
    gate.open();
    world.until("both are done", |view| view.agents[1..3].iter().all(|fork| fork.outcome.is_some())).await;
    world.settled().await;
    let requests = world.server.finish();
    let results: Vec<_> = requests.iter().flat_map(offshoot_tests::Received::results).collect();
    let refusal = |code: &str| result_of(&results.iter().find(|(_, content, _)| content.contains(code)).unwrap().1);
    assert!(refusal("subagent_stopped")["message"].as_str().unwrap().contains("developer"));
    let both = refusal("ambiguous_name")["message"].to_string();
    for twin in &view.agents[1..3] {
        assert!(both.contains(twin.id.as_str()), "{both}");
    }
}

#[tokio::test]
async fn a_stopped_agent_is_not_woken_by_what_was_said_before() {
    let mut setup = Setup::default();
    setup.settings.mode = offshoot_protocol::PermissionMode::Bypass;
    let gate = Gate::new();
    let world = World::with(
        setup,
        [
            in_root().when_told("go").call("Agent", json!({"prompt": "dig", "description": "digger"})),
            in_root().when_result("async_launched").text("Waiting."),
            // It has a command in the background, whose end would wake it.
            in_fork("dig")
                .when_told("dig")
                .call("Bash", json!({"command": "cat /dev/zero > /dev/null", "run_in_background": true})),
            in_fork("dig").when_result("async_launched").gate(&gate).text("never"),
            in_root().when_told("<status>stopped</status>").text("Stopped."),
        ],
    )
    .await;
    world.say("go").await;
    world.until("the command runs", |view| view.shells.len() == 1 && view.agents[1].steps == 1).await;
    let digger = world.agent("digger").await.id;
    world.server.request_where(|request| request.agent() == digger.as_str() && !request.results().is_empty()).await;
    world.server.request(4).await;
    world.tell(&digger, "one more thing").await;
    world.wish(Command::Stop { agent: digger.clone() }).await;
    world.until("the root was told", |view| view.agents[0].activity == "Stopped.").await;
    let view = world.view().await;
    assert_eq!(view.agents[1].state, AgentState::Stopped);
    assert_eq!(view.agents[1].queue.len(), 1, "what was said waits for the person's resume");
    assert_eq!(view.shells[0].outcome, Some(offshoot_protocol::ShellOutcome::Stopped));
    world.server.add(in_fork("dig").when_mentioned("one more thing").text("Scope: dig"));
    world.server.add(in_root().when_told("<status>completed</status>").text("Good."));
    world.wish(Command::Resume { agent: digger }).await;
    world.until("it was told", |view| view.agents[0].activity == "Good.").await;
    world.server.finish();
}

#[tokio::test]
async fn a_parent_sees_waits_for_and_stops_its_tasks() {
    let (gate, ready) = (Gate::new(), Gate::new());
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "one", "description": "first"}))
            .call("Agent", json!({"prompt": "two", "description": "second"})),
        in_root().when_result("async_launched").gate(&ready).call("TaskList", json!({})),
        in_fork("one").gate(&gate).text("Scope: one"),
        in_fork("two").gate(&Gate::new()).text("never"),
    ])
    .await;
    world.say("go").await;
    world
        .until("both run", |view| {
            view.agents.len() == 3 && view.agents[1..].iter().all(|fork| fork.state == AgentState::Running)
        })
        .await;
    let (one, two) = (world.agent("first").await.id, world.agent("second").await.id);
    let waiting = json!({"task_id": one, "block": true, "timeout_ms": 30_000});
    for reply in [
        in_root().when_result("\"second\"").call("TaskOutput", waiting),
        in_root().when_result("Scope: one").call("TaskStop", json!({"task_id": two})),
        in_root().when_result("stopped").text("Both are over."),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
    ] {
        world.server.add(reply);
    }
    ready.open();
    world.server.request_where(|request| request.results().iter().any(|result| result.1.contains("\"second\""))).await;
    gate.open();
    world
        .until("both are over", |view| {
            view.agents[0].activity == "Both are over." || view.agents[0].activity == "Noted."
        })
        .await;
    let view = world.settled().await;
    assert_eq!((&view.agents[1].state, &view.agents[2].state), (&AgentState::Completed, &AgentState::Stopped));
    world.server.finish();
}

#[tokio::test]
async fn whoever_is_stopped_takes_along_everything_below() {
    let never = Gate::new();
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "one", "description": "fork"}))
            .call("Agent", json!({"prompt": "two", "description": "child", "subagent_type": "general-purpose"})),
        in_fork("one").gate(&never).text("never"),
        in_child("two").gate(&never).text("never"),
        in_root().when_told("and now?").text("Nothing runs."),
    ])
    .await;
    world.say("go").await;
    world.server.request(3).await;
    world.wish(Command::Stop { agent: world.root.clone() }).await;
    let view = world
        .until("all are at rest", |view| {
            view.agents.len() == 3 && view.agents.iter().all(|agent| !offshoot_agents::agent::is_running(&agent.state))
        })
        .await;
    assert!(view.agents[1..].iter().all(|child| child.state == AgentState::Stopped), "{:#?}", view.agents);
    world.say("and now?").await;
    world.until("it answers", |view| view.agents[0].activity == "Nothing runs.").await;
    // What the root is told of its fork's end doesn't start the fork again.
    assert!(world.view().await.agents[1..].iter().all(|child| child.state == AgentState::Stopped));
    world.server.finish();
}
