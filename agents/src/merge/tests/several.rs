//! Several forks, and one that went on.

use super::*;

#[tokio::test]
async fn two_forks_are_merged_one_after_the_other() {
    let world = World::new();
    let (one, two) = (world.fork("a-1").await, world.fork("a-2").await);
    write(one.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    write(one.path(), "one.txt", "one\n");
    write(two.path(), "ten.txt", TEN.replace("2\n", "deux\n"));
    write(two.path(), "two.txt", "two\n");
    let preview = world.preview(&[&one, &two]);
    assert_eq!(conflicts(&preview), [("ten.txt", "both sides changed the same lines")]);
    assert_eq!(preview.conflicts[0].agent.0, "a-2");
    assert_eq!(preview.conflicts[0].other.as_ref().unwrap().0, "a-1", "the other side is named");
    let clashes = world.merges.radar(&world.target(), Trust::Trusted, &[one.clone(), two.clone()]).unwrap();
    assert_eq!(clashes.len(), 1);
    assert_eq!((clashes[0].agent.0.as_str(), clashes[0].files.as_slice()), ("a-1", &["ten.txt".to_owned()][..]));
    assert_eq!(clashes[0].other.as_ref().unwrap().0, "a-2");

    let done = world.merges.apply(&preview.merge, true, None).unwrap();
    assert_eq!(done.files, ["one.txt", "ten.txt", "two.txt"], "the first one's change of it is home");
    assert_eq!(world.read("ten.txt"), TEN.replace("2\n", "two\n"));
    write(&world.project(), "ten.txt", TEN.replace("2\n", "zwei\n"));
    let clashes = world.merges.radar(&world.target(), Trust::Trusted, &[one, two]).unwrap();
    assert!(clashes.iter().all(|clash| clash.other.is_none()) && clashes.len() == 2, "{clashes:?}");
}

#[tokio::test]
async fn a_fork_that_went_on_comes_home_again() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    world.apply(&[&fork]);
    write(fork.path(), "ten.txt", TEN.replace("2\n3\n", "two\nthree\n"));
    let done = world.apply(&[&fork]);
    assert_eq!(world.read("ten.txt"), TEN.replace("2\n3\n", "two\nthree\n"));
    assert!(matches!(world.merges.preview(&world.order(&[&fork])), Ok(preview) if preview.files.is_empty()));
    // Undone and thrown away by the person, all of it comes again.
    world.merges.undo(&done.merge).unwrap();
    write(&world.project(), "ten.txt", TEN);
    world.apply(&[&fork]);
    assert_eq!(world.read("ten.txt"), TEN.replace("2\n3\n", "two\nthree\n"));
}

#[tokio::test]
async fn what_was_taken_out_again_is_not_home() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    world.apply(&[&fork]);
    write(&world.project(), "ten.txt", TEN.replace("2\n", "deux\n"));
    let preview = world.preview(&[&fork]);
    assert_eq!(conflicts(&preview), [("ten.txt", "both sides changed the same lines")]);
}
