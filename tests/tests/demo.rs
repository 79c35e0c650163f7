//! The demo, played by the whole core on the sample project.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use offshoot_agents::model::demo::OPENING;
use offshoot_agents::workbench::is_busy;
use offshoot_protocol::{AgentKind, AgentState, AgentView, Answer, Message, Origin, SessionView};
use offshoot_tests::World;

/// The root's last text.
async fn last_text(world: &World) -> String {
    world.messages(&world.root).await.last().map(Message::text).unwrap_or_default()
}

/// Allows every request but those for commands, which get `answer`, until everything has settled. Returns who asked to run
/// a command.
async fn answer_all(world: &World, answer: &Answer) -> Vec<String> {
    let mut askers = Vec::new();
    loop {
        let is_still = |view: &SessionView| {
            // A text that an agent hasn't seen will wake it; reminders don't.
            let told = |agent: &AgentView| agent.queue.iter().all(|input| input.origin == Origin::Reminder);
            !is_busy(&view.agents) && view.agents.iter().all(told)
        };
        let view =
            world.until("there is a request or the end", |view| !view.requests.is_empty() || is_still(view)).await;
        let Some(request) = view.requests.first() else { break };
        if request.tool == "Bash" {
            askers.extend(request.asker.last().map(|asker| asker.title.clone()));
            world.answer(request, answer.clone()).await;
        } else {
            world.answer(request, Answer::AllowOnce).await;
        }
    }
    world.settled().await;
    askers
}

#[tokio::test]
async fn the_tour_delegates_asks_and_sums_up() {
    let world = World::demo().await;
    world.say(OPENING).await;
    assert_eq!(answer_all(&world, &Answer::AllowOnce).await, ["Statistics"]);

    let text = last_text(&world).await;
    assert!(text.contains("Everybody has reported") && text.contains("5 passed, 0 failed"), "{text}");
    assert!(text.contains("both change the same lines"), "{text}");
    let view = world.view().await;
    let kinds = |kind: AgentKind| view.agents.iter().filter(|agent| agent.kind == kind).count();
    assert_eq!((kinds(AgentKind::Fork), kinds(AgentKind::Subagent)), (3, 1));
    assert!(view.agents[1..].iter().all(|agent| agent.state == AgentState::Completed), "{:#?}", view.agents);
    for fork in view.agents.iter().filter(|agent| agent.kind == AgentKind::Fork) {
        let worktree = fork.worktree.as_ref().expect("a fork has a worktree");
        let diff = world.repository.git(&["diff", "--stat", &worktree.base, &worktree.branch]);
        assert!(diff.contains("lib/"), "{}: {diff:?}", fork.title);
    }
    assert_eq!(world.repository.git(&["status", "--porcelain"]), " M README.md", "the checkout is as it was");
}

#[tokio::test]
async fn a_refused_command_and_a_restart_are_taken_well() {
    let world = World::demo().await;
    world.say(OPENING).await;
    answer_all(&world, &Answer::Deny { reason: Some("not now".to_owned()) }).await;
    let report = world.agent("Statistics").await;
    let messages = world.messages(&report.id).await;
    let text = messages.last().map(Message::text).unwrap_or_default();
    assert!(text.contains("Issues: Bash failed") && text.contains("not now"), "{text}");

    let world = world.restart().await;
    world.say("what now?").await;
    world.settled().await;
    assert!(last_text(&world).await.contains("Try one of these"));
}
