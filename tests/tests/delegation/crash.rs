//! Killed at any moment: a process of its own lives through a session and is killed in the middle of recording a fact, a
//! different one each time. What it leaves is then opened here.

use std::path::PathBuf;

use offshoot_agents::agent::is_running;
use offshoot_agents::settings::{Forks, Settings};
use offshoot_agents::workbench::Workbench;
use offshoot_protocol::{AgentState, Block, Command, Message, Origin, PermissionMode, SessionId, WorktreeState};
use offshoot_tests::mortal::{Life, Scene, is_settled, until};
use offshoot_tests::{Reply, in_child, in_fork, in_root};
use serde_json::json;

fn settings() -> Settings {
    Settings { forks: Forks::Always, mode: PermissionMode::AcceptEdits, ..Settings::default() }
}

fn script() -> Vec<Reply> {
    let mut script = vec![
        in_root()
            .when_told("start it all")
            .call("Agent", json!({"prompt": "left", "description": "left", "isolation": "worktree"}))
            .call("Agent", json!({"prompt": "right", "description": "right"}))
            .call("Agent", json!({"prompt": "middle", "description": "middle", "subagent_type": "general-purpose"})),
        in_root().text("Noted."),
    ];
    for (name, reply) in [("left", in_fork as fn(&str) -> Reply), ("right", in_fork), ("middle", in_child)] {
        let write = json!({"file_path": format!("{name}.txt"), "content": name});
        script.push(reply(name).when_told(name).call("Read", json!({"file_path": "README.md"})));
        script.push(reply(name).when_result("hello").call("Write", write));
        script.push(reply(name).text(&format!("Scope: {name} is done")));
    }
    script.into_iter().map(Reply::repeated).collect()
}

/// Not a test of its own: the life that the test below takes.
#[tokio::test]
async fn a_life() {
    let Some(life) = Life::given() else { return };
    let (workbench, clock) = life.open(settings());
    let session = workbench.create_session(&life.project).await.unwrap();
    let root = workbench.snapshot(&session).await.unwrap().session.agents[0].id.clone();
    let go = Command::SendMessage { agent: root, text: "start it all".into() };
    workbench.command(&session, go).await.unwrap();
    until(&workbench, &session, |view| view.agents.len() == 4 && is_settled(view)).await;
    workbench.shut_down().await;
    life.is_over(&clock);
}

fn scene() -> Scene {
    Scene::new("crash::a_life", script())
}

fn assert_no_worktree_is_locked(scene: &Scene) {
    let listed = scene.repository.git(&["worktree", "list", "--porcelain"]);
    assert!(!listed.lines().any(|line| line.starts_with("locked")), "{listed}");
}

#[tokio::test]
async fn whenever_it_is_killed_nothing_is_lost_told_twice_or_run_by_itself() {
    let whole = scene();
    let looks = whole.live(u64::MAX).expect("nothing kills it");
    drop(whole);
    // Spread over the whole life, a little shifted from one run of the sample to the next.
    let mut rng = fastrand::Rng::with_seed(3);
    let sample = 14;
    for part in 0..sample {
        let (from, to) = (1 + part * looks / sample, 1 + (part + 1) * looks / sample);
        let at = rng.u64(from..to.max(from + 1));
        let scene = scene();
        // Timing differs a little between lives, so that one may end before its time.
        scene.live(at);
        check(&scene, at).await;
    }
}

async fn check(scene: &Scene, at: u64) {
    let asked = scene.server.requests().len();
    let workbench = scene.open(settings());
    let Some(session) = workbench.sessions().unwrap().first().map(|session| session.id.clone()) else {
        return;
    };
    let view = workbench.snapshot(&session).await.unwrap().session;
    let root = view.agents[0].id.clone();
    assert!(view.agents.iter().all(|agent| !is_running(&agent.state)), "killed at {at}: {:#?}", view.agents);
    for child in &view.agents[1..] {
        let is_over = matches!(child.state, AgentState::Completed | AgentState::Interrupted);
        assert!(is_over && child.outcome.is_some(), "killed at {at}: {child:#?}");
        if let Some(worktree) = child.worktree.as_ref().filter(|worktree| worktree.state == WorktreeState::Live) {
            assert!(PathBuf::from(&worktree.path).join("README.md").is_file(), "killed at {at}");
        }
    }
    assert_no_worktree_is_locked(scene);
    assert_told_once(&workbench, &session, at).await;
    assert_eq!(scene.server.requests().len(), asked, "killed at {at}: something ran by itself");

    // Every child can go on, and the next request of everybody is valid: the server polices that.
    for child in view.agents[1..].iter().filter(|child| child.state == AgentState::Interrupted) {
        workbench.command(&session, Command::Resume { agent: child.id.clone() }).await.unwrap();
    }
    let more = Command::SendMessage { agent: root.clone(), text: "and now?".into() };
    workbench.command(&session, more).await.unwrap();
    let view = until(&workbench, &session, is_settled).await;
    assert_eq!(view.agents[0].state, AgentState::Idle, "killed at {at}");
    for child in &view.agents[1..] {
        assert_eq!(child.state, AgentState::Completed, "killed at {at}: {child:#?}");
    }
    assert_told_once(&workbench, &session, at).await;
    let messages = workbench.conversation(&session, &root, None, u32::MAX).await.unwrap().messages;
    // Each report reached the root once: as a notification, or as the result of the call that waited for it.
    for child in &view.agents[1..] {
        let is_its = |text: &&str| text.contains(child.id.as_str()) && text.contains("is done");
        let reports: Vec<&str> = told(&messages).filter(is_its).collect();
        assert_eq!(reports.len(), 1, "killed at {at}: {reports:#?} {child:#?}");
    }
    workbench.shut_down().await;
    assert_no_worktree_is_locked(scene);
}

/// Notifications and results.
fn told(messages: &[Message]) -> impl Iterator<Item = &str> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    blocks.filter_map(|block| match block {
        Block::Text { text, origin: Origin::Notification } => Some(text.as_str()),
        Block::Result { content, .. } => Some(content.as_str()),
        _ => None,
    })
}

/// Every end of a background child made one notification, and none is in two messages.
async fn assert_told_once(workbench: &Workbench, session: &SessionId, at: u64) {
    let events = workbench.subscribe(session, 0).await.unwrap().next().await.events;
    offshoot_tests::ledger::assert_told_once(&events).unwrap_or_else(|error| panic!("killed at {at}: {error}"));
}
