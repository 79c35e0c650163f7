use std::time::{Duration, Instant};

use super::fixture::{Fixture, make_hostile, write};
use super::*;

fn found(fixture: &Fixture, directory: &Path) -> Found {
    discover(&fixture.offshoot(), directory, Trust::Trusted).unwrap()
}

/// A checkout whose "git" is a shell that runs `script`.
fn shell(fixture: &Fixture, script: &str) -> (Git, Checkout) {
    let program = fixture.root.join("fake-git");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fixture::set_executable(&program, true);
    let settings = GitSettings { program, path: "/usr/bin:/bin".into(), home: None, environment: Vec::new() };
    (Git::new(settings), found(fixture, &fixture.project()).checkout)
}

#[test]
fn a_directory_is_found_once_with_its_place_in_the_checkout() {
    let fixture = Fixture::new();
    let found = found(&fixture, &fixture.project().join("src"));
    assert_eq!(found.prefix, Path::new("src"));
    assert_eq!(found.checkout.work_tree, fixture.project());
    assert_eq!(found.checkout.git_dir, fixture.project().join(".git"));
    assert_eq!(found.repository.top_level, Some(fixture.project()));
}

#[test]
fn what_is_no_checkout_is_told_apart() {
    let fixture = Fixture::new();
    let git = fixture.offshoot();
    let try_at = |path: PathBuf| discover(&git, &path, Trust::Trusted).unwrap_err();
    assert!(matches!(try_at(fixture.root.join("nowhere")), DiscoverError::Unreadable { .. }));
    assert!(matches!(try_at(fixture.home()), DiscoverError::NoRepository(_)));
    assert!(matches!(try_at(fixture.project().join(".git/refs")), DiscoverError::InsideGitDirectory(_)));
    fixture.git(&fixture.root, &["clone", "--quiet", "--bare", "project", "bare"]);
    assert!(matches!(try_at(fixture.root.join("bare")), DiscoverError::Bare(_)));
    fixture.git(&fixture.project(), &["config", "core.worktree", fixture.home().to_str().unwrap()]);
    assert!(matches!(try_at(fixture.project()), DiscoverError::Elsewhere { .. }));
}

#[test]
fn worktrees_of_a_bare_repository_are_checkouts() {
    let fixture = Fixture::new();
    fixture.git(&fixture.root, &["clone", "--quiet", "--bare", "project", "bare"]);
    fixture.git(&fixture.root.join("bare"), &["worktree", "add", "--quiet", "../tree", "-b", "topic"]);
    let found = found(&fixture, &fixture.root.join("tree"));
    assert_eq!(found.repository.top_level, None);
    assert_eq!(found.checkout.git_dir, fixture.root.join("bare/worktrees/tree"));
    let head = found.checkout.head(&found.checkout.library().unwrap()).unwrap();
    assert!(matches!(head, Head::Branch { name, commit: Some(_) } if name == "refs/heads/topic"));
}

#[test]
fn directories_are_pinned_whatever_lies_on_disk() {
    let fixture = Fixture::new();
    let other = fixture.init("other");
    write(&other, "other.txt", "x");
    fixture.commit(&other, "other");
    let checkout = found(&fixture, &fixture.project()).checkout;
    let elsewhere = Checkout { work_tree: other, ..checkout };
    // `other` has a `.git` of its own; it isn't looked at.
    let output = fixture.offshoot().on(&elsewhere).args(["rev-parse", "--absolute-git-dir"]).run().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), fixture.project().join(".git").to_str().unwrap());
}

#[test]
fn a_hostile_repository_runs_nothing_when_opened_and_captured() {
    let fixture = Fixture::new();
    let project = fixture.project();
    let proof = make_hostile(&fixture, &project);
    write(&project, "b.txt", "new\n");
    write(&project, "README.md", "changed\n");
    write(&project, "src/main.rs", "changed\n");
    let git = fixture.offshoot();
    let checkout = discover(&git, &project, Trust::Untrusted).unwrap().checkout;
    let captured = Capture::new(&git, &checkout, &fixture.root.join("index")).run().unwrap();
    assert!(!proof.exists(), "{}", std::fs::read_to_string(&proof).unwrap());
    let library = checkout.library().unwrap();
    let tree = library.find_tree(captured.tree).unwrap();
    let blob = tree.get_path(Path::new("b.txt")).unwrap().to_object(&library).unwrap().peel_to_blob().unwrap();
    assert_eq!(blob.content(), b"new\n");
    // The trap works: the person's own git falls into it.
    let _ = fixture.try_git(&project, &["add", "--all"]);
    assert!(proof.exists());
}

#[test]
fn an_error_says_command_directory_exit_and_reason() {
    let fixture = Fixture::new();
    let checkout = found(&fixture, &fixture.project()).checkout;
    let error = fixture.offshoot().on(&checkout).args(["cat-file", "-p", "nonsense"]).run().unwrap_err();
    let GitError::Failed { command, directory, exit, stderr } = error else { panic!("{error}") };
    assert_eq!((command.as_str(), directory, exit), ("git cat-file -p nonsense", fixture.project(), Some(128)));
    assert!(stderr.contains("nonsense"), "{stderr}");
}

#[test]
fn output_without_end_is_cut_off_and_the_process_ended() {
    let fixture = Fixture::new();
    let (git, checkout) = shell(&fixture, "exec yes");
    let mut command = git.on(&checkout);
    command.limit = 1 << 20;
    assert!(matches!(command.run(), Err(GitError::TooMuchOutput { limit, .. }) if limit == 1 << 20));
    let (git, checkout) = shell(&fixture, "yes | head -c 5000000 >&2; exit 3");
    let error = git.on(&checkout).run().unwrap_err();
    let GitError::Failed { exit: Some(3), stderr, .. } = error else { panic!("{error}") };
    assert!(stderr.len() <= 16 << 10);
}

#[test]
fn a_process_that_hangs_is_ended_with_its_children() {
    let fixture = Fixture::new();
    let pid = fixture.root.join("pid");
    let (git, checkout) = shell(&fixture, &format!("sleep 1000 & echo $! > {}; wait", pid.display()));
    let started = Instant::now();
    let result = git.on(&checkout).patience(Duration::from_millis(300)).run();
    assert!(matches!(result, Err(GitError::TimedOut { .. })));
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_gone(&pid);
}

#[test]
fn cancelling_ends_what_runs_and_refuses_the_next() {
    let fixture = Fixture::new();
    let pid = fixture.root.join("pid");
    let (git, checkout) = shell(&fixture, &format!("sleep 1000 & echo $! > {}; wait", pid.display()));
    let cancel = Cancel::default();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| git.on(&checkout).cancel(&cancel).run());
        while std::fs::read_to_string(&pid).map_or(true, |text| text.trim().is_empty()) {
            std::thread::yield_now();
        }
        cancel.cancel();
        assert!(matches!(running.join().unwrap(), Err(GitError::Cancelled)));
    });
    assert_gone(&pid);
    assert!(matches!(git.on(&checkout).cancel(&cancel).run(), Err(GitError::Cancelled)));
}

fn assert_gone(pid: &Path) {
    let pid: i32 = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
    let status = format!("/proc/{pid}/stat");
    let deadline = Instant::now() + Duration::from_secs(10);
    // A killed orphan stays listed until somebody reaps it.
    while std::fs::read_to_string(&status).is_ok_and(|text| !text.contains(") Z ")) {
        assert!(Instant::now() < deadline, "process {pid} is still there");
        std::thread::yield_now();
    }
}

#[test]
fn nothing_of_our_environment_reaches_git() {
    let fixture = Fixture::new();
    let (git, checkout) = shell(&fixture, "env");
    let output = git.on(&checkout).run().unwrap();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let name = line.split('=').next().unwrap_or_default();
        let expected = ["PATH", "LC_ALL", "SSH_ASKPASS", "PWD", "_", "SHLVL", "OLDPWD"];
        assert!(name.starts_with("GIT_") || expected.contains(&name), "{line}");
    }
}

#[test]
fn a_file_that_changes_in_the_moment_of_the_index_is_captured() {
    let fixture = Fixture::new();
    let project = fixture.project();
    // The time of a file's entry can't be set, so that of its content alone has to tell.
    fixture.git(&project, &["config", "core.trustctime", "false"]);
    write(&project, "picture", b"\0one");
    fixture.commit(&project, "picture");
    let moment = std::time::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    let at_moment = |path: PathBuf| {
        std::fs::File::options().append(true).open(path).unwrap().set_modified(moment).unwrap();
    };
    at_moment(project.join("picture"));
    fixture.git(&project, &["update-index", "--refresh"]);
    at_moment(project.join(".git/index"));
    std::fs::write(project.join("picture"), b"\0two").unwrap();
    at_moment(project.join("picture"));

    let (git, checkout) = (fixture.offshoot(), found(&fixture, &project).checkout);
    let captured = Capture::new(&git, &checkout, &fixture.root.join("index")).run().unwrap();
    let tree = captured.tree.to_string();
    assert_eq!(fixture.git(&project, &["cat-file", "-p", &format!("{tree}:picture")]), "\0two");
}

#[test]
fn a_capture_has_what_is_there_and_leaves_the_checkout_alone() {
    let fixture = Fixture::new();
    let project = fixture.project();
    write(&project, "tracked-then-gone.txt", "x");
    write(&project, "becomes-folder", "x");
    write(&project, "folder/file", "x");
    write(&project, "assumed.txt", "old");
    fixture.commit(&project, "second");
    fixture.git(&project, &["update-index", "--assume-unchanged", "assumed.txt"]);
    write(&project, "assumed.txt", "changed");
    write(&project, "staged.txt", "staged");
    fixture.git(&project, &["add", "staged.txt"]);
    write(&project, "staged.txt", "and changed again");
    write(&project, "untracked/ü \"q\"\n漢.txt", "deep");
    write(&project, "noise.log", "ignored");
    std::fs::remove_file(project.join("tracked-then-gone.txt")).unwrap();
    std::fs::remove_file(project.join("becomes-folder")).unwrap();
    write(&project, "becomes-folder/inside", "y");
    std::fs::remove_dir_all(project.join("folder")).unwrap();
    std::os::unix::fs::symlink("/nowhere", project.join("folder")).unwrap();
    fixture.git(&project, &["init", "--quiet", "nested"]);
    let before = fixture.state(&project);

    let git = fixture.offshoot();
    let checkout = found(&fixture, &project).checkout;
    let index = fixture.root.join("index");
    let captured = Capture::new(&git, &checkout, &index).run().unwrap();
    assert_eq!(fixture.state(&project), before);
    assert_eq!(captured.nested, [Path::new("nested")]);
    let tree = captured.tree.to_string();
    let names = fixture.git(&project, &["ls-tree", "-r", "--name-only", "-z", &tree]);
    let names: Vec<_> = names.split_terminator('\0').collect();
    let expected = [
        ".gitignore",
        "README.md",
        "assumed.txt",
        "becomes-folder/inside",
        "folder",
        "src/main.rs",
        "staged.txt",
        "untracked/ü \"q\"\n漢.txt",
    ];
    assert_eq!(names, expected);
    assert_eq!(fixture.git(&project, &["cat-file", "-p", &format!("{tree}:assumed.txt")]), "changed");
    assert_eq!(fixture.git(&project, &["cat-file", "-p", &format!("{tree}:staged.txt")]), "and changed again");
    assert_eq!(Capture::new(&git, &checkout, &index).run().unwrap(), captured);
}

#[test]
fn a_kept_index_follows_ignore_rules_and_forced_files() {
    let fixture = Fixture::new();
    let project = fixture.project();
    let git = fixture.offshoot();
    let checkout = found(&fixture, &project).checkout;
    let index = fixture.root.join("index");
    let names = || {
        let tree = Capture::new(&git, &checkout, &index).run().unwrap().tree.to_string();
        fixture.git(&project, &["ls-tree", "-r", "--name-only", &tree]).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    write(&project, "notes.tmp", "x");
    assert!(names().contains(&"notes.tmp".to_owned()));
    write(&project, ".gitignore", "*.tmp\n*.log\n");
    assert!(!names().contains(&"notes.tmp".to_owned()));
    write(&project, "forced.log", "x");
    assert!(!names().contains(&"forced.log".to_owned()));
    fixture.git(&project, &["add", "--force", "forced.log"]);
    assert!(names().contains(&"forced.log".to_owned()));
}

#[test]
fn a_quarantine_keeps_objects_out_of_the_repository() {
    let fixture = Fixture::new();
    let project = fixture.project();
    let git = fixture.offshoot();
    let checkout = found(&fixture, &project).checkout;
    let quarantine = Quarantine::at(fixture.root.join("qu:ar \"antine\"")).unwrap();
    write(&project, "new.txt", "only in quarantine");
    let captured = Capture::new(&git, &checkout, &fixture.root.join("index")).quarantine(&quarantine).run().unwrap();
    assert!(checkout.library().unwrap().find_tree(captured.tree).is_err());
    let library = quarantine.library(&checkout).unwrap();
    let tree = library.find_tree(captured.tree).unwrap();
    assert!(tree.get_name("README.md").unwrap().to_object(&library).is_ok());
    assert!(tree.get_name("new.txt").unwrap().to_object(&library).is_ok());
}
