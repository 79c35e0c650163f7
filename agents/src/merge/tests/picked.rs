//! Parts of the changes: files, and hunks by their hashes.

use super::*;

#[tokio::test]
async fn files_and_hunks_can_be_picked() {
    let world = World::new();
    let long = (0..40).fold(String::new(), |text, n| text + "line " + &n.to_string() + "\n");
    write(&world.project(), "long.txt", &long);
    world.fixture.commit(&world.project(), "long");
    let fork = world.fork("a-1").await;
    write(fork.path(), "long.txt", long.replace("line 3\n", "first\n").replace("line 30\n", "second\nmore\n"));
    write(fork.path(), "README.md", "fork\n");
    let changes = crate::changes::Changes::of(&world.fixture.offshoot(), &fork);
    let diff = changes.file_diff("long.txt", u64::MAX).unwrap();
    let hashes = vec![diff.hunks[1].hash.clone()];
    let shares = vec![share(&fork, MergeSelection::Hunks { hashes })];
    let order = Order { shares, ..world.order(&[]) };
    let preview = world.merges.preview(&order).unwrap();
    world.merges.apply(&preview.merge, false, None).unwrap();
    assert_eq!(world.read("long.txt"), long.replace("line 30\n", "second\nmore\n"));
    assert_eq!(world.read("README.md"), "# Project\n");

    let selection = MergeSelection::Files { paths: vec!["README.md".to_owned()] };
    let preview = world.merges.preview(&Order { shares: vec![share(&fork, selection)], ..world.order(&[]) }).unwrap();
    let patch = String::from_utf8(world.merges.patch(&preview.merge).unwrap()).unwrap();
    assert!(patch.starts_with("diff --git a/README.md b/README.md\n") && patch.contains("+fork\n"), "{patch}");
    world.merges.apply(&preview.merge, false, None).unwrap();
    assert_eq!(world.read("README.md"), "fork\n");
    assert_eq!(world.read("long.txt"), long.replace("line 30\n", "second\nmore\n"));
}

#[tokio::test]
async fn hunks_of_several_forks_come_home_together_and_what_is_unknown_is_named() {
    let world = World::new();
    let long = (0..40).fold(String::new(), |text, n| text + "line " + &n.to_string() + "\n");
    write(&world.project(), "long.txt", &long);
    world.fixture.commit(&world.project(), "long");
    let (one, two) = (world.fork("a-1").await, world.fork("a-2").await);
    write(one.path(), "long.txt", long.replace("line 3\n", "three\n").replace("line 30\n", "thirty\n"));
    write(two.path(), "long.txt", long.replace("line 15\n", "fifteen\n"));
    write(two.path(), "new.txt", "new\n");
    let hashes = |fork: &Worktree| -> Vec<String> {
        let changes = crate::changes::Changes::of(&world.fixture.offshoot(), fork);
        let files = changes.summary().unwrap().files;
        let diffs = files.iter().map(|file| changes.file_diff(&file.path, u64::MAX).unwrap());
        diffs.flat_map(|diff| diff.hunks).map(|hunk| hunk.hash).collect()
    };
    let (ones, twos) = (hashes(&one), hashes(&two));
    let pick = |fork, hashes: &[String]| share(fork, MergeSelection::Hunks { hashes: hashes.to_vec() });
    let shares = vec![pick(&one, &ones[..1]), pick(&two, &twos[..1])];
    let preview = world.merges.preview(&Order { shares, ..world.order(&[]) }).unwrap();
    let parts: Vec<_> = preview.parts.iter().map(|part| (part.agent.0.as_str(), part.hunks, part.of)).collect();
    assert_eq!(parts, [("a-1", 1, 2), ("a-2", 1, 2)]);
    assert_eq!(preview.unknown, Vec::<String>::new());
    world.merges.apply(&preview.merge, false, None).unwrap();
    assert_eq!(world.read("long.txt"), long.replace("line 3\n", "three\n").replace("line 15\n", "fifteen\n"));
    assert!(!world.project().join("new.txt").exists());

    let wanted = vec![ones[1].clone(), "nothing".to_owned()];
    let shares = [&one, &two].map(|fork| pick(fork, &wanted)).into();
    let preview = world.merges.preview(&Order { shares, ..world.order(&[]) }).unwrap();
    assert_eq!(preview.unknown, ["nothing"], "one of the forks has the other");
}
