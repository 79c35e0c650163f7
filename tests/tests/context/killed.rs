//! Killed in the middle of a compaction: a process of its own is killed at every decision that it comes to. What it leaves is
//! then opened here.

use offshoot_agents::agent::is_running;
use offshoot_agents::settings::Settings;
use offshoot_agents::workbench::Workbench;
use offshoot_protocol::{AgentId, AgentState, Command, Message, SessionId};
use offshoot_tests::mortal::{Life, Scene, is_settled, until};
use offshoot_tests::{Reply, in_root};

use crate::compaction::summary;

fn script() -> Vec<Reply> {
    let script = [
        summary("It began with one."),
        // What was said just before the end is told together with it.
        in_root().when_told("and now?").text("Now."),
        in_root().when_told("second").text("Two."),
        in_root().when_told("first").text("One."),
    ];
    script.into_iter().map(Reply::repeated).collect()
}

fn says(agent: &AgentId, text: &str) -> Command {
    Command::SendMessage { agent: agent.clone(), text: text.into() }
}

fn compacts(agent: &AgentId) -> Command {
    Command::Compact { agent: agent.clone(), instructions: String::new() }
}

async fn root(workbench: &Workbench, session: &SessionId) -> AgentId {
    workbench.snapshot(session).await.unwrap().session.agents[0].id.clone()
}

/// Not a test of its own: the life that the test below takes.
#[tokio::test]
async fn a_life() {
    let Some(life) = Life::given() else { return };
    let (workbench, clock) = life.open(Settings::default());
    let session = workbench.create_session(&life.project).await.unwrap();
    let root = root(&workbench, &session).await;
    for (wish, messages) in [(says(&root, "first"), 2), (compacts(&root), 3), (says(&root, "second"), 5)] {
        workbench.command(&session, wish).await.unwrap();
        until(&workbench, &session, |view| view.agents[0].messages == messages && is_settled(view)).await;
    }
    workbench.shut_down().await;
    life.is_over(&clock);
}

#[tokio::test]
async fn whenever_it_is_killed_a_conversation_is_whole_or_compacted_and_goes_on() {
    let whole = Scene::new("killed::a_life", script());
    let looks = whole.live(u64::MAX).expect("nothing kills it");
    drop(whole);
    let (mut before, mut after) = (0, 0);
    for at in 1..=looks {
        let scene = Scene::new("killed::a_life", script());
        // Timing differs a little between lives, so that one may end before its time.
        scene.live(at);
        match check(&scene, at).await {
            Some(true) => after += 1,
            Some(false) => before += 1,
            None => {}
        }
    }
    assert!(before > 2 && after > 2, "{before} lives ended before the summary, {after} behind it");
}

/// Returns whether the conversation was compacted; nothing when there was none yet.
async fn check(scene: &Scene, at: u64) -> Option<bool> {
    let asked = scene.server.requests().len();
    let workbench = scene.open(Settings::default());
    let session = workbench.sessions().unwrap().first().map(|session| session.id.clone())?;
    let root = root(&workbench, &session).await;
    let view = workbench.snapshot(&session).await.unwrap().session;
    assert!(!is_running(&view.agents[0].state), "killed at {at}: {:#?}", view.agents);
    assert_eq!(scene.server.requests().len(), asked, "killed at {at}: something ran by itself");
    let kept = messages(&workbench, &session, &root).await;
    let is_summary = |message: &Message| message.text().contains("<conversation-summary");
    assert!(kept.iter().filter(|message| is_summary(message)).count() <= 1, "killed at {at}: {kept:#?}");

    workbench.command(&session, says(&root, "and now?")).await.unwrap();
    let view = until(&workbench, &session, is_settled).await;
    assert_eq!(view.agents[0].state, AgentState::Idle, "killed at {at}");
    let now = messages(&workbench, &session, &root).await;
    // Nothing of what was there is lost or told another way.
    assert_eq!(now[..kept.len()], kept, "killed at {at}");
    assert_eq!(now.last().unwrap().text(), "Now.", "killed at {at}");
    let is_compacted = now.iter().any(is_summary);
    let request = scene.server.requests().pop().unwrap();
    assert_eq!(request.mentions("It began with one."), is_compacted, "killed at {at}");
    assert!(!(is_compacted && request.mentions("One.")), "killed at {at}: what is summed up is sent again");

    // And it can be summed up now.
    workbench.command(&session, compacts(&root)).await.unwrap();
    until(&workbench, &session, is_settled).await;
    assert!(is_summary(messages(&workbench, &session, &root).await.last().unwrap()), "killed at {at}");
    workbench.shut_down().await;
    kept.iter().any(|message| message.text() == "One.").then(|| kept.iter().any(is_summary))
}

async fn messages(workbench: &Workbench, session: &SessionId, root: &AgentId) -> Vec<Message> {
    workbench.conversation(session, root, None, u32::MAX).await.unwrap().messages
}
