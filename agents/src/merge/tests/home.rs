//! Changes of one fork, put into the checkout's files and taken out again.

use super::*;

#[tokio::test]
async fn changes_come_home_beside_those_of_the_person_and_can_be_taken_out_again() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    write(fork.path(), "new/deep/file.txt", "new\n");
    std::fs::remove_file(fork.path().join("other.txt")).unwrap();
    // The person goes on meanwhile: other lines of the same file, other files, staged and untracked.
    write(&world.project(), "ten.txt", TEN.replace("9\n", "nine\n"));
    write(&world.project(), "README.md", "mine\n");
    write(&world.project(), "untracked.txt", "mine\n");
    world.fixture.git(&world.project(), &["add", "README.md"]);
    let before = world.state();

    let preview = world.preview(&[&fork]);
    let listed: Vec<_> = preview.files.iter().map(|file| (file.path.as_str(), file.added, file.removed)).collect();
    assert_eq!(listed, [("new/deep/file.txt", 1, 0), ("other.txt", 0, 1), ("ten.txt", 1, 1)]);
    assert_eq!(world.state(), before, "a preview changes nothing");

    let done = world.merges.apply(&preview.merge, false, None).unwrap();
    assert_eq!(done.files, ["new/deep/file.txt", "other.txt", "ten.txt"]);
    assert_eq!(world.read("ten.txt"), TEN.replace("9\n", "nine\n").replace("2\n", "two\n"));
    assert_eq!(world.read("new/deep/file.txt"), "new\n");
    assert!(!world.project().join("other.txt").exists());
    assert_eq!(world.read("untracked.txt"), "mine\n");
    let git = |state: &BTreeMap<String, Vec<u8>>| -> Vec<_> {
        state.iter().filter(|(name, _)| name.starts_with("git:")).map(|(n, b)| (n.clone(), b.clone())).collect()
    };
    assert_eq!(git(&world.state()), git(&before), "index, HEAD and refs are untouched");
    world.nothing_is_left();

    assert_eq!(world.merges.undo(&done.merge).unwrap().files.len(), 3);
    assert_eq!(world.state(), before);
    assert!(!world.project().join("new").exists(), "folders that were made are gone");
    assert!(matches!(world.merges.undo(&done.merge), Err(MergeError::NotApplied(_))));
    world.nothing_is_left();
}

#[tokio::test]
async fn the_same_lines_conflict_and_nothing_changes() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    write(fork.path(), "README.md", "fork\n");
    write(&world.project(), "ten.txt", TEN.replace("2\n", "zwei\n"));
    write(&world.project(), "untracked.txt", "mine\n");
    let before = world.state();
    let preview = world.preview(&[&fork]);
    assert_eq!(conflicts(&preview), [("ten.txt", "both sides changed the same lines")]);
    assert_eq!(preview.conflicts[0].other, None);
    let refused = world.merges.apply(&preview.merge, false, None);
    assert!(matches!(refused, Err(MergeError::Conflicts(paths)) if paths == ["ten.txt"]));
    assert_eq!(world.state(), before, "every byte as before");

    let done = world.merges.apply(&preview.merge, true, None).unwrap();
    assert_eq!((done.files, done.left_out), (vec!["README.md".to_owned()], vec!["ten.txt".to_owned()]));
    assert_eq!(world.read("README.md"), "fork\n");
    assert_eq!(world.read("ten.txt"), TEN.replace("2\n", "zwei\n"));
}

#[tokio::test]
async fn a_file_in_the_way_is_kept() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "notes.txt", "fork\n");
    write(fork.path(), "debug.log", "fork\n");
    world.fixture.git(fork.path(), &["add", "--force", "debug.log"]);
    write(fork.path(), "folder/file", "fork\n");
    write(fork.path(), "same.txt", "same\n");
    write(&world.project(), "notes.txt", "untracked\n");
    write(&world.project(), "debug.log", "ignored\n");
    write(&world.project(), "same.txt", "same\n");
    std::os::unix::fs::symlink(&world.fixture.root, world.project().join("folder")).unwrap();
    let before = world.state();
    let preview = world.preview(&[&fork]);
    let paths: Vec<_> = preview.conflicts.iter().map(|conflict| conflict.path.as_str()).collect();
    assert_eq!(paths, ["debug.log", "folder", "notes.txt"], "{:?}", conflicts(&preview));
    assert!(matches!(world.merges.apply(&preview.merge, false, None), Err(MergeError::Conflicts(_))));
    assert!(matches!(world.merges.apply(&preview.merge, true, None), Err(MergeError::Nothing)));
    assert_eq!(world.state(), before);
    assert!(!world.fixture.root.join("file").exists(), "nothing was written through the link");
}

#[tokio::test]
async fn what_changed_since_the_preview_is_not_overwritten() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    write(fork.path(), "README.md", "fork\n");
    let preview = world.preview(&[&fork]);
    write(&world.project(), "ten.txt", "in between\n");
    let before = world.state();
    let refused = world.merges.apply(&preview.merge, false, None);
    assert!(matches!(refused, Err(MergeError::Changed(paths)) if paths == ["ten.txt"]));
    assert_eq!(world.state(), before);

    write(&world.project(), "ten.txt", TEN);
    let done = world.apply(&[&fork]);
    write(&world.project(), "ten.txt", "later\n");
    let before = world.state();
    assert!(matches!(world.merges.undo(&done.merge), Err(MergeError::ChangedSince(paths)) if paths == ["ten.txt"]));
    assert_eq!(world.state(), before);
}

#[tokio::test]
async fn every_kind_of_file_comes_home() {
    let world = World::new();
    let project = world.project();
    write(&project, "script.sh", "#!/bin/sh\n");
    write(&project, "picture", b"\0one");
    write(&project, "moved.txt", TEN);
    write(&project, "becomes-folder", "file\n");
    write(&project, "becomes-file/inner", "file\n");
    std::os::unix::fs::symlink("README.md", project.join("link")).unwrap();
    world.fixture.commit(&project, "kinds");
    std::fs::set_permissions(project.join("picture"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let fork = world.fork("a-1").await;
    set_executable(&fork.path().join("script.sh"), true);
    write(fork.path(), "picture", b"\0two");
    std::fs::rename(fork.path().join("moved.txt"), fork.path().join("here.txt")).unwrap();
    std::fs::remove_file(fork.path().join("link")).unwrap();
    std::os::unix::fs::symlink("ten.txt", fork.path().join("link")).unwrap();
    std::fs::remove_file(fork.path().join("becomes-folder")).unwrap();
    write(fork.path(), "becomes-folder/inner", "inner\n");
    std::fs::remove_dir_all(fork.path().join("becomes-file")).unwrap();
    write(fork.path(), "becomes-file", "now a file\n");
    // What the person does to a file follows its new name.
    write(&project, "moved.txt", TEN.replace("9\n", "nine\n"));
    let before = world.state();
    let done = world.apply(&[&fork]);
    assert_eq!(project.join("script.sh").metadata().unwrap().permissions().mode() & 0o111, 0o111);
    assert_eq!(std::fs::read(project.join("picture")).unwrap(), b"\0two");
    assert_eq!(project.join("picture").metadata().unwrap().permissions().mode() & 0o777, 0o600, "who may read stays");
    assert_eq!(world.read("here.txt"), TEN.replace("9\n", "nine\n"));
    assert!(!project.join("moved.txt").exists());
    assert_eq!(std::fs::read_link(project.join("link")).unwrap(), Path::new("ten.txt"));
    assert_eq!(world.read("becomes-folder/inner"), "inner\n");
    assert_eq!(world.read("becomes-file"), "now a file\n");
    world.merges.undo(&done.merge).unwrap();
    assert_eq!(world.state(), before);

    write(&project, "picture", b"\0three");
    assert_eq!(conflicts(&world.preview(&[&fork])), [("picture", "both sides changed this file, which isn't text")]);
}

#[tokio::test]
async fn line_endings_stay_the_persons() {
    let world = World::new();
    let project = world.project();
    write(&project, ".gitattributes", "crlf.txt text eol=crlf\n");
    write(&project, "crlf.txt", "one\r\ntwo\r\n");
    write(&project, "raw.txt", "one\r\ntwo\r\n");
    world.fixture.commit(&project, "endings");
    let fork = world.fork("a-1").await;
    write(fork.path(), "crlf.txt", "one\r\ntwo\r\nthree\r\n");
    write(fork.path(), "raw.txt", "one\r\ntwo\r\nthree\r\n");
    world.apply(&[&fork]);
    assert_eq!(world.read("crlf.txt"), "one\r\ntwo\r\nthree\r\n");
    assert_eq!(world.read("raw.txt"), "one\r\ntwo\r\nthree\r\n");
}

#[tokio::test]
async fn the_checkout_moves_on_while_a_fork_works() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "README.md", "fork\n");
    write(&world.project(), "ten.txt", TEN.replace("9\n", "nine\n"));
    world.fixture.commit(&world.project(), "moves on");
    let preview = world.preview(&[&fork]);
    assert_eq!(preview.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["README.md"]);
    world.merges.apply(&preview.merge, false, None).unwrap();
    assert_eq!(world.read("ten.txt"), TEN.replace("9\n", "nine\n"));
}
