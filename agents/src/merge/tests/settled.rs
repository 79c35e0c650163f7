//! Conflicts looked at, and settled before anything changes.

use super::*;
use offshoot_protocol::Resolution;

async fn conflict() -> (World, Worktree, MergePreview) {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n").replace("9\n", "nine\n"));
    write(&world.project(), "ten.txt", TEN.replace("2\n", "zwei\n"));
    let preview = world.preview(&[&fork]);
    assert!(preview.conflicts[0].resolvable);
    (world, fork, preview)
}

#[tokio::test]
async fn all_sides_are_shown_and_both_in_one_text() {
    let (world, _fork, preview) = conflict().await;
    let file = world.merges.conflict(&preview.merge, &preview.agents[0], "ten.txt").unwrap();
    assert_eq!(file.base.as_deref(), Some(TEN));
    assert_eq!(file.ours.unwrap(), TEN.replace("2\n", "zwei\n"));
    assert!(file.theirs.unwrap().contains("two\n"));
    let marked = "1\n<<<<<<< yours\nzwei\n=======\ntwo\n>>>>>>> the fork's\n3\n4\n5\n6\n7\n8\nnine\n10\n";
    assert_eq!(file.merged, marked);
    let missing = world.merges.conflict(&preview.merge, &preview.agents[0], "other.txt");
    assert!(matches!(missing, Err(MergeError::NoSuchConflict(path)) if path == "other.txt"));
}

#[tokio::test]
async fn a_side_or_a_text_settles_it() {
    let text = "1\nzwei, two\n3\n";
    for (with, wanted) in [
        (Resolution::Ours, TEN.replace("2\n", "zwei\n")),
        (Resolution::Theirs, TEN.replace("2\n", "two\n").replace("9\n", "nine\n")),
        (Resolution::Text { text: text.to_owned() }, text.to_owned()),
    ] {
        let (world, fork, preview) = conflict().await;
        write(fork.path(), "new.txt", "new\n");
        let before = world.state();
        let next = world.merges.resolve(&preview.merge, &preview.agents[0], "ten.txt", with).unwrap();
        assert_eq!(next.conflicts, []);
        assert_eq!(world.state(), before, "nothing changes before it is applied");
        let done = world.merges.apply(&next.merge, false, None).unwrap();
        assert_eq!(world.read("ten.txt"), wanted);
        // What was settled stays so, also when the fork goes on elsewhere.
        assert_eq!(world.merges.radar(&world.target(), Trust::Trusted, std::slice::from_ref(&fork)).unwrap(), []);
        world.merges.undo(&done.merge).unwrap();
        assert_eq!(world.state(), before);
        assert_eq!(world.preview(&[&fork]).conflicts.len(), 1, "it was taken out again");
    }
}

#[tokio::test]
async fn what_was_settled_is_open_again_when_a_side_changed() {
    let (world, _fork, preview) = conflict().await;
    write(&world.project(), "ten.txt", TEN.replace("2\n", "deux\n"));
    let next = world.merges.resolve(&preview.merge, &preview.agents[0], "ten.txt", Resolution::Theirs).unwrap();
    assert_eq!(conflicts(&next), [("ten.txt", "both sides changed the same lines")]);
    assert!(matches!(world.merges.apply(&next.merge, false, None), Err(MergeError::Conflicts(_))));
    assert_eq!(world.read("ten.txt"), TEN.replace("2\n", "deux\n"));
}

#[tokio::test]
async fn a_deletion_against_a_change_is_settled_too() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    std::fs::remove_file(fork.path().join("other.txt")).unwrap();
    write(&world.project(), "other.txt", "mine\n");
    let preview = world.preview(&[&fork]);
    let file = world.merges.conflict(&preview.merge, &preview.agents[0], "other.txt").unwrap();
    assert_eq!((file.theirs, file.ours.as_deref()), (None, Some("mine\n")));
    let next = world.merges.resolve(&preview.merge, &preview.agents[0], "other.txt", Resolution::Theirs).unwrap();
    world.merges.apply(&next.merge, false, None).unwrap();
    assert!(!world.project().join("other.txt").exists());
}
