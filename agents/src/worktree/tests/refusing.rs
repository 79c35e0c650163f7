use super::*;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;

#[tokio::test]
async fn what_can_not_work_is_refused_before_anything_is_made() {
    let fixture = Fixture::new();
    let worktrees = fixture.worktrees();
    let refused = async |path: PathBuf| worktrees.create(spec("a-1", path)).await.unwrap_err();

    let empty = fixture.root.join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert!(matches!(refused(empty.clone()).await, WorktreeError::NoCheckout(DiscoverError::NoRepository(_))));
    fixture.git(&empty, &["init", "--quiet"]);
    write(&empty, "file.txt", "x");
    assert!(matches!(refused(empty.clone()).await, WorktreeError::NoCommits(path) if path == empty));
    fixture.git(&fixture.root, &["clone", "--quiet", "--bare", "project", "bare"]);
    assert!(matches!(refused(fixture.root.join("bare")).await, WorktreeError::NoCheckout(DiscoverError::Bare(_))));
    for id in ["", "../x", "a/b", "a b"] {
        let error = worktrees.create(spec(id, fixture.project())).await.unwrap_err();
        assert!(matches!(error, WorktreeError::MalformedId(_)));
    }
    let inside = Worktrees::new(fixture.project().join("trees"), fixture.offshoot(), Arc::new(SystemClock));
    let error = inside.create(spec("a-1", fixture.project())).await.unwrap_err();
    assert!(matches!(error, WorktreeError::InsideRepository { .. }));
    assert!(!fixture.worktrees_root().exists() && !fixture.project().join("trees").exists());
    fixture.assert_nothing_left_in_repository();
}

#[tokio::test]
async fn one_id_has_one_worktree() {
    let fixture = Fixture::new();
    let (worktrees, worktree) = made(&fixture).await;
    let again = worktrees.create(spec(&worktree.id, fixture.project())).await.unwrap_err();
    assert!(matches!(again, WorktreeError::Exists(id) if id == worktree.id));
    verify(&worktree).unwrap();
    assert_eq!(fixture.git(&fixture.project(), &["branch", "--list", "offshoot/*"]).lines().count(), 1);
}

#[tokio::test]
async fn a_failed_setup_undoes_everything_and_says_why() {
    let fixture = Fixture::new();
    write(&fixture.project(), "dirty.txt", "x");
    let before = fixture.state(&fixture.project());
    let setup = Setup::new(|worktree, _| {
        assert!(worktree.path().join("dirty.txt").exists());
        write(worktree.path(), "node_modules/x", "y");
        Err("npm ended with exit 1".to_owned())
    });
    let spec = Spec { setup: Some(setup), ..spec("a-1", fixture.project()) };
    let error = fixture.worktrees().create(spec).await.unwrap_err();
    assert!(error.to_string().contains("npm ended with exit 1"), "{error}");
    fixture.assert_nothing_left();
    assert_eq!(fixture.state(&fixture.project()), before);
}

#[tokio::test]
async fn a_checkout_that_fails_undoes_everything() {
    let fixture = Fixture::new();
    let project = fixture.project();
    write(&project, ".gitattributes", "*.rs text eol=crlf\n");
    fixture.commit(&project, "attributes");
    write(&project, "dirty.txt", "x");
    // A blob that is missing stands for a disk that is full: it fails in the middle of the files. One that is converted, so
    // that no copy can do without it.
    let blob = fixture.git(&project, &["rev-parse", "HEAD:src/main.rs"]);
    let (folder, name) = blob.trim().split_at(2);
    std::fs::remove_file(project.join(".git/objects").join(folder).join(name)).unwrap();
    let error = fixture.worktrees().create(spec("a-1", project.clone())).await.unwrap_err();
    assert!(matches!(error, WorktreeError::Git(GitError::Failed { .. })), "{error}");
    fixture.assert_nothing_left();
}

#[tokio::test]
async fn a_copy_that_fails_undoes_everything() {
    let fixture = Fixture::new();
    let project = fixture.project();
    write(&project, ".worktreeinclude", ".env\n");
    write(&project, ".env", "x");
    let setup = Setup::new(|worktree, _| {
        assert!(worktree.path().join(".env").exists());
        std::fs::remove_dir_all(worktree.path()).map_err(|error| error.to_string())
    });
    // A setup that destroys its own worktree is noticed by the last check.
    let spec = Spec { setup: Some(setup), ..spec("a-1", project) };
    let error = fixture.worktrees().create(spec).await.unwrap_err();
    assert!(matches!(error, WorktreeError::Missing { .. } | WorktreeError::Storage { .. }), "{error}");
    fixture.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_future_undoes_everything_before_the_next_begins() {
    let fixture = Fixture::new();
    let worktrees = fixture.worktrees();
    let (reached, wait) = mpsc::channel();
    let setup = Setup::new(move |_, cancel| {
        reached.send(()).unwrap();
        while !cancel.is_cancelled() {
            std::thread::yield_now();
        }
        Err("cancelled".to_owned())
    });
    let mut creation = Box::pin(worktrees.create(Spec { setup: Some(setup), ..spec("a-1", fixture.project()) }));
    let wait = tokio::task::spawn_blocking(move || wait.recv().unwrap());
    tokio::select! {
        made = &mut creation => panic!("{made:?}"),
        waited = wait => waited.unwrap(),
    }
    drop(creation);
    let next = worktrees.create(spec("a-2", fixture.project())).await.unwrap();
    let listed = worktrees.list().await.unwrap();
    assert_eq!(listed.iter().map(|listed| listed.path.as_path()).collect::<Vec<_>>(), [next.path()]);
    assert_eq!(fixture.git(&fixture.project(), &["branch", "--list", "offshoot/*"]).lines().count(), 1);
    worktrees.finish(&next).await.unwrap();
    worktrees.settle().await;
    fixture.assert_nothing_left();
}

#[tokio::test]
async fn a_worktree_nobody_takes_is_undone() {
    let fixture = Fixture::new();
    let worktrees = fixture.worktrees();
    let plan = worktrees.plan(spec("a-1", fixture.project())).await.unwrap();
    let planned = create::record_start(&worktrees.0, plan, &Cancel::default()).unwrap();
    let made = create::carry_out(&worktrees.0, planned, &Cancel::default(), &|_| {}).unwrap();
    assert!(made.path().exists());
    drop(made);
    fixture.assert_nothing_left();
}

#[tokio::test]
async fn a_missing_or_replaced_worktree_is_never_used() {
    type Spoil = fn(&Worktree);
    let fixture = Fixture::new();
    let before = fixture.state(&fixture.project());
    let spoil: [(&str, Spoil); 8] = [
        ("deleted", |worktree| std::fs::remove_dir_all(worktree.path()).unwrap()),
        ("a link", |worktree| {
            std::fs::rename(worktree.path(), worktree.path().with_extension("away")).unwrap();
            std::os::unix::fs::symlink(worktree.path().with_extension("away"), worktree.path()).unwrap();
        }),
        ("no .git", |worktree| std::fs::remove_file(worktree.path().join(".git")).unwrap()),
        (".git a folder", |worktree| {
            std::fs::remove_file(worktree.path().join(".git")).unwrap();
            std::fs::create_dir(worktree.path().join(".git")).unwrap();
        }),
        (".git elsewhere", |worktree| {
            let main = worktree.repository.common_dir.display();
            std::fs::write(worktree.path().join(".git"), format!("gitdir: {main}\n")).unwrap();
        }),
        ("commondir repointed", |worktree| {
            std::fs::write(worktree.checkout.git_dir.join("commondir"), "/tmp\n").unwrap();
        }),
        ("unregistered", |worktree| std::fs::remove_dir_all(&worktree.checkout.git_dir).unwrap()),
        ("no mark", |worktree| std::fs::remove_dir_all(worktree.own_folder()).unwrap()),
    ];
    for (n, (how, spoil)) in spoil.into_iter().enumerate() {
        let worktrees = fixture.worktrees();
        let worktree = worktrees.create(spec(&format!("a-{n}"), fixture.project())).await.unwrap();
        write(worktree.path(), "precious.txt", "x");
        spoil(&worktree);
        let missing = |error: WorktreeError| {
            assert!(matches!(error, WorktreeError::Missing { .. }), "{how}: {error}");
        };
        missing(verify(&worktree).unwrap_err());
        missing(worktrees.finish(&worktree).await.unwrap_err());
        missing(worktrees.archive(&worktree).await.unwrap_err());
        missing(worktrees.commit_all(&worktree, "x", false).await.unwrap_err());
        let child = Spec { parent: Parent::Worktree(Box::new(worktree.clone())), ..spec("child", PathBuf::new()) };
        missing(worktrees.create(child).await.unwrap_err());
        let listed = worktrees.repair().await.unwrap().there;
        let listed = listed.iter().find(|listed| listed.worktree.as_ref() == Some(&worktree)).unwrap();
        assert!(matches!(listed.standing, Standing::Missing { .. }), "{how}");
        if how != "deleted" {
            assert!(worktree.path().join("precious.txt").exists(), "{how}");
        }
    }
    assert_eq!(fixture.state(&fixture.project()), before);
}

#[tokio::test]
async fn a_hostile_repository_runs_nothing_through_a_whole_life() {
    let fixture = Fixture::new();
    let project = fixture.project();
    let proof = make_hostile(&fixture, &project);
    write(&project, "dirty.txt", "x");
    let worktrees = fixture.worktrees();
    let spec = Spec { trust: Trust::Untrusted, hooks: true, ..spec("a-1", project.clone()) };
    let worktree = worktrees.create(spec).await.unwrap();
    assert_eq!(std::fs::read(worktree.path().join("a.txt")).unwrap(), b"text\n");
    write(worktree.path(), "a.txt", "changed\n");
    write(worktree.path(), "src/main.rs", "changed\n");
    write(worktree.path(), "new.txt", "new\n");
    worktrees.commit_all(&worktree, "work", true).await.unwrap().unwrap();
    assert_eq!(worktrees.finish(&worktree).await.unwrap(), Finished::Kept);
    let archive = worktrees.archive(&worktree).await.unwrap();
    let back = worktrees.restore(&worktree.repository, Trust::Untrusted, &archive.reference, None).await.unwrap();
    assert_eq!(std::fs::read(back.path().join("new.txt")).unwrap(), b"new\n");
    worktrees.discard(&back).await.unwrap();
    worktrees.repair().await.unwrap();
    assert!(!proof.exists(), "{}", std::fs::read_to_string(&proof).unwrap());
}

#[tokio::test]
async fn a_git_directory_that_was_planted_in_a_worktree_is_not_obeyed() {
    let fixture = Fixture::new();
    let (worktrees, worktree) = made(&fixture).await;
    // An agent replaces the `.git` file by a repository of its own making.
    std::fs::remove_file(worktree.path().join(".git")).unwrap();
    fixture.git(worktree.path(), &["init", "--quiet"]);
    let proof = make_hostile(&fixture, worktree.path());
    assert!(matches!(verify(&worktree), Err(WorktreeError::Missing { .. })));
    assert!(worktrees.archive(&worktree).await.is_err());
    std::fs::write(worktree.checkout.git_dir.join("commondir"), worktree.path().join(".git").to_str().unwrap())
        .unwrap();
    // Even without that check, git is told where to look.
    let output = fixture.offshoot().on(&worktree.checkout).args(["status", "--porcelain"]).run().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains(".gitattributes"));
    assert!(!proof.exists());
}

#[tokio::test]
async fn a_folder_that_can_not_be_written_is_an_error_with_its_name() {
    let fixture = Fixture::new();
    let blocked = fixture.root.join("file");
    std::fs::write(&blocked, "x").unwrap();
    std::fs::set_permissions(&blocked, std::fs::Permissions::from_mode(0o444)).unwrap();
    let worktrees = Worktrees::new(blocked.join("trees"), fixture.offshoot(), Arc::new(SystemClock));
    let error = worktrees.create(spec("a-1", fixture.project())).await.unwrap_err();
    assert!(matches!(&error, WorktreeError::Storage { what, .. } if what.contains("file/trees")), "{error}");
}

impl Fixture {
    fn assert_nothing_left_in_repository(&self) {
        let refs = self.git(&self.project(), &["for-each-ref", "--format=%(refname)"]);
        assert!(!refs.contains("offshoot"), "{refs}");
        assert!(!self.project().join(".git/worktrees").exists());
    }
}
