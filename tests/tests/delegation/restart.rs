//! After a restart: interrupted, told once, and nothing runs by itself.

use offshoot_protocol::{AgentState, Command, Delta, MessageRole, Origin, SessionView, WorktreeState, WorktreeView};
use offshoot_tests::{Gate, World, in_fork, in_root, reply};
use serde_json::json;

#[tokio::test]
async fn a_restart_shows_the_same_session_and_interrupts_what_ran() {
    let gate = Gate::new();
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "slow work", "description": "fork", "isolation": "worktree"}))
            .call("Agent", json!({"prompt": "deep", "description": "child", "subagent_type": "explore"})),
        in_fork("slow work").gate(&gate).text("never heard"),
        reply()
            .when(|request| request.messages().len() == 1 && request.last_text().starts_with("deep"))
            .gate(&gate)
            .text("x"),
    ])
    .await;
    world.say("go").await;
    world.server.request(3).await;
    let is_made = |worktree: &WorktreeView| worktree.state == WorktreeState::Live;
    let made = |view: &SessionView| view.agents.iter().any(|agent| agent.worktree.as_ref().is_some_and(is_made));
    let before = world.until("the fork's worktree is there", made).await;
    let world = world.restart().await;
    let after = world.view().await;
    assert_eq!(after.agents.len(), 3);
    assert_eq!(after.title, before.title);
    for title in ["fork", "child"] {
        assert_eq!(world.agent(title).await.state, AgentState::Interrupted, "{title}");
    }
    assert_eq!(after.agents[0].state, AgentState::Idle);
    // One notice each: the fork's as a notification that waits, the foreground child's as the call's result.
    let fork = world.agent("fork").await;
    let child = world.agent("child").await;
    let queued: Vec<_> = after.agents[0].queue.iter().filter(|input| input.origin == Origin::Notification).collect();
    assert_eq!(queued.len(), 1);
    assert!(queued[0].text.contains(fork.id.as_str()));
    let messages = world.messages(&world.root).await;
    let last = messages.last().unwrap();
    assert_eq!(last.role, MessageRole::User);
    let results: Vec<String> = last.blocks.iter().map(|block| format!("{block:?}")).collect();
    assert!(results[1].contains(child.id.as_str()), "{results:?}");
    assert!(std::path::Path::new(&fork.worktree.unwrap().path).is_dir());

    // Both can be resumed; nothing ran by itself.
    assert_eq!(world.server.requests().len(), 3);
    for (title, said) in [("fork", "Scope: fork\nResult: after all"), ("child", "after all")] {
        let id = world.agent(title).await.id;
        world.server.add(reply().for_agent(id.as_str()).text(said));
        world.server.add(in_root().when_told("<task-notification>").text("Noted."));
        world.wish(Command::Resume { agent: id.clone() }).await;
        world
            .until("it is done", |view| {
                view.agents.iter().any(|agent| agent.id == id && agent.state == AgentState::Completed)
            })
            .await;
        world.settled().await;
    }
    drop(gate);
    world.server.finish();
}

#[tokio::test]
async fn what_was_being_said_when_the_program_ended_is_kept() {
    let gate = Gate::new();
    let world = World::new([
        reply().when_told("go").text("Half an answer").gate(&gate).text("never heard"),
        reply().when_told("and?").text("The other half."),
    ])
    .await;
    let cursor = world.workbench.snapshot(&world.session).await.unwrap().cursor;
    let mut subscription = world.workbench.subscribe(&world.session, cursor).await.unwrap();
    world.say("go").await;
    let mut heard = String::new();
    while heard != "Half an answer" {
        for delta in subscription.next().await.deltas {
            if let Delta::Text { text, .. } = delta {
                heard.push_str(&text);
            }
        }
    }
    let world = world.restart().await;
    assert_eq!(world.messages(&world.root).await.last().unwrap().text(), "Half an answer");
    world.say("and?").await;
    world.settled().await;
    world.server.finish();
}
