//! Changes taken out of the worktree that they were made in, and put back.

use super::*;

const LINES: usize = 60;

fn long(replaced: &[(usize, &str)]) -> String {
    (1..=LINES).fold(String::new(), |text, n| {
        let line = replaced.iter().find(|(at, _)| *at == n);
        text + &line.map_or(format!("line {n}\n"), |(_, line)| format!("{line}\n"))
    })
}

/// A fork of a project with a long file in it.
async fn fork() -> (World, Worktree) {
    let world = World::new();
    write(&world.project(), "long.txt", long(&[]));
    world.fixture.commit(&world.project(), "long");
    let fork = world.fork("a-1").await;
    (world, fork)
}

fn hashes(world: &World, fork: &Worktree, path: &str) -> Vec<String> {
    let changes = crate::changes::Changes::of(&world.fixture.offshoot(), fork);
    changes.file_diff(path, u64::MAX).unwrap().hunks.into_iter().map(|hunk| hunk.hash).collect()
}

fn read(fork: &Worktree, path: &str) -> String {
    std::fs::read_to_string(fork.path().join(path)).unwrap()
}

#[tokio::test]
async fn one_hunk_goes_and_comes_back_whatever_happened_elsewhere_in_the_file() {
    let (world, fork) = fork().await;
    write(fork.path(), "long.txt", long(&[(5, "five"), (30, "thirty"), (55, "fifty-five")]));
    write(fork.path(), "untracked.txt", "mine\n");
    let all = hashes(&world, &fork, "long.txt");
    let id = world.merges.next_id();
    let taken = world.merges.take_out(&id, &fork, "long.txt", &all[1]).unwrap().unwrap();
    assert_eq!(taken.files, ["long.txt"]);
    assert!(taken.hunks[0].lines.iter().any(|line| line.text == "thirty"));
    assert_eq!(read(&fork, "long.txt"), long(&[(5, "five"), (55, "fifty-five")]));
    assert_eq!(read(&fork, "untracked.txt"), "mine\n");
    assert!(world.merges.is_out(&id));
    // Once more under the same id is the same.
    assert!(world.merges.take_out(&id, &fork, "long.txt", &all[1]).unwrap().is_some());

    let second = world.merges.next_id();
    world.merges.take_out(&second, &fork, "long.txt", &all[0]).unwrap().unwrap();
    assert_eq!(read(&fork, "long.txt"), long(&[(55, "fifty-five")]));
    write(fork.path(), "long.txt", long(&[(45, "later"), (55, "fifty-five")]));
    world.merges.put_back(&id, &fork).unwrap();
    assert_eq!(read(&fork, "long.txt"), long(&[(30, "thirty"), (45, "later"), (55, "fifty-five")]));
    assert!(!world.merges.is_out(&id) && world.merges.is_out(&second));
    assert!(matches!(world.merges.put_back(&id, &fork), Err(MergeError::NotApplied(_))));

    // The same lines were written again: nothing is overwritten.
    write(fork.path(), "long.txt", long(&[(5, "FIVE")]));
    assert!(matches!(world.merges.put_back(&second, &fork), Err(MergeError::Conflicts(_))));
    assert_eq!(read(&fork, "long.txt"), long(&[(5, "FIVE")]));
    assert!(world.merges.is_out(&second), "it can still be put back later");
}

#[tokio::test]
async fn what_became_another_change_is_not_taken_out() {
    let (world, fork) = fork().await;
    write(fork.path(), "long.txt", long(&[(30, "thirty")]));
    let all = hashes(&world, &fork, "long.txt");
    write(fork.path(), "long.txt", long(&[(30, "THIRTY")]));
    let id = world.merges.next_id();
    assert_eq!(world.merges.take_out(&id, &fork, "long.txt", &all[0]).unwrap(), None);
    assert_eq!(read(&fork, "long.txt"), long(&[(30, "THIRTY")]));
    assert!(!world.merges.is_out(&id));
}

#[tokio::test]
async fn whole_files_go_whatever_kind_of_change_they_are() {
    let (world, fork) = fork().await;
    write(fork.path(), "new/file.txt", "new\n");
    write(fork.path(), "image.png", b"\0\x01\x02");
    std::fs::remove_file(fork.path().join("other.txt")).unwrap();
    std::fs::rename(fork.path().join("long.txt"), fork.path().join("moved.txt")).unwrap();
    let before = world.fixture.state(fork.path());
    let changes = crate::changes::Changes::of(&world.fixture.offshoot(), &fork);
    let files = changes.summary().unwrap().files;
    assert_eq!(files.len(), 4);
    let mut ids = Vec::new();
    for file in &files {
        let id = world.merges.next_id();
        world.merges.take_out(&id, &fork, &file.path, &file.hash.0).unwrap().unwrap();
        ids.push(id);
    }
    assert_eq!(changes.summary().unwrap().files, []);
    assert_eq!(read(&fork, "long.txt"), long(&[]));
    for id in &ids {
        world.merges.put_back(id, &fork).unwrap();
    }
    assert_eq!(world.fixture.state(fork.path()), before);
    // The only hunk of a new file is the file.
    let hash = hashes(&world, &fork, "new/file.txt").remove(0);
    world.merges.take_out(&world.merges.next_id(), &fork, "new/file.txt", &hash).unwrap().unwrap();
    assert!(!fork.path().join("new").exists());
    let hash = hashes(&world, &fork, "other.txt").remove(0);
    world.merges.take_out(&world.merges.next_id(), &fork, "other.txt", &hash).unwrap().unwrap();
    assert_eq!(read(&fork, "other.txt"), "other\n");
}

/// Ends the program after each of the steps, and starts it again.
#[tokio::test]
async fn a_crash_leaves_the_change_in_or_out() {
    let (world, fork) = fork().await;
    write(fork.path(), "long.txt", long(&[(5, "five"), (30, "thirty")]));
    let hash = hashes(&world, &fork, "long.txt").remove(0);
    let (with, without) = (long(&[(5, "five"), (30, "thirty")]), long(&[(30, "thirty")]));
    for steps in 0.. {
        let id = world.merges.next_id();
        *world.merges.0.steps_left.lock().unwrap_or_else(PoisonError::into_inner) = Some(steps);
        let work = std::panic::AssertUnwindSafe(|| world.merges.take_out(&id, &fork, "long.txt", &hash));
        let crashed = std::panic::catch_unwind(work).is_err();
        *world.merges.0.steps_left.lock().unwrap_or_else(PoisonError::into_inner) = None;
        world.merges.recover().unwrap();
        let now = read(&fork, "long.txt");
        assert_eq!(now, if world.merges.is_out(&id) { without.clone() } else { with.clone() }, "after {steps} steps");
        if world.merges.is_out(&id) {
            world.merges.put_back(&id, &fork).unwrap();
            assert_eq!(read(&fork, "long.txt"), with);
        }
        if !crashed {
            assert!(steps > 2);
            break;
        }
    }
}
