//! Changes on their way home.

use offshoot_tests::{Scripted, reply};
use serde_json::{Value, json};

use super::Place;

#[tokio::test]
async fn a_forks_changes_are_shown_merged_and_put_away() {
    let place = Place::new();
    let server = Scripted::start([
        reply()
            .when_told("delegate")
            .call("Agent", json!({"prompt": "do it", "description": "work", "isolation": "worktree"})),
        reply().when_result("async_launched").text("Waiting."),
        reply().when_told("do it").call("Write", json!({"file_path": "new.txt", "content": "new\n"})),
        reply().when_result("new.txt").text("Scope: work\nResult: done"),
        reply().when_told("<task-notification>").text("Noted."),
    ]);
    let arguments = ["--forks", "always", "--permission-mode", "accept-edits", "delegate"];
    place.exec(&server, &arguments).await.expect(0);
    let session = place.sessions().await[0]["id"].as_str().unwrap().to_owned();
    let tree: Value = serde_json::from_str(&place.run(&["tree", &session, "--json"]).await.out()).unwrap();
    let agent = tree["session"]["agents"][1]["id"].as_str().unwrap().to_owned();

    let shown = place.run(&["changes", &agent]).await;
    shown.expect(0);
    assert_eq!(shown.out(), "A new.txt +1 -0\n");
    let hunks = place.run(&["changes", &agent, "--hunks"]).await;
    assert!(hunks.out().ends_with("\n+new\n"), "{}", hunks.out());
    let dry = place.run(&["merge", &agent, "--how", "apply", "--dry-run"]).await;
    dry.expect(0);
    let new = place.repository.path().join("new.txt");
    assert!(dry.out() == "A new.txt +1 -0\n" && !new.exists(), "{}", dry.out());
    let patch = place.run(&["merge", &agent, "--how", "patch"]).await;
    let from = format!("Offshoot-Agent: {agent} work (base ");
    assert!(
        patch.out().starts_with(&from) && patch.out().contains("\ndiff --git a/new.txt b/new.txt\n"),
        "{}",
        patch.out()
    );
    place.run(&["merge", &agent, "--files", "no.txt"]).await.expect(2);
    place.run(&["merge", &agent, "--undo"]).await.expect(2);

    std::fs::write(&new, "mine\n").unwrap();
    let refused = place.run(&["merge", &agent, "--how", "apply"]).await;
    refused.expect(1);
    assert!(refused.out().contains("conflict new.txt") && refused.err().contains("nothing was touched"));
    assert_eq!(place.repository.read("new.txt"), "mine\n");
    let conflicts = place.run(&["conflicts", &session, "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&conflicts.out()).unwrap()[0]["files"], json!(["new.txt"]));
    std::fs::remove_file(&new).unwrap();
    place.run(&["merge", &agent, "--how", "squash", "-m", "Bring it home"]).await.expect(0);
    assert_eq!(place.repository.git(&["log", "-1", "--format=%s"]), "Bring it home");
    assert!(place.repository.git(&["log", "-1", "--format=%b"]).starts_with(&from));
    place.run(&["merge", &agent, "--undo"]).await.expect(0);
    assert!(!new.exists(), "the commit and its file are taken back");
    place.run(&["merge", &agent, "--how", "rebase"]).await.expect(0);
    assert_eq!(place.repository.git(&["log", "-1", "--format=%s", "--", "new.txt"]), "work");

    let listed = place.run(&["worktrees", "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&listed.out()).unwrap()[0]["standing"], "live");
    place.run(&["worktrees", "archive", &agent]).await.expect(0);
    let archived = place.run(&["worktrees", "--json"]).await;
    let rows: Value = serde_json::from_str(&archived.out()).unwrap();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["standing"]), (1, &json!("archived")));
    place.run(&["worktrees", "restore", &agent]).await.expect(0);
    assert_eq!(place.run(&["changes", &agent]).await.out(), "A new.txt +1 -0\n");
    place.run(&["worktrees", "repair"]).await.expect(0);
    place.run(&["merge", "nobody", "--how", "apply"]).await.expect(2);
    let kept = place.run(&["sessions", "delete", &session]).await;
    assert!(kept.expect(0).err().contains("on branch offshoot/work-"), "{}", kept.err());

    // What a deleted session leaves is still in reach.
    let discarded = place.run(&["worktrees", "discard", &agent]).await;
    assert!(discarded.expect(0).err().contains(" until 20"), "{}", discarded.err());
    let listed = place.run(&["worktrees"]).await;
    assert!(listed.out().contains(&format!("{agent} discarded until 20")), "{}", listed.out());
    let restored = place.run(&["worktrees", "restore", &agent, "--json"]).await;
    let restored: Value = serde_json::from_str(&restored.expect(0).out()).unwrap();
    let there = std::path::Path::new(restored["path"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(there.join("new.txt")).unwrap(), "new\n");
    let repaired = place.run(&["worktrees", "repair"]).await;
    assert!(repaired.expect(0).err().contains("Nothing had to be put right."), "{}", repaired.err());
}
