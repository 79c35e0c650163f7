//! Forks' changes brought home: through the core, with its log and its reminders, and on the command line.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use offshoot_protocol::{Command, MergeHow, MergeSelection, Origin, PermissionMode, RejectedCode, WorktreeState};
use offshoot_tests::{Reply, Setup, World, reply};
use serde_json::json;

/// A reply for the root.
fn in_root() -> Reply {
    reply().when(|request| !request.mentions("<fork-directive>"))
}

/// A reply for the fork with this directive, at whatever step.
fn in_fork(directive: &str) -> Reply {
    let tag = format!("\"text\":\"{directive}");
    reply().when(move |request| String::from_utf8_lossy(&request.raw).contains(&tag))
}

/// A root with two forks in worktrees that have changed the same line, each a file of its own, too.
async fn two_forks() -> World {
    let edit = |new: &str| json!({"file_path": "src/a.txt", "old_string": "two", "new_string": new});
    let script = [
        in_root()
            .when_told("both")
            .call("Agent", json!({"prompt": "task one", "description": "one", "isolation": "worktree"}))
            .call("Agent", json!({"prompt": "task two", "description": "two", "isolation": "worktree"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("task one").when_told("task one").call("Read", json!({"file_path": "src/a.txt"})),
        in_fork("task one").when_result("three").call("Edit", edit("TWO")),
        in_fork("task one").repeated().text("Scope: one\nResult: edited"),
        in_fork("task two").when_told("task two").call("Read", json!({"file_path": "src/a.txt"})),
        in_fork("task two")
            .when_result("three")
            .call("Edit", edit("deux"))
            .call("Write", json!({"file_path": "new.txt", "content": "new\n"})),
        in_fork("task two").repeated().text("Scope: two\nResult: edited"),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
        in_root().when_told("what now").text("I see."),
    ];
    let mut setup = Setup::default();
    setup.settings.mode = PermissionMode::AcceptEdits;
    let world = World::with(setup, script).await;
    world.say("both").await;
    world.settled().await;
    world
}

#[tokio::test]
async fn changes_come_home_are_on_record_and_the_parent_is_told() {
    let world = two_forks().await;
    let (one, two) = (world.agent("one").await, world.agent("two").await);
    let (workbench, session) = (&world.workbench, &world.session);
    let clashes = workbench.conflicts(session).await.unwrap();
    assert_eq!(clashes.len(), 1);
    assert_eq!(clashes[0].files, ["src/a.txt"]);

    let agents = [one.id.clone(), two.id.clone()];
    let preview = workbench.merge_preview(session, &agents, MergeSelection::All).await.unwrap();
    assert_eq!(preview.conflicts.len(), 1);
    assert_eq!(preview.conflicts[0].other.as_ref(), Some(&one.id));
    let refused = workbench.merge_apply(session, &preview.merge, false, MergeHow::Apply).await.unwrap_err();
    assert_eq!(refused.code, RejectedCode::NotApplicable);
    assert_eq!(world.repository.git(&["status", "--porcelain"]), "");

    let done = workbench.merge_apply(session, &preview.merge, true, MergeHow::Apply).await.unwrap();
    assert_eq!(done.files, ["new.txt", "src/a.txt"]);
    assert_eq!(world.repository.read("src/a.txt"), "one\nTWO\nthree\n");
    let view = world.view().await;
    assert_eq!((view.applied.len(), view.applied[0].undone), (1, false));
    assert_eq!((&view.applied[0].into, view.applied[0].agents.as_slice()), (&world.root, &agents[..]));
    let queue = &view.agents[0].queue;
    assert!(queue.iter().any(|input| input.origin == Origin::Reminder && input.text.contains("new.txt")), "{queue:?}");

    // It is on record, also after a restart, and can be taken out again then.
    let world = world.restart().await;
    assert_eq!(world.view().await.applied.len(), 1);
    world.workbench.merge_undo(&world.session, &done.merge).await.unwrap();
    assert_eq!(world.repository.git(&["status", "--porcelain"]), "");
    assert!(world.view().await.applied[0].undone);
    let again = world.workbench.merge_undo(&world.session, &done.merge).await.unwrap_err();
    assert_eq!(again.code, RejectedCode::Gone);
    world.say("what now").await;
    world.settled().await;
    let requests = world.server.finish();
    assert!(requests.last().unwrap().mentions("has put into your directory, uncommitted"));
}

#[tokio::test]
async fn a_worktree_is_put_away_and_brought_back() {
    let world = two_forks().await;
    let two = world.agent("two").await;
    let path = two.worktree.clone().unwrap().path;
    world.wish(Command::DiscardWorktree { agent: two.id.clone() }).await;
    world.workbench.worktrees().settle().await;
    assert!(!std::path::Path::new(&path).exists());
    let state = world.agent("two").await.worktree.unwrap().state;
    assert!(matches!(state, WorktreeState::Removed { kept_as: Some(reference) } if reference.starts_with("refs/")));
    assert!(world.workbench.changes(&world.session, &two.id).await.is_err());

    let world = world.restart().await;
    world.wish(Command::RestoreWorktree { agent: two.id.clone() }).await;
    let worktree = world.agent("two").await.worktree.unwrap();
    assert_eq!((worktree.state, worktree.path.as_str()), (WorktreeState::Live, path.as_str()));
    assert_eq!(std::fs::read_to_string(format!("{path}/new.txt")).unwrap(), "new\n");
    let summary = world.workbench.changes(&world.session, &two.id).await.unwrap();
    assert_eq!(summary.files.len(), 2);
    let refused = world.try_wish(Command::RestoreWorktree { agent: two.id }).await.unwrap_err();
    assert_eq!(refused.code, RejectedCode::NotApplicable);
}
