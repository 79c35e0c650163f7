use super::*;
use std::time::{Duration, SystemTime};

#[tokio::test]
async fn an_unchanged_worktree_goes_with_everything_that_belongs_to_it() {
    let fixture = Fixture::new();
    let before = fixture.state(&fixture.project());
    let (worktrees, worktree) = made(&fixture).await;
    write(worktree.path(), "build.log", "x");
    let finished = worktrees.finish(&worktree).await.unwrap();
    assert_eq!(finished, Finished::Removed { ignored: vec!["build.log".into()] });
    assert!(!worktree.path().exists());
    worktrees.settle().await;
    fixture.assert_nothing_left();
    assert_eq!(fixture.state(&fixture.project()), before);
}

#[tokio::test]
async fn any_change_keeps_it() {
    type Change = fn(&Fixture, &Path);
    let fixture = Fixture::new();
    let changes: [(&str, Change); 9] = [
        ("untracked", |_, path| write(path, "new.txt", "x")),
        ("unstaged", |_, path| write(path, "README.md", "x")),
        ("deleted", |_, path| std::fs::remove_file(path.join("README.md")).unwrap()),
        ("mode", |_, path| set_executable(&path.join("README.md"), true)),
        ("staged, then undone in the file", |fixture, path| {
            let old = std::fs::read(path.join("README.md")).unwrap();
            write(path, "README.md", "x");
            fixture.git(path, &["add", "README.md"]);
            write(path, "README.md", old);
        }),
        ("committed, then undone", |fixture, path| {
            fixture.git(path, &["commit", "--quiet", "--allow-empty", "-m", "x"]);
        }),
        ("on another branch", |fixture, path| {
            fixture.git(path, &["commit", "--quiet", "--allow-empty", "-m", "x"]);
            fixture.git(path, &["checkout", "--quiet", "--detach", "HEAD^"]);
        }),
        ("a repository inside", |fixture, path| {
            fixture.git(path, &["init", "--quiet", "nested"]);
        }),
        ("forced in", |fixture, path| {
            write(path, "kept.log", "x");
            fixture.git(path, &["add", "--force", "kept.log"]);
        }),
    ];
    for (n, (how, change)) in changes.into_iter().enumerate() {
        let worktrees = fixture.worktrees();
        let worktree = worktrees.create(spec(&format!("a-{n}"), fixture.project())).await.unwrap();
        change(&fixture, worktree.path());
        let there = files(worktree.path());
        assert_eq!(worktrees.finish(&worktree).await.unwrap(), Finished::Kept, "{how}");
        assert_eq!(files(worktree.path()), there, "{how}");
        verify(&worktree).unwrap();
    }
}

#[tokio::test]
async fn links_are_unlinked_and_never_followed() {
    let fixture = Fixture::new();
    let elsewhere = fixture.root.join("elsewhere");
    write(&elsewhere, "package/index.js", "precious");
    write(&fixture.project(), ".gitignore", "node_modules\n");
    let (worktrees, worktree) = made(&fixture).await;
    std::os::unix::fs::symlink(&elsewhere, worktree.path().join("node_modules")).unwrap();
    write(worktree.path(), "target/locked/file", "x");
    let finished = worktrees.finish(&worktree).await.unwrap();
    assert_eq!(finished, Finished::Kept);
    std::fs::remove_dir_all(worktree.path().join("target")).unwrap();
    let finished = worktrees.finish(&worktree).await.unwrap();
    assert_eq!(finished, Finished::Removed { ignored: vec!["node_modules".into()] });
    worktrees.settle().await;
    assert!(!worktree.path().exists());
    assert_eq!(std::fs::read(elsewhere.join("package/index.js")).unwrap(), b"precious");
}

#[tokio::test]
async fn a_branch_that_somebody_has_checked_out_stays() {
    let fixture = Fixture::new();
    let (worktrees, worktree) = made(&fixture).await;
    fixture.git(worktree.path(), &["checkout", "--quiet", "--detach"]);
    fixture.git(&fixture.project(), &["checkout", "--quiet", &worktree.branch]);
    worktrees.finish(&worktree).await.unwrap();
    assert!(!worktree.path().exists());
    assert_eq!(fixture.git(&fixture.project(), &["rev-parse", "HEAD"]).trim(), worktree.base);
}

#[tokio::test]
async fn a_commit_for_the_agent_is_the_persons_and_runs_no_hook() {
    let fixture = Fixture::new();
    let hook = fixture.project().join(".git/hooks/pre-commit");
    std::fs::write(&hook, "#!/bin/sh\necho refused by hook >&2\nexit 1\n").unwrap();
    set_executable(&hook, true);
    let (worktrees, worktree) = made(&fixture).await;
    assert_eq!(worktrees.commit_all(&worktree, "nothing", false).await.unwrap(), None);
    write(worktree.path(), "new ü.txt", "x");
    write(worktree.path(), "README.md", "x");
    std::fs::remove_file(worktree.path().join("src/main.rs")).unwrap();
    fixture.git(worktree.path(), &["add", "README.md"]);

    let index = std::fs::read(worktree.checkout.index()).unwrap();
    let refused = worktrees.commit_all(&worktree, "work", true).await.unwrap_err();
    assert!(matches!(&refused, WorktreeError::Refused(text) if text.contains("refused by hook")), "{refused}");
    assert_eq!(std::fs::read(worktree.checkout.index()).unwrap(), index);
    assert_eq!(fixture.git(worktree.path(), &["rev-parse", "HEAD"]).trim(), worktree.base);

    let commit = worktrees.commit_all(&worktree, "-x: work\n\nbody\n", false).await.unwrap().unwrap();
    assert_eq!(fixture.git(worktree.path(), &["rev-parse", &worktree.branch]).trim(), commit);
    let log = fixture.git(worktree.path(), &["log", "-1", "--format=%an <%ae> %cn|%P|%B"]);
    assert_eq!(log.trim_end(), format!("Ada <ada@example.org> Ada|{}|-x: work\n\nbody", worktree.base));
    assert_eq!(fixture.git(worktree.path(), &["status", "--porcelain"]), "");
    assert_eq!(worktrees.finish(&worktree).await.unwrap(), Finished::Kept);

    std::fs::write(&hook, "#!/bin/sh\nexit 0\n").unwrap();
    write(worktree.path(), "more.txt", "x");
    let second = worktrees.commit_all(&worktree, "more", true).await.unwrap().unwrap();
    assert_eq!(fixture.git(worktree.path(), &["rev-parse", &format!("{second}^")]).trim(), commit);
    assert_eq!(fixture.git(worktree.path(), &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn without_a_name_the_commit_is_offshoots() {
    let fixture = Fixture::new();
    let (worktrees, worktree) = made(&fixture).await;
    std::fs::write(fixture.home().join(".gitconfig"), "").unwrap();
    write(worktree.path(), "new.txt", "x");
    worktrees.commit_all(&worktree, "work", false).await.unwrap().unwrap();
    let log = fixture.git(worktree.path(), &["log", "-1", "--format=%an <%ae>"]);
    assert_eq!(log.trim(), "Offshoot <offshoot@localhost>");
}

#[tokio::test]
async fn nothing_is_committed_on_a_branch_of_the_person() {
    let fixture = Fixture::new();
    fixture.git(&fixture.project(), &["branch", "theirs"]);
    let (worktrees, worktree) = made(&fixture).await;
    fixture.git(worktree.path(), &["checkout", "--quiet", "theirs"]);
    write(worktree.path(), "new.txt", "x");
    let error = worktrees.commit_all(&worktree, "work", false).await.unwrap_err();
    assert!(matches!(error, WorktreeError::OtherBranch { head, .. } if head == "refs/heads/theirs"));
    assert_eq!(fixture.git(&fixture.project(), &["rev-parse", "theirs"]).trim(), worktree.base);
}

#[tokio::test]
async fn what_a_crash_left_is_found_and_put_right() {
    let fixture = Fixture::new();
    let (worktrees, whole) = made(&fixture).await;
    write(whole.path(), "precious.txt", "x");
    // Dies after the checkout: everything is there but the record says it isn't done.
    let half = worktrees.create(spec("half", fixture.project())).await.unwrap();
    record::Record::write(record::Stage::Creating, &half).unwrap();
    // Dies before the checkout: only the record is there.
    let never = Worktree { id: "never".into(), branch: "offshoot/never".into(), base: String::new(), ..half.clone() };
    let never = Worktree {
        checkout: Checkout { work_tree: half.path().with_file_name("never"), ..never.checkout.clone() },
        ..never
    };
    record::Record::write(record::Stage::Creating, &never).unwrap();
    // Dies while removing, before and after the rename.
    let before = worktrees.create(spec("before", fixture.project())).await.unwrap();
    record::Record::write(record::Stage::Removing, &before).unwrap();
    let after = worktrees.create(spec("after", fixture.project())).await.unwrap();
    record::Record::write(record::Stage::Removing, &after).unwrap();
    let trash = after.project_folder().join(".trash");
    std::fs::create_dir_all(&trash).unwrap();
    std::fs::rename(after.path(), trash.join("after")).unwrap();
    // Locks of a dead process, and one of a live one.
    let dead = whole.checkout.git_dir.join("index.lock");
    let lock = std::fs::File::create(&dead).unwrap();
    lock.set_modified(SystemTime::now() - Duration::from_secs(2 * 60 * 60)).unwrap();
    let live = before.checkout.git_dir.join("index.lock");
    std::fs::write(&live, "").unwrap();
    // Somebody's folder.
    let stranger = whole.path().with_file_name("stranger");
    write(&stranger, "file.txt", "x");
    drop(worktrees);

    let worktrees = fixture.worktrees();
    let standings: Vec<_> = worktrees.list().await.unwrap().iter().map(|listed| listed.standing.clone()).collect();
    assert_eq!(standings.iter().filter(|standing| **standing == Standing::Unfinished).count(), 4);
    let repaired = worktrees.repair().await.unwrap();
    let done: std::collections::HashSet<_> = repaired.done.into_iter().collect();
    let path = |worktree: &Worktree| worktree.path().to_path_buf();
    let expected = [
        Mended::Unlocked(dead.clone()),
        Mended::Undone(path(&half)),
        Mended::Undone(path(&never)),
        Mended::KeptAfterAll(path(&before)),
        Mended::Removed(path(&after)),
        Mended::Emptied(trash.join("after")),
    ];
    assert_eq!(done, expected.into());
    let listed = repaired.there;
    let by_path: Vec<_> = listed.iter().map(|listed| (listed.path.clone(), listed.standing.clone())).collect();
    let mut expected = vec![
        (whole.path().to_path_buf(), Standing::Live),
        (before.path().to_path_buf(), Standing::Live),
        (stranger.clone(), Standing::Unknown),
    ];
    let sorted = |mut all: Vec<(PathBuf, Standing)>| {
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    };
    expected = sorted(expected);
    assert_eq!(sorted(by_path), expected);
    assert!(!dead.exists() && live.exists() && stranger.join("file.txt").exists());
    assert!(!half.path().exists() && whole.path().join("precious.txt").exists());
    let branches = fixture.git(&fixture.project(), &["branch", "--list", "--format=%(refname:short)", "offshoot/*"]);
    assert!(!branches.contains(&half.branch), "{branches}");
    worktrees.settle().await;
    assert_eq!(files(&trash).len(), 0);
}

#[tokio::test]
async fn disk_use_counts_the_worktree_and_not_what_links_lead_to() {
    let fixture = Fixture::new();
    let (worktrees, worktree) = made(&fixture).await;
    write(&fixture.root, "big", vec![b'x'; 4 << 20]);
    let before = worktrees.disk_use(&worktree).await.unwrap();
    std::os::unix::fs::symlink(fixture.root.join("big"), worktree.path().join("link")).unwrap();
    write(worktree.path(), "file", vec![b'x'; 1 << 20]);
    let grown = worktrees.disk_use(&worktree).await.unwrap() - before;
    assert!(((1 << 20)..(2 << 20)).contains(&grown), "{grown}");
}
