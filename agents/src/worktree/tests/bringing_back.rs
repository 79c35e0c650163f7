use super::*;
use std::sync::Mutex;

/// Files, staged state and HEAD of a worktree.
fn whole(fixture: &Fixture, worktree: &Worktree) -> (std::collections::BTreeMap<String, Vec<u8>>, Vec<String>) {
    let git = |args: &[&str]| fixture.git(worktree.path(), args);
    let state = vec![
        git(&["rev-parse", "HEAD"]),
        git(&["branch", "--show-current"]),
        git(&["ls-files", "--stage"]),
        git(&["status", "--porcelain", "--ignored", "-z"]),
    ];
    (files(worktree.path()), state)
}

#[tokio::test]
async fn everything_comes_back_to_the_byte() {
    let fixture = Fixture::new();
    let project = fixture.project();
    write(&project, "old-name.txt", "the same content\nin two lines\n");
    write(&project, "staged-then-changed.txt", "1");
    fixture.commit(&project, "more");
    write(&project, "dirty.txt", "of the parent");
    let before = fixture.state(&project);
    let (worktrees, worktree) = made(&fixture).await;
    let path = worktree.path();
    write(path, "committed.txt", "x");
    fixture.commit(path, "unmerged");
    write(path, "staged-then-changed.txt", "2");
    fixture.git(path, &["add", "staged-then-changed.txt"]);
    write(path, "staged-then-changed.txt", "3");
    write(path, "staged-only.txt", "x");
    fixture.git(path, &["add", "staged-only.txt"]);
    std::fs::remove_file(path.join("staged-only.txt")).unwrap();
    std::fs::rename(path.join("old-name.txt"), path.join("new name.txt")).unwrap();
    write(path, "untracked/ü \"q\"\n漢.bin", [0, 159, 146, 150]);
    write(path, "crlf.txt", "a\r\nb\nc\r");
    write(path, "notes.log", "ignored, but small");
    std::os::unix::fs::symlink("/nowhere/at/all", path.join("dangling")).unwrap();
    set_executable(&path.join("README.md"), true);
    write(path, "target/huge", vec![0; 40 << 20]);
    let there = whole(&fixture, &worktree);

    let archive = worktrees.archive(&worktree).await.unwrap();
    assert_eq!(archive.left_out, ["target"]);
    assert!(!path.exists());
    assert_eq!(fixture.git(&project, &["branch", "--list", "offshoot/*"]), "");
    assert_eq!(fixture.git(&project, &["rev-parse", &archive.reference]).trim(), archive.commit);
    fixture.git(&project, &["gc", "--quiet", "--prune=now"]);

    let back = worktrees.restore(&fixture.repository(), Trust::Trusted, &archive.reference, None).await.unwrap();
    std::fs::create_dir(back.path().join("target")).unwrap();
    write(back.path(), "target/huge", vec![0; 40 << 20]);
    let now = whole(&fixture, &back);
    assert_eq!(now.0, there.0);
    assert_eq!(now.1, there.1);
    assert_eq!((&back.branch, &back.base, back.path()), (&worktree.branch, &worktree.base, path));
    assert_eq!((back.base_is_snapshot, back.created_at), (true, worktree.created_at));
    verify(&back).unwrap();
    assert_eq!(fixture.state(&project).get("git:refs"), before.get("git:refs"));
    assert_eq!(files(&project), files(&project));
}

#[tokio::test]
async fn bytes_that_git_would_convert_come_back_too() {
    let fixture = Fixture::new();
    let project = fixture.project();
    write(&project, ".gitattributes", "*.txt text eol=crlf\n*.c ident\n");
    write(&project, "a.txt", "one\r\ntwo\r\n");
    write(&project, "b.txt", "one\r\ntwo\r\n");
    write(&project, "id.c", "// $Id$\n");
    fixture.commit(&project, "line endings");
    let (worktrees, worktree) = made(&fixture).await;
    // The first differs for git, the second only on disk.
    write(worktree.path(), "a.txt", "one\nthree\r\nfour\n");
    write(worktree.path(), "b.txt", "one\ntwo\n");
    write(worktree.path(), "new.txt", "mixed\r\nendings\n");
    write(worktree.path(), "id.c", "// $Id: by hand $\n");
    let there = files(worktree.path());
    let archive = worktrees.archive(&worktree).await.unwrap();
    let back = worktrees.restore(&fixture.repository(), Trust::Trusted, &archive.reference, None).await.unwrap();
    assert_eq!(files(back.path()), there);
    // And once more, from what was restored.
    let again = worktrees.discard(&back).await.unwrap();
    assert_ne!(again.reference, archive.reference);
    let back = worktrees.restore(&fixture.repository(), Trust::Trusted, &again.reference, None).await.unwrap();
    assert_eq!(files(back.path()), there);
}

#[tokio::test]
async fn detached_and_conflicted_worktrees_can_be_archived() {
    let fixture = Fixture::new();
    let (worktrees, worktree) = made(&fixture).await;
    let path = worktree.path();
    write(path, "README.md", "ours");
    let on_branch = fixture.commit(path, "ours");
    fixture.git(path, &["checkout", "--quiet", "--detach", "HEAD^"]);
    write(path, "README.md", "theirs");
    let detached = fixture.commit(path, "theirs");
    assert!(!fixture.try_git(path, &["merge", &on_branch]).0);
    let there = files(path);
    let archive = worktrees.archive(&worktree).await.unwrap();
    fixture.git(&fixture.project(), &["gc", "--quiet", "--prune=now"]);
    let back = worktrees.restore(&fixture.repository(), Trust::Trusted, &archive.reference, None).await.unwrap();
    assert_eq!(files(back.path()), there);
    assert_eq!(fixture.git(back.path(), &["rev-parse", "HEAD"]).trim(), detached);
    // What was on the branch is kept by the archive.
    fixture.git(&fixture.project(), &["merge-base", "--is-ancestor", &on_branch, &archive.commit]);
}

#[tokio::test]
async fn a_worktree_with_a_repository_inside_is_kept() {
    let fixture = Fixture::new();
    let (worktrees, worktree) = made(&fixture).await;
    fixture.git(worktree.path(), &["init", "--quiet", "inner"]);
    write(worktree.path(), "inner/precious.txt", "x");
    let error = worktrees.discard(&worktree).await.unwrap_err();
    assert!(matches!(&error, WorktreeError::Nested { nested, .. } if nested == &["inner"]), "{error}");
    assert!(worktree.path().join("inner/precious.txt").exists());
    assert_eq!(fixture.git(&fixture.project(), &["for-each-ref", "refs/offshoot/archive"]), "");
}

struct TestClock(Mutex<Timestamp>);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

#[tokio::test]
async fn what_was_discarded_expires_after_thirty_days_and_archives_do_not() {
    let fixture = Fixture::new();
    let clock = Arc::new(TestClock(Mutex::new("2026-01-01T00:00:00Z".parse().unwrap())));
    let worktrees = Worktrees::new(fixture.worktrees_root(), fixture.offshoot(), clock.clone());
    let kept = worktrees.create(spec("kept", fixture.project())).await.unwrap();
    let thrown = worktrees.create(spec("thrown", fixture.project())).await.unwrap();
    worktrees.archive(&kept).await.unwrap();
    write(thrown.path(), "new.txt", "x");
    let archive = worktrees.discard(&thrown).await.unwrap();
    assert_eq!(archive.expires_at, Some("2026-01-31T00:00:00Z".parse().unwrap()));
    let repository = fixture.repository();
    *clock.0.lock().unwrap() = "2026-01-30T23:59:59Z".parse().unwrap();
    assert_eq!(worktrees.expire(&repository).await.unwrap(), Vec::<String>::new());
    let archives = worktrees.archives(&repository).await.unwrap();
    let ids: Vec<_> = archives.iter().map(|archived| archived.id.as_str()).collect();
    assert_eq!(ids, ["kept", "thrown"]);
    *clock.0.lock().unwrap() = "2026-01-31T00:00:00Z".parse().unwrap();
    assert_eq!(worktrees.expire(&repository).await.unwrap(), [archive.reference]);
    assert_eq!(worktrees.archives(&repository).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_archive_made_by_somebody_else_leads_nowhere() {
    let fixture = Fixture::new();
    let project = fixture.project();
    let head = fixture.git(&project, &["rev-parse", "HEAD"]).trim().to_owned();
    let plant = |name: &str, id: &str, prefix: &str, branch: &str| {
        let state = serde_json::json!({
            "id": id, "branch": branch, "base": head, "base_is_snapshot": false, "prefix": prefix, "on_branch": true,
            "created_at": "2026-01-01T00:00:00Z", "archived_at": "2026-01-01T00:00:00Z", "expires_at": null,
            "head": head, "staged": null, "bytes": null,
        });
        let message = format!("x\n\nOffshoot-Archive: {state}\n");
        let commit = fixture.git(&project, &["commit-tree", &format!("{head}^{{tree}}"), "-m", &message]);
        let reference = format!("refs/offshoot/archive/{name}");
        fixture.git(&project, &["update-ref", &reference, commit.trim()]);
        reference
    };
    let worktrees = fixture.worktrees();
    let bad = [plant("a", "../../x", "", "offshoot/x"), plant("b", "b", "../../..", "x"), plant("c", "c", "/etc", "x")];
    for reference in bad.iter().map(String::as_str).chain(["refs/heads/main", "refs/offshoot/archive/none"]) {
        let error = worktrees.restore(&fixture.repository(), Trust::Trusted, reference, None).await.unwrap_err();
        assert!(matches!(error, WorktreeError::NoArchive(_)), "{error}");
    }
    let odd = plant("d", "d", "", "offshoot/../../main");
    let made = worktrees.restore(&fixture.repository(), Trust::Trusted, &odd, None).await.unwrap();
    assert_eq!(made.branch, "offshoot/main");
    assert!(made.path().starts_with(fixture.worktrees_root()));
}

#[tokio::test]
async fn copied_files_are_copied_again_and_never_stored() {
    let fixture = Fixture::new();
    let project = fixture.project();
    write(&project, ".worktreeinclude", ".env\n");
    write(&project, ".env", "SECRET=1");
    let (worktrees, worktree) = made(&fixture).await;
    write(worktree.path(), "new.txt", "x");
    let archive = worktrees.archive(&worktree).await.unwrap();
    let objects = fixture.git(&project, &["rev-list", "--objects", &archive.reference]);
    assert!(!objects.contains(".env"), "{objects}");
    let back = worktrees.restore(&fixture.repository(), Trust::Trusted, &archive.reference, None).await.unwrap();
    assert_eq!(std::fs::read(back.path().join(".env")).unwrap(), b"SECRET=1");
    std::fs::remove_file(back.path().join("new.txt")).unwrap();
    let finished = worktrees.finish(&back).await.unwrap();
    assert_eq!(finished, Finished::Removed { ignored: vec![] });
}
