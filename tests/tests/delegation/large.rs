//! A repository of 80 000 files: an edit in a fork's worktree is told sooner than anybody could look at all of them.

use std::time::{Duration, Instant};

use offshoot_protocol::{ChangeCount, Delta, PermissionMode, WorktreeState};
use offshoot_tests::{Setup, World, in_fork, in_root};
use serde_json::json;

use crate::live::told;

/// Files of the repository.
const FILES: usize = 80_000;

/// Long enough for a busy machine; a test that works never waits for it.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_among_eighty_thousand_files_is_told_before_a_look_at_all_could_end() {
    let mut setup = Setup::default();
    setup.settings.mode = PermissionMode::AcceptEdits;
    let script = [
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "one", "description": "one", "isolation": "worktree"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("one").call("Write", json!({"file_path": "new.txt", "content": "new\n"})),
        in_fork("one").repeated().text("Scope: one\nResult: written"),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
    ];
    let world = World::with(setup, script).await;
    for folder in 0..FILES / 16 {
        let path = world.repository.path().join(format!("part-{}/module-{folder}", folder % 20));
        std::fs::create_dir_all(&path).unwrap();
        for file in 0..16 {
            // All of them hold the same, so that git stores it once.
            std::fs::write(path.join(format!("file-{file}.c")), "int x;\n").unwrap();
        }
    }
    world.repository.commit("Everything");
    let (workbench, session) = (&world.workbench, &world.session);
    workbench.follow_changes(session).await.unwrap();
    let mut subscription = workbench.subscribe(session, 0).await.unwrap();
    let mut counted = Vec::new();
    world.say("go").await;
    let made = async {
        loop {
            for delta in subscription.next().await.deltas {
                if let Delta::Making { done, all, .. } = delta {
                    counted.push((done, all));
                }
            }
            let view = world.view().await;
            let worktree = view.agents.get(1).and_then(|fork| fork.worktree.clone());
            if worktree.is_some_and(|worktree| worktree.state == WorktreeState::Live) {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, made).await.expect("the worktree is made");
    // The three files of every project here are among them.
    let all = u32::try_from(FILES).unwrap() + 2;
    assert!(counted.iter().any(|(done, of)| *of == all && *done > 0), "{counted:?}");
    assert!(counted.len() < 150, "told {} times", counted.len());
    world.until("the fork has ended", |view| view.agents[1].outcome.is_some()).await;

    let agent = world.agent("one").await;
    let place = std::path::PathBuf::from(&agent.directory);
    let summary = workbench.changes(session, &agent.id).await.unwrap();
    assert_eq!(summary.count, ChangeCount { files: 1, added: 1, removed: 0 });
    let (mut edits, mut looks) = (Vec::new(), Vec::new());
    for lines in 2..7_u32 {
        let begun = Instant::now();
        std::fs::write(place.join("new.txt"), "line\n".repeat(lines as usize)).unwrap();
        told(&mut subscription, &agent.id, ChangeCount { files: 1, added: lines, removed: 0 }, PATIENCE).await;
        edits.push(begun.elapsed());
        let begun = Instant::now();
        world.repository.git_in(&place, &["status", "--porcelain"]);
        looks.push(begun.elapsed());
    }
    edits.sort();
    looks.sort();
    println!("from an edit to its summary {:?}; `git status` {:?}", edits[2], looks[2]);
    assert!(edits[2] < looks[2], "{edits:?} against {looks:?}");
}
