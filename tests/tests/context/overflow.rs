//! The model says that the conversation is too long.

use offshoot_protocol::{AgentState, Command};
use offshoot_tests::{Reply, World, in_root, reply};
use serde_json::json;

use super::compaction::summary;

fn too_long(status: u16, message: &str) -> Reply {
    in_root().when_told("second").status_with(status, "invalid_request_error", message)
}

#[tokio::test]
async fn a_refused_request_is_compacted_once_and_sent_again() {
    let words = [
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (400, "This model's maximum context length is 8192 tokens (context_length_exceeded)"),
        (413, "Request exceeds the maximum size"),
    ];
    for (status, message) in words {
        let script = [
            in_root().when_told("first").text("One."),
            too_long(status, message),
            summary("It began."),
            in_root().when_told("It began.").text("Two."),
        ];
        let world = World::new(script).await;
        world.say("first").await;
        world.settled().await;
        world.say("second").await;
        let view = world.settled().await;
        assert_eq!(view.agents[0].state, AgentState::Idle, "{message}");
        let requests = world.server.finish();
        // What is asked for a summary is known to fit: the request before, and the instruction.
        assert!(!requests[2].mentions("second") && requests[2].mentions("first"));
        // Nothing of what came behind it is lost.
        assert!(requests[3].mentions("second") && requests[3].mentions("You wrote: One."));
    }
}

#[tokio::test]
async fn the_stop_reason_is_compacted_once_and_gone_on_from() {
    let script = [
        in_root().when_told("go").text("A long answ").stop("model_context_window_exceeded"),
        summary("It wrote at length."),
        in_root().when_told("It wrote at length.").text("The end.").stop("model_context_window_exceeded"),
    ];
    let world = World::new(script).await;
    world.say("go").await;
    let view = world.settled().await;
    let AgentState::IdleAfterFailure { message } = &view.agents[0].state else { panic!("{:?}", view.agents[0].state) };
    assert!(message.contains("compacted already"), "{message}");
    let requests = world.server.finish();
    assert!(requests[2].mentions("You wrote: A long answ"));
}

#[tokio::test]
async fn what_is_too_long_from_the_first_fails_clearly() {
    let script = [too_long(413, "Request exceeds the maximum size")];
    let world = World::new(script).await;
    world.say("second").await;
    let view = world.settled().await;
    let AgentState::IdleAfterFailure { message } = &view.agents[0].state else { panic!("{:?}", view.agents[0].state) };
    assert!(message.contains("413") && message.contains("nothing to sum up"), "{message}");
    world.server.finish();
}

#[tokio::test]
async fn other_errors_are_not_taken_for_it() {
    let script = [in_root().when_told("go").status_with(400, "invalid_request_error", "max_tokens: too large")];
    let world = World::new(script).await;
    world.say("go").await;
    let view = world.settled().await;
    assert!(matches!(view.agents[0].state, AgentState::IdleAfterFailure { .. }));
    assert_eq!(world.server.finish().len(), 1);
}

#[tokio::test]
async fn a_paused_turn_is_sent_again_as_it_is() {
    let script = [in_root().when_told("go").text("Searching").stop("pause_turn"), reply().text("Found.")];
    let world = World::new(script).await;
    world.say("go").await;
    let view = world.settled().await;
    assert_eq!(view.agents[0].state, AgentState::Idle);
    let requests = world.server.finish();
    let last = requests[1].messages().last().unwrap();
    assert_eq!((last["role"].as_str(), last["content"][0]["text"].as_str()), (Some("assistant"), Some("Searching")));
}

#[tokio::test]
async fn refusals_and_unknown_stop_reasons_are_shown_and_end_the_turn() {
    for (stop, words) in
        [("refusal", "declined"), ("from_the_future", "from_the_future"), ("max_tokens", "output limit")]
    {
        let world = World::new([in_root().when_told("go").text("Hm.").stop(stop)]).await;
        world.say("go").await;
        let view = world.settled().await;
        let AgentState::IdleAfterFailure { message } = &view.agents[0].state else { panic!("{stop}") };
        assert!(message.contains(words), "{message}");
        world.server.finish();
    }
}

#[tokio::test]
async fn a_call_that_the_window_cut_is_not_run() {
    let script = [
        in_root().when_told("first").text("One."),
        in_root()
            .when_told("write")
            .call("Write", json!({"file_path": "cut.txt", "content": "x"}))
            .stop("model_context_window_exceeded"),
        summary("It began to write."),
        in_root().when_told("It began to write.").text("Done."),
    ];
    let world = World::new(script).await;
    world.wish(Command::SetMode { mode: offshoot_protocol::PermissionMode::AcceptEdits }).await;
    world.say("first").await;
    world.settled().await;
    world.say("write").await;
    world.settled().await;
    assert!(!world.repository.path().join("cut.txt").exists());
    world.server.finish();
}
