//! Turns: calls, interruption, messages in the middle.

use offshoot_protocol::{AgentState, Command, Origin};
use offshoot_tests::{Gate, World, reply};
use serde_json::json;

#[tokio::test]
async fn a_turn_reads_and_answers() {
    let world = World::new([
        reply().text("Let me look.").call("Read", json!({"file_path": "src/a.txt"})),
        reply().when_result("two").text("It has three lines."),
    ])
    .await;
    world.say("What is in a.txt?").await;
    let view = world.settled().await;
    let root = &view.agents[0];
    assert_eq!((root.steps, root.calls, &root.state), (2, 1, &AgentState::Idle));
    let messages = world.messages(&world.root).await;
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[3].text(), "It has three lines.");
    world.server.finish();
}

#[tokio::test]
async fn an_interrupted_turn_keeps_what_arrived_and_the_next_request_is_valid() {
    let gate = Gate::new();
    let world = World::new([
        reply().when_told("go").text("Half an answer").gate(&gate).text("never"),
        reply().when_told("go on").text("Whole."),
    ])
    .await;
    world.say("go").await;
    world.until("text streams", |view| view.agents[0].state == AgentState::Running).await;
    world.server.request(1).await;
    world.wish(Command::Interrupt { agent: world.root.clone() }).await;
    world.until("it is idle", |view| view.agents[0].state == AgentState::Idle).await;
    world.say("go on").await;
    world.settled().await;
    let messages = world.messages(&world.root).await;
    assert_eq!(messages.last().unwrap().text(), "Whole.");
    world.server.finish();
}

#[tokio::test]
async fn a_message_during_a_turn_reaches_the_agent_with_the_results() {
    let gate = Gate::new();
    let world = World::new([
        reply().when_told("go").gate(&gate).call("Read", json!({"file_path": "README.md"})),
        reply().when_told("and this").text("Both."),
    ])
    .await;
    world.say("go").await;
    world.server.request(1).await;
    world.say("and this").await;
    assert_eq!(world.view().await.agents[0].queue.iter().filter(|input| input.origin == Origin::User).count(), 1);
    gate.open();
    world.settled().await;
    let requests = world.server.finish();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].results().len(), 1, "results first, then the message, in one");
}

#[tokio::test]
async fn an_interrupted_call_gets_a_result_and_the_next_request_is_valid() {
    let mut setup = offshoot_tests::Setup::default();
    setup.settings.mode = offshoot_protocol::PermissionMode::Bypass;
    let world = World::with(
        setup,
        [
            reply().when_told("go").call("Bash", json!({"command": "cat /dev/zero > /dev/null"})),
            reply().when_told("and now?").text("Now this."),
        ],
    )
    .await;
    world.say("go").await;
    world.until("the command runs", |view| view.agents[0].calls == 1).await;
    world.wish(Command::Interrupt { agent: world.root.clone() }).await;
    world.until("it is idle", |view| view.agents[0].state == AgentState::Idle).await;
    world.say("and now?").await;
    world.settled().await;
    let requests = world.server.finish();
    let call = requests[1].messages().iter().flat_map(|message| message["content"].as_array().unwrap());
    let results: Vec<_> = call.filter(|block| block["type"] == "tool_result").collect();
    assert_eq!(results.len(), 1);
    assert!(results[0]["content"].as_str().unwrap().contains("interrupted"), "{results:?}");
}
