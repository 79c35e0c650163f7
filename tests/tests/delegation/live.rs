//! What happens in a worktree is told at once, whoever does it, without the end of a turn.

use std::time::Duration;

use offshoot_agents::journal::Subscription;
use offshoot_protocol::{AgentId, ChangeCount, Delta, PermissionMode};
use offshoot_tests::{Setup, World, reply};
use serde_json::json;

/// Long enough for a busy machine; a test that works never waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until an agent's changes are told to be these, for so long at most.
pub(crate) async fn told(subscription: &mut Subscription, agent: &AgentId, wanted: ChangeCount, patience: Duration) {
    let listen = async {
        loop {
            for delta in subscription.next().await.deltas {
                if matches!(&delta, Delta::Changes { agent: whose, count } if whose == agent && *count == wanted) {
                    return;
                }
            }
        }
    };
    tokio::time::timeout(patience, listen).await.unwrap_or_else(|_| panic!("nobody told of {wanted:?}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_on_disk_is_told_without_a_turn() {
    let mut setup = Setup::default();
    setup.settings.mode = PermissionMode::AcceptEdits;
    let in_root = || reply().when(|request| !request.mentions("<fork-directive>"));
    let in_fork = || reply().when(|request| request.mentions("<fork-directive>"));
    let script = [
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "task", "description": "one", "isolation": "worktree"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork().when_told("task").call("Write", json!({"file_path": "new.txt", "content": "new\n"})),
        in_fork().repeated().text("Scope: one\nResult: written"),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
    ];
    let world = World::with(setup, script).await;
    let (workbench, session) = (&world.workbench, &world.session);
    workbench.follow_changes(session).await.unwrap();
    let mut subscription = workbench.subscribe(session, 0).await.unwrap();
    world.say("go").await;
    world.settled().await;
    let agent = world.agent("one").await;
    let place = std::path::PathBuf::from(&agent.directory);

    // Looked at, so that it stays watched although its agent has ended.
    let summary = workbench.changes(session, &agent.id).await.unwrap();
    assert_eq!(summary.count, ChangeCount { files: 1, added: 1, removed: 0 });
    std::fs::write(place.join("new.txt"), "one\ntwo\n").unwrap();
    told(&mut subscription, &agent.id, ChangeCount { files: 1, added: 2, removed: 0 }, PATIENCE).await;
    let summary = workbench.changes(session, &agent.id).await.unwrap();
    assert_eq!(summary.count, ChangeCount { files: 1, added: 2, removed: 0 });
    let diff = workbench.file_diff(session, &agent.id, "new.txt", false).await.unwrap();
    assert_eq!(diff.hunks[0].lines[1].text, "two");

    // Another content of the same size counts, too: whoever shows the lines reads them again.
    std::fs::write(place.join("new.txt"), "one\nTWO\n").unwrap();
    told(&mut subscription, &agent.id, ChangeCount { files: 1, added: 2, removed: 0 }, PATIENCE).await;
    let diff = workbench.file_diff(session, &agent.id, "new.txt", false).await.unwrap();
    assert_eq!(diff.hunks[0].lines[1].text, "TWO");

    std::fs::remove_file(place.join("new.txt")).unwrap();
    told(&mut subscription, &agent.id, ChangeCount::default(), PATIENCE).await;
    world.server.finish();
}
