//! The `Commit` tool: on an isolated agent's own branch, and in the person's checkout with their permission.

use offshoot_protocol::{Answer, CallResult, EventBody, ResultDetail};
use offshoot_tests::{Setup, World, in_fork, in_root, reply};
use serde_json::json;

/// The result of the last call of a tool that made a commit.
async fn commits(world: &World) -> Vec<(String, CallResult)> {
    let results = world.events().await.into_iter().filter_map(|event| match event.body {
        EventBody::CallEnded { result, .. } => match &result.detail {
            Some(ResultDetail::Committed { commit, .. }) => Some((commit.clone(), result)),
            _ => None,
        },
        _ => None,
    });
    results.collect()
}

#[tokio::test]
async fn a_fork_commits_in_its_worktree_and_reports_the_hash() {
    let directive = "Write two files, commit your changes and report the hash";
    let fork = json!({"prompt": directive, "description": "two", "isolation": "worktree"});
    let world = World::with(
        Setup { rules: super::allow(&["Edit"]), ..Setup::default() },
        [
            in_root().when_told("go").call("Agent", fork),
            in_root().when_result("async_launched").text("Waiting."),
            in_root().when_told("<task-notification>").repeated().text("Noted."),
            in_fork(directive)
                .when_told(directive)
                .call("Write", json!({"file_path": "one.txt", "content": "1\n2\n"}))
                .call("Write", json!({"file_path": "sub/two.txt", "content": "2\n"}))
                .call("Bash", json!({"command": "git status --short"})),
            in_fork(directive)
                .when_result("two.txt")
                .call("Commit", json!({"message": "Add one\n\nIt was asked for.", "paths": ["one.txt"]})),
            in_fork(directive).when_result("1 file, 2 insertions").call("Commit", json!({"message": "Add two"})),
            in_fork(directive).when_result("sub/two.txt").call("Commit", json!({"message": "Again"})),
            in_fork(directive).when_result("nothing_to_commit").text("Scope: two files\nResult: committed"),
        ],
    )
    .await;
    let before = world.repository.git(&["rev-parse", "HEAD"]);
    world.say("go").await;
    world.settled().await;
    let made = commits(&world).await;
    let [(first, told), (second, _)] = made.as_slice() else { panic!("{made:?}") };
    let fork = world.agent("two").await;
    let worktree = fork.worktree.unwrap();
    assert!(told.content.starts_with(&format!("Committed {first} on {}", worktree.branch)), "{}", told.content);
    // The branch has both, one after the other; nobody else's moved.
    let log = world.repository.git(&["log", "--format=%H %s", "-2", &worktree.branch]);
    assert_eq!(log.trim(), format!("{second} Add two\n{first} Add one"));
    let names = |commit: &str| world.repository.git(&["show", "--format=", "--name-only", commit]).trim().to_owned();
    assert_eq!((names(first).as_str(), names(second).as_str()), ("one.txt", "sub/two.txt"));
    assert_eq!(world.repository.git(&["rev-parse", "HEAD"]), before);
    assert!(!world.repository.path().join("one.txt").exists());
    let clean = std::process::Command::new("git").args(["-C", &worktree.path, "status", "--short"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&clean.stdout), "", "what was committed is no change any more");
    world.server.finish();
}

#[tokio::test]
async fn in_the_checkout_it_asks_and_leaves_what_is_staged() {
    let world = World::new([
        reply().when_told("commit").call("Commit", json!({"message": "It's done", "paths": ["README.md"]})),
        reply().when_result("Committed").text("Done."),
        reply().when_told("again").call("Commit", json!({"message": "No"})),
        reply().when_result("did not allow").text("Not then."),
    ])
    .await;
    world.repository.write("README.md", "changed\n");
    world.repository.write("src/a.txt", "staged\n");
    world.repository.git(&["add", "src/a.txt"]);
    world.say("commit").await;
    let request = world.asked(|request| request.tool == "Commit").await;
    let command = "git add --all -- README.md && git commit -m 'It'\\''s done' --only -- README.md";
    assert_eq!(request.access, offshoot_protocol::Access::Command { command: command.to_owned() });
    world.answer(&request, Answer::AllowOnce).await;
    world.settled().await;
    assert_eq!(world.repository.git(&["show", "--format=%s", "--name-only"]).trim(), "It's done\n\nREADME.md");
    assert_eq!(world.repository.git(&["diff", "--cached", "--name-only"]).trim(), "src/a.txt");
    world.say("again").await;
    let request = world.asked(|_| true).await;
    world.answer(&request, Answer::Deny { reason: None }).await;
    world.settled().await;
    assert_eq!(world.repository.git(&["log", "--format=%s", "-1"]).trim(), "It's done");
    world.server.finish();
}

#[tokio::test]
async fn no_hook_or_signature_of_the_repository_runs() {
    let world = World::with(
        Setup { rules: super::allow(&["Bash(git add *)", "Bash(git commit *)"]), ..Setup::default() },
        [
            reply().when_told("commit").call("Commit", json!({"message": "x"})),
            reply().when_result("is not signed").text("Done."),
        ],
    )
    .await;
    world.repository.write("README.md", "changed\n");
    let ran = world.repository.beside("ran");
    let hook = format!("#!/bin/sh\ntouch '{}'\n", ran.display());
    for name in ["pre-commit", "commit-msg", "post-commit", "prepare-commit-msg", "reference-transaction"] {
        let path = world.repository.path().join(".git/hooks").join(name);
        std::fs::write(&path, &hook).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let program = world.repository.path().join(".git/hooks/pre-commit");
    world.repository.git(&["config", "commit.gpgSign", "true"]);
    world.repository.git(&["config", "gpg.program", program.to_str().unwrap()]);
    world.say("commit").await;
    world.settled().await;
    assert!(!ran.exists(), "a program of the repository's ran");
    assert_eq!(commits(&world).await.len(), 1);
    world.server.finish();
}
