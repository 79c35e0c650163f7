use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::clock::SystemClock;
use crate::git::fixture::{Fixture, make_hostile, set_executable, write};
use crate::worktree::{Base, Spec, Worktrees};

/// A project, forks of it, and what brings their changes home.
struct World {
    fixture: Fixture,
    worktrees: Worktrees,
    merges: Merges,
}

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

impl World {
    fn new() -> Self {
        let fixture = Fixture::new();
        write(&fixture.project(), "ten.txt", TEN);
        write(&fixture.project(), "other.txt", "other\n");
        fixture.commit(&fixture.project(), "more");
        let worktrees = Worktrees::new(fixture.root.join("data/worktrees"), fixture.offshoot(), Arc::new(SystemClock));
        let merges = Merges::new(fixture.root.join("data/merges"), fixture.offshoot(), Arc::new(Ids::seeded(1)));
        Self { fixture, worktrees, merges }
    }

    fn project(&self) -> PathBuf {
        self.fixture.project()
    }

    async fn fork(&self, id: &str) -> Worktree {
        let spec = Spec {
            id: id.into(),
            title: id.into(),
            parent: self.target(),
            base: Base::Snapshot,
            trust: Trust::Trusted,
            hooks: false,
            setup: None,
            root: None,
        };
        self.worktrees.create(spec).await.unwrap()
    }

    fn target(&self) -> Parent {
        Parent::Directory(self.project())
    }

    fn order(&self, forks: &[&Worktree]) -> Order {
        Order {
            target: self.target(),
            trust: Trust::Trusted,
            forks: forks.iter().map(|fork| (*fork).clone()).collect(),
            selection: MergeSelection::All,
        }
    }

    fn preview(&self, forks: &[&Worktree]) -> MergePreview {
        self.merges.preview(&self.order(forks)).unwrap()
    }

    #[track_caller]
    fn apply(&self, forks: &[&Worktree]) -> MergeDone {
        let preview = self.preview(forks);
        assert_eq!(preview.conflicts, []);
        self.merges.apply(&preview.merge, false, None).unwrap()
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap()
    }

    fn state(&self) -> BTreeMap<String, Vec<u8>> {
        self.fixture.state(&self.project())
    }

    /// Index, `HEAD`, refs, stash.
    fn git_state(&self) -> BTreeMap<String, Vec<u8>> {
        self.state().into_iter().filter(|(name, _)| name.starts_with("git:")).collect()
    }

    fn nothing_is_left(&self) {
        assert!(!self.project().join(".git/offshoot").exists());
    }
}

fn conflicts(preview: &MergePreview) -> Vec<(&str, &str)> {
    preview.conflicts.iter().map(|conflict| (conflict.path.as_str(), conflict.reason.as_str())).collect()
}

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
    let hashes = vec![hunk_hash("long.txt", &diff.hunks[1])];
    let order = Order { selection: MergeSelection::Hunks { hashes }, ..world.order(&[&fork]) };
    let preview = world.merges.preview(&order).unwrap();
    world.merges.apply(&preview.merge, false, None).unwrap();
    assert_eq!(world.read("long.txt"), long.replace("line 30\n", "second\nmore\n"));
    assert_eq!(world.read("README.md"), "# Project\n");

    let selection = MergeSelection::Files { paths: vec!["README.md".to_owned()] };
    let preview = world.merges.preview(&Order { selection, ..world.order(&[&fork]) }).unwrap();
    let patch = String::from_utf8(world.merges.patch(&preview.merge).unwrap()).unwrap();
    assert!(patch.starts_with("diff --git a/README.md b/README.md\n") && patch.contains("+fork\n"), "{patch}");
    world.merges.apply(&preview.merge, false, None).unwrap();
    assert_eq!(world.read("README.md"), "fork\n");
    assert_eq!(world.read("long.txt"), long.replace("line 30\n", "second\nmore\n"));
}

/// Ends the program after each of the steps between the first and the last write, and starts it again.
#[tokio::test]
async fn a_crash_leaves_the_old_or_the_new() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "ten.txt", TEN.replace("2\n", "two\n"));
    write(fork.path(), "new/file.txt", "new\n");
    std::fs::remove_file(fork.path().join("other.txt")).unwrap();
    let session = SessionId("s-1".to_owned());
    let old = world.state();
    let done = world.apply(&[&fork]);
    let new = world.state();
    world.merges.undo(&done.merge).unwrap();

    let (mut seen_old, mut seen_new) = (false, false);
    for undoing in [false, true] {
        for steps in 0.. {
            let done = undoing.then(|| world.apply(&[&fork]));
            let preview = (!undoing).then(|| world.preview(&[&fork]));
            *world.merges.0.steps_left.lock().unwrap_or_else(PoisonError::into_inner) = Some(steps);
            let work = std::panic::AssertUnwindSafe(|| match (&done, &preview) {
                (Some(done), _) => world.merges.undo(&done.merge).map(drop),
                (_, Some(preview)) => world.merges.apply(&preview.merge, false, Some(&session)).map(drop),
                _ => unreachable!(),
            });
            let crashed = std::panic::catch_unwind(work).is_err();
            *world.merges.0.steps_left.lock().unwrap_or_else(PoisonError::into_inner) = None;
            let again =
                Merges::new(world.fixture.root.join("data/merges"), world.fixture.offshoot(), Arc::new(Ids::seeded(9)));
            let recovered = again.recover().unwrap();
            assert!(recovered.iter().all(|step| step.left_alone.is_empty()), "{recovered:?}");
            assert_eq!(again.recover().unwrap(), [], "once is enough");
            let state = world.state();
            seen_old |= state == old;
            seen_new |= state == new;
            assert!(state == old || state == new, "after {steps} steps: {:?}", state.keys());
            world.nothing_is_left();
            let untold = again.untold(&session);
            assert_eq!(untold.len(), usize::from(state == new && !undoing), "the log is told of what happened");
            if state == new {
                let merge = untold.first().map(|done| done.merge.clone()).or(done.map(|done| done.merge)).unwrap();
                again.told(&merge).unwrap();
                assert_eq!(again.untold(&session), []);
                again.undo(&merge).unwrap();
            }
            if !crashed {
                break;
            }
        }
    }
    assert!(seen_old && seen_new);
}

#[tokio::test]
async fn a_failure_in_the_middle_is_undone() {
    let world = World::new();
    let fork = world.fork("a-1").await;
    write(fork.path(), "README.md", "new\n");
    write(fork.path(), "z.txt", "new\n");
    std::fs::remove_file(fork.path().join("other.txt")).unwrap();
    let preview = world.preview(&[&fork]);
    // No file is another than before, yet the last one can't be written.
    write(&world.project(), "z.txt/inner.txt", "mine\n");
    let before = world.state();
    let refused = world.merges.apply(&preview.merge, false, None);
    assert!(matches!(&refused, Err(MergeError::Storage { .. })), "{refused:?}");
    assert_eq!(world.state(), before);
    world.nothing_is_left();
    assert_eq!(world.merges.recover().unwrap(), []);
    assert_eq!(conflicts(&world.preview(&[&fork]))[0].0, "z.txt");
}

fn message(patience: Duration) -> Message {
    Message { text: "Work of a fork\n".to_owned(), patience }
}

const LONG: Duration = Duration::from_secs(60);

fn hook(world: &World, name: &str, script: &str) {
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
