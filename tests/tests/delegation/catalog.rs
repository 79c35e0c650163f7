//! Roles that appear, change and go while a session is open.

use offshoot_protocol::{AgentView, Event, EventBody, Input, Origin};
use offshoot_tests::{Gate, World, in_child, in_root};
use serde_json::json;

fn role(description: &str, body: &str) -> String {
    format!("---\nname: digger\ndescription: {description}\ntools: [Read]\n---\n{body}\n")
}

/// Lists of roles that the agent has not seen yet.
fn unseen(agent: &AgentView) -> Vec<&Input> {
    agent.queue.iter().filter(|input| input.origin == Origin::Reminder).collect()
}

#[tokio::test]
async fn a_changed_role_is_announced_behind_everything_and_wakes_nobody() {
    let world = World::new([
        in_root().when_told("hello").text("Hi."),
        in_root().when_told("dig").call("Agent", json!({"prompt": "sand", "subagent_type": "digger"})),
        in_child("sand").when(|request| request.system().contains("You dig deep.")).text("dug"),
        in_root().when_result("dug").text("Done."),
    ])
    .await;
    world.say("hello").await;
    world.settled().await;
    world.write_role("digger", &role("Digs shallow", "You dig."));
    world
        .until("it is announced", |view| unseen(&view.agents[0]).iter().any(|it| it.text.contains("Digs shallow")))
        .await;
    // What was not seen yet is replaced by what holds now.
    world.write_role("digger", &role("Digs deep", "You dig deep."));
    let view = world
        .until("it is announced", |view| unseen(&view.agents[0]).iter().any(|it| it.text.contains("Digs deep")))
        .await;
    assert_eq!(unseen(&view.agents[0]).len(), 1);
    assert_eq!(world.server.requests().len(), 1, "nobody was woken");
    world.say("dig").await;
    world.settled().await;
    // The server polices that the prefix stays as it was; the tools are part of it.
    let requests = world.server.finish();
    let told = requests[1].last_text();
    assert!(told.contains("Digs deep") && !told.contains("Digs shallow"), "{told}");
    assert!(requests[0].mentions("explore") && !requests[0].mentions("digger"));
}

#[tokio::test]
async fn a_running_agent_keeps_the_role_it_started_with() {
    let gate = Gate::new();
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "sand", "description": "a", "subagent_type": "digger"})),
        in_child("sand").gate(&gate).call("Read", json!({"file_path": "README.md"})),
        in_child("sand").when(|request| request.system().contains("You dig.")).when_result("hello").text("dug"),
        // The new list comes with the results.
        in_root()
            .when_result("dug")
            .when_told("Digs deep")
            .call("Agent", json!({"prompt": "clay", "subagent_type": "digger"})),
        in_child("clay").when(|request| request.system().contains("You dig deep.")).text("dug again"),
        in_root().when_result("dug again").text("Done."),
    ])
    .await;
    world.write_role("digger", &role("Digs shallow", "You dig."));
    world.say("go").await;
    world.server.request(2).await;
    world.write_role("digger", &role("Digs deep", "You dig deep."));
    world.until("it is announced", |view| unseen(&view.agents[0]).iter().any(|it| it.text.contains("Digs deep"))).await;
    gate.open();
    world.until("it is done", |view| view.agents[0].activity == "Done.").await;
    world.server.finish();
}

#[tokio::test]
async fn roles_that_changed_between_two_starts_are_announced_and_others_are_not() {
    let world = World::new([in_root().when_told("hello").text("Hi."), in_root().when_told("again").text("Yes.")]).await;
    world.say("hello").await;
    world.settled().await;
    let world = world.restart().await;
    world.write_role("digger", &role("Digs deep", "You dig."));
    let view = world.until("it is announced", |view| !unseen(&view.agents[0]).is_empty()).await;
    assert_eq!(unseen(&view.agents[0]).len(), 1);
    assert!(unseen(&view.agents[0])[0].text.contains("Digs deep"));
    let world = world.restart().await;
    world.say("again").await;
    world.settled().await;
    let events = world.events().await;
    let announced =
        |event: &&Event| matches!(&event.body, EventBody::InputReceived { input } if input.origin == Origin::Reminder);
    assert_eq!(events.iter().filter(announced).count(), 2, "at the start and after the change");
    let requests = world.server.finish();
    assert_eq!(requests[1].last_text().matches("digger").count(), 1);
}
