//! Changes brought home as a commit.

use super::*;
use crate::git::fixture::make_hostile;

pub(super) fn message(patience: Duration) -> Message {
    Message { text: "Work of a fork\n".to_owned(), patience }
}

pub(super) const LONG: Duration = Duration::from_secs(60);

pub(super) fn hook(world: &World, name: &str, script: &str) {
    let hook = world.project().join(".git/hooks").join(name);
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
    set_executable(&hook, true);
}

#[tokio::test]
async fn one_commit_leaves_out_what_the_person_has_staged() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    write(fork.path(), "new.txt", "new\n");
    std::fs::remove_file(fork.path().join("other.txt")).unwrap();
    write(&world.project(), "README.md", "mine\n");
    world.fixture.git(&world.project(), &["add", "README.md"]);
    hook(&world, "pre-commit", "git diff --cached --name-only > hook-saw");
    let preview = world.preview(&[&fork]);
    let done = world.merges.squash(&preview.merge, false, &message(LONG), None).unwrap();
    let git = |args: &[&str]| world.fixture.git(&world.project(), args);
    assert_eq!(git(&["rev-parse", "HEAD"]).trim(), done.commit.unwrap());
    assert_eq!(git(&["log", "-1", "--format=%an %s"]), "Ada Work of a fork\n");
    assert_eq!(git(&["show", "--name-status", "--format="]), "A\tnew.txt\nD\tother.txt\nM\tten.txt\n");
    assert_eq!(git(&["status", "--porcelain"]), "M  README.md\n?? hook-saw\n");
    assert_eq!(world.read("hook-saw"), "new.txt\nother.txt\nten.txt\n", "the person's hook ran");
}

#[tokio::test]
async fn a_commit_that_is_refused_leaves_everything_as_it_was() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    write(&world.project(), "README.md", "mine\n");
    world.fixture.git(&world.project(), &["add", "README.md"]);
    let before = world.state();
    let preview = world.preview(&[&fork]);
    hook(&world, "pre-commit", "echo 'no tabs, please' >&2; exit 1");
    let refused = world.merges.squash(&preview.merge, false, &message(LONG), None);
    assert!(matches!(&refused, Err(MergeError::Refused(text)) if text.contains("no tabs, please")), "{refused:?}");
    assert_eq!(world.state(), before);

    // It waits for somebody who isn't there.
    let preview = world.preview(&[&fork]);
    hook(&world, "pre-commit", "exec sleep 600");
    let refused = world.merges.squash(&preview.merge, false, &message(Duration::from_millis(300)), None);
    assert!(matches!(&refused, Err(MergeError::Refused(text)) if text.contains("took longer")), "{refused:?}");
    assert_eq!(world.state(), before);

    std::fs::remove_file(world.project().join(".git/hooks/pre-commit")).unwrap();
    write(&world.project(), "ten.txt", TEN.replace("9\n", "nine\n"));
    let before = world.state();
    let preview = world.preview(&[&fork]);
    let refused = world.merges.squash(&preview.merge, false, &message(LONG), None);
    assert!(matches!(&refused, Err(MergeError::Dirty(paths)) if paths == &["ten.txt"]), "{refused:?}");
    assert_eq!(world.state(), before);
    assert_eq!(world.git_state().len(), 6);
}

#[tokio::test]
async fn bringing_changes_home_runs_nothing_of_an_untrusted_repository() {
    for squash in [false, true] {
        let world = World::new();
        let proof = make_hostile(&world.fixture, &world.project());
        let spec = Spec {
            id: "a-1".into(),
            title: "a-1".into(),
            parent: world.target(),
            base: Base::Snapshot,
            trust: Trust::Untrusted,
            hooks: false,
            setup: None,
            root: None,
        };
        let fork = world.worktrees.create(spec).await.unwrap();
        write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
        write(fork.path(), "new.txt", "new\n");
        let order = Order { trust: Trust::Untrusted, ..world.order(&[&fork]) };
        let preview = world.merges.preview(&order).unwrap();
        if squash {
            world.merges.squash(&preview.merge, false, &message(LONG), None).unwrap();
        } else {
            let done = world.merges.apply(&preview.merge, false, None).unwrap();
            world.merges.undo(&done.merge).unwrap();
        }
        let ran = std::fs::read_to_string(&proof).unwrap_or_default();
        assert_eq!(ran, "", "squash: {squash}");
    }
}

#[tokio::test]
async fn a_commit_can_be_taken_back_while_it_is_the_last_one() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    write(fork.path(), "new.txt", "new\n");
    write(&world.project(), "README.md", "mine\n");
    world.fixture.git(&world.project(), &["add", "README.md"]);
    let git = |args: &[&str]| world.fixture.git(&world.project(), args);
    let head = git(&["rev-parse", "HEAD"]);
    let preview = world.preview(&[&fork]);
    let done = world.merges.squash(&preview.merge, false, &message(LONG), None).unwrap();
    assert_ne!(git(&["rev-parse", "HEAD"]), head);
    world.merges.undo(&done.merge).unwrap();
    assert_eq!(git(&["rev-parse", "HEAD"]), head);
    assert_eq!(git(&["status", "--porcelain"]), "M  README.md\n");
    assert_eq!(world.read("ten.txt"), TEN);
    assert!(!world.project().join("new.txt").exists());
    // It can come home again.
    assert_eq!(world.preview(&[&fork]).files.len(), 2);
}
