//! A subagent starts when its own call is complete, not when the message is.

use offshoot_protocol::{AgentState, EventBody, PermissionMode};
use offshoot_tests::{Gate, Setup, World, in_child, in_fork, in_root};
use serde_json::{Value, json};

fn brief(prompt: &str, background: bool) -> Value {
    json!({"prompt": prompt, "description": prompt, "subagent_type": "general-purpose", "run_in_background": background})
}

#[tokio::test]
async fn a_subagent_starts_with_its_own_call_and_a_fork_with_the_message() {
    let gate = Gate::new();
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "left", "description": "left"}))
            .call("Agent", brief("dig", false))
            .call("Agent", brief("dive", true))
            .gate(&gate)
            .text("And more."),
        in_child("dig").text("dug"),
        in_child("dive").text("dived"),
        in_fork("left").text("Scope: left"),
        in_root().when_result("dug").text("All of it."),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
    ])
    .await;
    world.say("go").await;
    let view = world
        .until("both are done before the message is", |view| {
            view.agents.len() == 3 && view.agents[1..].iter().all(|child| child.state == AgentState::Completed)
        })
        .await;
    assert_eq!(view.agents[0].messages, 1, "only the question");
    gate.open();
    world
        .until("the fork is done", |view| view.agents.len() == 4 && view.agents[3].state == AgentState::Completed)
        .await;
    world.settled().await;
    let messages = world.messages(&world.root).await;
    // In the order of the calls, each once.
    let results: Vec<String> = messages[2].blocks.iter().map(|block| format!("{block:?}")).collect();
    for (result, part) in results.iter().zip(["async_launched", "dug", "async_launched"]) {
        assert!(result.contains(part), "{results:?}");
    }
    assert_eq!(world.notifications(&world.root).await.len(), 2);
    world.server.finish();
}

#[tokio::test]
async fn a_message_that_breaks_off_and_is_asked_for_again_starts_nothing_twice() {
    for background in [false, true] {
        let (gate, never) = (Gate::new(), Gate::new());
        // The opening, four events of the call, the gate; then the connection breaks.
        let broken = in_root().when_told("go").call("Agent", brief("dig", background)).gate(&gate).cut_after(6);
        let world = World::new([
            broken,
            in_child("dig").gate(&never).text("never"),
            in_root().when_told("go").call("Agent", brief("dig", background)),
            in_child("dig").text("dug"),
        ])
        .await;
        if background {
            world.server.add(in_root().when_result("async_launched").text("Waiting."));
            world.server.add(in_root().when_told("dug").text("Done."));
        } else {
            world.server.add(in_root().when_result("dug").text("Done."));
        }
        world.say("go").await;
        world.server.request(2).await;
        gate.open();
        world.until("it is done", |view| view.agents[0].activity == "Done.").await;
        let view = world.settled().await;
        let states: Vec<&AgentState> = view.agents[1..].iter().map(|child| &child.state).collect();
        assert_eq!(states, [&AgentState::Stopped, &AgentState::Completed]);
        // Of the first the root never hears.
        let told = world.notifications(&world.root).await;
        assert_eq!(told.len(), usize::from(background), "{told:?}");
        assert!(told.iter().all(|text| !text.contains(view.agents[1].id.as_str())));
        world.server.finish();
    }
}

#[tokio::test]
async fn a_message_that_breaks_off_for_good_leaves_no_child_at_work() {
    let (gate, never) = (Gate::new(), Gate::new());
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", brief("dig", false))
            .gate(&gate)
            .error_event("invalid_request_error", "no such thing"),
        in_child("dig").gate(&never).text("never"),
        in_root().when_told("and now?").text("Sorry."),
    ])
    .await;
    world.say("go").await;
    world.server.request(2).await;
    gate.open();
    world
        .until("both are at rest", |view| {
            view.agents[1].state == AgentState::Stopped
                && matches!(view.agents[0].state, AgentState::IdleAfterFailure { .. })
        })
        .await;
    world.say("and now?").await;
    world.settled().await;
    world.server.finish();
}

#[tokio::test]
async fn a_call_behind_one_that_changes_something_waits_for_it() {
    let gate = Gate::new();
    let mut setup = Setup::default();
    setup.settings.mode = PermissionMode::AcceptEdits;
    let world = World::with(
        setup,
        [
            in_root()
                .when_told("go")
                .call("Write", json!({"file_path": "b.txt", "content": "new"}))
                .call("Agent", brief("dig", false))
                .gate(&gate)
                .text("So."),
            in_child("dig").when_told("dig").call("Read", json!({"file_path": "b.txt"})),
            in_child("dig").when_result("new").text("dug"),
            in_root().when_result("dug").text("Done."),
        ],
    )
    .await;
    world.say("go").await;
    world.server.request(1).await;
    gate.open();
    world.until("it is done", |view| view.agents[0].activity == "Done.").await;
    let events = world.events().await;
    let position = |fits: &dyn Fn(&EventBody) -> bool| events.iter().position(|event| fits(&event.body)).unwrap();
    let written = position(&|body| matches!(body, EventBody::CallEnded { .. }));
    let started = events.iter().rposition(|event| matches!(event.body, EventBody::AgentCreated(_))).unwrap();
    assert!(written < started);
    world.server.finish();
}
