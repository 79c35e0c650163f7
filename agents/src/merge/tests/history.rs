//! Changes brought home with their commits.

use super::commit::{LONG, hook, message};
use super::*;

/// A fork with two commits of its own and something that it left uncommitted.
async fn worked(world: &World, id: &str) -> Worktree {
    let fork = world.fork(id).await;
    let git = |args: &[&str]| world.fixture.git(fork.path(), args);
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    git(&["-c", "user.name=Agent", "-c", "user.email=agent@example.com", "commit", "--quiet", "--all", "-m", "First"]);
    write(fork.path(), "new.txt", "new\n");
    git(&["add", "new.txt"]);
    git(&["commit", "--quiet", "-m", "Second\n\nWith a body."]);
    std::fs::remove_file(fork.path().join("other.txt")).unwrap();
    fork
}

fn log(world: &World) -> String {
    world.fixture.git(&world.project(), &["log", "--format=%s|%an|%p", "--first-parent"])
}

fn subjects(world: &World) -> Vec<String> {
    log(world).lines().map(|line| line.split('|').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn commits_come_home_one_by_one_and_can_be_taken_back() {
    for (form, body) in [(Form::Rebase, "With a body.\n"), (Form::CherryPick, "(cherry picked from commit ")] {
        let world = World::new();
        let fork = worked(&world, "a-1").await;
        // The branch goes on meanwhile, and something of the person's stays staged.
        write(&world.project(), "ten.txt", TEN.replace("9\n", "nine\n"));
        world.fixture.commit(&world.project(), "mine");
        write(&world.project(), "README.md", "staged\n");
        world.fixture.git(&world.project(), &["add", "README.md"]);
        let before = world.state();
        let preview = world.preview(&[&fork]);
        let done = world.merges.bring_history(&preview.merge, &form, &message(LONG), None).unwrap();
        assert_eq!(subjects(&world)[..4], ["a-1-a1", "Second", "First", "mine"].map(str::to_owned), "{}", log(&world));
        let git = |args: &[&str]| world.fixture.git(&world.project(), args);
        assert_eq!(git(&["log", "-1", "--format=%an", "HEAD~2"]), "Agent\n", "whose work it is stays");
        assert!(git(&["log", "-1", "--format=%B", "HEAD~1"]).contains(body));
        assert_eq!(git(&["rev-parse", "HEAD"]).trim(), done.commit.unwrap());
        assert_eq!(git(&["status", "--porcelain"]), "M  README.md\n");
        assert_eq!(world.read("ten.txt"), TEN.replace("9\n", "nine\n").replace("2\n", "two\n"));
        assert_eq!(git(&["fsck", "--strict", "--no-dangling"]), "");
        world.nothing_is_left();

        world.merges.undo(&done.merge).unwrap();
        assert_eq!(subjects(&world)[0], "mine");
        assert_eq!(git(&["status", "--porcelain"]), "M  README.md\n");
        let files = |state: &BTreeMap<String, Vec<u8>>| -> Vec<_> {
            state.iter().filter(|(name, _)| !name.starts_with("git:")).map(|(n, b)| (n.clone(), b.clone())).collect()
        };
        assert_eq!(files(&world.state()), files(&before));
    }
}

#[tokio::test]
async fn a_merge_commit_has_the_forks_commits_behind_it() {
    let world = World::new();
    let (one, two) = (worked(&world, "a-1").await, world.fork("a-2").await);
    write(two.path(), "two.txt", "two\n");
    hook(&world, "commit-msg", "printf '\\nChecked: yes\\n' >> \"$1\"");
    let preview = world.preview(&[&one, &two]);
    let done = world.merges.bring_history(&preview.merge, &Form::Merge, &message(LONG), None).unwrap();
    let git = |args: &[&str]| world.fixture.git(&world.project(), args);
    assert_eq!(subjects(&world)[..2], ["Work of a fork", "Work of a fork"].map(str::to_owned));
    assert_eq!(git(&["log", "-1", "--format=%s", "HEAD^2"]), "a-2-a2\n");
    assert_eq!(git(&["log", "-1", "--format=%s", "HEAD~1^2~1"]), "Second\n");
    assert!(git(&["log", "-1", "--format=%B"]).contains("Checked: yes"), "the person's hook had its say");
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(git(&["fsck", "--strict", "--no-dangling"]), "");
    // Behind a further commit it isn't taken back.
    git(&["commit", "--quiet", "--allow-empty", "--no-verify", "-m", "later"]);
    let before = world.state();
    assert!(matches!(world.merges.undo(&done.merge), Err(MergeError::MovedOn(_))));
    assert_eq!(world.state(), before);
}

#[tokio::test]
async fn what_a_snapshot_holds_never_becomes_a_commit() {
    for form in [Form::Merge, Form::Rebase] {
        let world = World::new();
        write(&world.project(), "README.md", "uncommitted work of the person\n");
        let fork = worked(&world, "a-1").await;
        assert!(fork.base_is_snapshot);
        let preview = world.preview(&[&fork]);
        world.merges.bring_history(&preview.merge, &form, &message(LONG), None).unwrap();
        let git = |args: &[&str]| world.fixture.git(&world.project(), args);
        assert_eq!(git(&["status", "--porcelain"]), " M README.md\n");
        assert_eq!(git(&["log", "--format=%s", "HEAD", "--", "README.md"]).lines().count(), 1, "{form:?}");
    }
}

#[tokio::test]
async fn what_is_in_the_way_leaves_everything_as_it_was() {
    let world = World::new();
    let fork = worked(&world, "a-1").await;
    hook(&world, "commit-msg", "echo 'no such ticket' >&2; exit 1");
    let before = world.state();
    let preview = world.preview(&[&fork]);
    let refused = world.merges.bring_history(&preview.merge, &Form::Rebase, &message(LONG), None);
    assert!(matches!(&refused, Err(MergeError::Refused(text)) if text.contains("no such ticket")), "{refused:?}");
    let files = |state: &BTreeMap<String, Vec<u8>>| -> Vec<_> {
        // Objects that nothing leads to are no change.
        state.iter().filter(|(name, _)| !name.starts_with("git:objects")).map(|(n, b)| (n.clone(), b.clone())).collect()
    };
    assert_eq!(files(&world.state()), files(&before));
    std::fs::remove_file(world.project().join(".git/hooks/commit-msg")).unwrap();

    write(&world.project(), "ten.txt", TEN.replace("9\n", "nine\n"));
    let preview = world.preview(&[&fork]);
    let refused = world.merges.bring_history(&preview.merge, &Form::Rebase, &message(LONG), None);
    assert!(matches!(refused, Err(MergeError::Dirty(paths)) if paths == ["ten.txt"]));
    write(&world.project(), "ten.txt", TEN);

    let shares = vec![share(&fork, MergeSelection::Files { paths: vec!["new.txt".to_owned()] })];
    let preview = world.merges.preview(&Order { shares, ..world.order(&[]) }).unwrap();
    let refused = world.merges.bring_history(&preview.merge, &Form::Merge, &message(LONG), None);
    assert!(matches!(refused, Err(MergeError::NoCommit(_))));
}
