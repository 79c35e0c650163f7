use super::*;

#[tokio::test]
async fn a_clean_parent_gives_its_head_and_the_record_survives_a_restart() {
    let fixture = Fixture::new();
    let head = fixture.git(&fixture.project(), &["rev-parse", "HEAD"]);
    let before = fixture.state(&fixture.project());
    let (_, worktree) = made(&fixture).await;
    assert_eq!(worktree.base, head.trim());
    assert!(!worktree.base_is_snapshot);
    assert_eq!(worktree.branch, "offshoot/fix-the-parser-456789");
    assert!(worktree.path().starts_with(fixture.worktrees_root()));
    assert_eq!(worktree.warnings, Vec::<String>::new());
    assert_eq!(files(worktree.path()), files(&fixture.project()));
    assert_eq!(fixture.git(worktree.path(), &["status", "--porcelain"]), "");
    assert_eq!(fixture.git(worktree.path(), &["branch", "--show-current"]).trim(), worktree.branch);
    assert_eq!(fixture.state(&fixture.project()), before);

    let json = serde_json::to_string(&worktree).unwrap();
    assert_eq!(serde_json::from_str::<Worktree>(&json).unwrap(), worktree);
    let listed = fixture.worktrees().list().await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].worktree.as_ref(), &listed[0].standing), (Some(&worktree), &Standing::Live));
    verify(&worktree).unwrap();
}

#[tokio::test]
async fn the_fork_sees_what_the_parent_sees_and_the_parent_is_untouched() {
    let fixture = Fixture::new();
    let project = fixture.project();
    fixture.git(&fixture.root, &["clone", "--quiet", "--bare", "project", "remote"]);
    fixture.git(&project, &["remote", "add", "origin", "../remote"]);
    fixture.git(&project, &["fetch", "--quiet", "origin"]);
    fixture.git(&project, &["switch", "--quiet", "--track", "origin/main", "--create", "feature"]);
    for n in 0..2 {
        write(&project, format!("feature-{n}.txt"), "x");
        fixture.commit(&project, "ahead");
    }
    write(&project, "stashed.txt", "x");
    fixture.git(&project, &["stash", "--include-untracked"]);
    write(&project, "staged.txt", "staged");
    fixture.git(&project, &["add", "staged.txt"]);
    write(&project, "README.md", "unstaged");
    write(&project, "notes/untracked.txt", "untracked");
    write(&project, "ignored.log", "ignored");
    std::fs::remove_file(project.join("feature-0.txt")).unwrap();
    let before = fixture.state(&project);

    let (_, worktree) = made(&fixture).await;
    assert!(worktree.base_is_snapshot);
    let mut expected = files(&project);
    expected.remove("ignored.log");
    assert_eq!(files(worktree.path()), expected);
    assert_eq!(fixture.state(&project), before);
    assert_eq!(fixture.git(worktree.path(), &["status", "--porcelain"]), "");
    let parent = fixture.git(&project, &["rev-parse", &format!("{}^", worktree.base)]);
    assert_eq!(parent, fixture.git(&project, &["rev-parse", "feature"]));
    let upstream = fixture.try_git(worktree.path(), &["rev-parse", "--abbrev-ref", "@{upstream}"]);
    assert!(!upstream.0, "{}", upstream.1);
}

#[tokio::test]
async fn a_fork_of_a_fork_starts_from_the_fork() {
    let fixture = Fixture::new();
    let (worktrees, parent) = made(&fixture).await;
    write(parent.path(), "src/from-the-fork.rs", "x");
    let mut spec = spec("b-9876543210", fixture.project());
    spec.parent = Parent::Worktree(Box::new(parent.clone()));
    let child = worktrees.create(spec).await.unwrap();
    assert_eq!(files(child.path()), files(parent.path()));
    assert_eq!(child.repository, parent.repository);
    assert!(!fixture.project().join("src/from-the-fork.rs").exists());
}

#[tokio::test]
async fn head_and_branches_can_be_the_base() {
    let fixture = Fixture::new();
    let project = fixture.project();
    fixture.git(&project, &["branch", "--", "old"]);
    write(&project, "README.md", "second");
    let second = fixture.commit(&project, "second");
    write(&project, "README.md", "dirty");
    let worktrees = fixture.worktrees();
    let with = |id: &str, base| Spec { base, ..spec(id, project.clone()) };
    let head = worktrees.create(with("a-1", Base::Head)).await.unwrap();
    assert_eq!((head.base.as_str(), head.base_is_snapshot), (second.as_str(), false));
    let old = worktrees.create(with("a-2", Base::Named("old".into()))).await.unwrap();
    assert_eq!(std::fs::read(old.path().join("README.md")).unwrap(), b"# Project\n");
    for name in ["--upload-pack=x", "-x", "nowhere", "HEAD~1", "old^{tree}", "@{-1}"] {
        let error = worktrees.create(with("a-3", Base::Named(name.into()))).await.unwrap_err();
        assert!(matches!(&error, WorktreeError::NoBase(wanted) if wanted == name), "{error}");
    }
    // A branch can be called like a switch all the same.
    fixture.git(&project, &["update-ref", "refs/heads/-x", "old"]);
    let dashed = worktrees.create(with("a-4", Base::Named("-x".into()))).await.unwrap();
    assert_eq!(dashed.base, old.base);
}

#[tokio::test]
async fn eight_forks_of_one_message_are_eight_worktrees() {
    let fixture = Fixture::new();
    write(&fixture.project(), "dirty.txt", "x");
    let worktrees = fixture.worktrees();
    let ids: Vec<_> = (0..8).map(|n| format!("a-{n}bcdefghjk")).collect();
    let creations = ids.iter().map(|id| worktrees.create(spec(id, fixture.project())));
    let made = futures_util::future::join_all(creations).await;
    let made: Vec<_> = made.into_iter().map(Result::unwrap).collect();
    let branches: std::collections::HashSet<_> = made.iter().map(|worktree| &worktree.branch).collect();
    let paths: std::collections::HashSet<_> = made.iter().map(Worktree::path).collect();
    assert_eq!((branches.len(), paths.len()), (8, 8));
    for worktree in &made {
        verify(worktree).unwrap();
        assert!(worktree.path().join("dirty.txt").exists());
    }
}

#[tokio::test]
async fn odd_paths_and_a_detached_head_work() {
    let fixture = Fixture::empty();
    let odd = fixture.init("it's \"odd\" 漢字\nnewline");
    write(&odd, "sub dir/ü \"q\" 漢.txt", "x");
    let head = fixture.commit(&odd, "odd");
    fixture.git(&odd, &["checkout", "--quiet", "--detach"]);
    write(&odd, "sub dir/new\nline.txt", "x");
    let worktrees = Worktrees::new(fixture.root.join("da ta"), fixture.offshoot(), Arc::new(SystemClock));
    let worktree = worktrees.create(spec("a-1", odd.join("sub dir"))).await.unwrap();
    assert_eq!(worktree.directory(), worktree.path().join("sub dir"));
    assert_eq!(files(worktree.path()), files(&odd));
    assert_eq!(fixture.git(worktree.path(), &["rev-parse", "HEAD^"]).trim(), head);
    assert_eq!(fixture.git(worktree.path(), &["status", "--porcelain"]), "");
    verify(&worktree).unwrap();
    write(worktree.path(), "sub dir/made.txt", "x");
    let archive = worktrees.archive(&worktree).await.unwrap();
    let back = worktrees.restore(&worktree.repository, Trust::Trusted, &archive.reference, None).await.unwrap();
    assert!(back.directory().join("made.txt").exists());
    assert_eq!(back.branch, worktree.branch);
}

#[tokio::test]
async fn branches_that_are_in_the_way_are_avoided() {
    for existing in ["offshoot", "offshoot/x/y", "OffShoot/other", "offshoot/FIX-the-parser-456789"] {
        let fixture = Fixture::new();
        fixture.git(&fixture.project(), &["branch", existing]);
        let (_, worktree) = made(&fixture).await;
        let found = fixture.git(&fixture.project(), &["rev-parse", &worktree.branch]);
        assert_eq!(found.trim(), worktree.base, "{existing}");
        assert!(!worktree.branch.eq_ignore_ascii_case(existing));
    }
}

#[tokio::test]
async fn hooks_run_only_when_wanted_and_their_failure_is_a_warning() {
    let fixture = Fixture::new();
    let hook = fixture.project().join(".git/hooks/post-checkout");
    std::fs::write(&hook, "#!/bin/sh\ntouch ran\necho no luck >&2\nexit 1\n").unwrap();
    set_executable(&hook, true);
    let (worktrees, quiet) = made(&fixture).await;
    assert!(!quiet.path().join("ran").exists() && quiet.warnings.is_empty());
    let wanted = Spec { hooks: true, ..spec("a-2", fixture.project()) };
    let worktree = worktrees.create(wanted).await.unwrap();
    assert!(worktree.path().join("ran").exists());
    assert!(worktree.warnings[0].contains("no luck"), "{:?}", worktree.warnings);
    let untrusted = Spec { hooks: true, trust: Trust::Untrusted, ..spec("a-3", fixture.project()) };
    assert!(!worktrees.create(untrusted).await.unwrap().path().join("ran").exists());
}

#[tokio::test]
async fn a_missing_filter_program_leaves_pointers_and_a_warning() {
    let fixture = Fixture::new();
    let project = fixture.project();
    write(&project, ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0000\nsize 3\n";
    write(&project, "big.bin", pointer);
    fixture.commit(&project, "pointer");
    for (key, value) in [
        ("clean", "no-such-git-lfs clean -- %f"),
        ("smudge", "no-such-git-lfs smudge -- %f"),
        ("process", "no-such-git-lfs filter-process"),
        ("required", "true"),
    ] {
        fixture.git(&project, &["config", "--global", &format!("filter.lfs.{key}"), value]);
    }
    let (worktrees, worktree) = made(&fixture).await;
    assert_eq!(std::fs::read(worktree.path().join("big.bin")).unwrap(), pointer.as_bytes());
    assert!(worktree.warnings[0].contains("lfs"), "{:?}", worktree.warnings);
    write(worktree.path(), "other.bin", "abc");
    worktrees.commit_all(&worktree, "work", false).await.unwrap().unwrap();
    assert_eq!(fixture.git(&project, &["show", &format!("{}:other.bin", worktree.branch)]), "abc");
}

#[tokio::test]
async fn filters_of_a_trusted_repository_run() {
    let fixture = Fixture::new();
    let project = fixture.project();
    fixture.git(&project, &["config", "filter.upper.clean", "tr a-z A-Z"]);
    fixture.git(&project, &["config", "filter.upper.smudge", "tr A-Z a-z"]);
    write(&project, ".gitattributes", "*.up filter=upper\n");
    write(&project, "word.up", "word");
    fixture.commit(&project, "upper");
    let (worktrees, trusted) = made(&fixture).await;
    assert_eq!(std::fs::read(trusted.path().join("word.up")).unwrap(), b"word");
    assert_eq!(worktrees.finish(&trusted).await.unwrap(), Finished::Removed { ignored: vec![] });
    let untrusted = Spec { trust: Trust::Untrusted, base: Base::Head, ..spec("a-2", project) };
    let untrusted = worktrees.create(untrusted).await.unwrap();
    assert_eq!(std::fs::read(untrusted.path().join("word.up")).unwrap(), b"WORD");
    assert!(untrusted.warnings[0].contains("upper"), "{:?}", untrusted.warnings);
}

#[tokio::test]
async fn empty_submodules_and_nested_repositories_are_named() {
    let fixture = Fixture::new();
    let project = fixture.project();
    fixture.init("library");
    fixture
        .git(&project, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../library", "lib/inner"]);
    fixture.commit(&project, "submodule");
    fixture.init("project/nested");
    write(&project.join("lib/inner"), "README.md", "dirty in the submodule");
    let before = fixture.state(&project);
    let (_, worktree) = made(&fixture).await;
    assert_eq!(fixture.state(&project), before);
    assert!(!worktree.path().join("nested").exists());
    let warnings = worktree.warnings.join("\n");
    assert!(warnings.contains("lib/inner") && warnings.contains("nested"), "{warnings}");
    assert!(worktree.path().join("lib/inner").is_dir());
    assert!(!worktree.base_is_snapshot);

    let inner = project.join("lib/inner");
    let moved = fixture.commit(&inner, "in the submodule");
    let second = fixture.worktrees().create(spec("a-2", project.clone())).await.unwrap();
    assert!(second.base_is_snapshot);
    let entry = fixture.git(&project, &["ls-tree", &second.base, "lib/inner"]);
    assert!(entry.contains(&moved), "{entry}");
}

#[tokio::test]
async fn a_sparse_parent_has_sparse_forks() {
    let fixture = Fixture::new();
    let project = fixture.project();
    write(&project, "docs/big.txt", "x");
    fixture.commit(&project, "docs");
    fixture.git(&project, &["sparse-checkout", "set", "src"]);
    write(&project, "src/new.rs", "x");
    let (worktrees, worktree) = made(&fixture).await;
    assert!(!worktree.path().join("docs").exists());
    assert!(worktree.path().join("src/new.rs").exists());
    assert!(fixture.git(&project, &["ls-tree", "-r", "--name-only", &worktree.base]).contains("docs/big.txt"));
    assert!(matches!(worktrees.finish(&worktree).await.unwrap(), Finished::Removed { .. }));
}

#[tokio::test]
async fn ignored_files_are_copied_as_the_project_says_and_never_linked() {
    let fixture = Fixture::new();
    let project = fixture.project();
    write(&project, ".gitignore", ".env\n/config/\n/target/\n*.key\n/linked\n");
    write(&project, ".worktreeinclude", "# comment\n.env\nconfig/*.json\n!config/secret.json\nREADME.md\n/linked\n");
    write(&project, ".offshoot/worktree-include", "deep/**/*.key\n");
    fixture.commit(&project, "include");
    write(&project, ".env", "SECRET=1");
    write(&project, "config/a.json", "{}");
    write(&project, "config/secret.json", "{}");
    write(&project, "target/huge", "x");
    write(&project, "deep/er/my.key", "k");
    write(&project, "other.key", "k");
    set_executable(&project.join("config/a.json"), true);
    std::os::unix::fs::symlink("/etc/passwd", project.join("linked")).unwrap();
    let (worktrees, worktree) = made(&fixture).await;
    let copied: Vec<_> = files(worktree.path()).into_keys().collect();
    for there in [".env", "config/a.json *", "deep/er/my.key"] {
        assert!(copied.contains(&there.to_owned()), "{there}: {copied:?}");
    }
    for absent in ["config/secret.json", "target/huge", "other.key", "linked ->", "linked"] {
        assert!(!copied.contains(&absent.to_owned()), "{absent}");
    }
    assert!(worktree.warnings[0].contains("linked (a link)"), "{:?}", worktree.warnings);
    write(worktree.path(), ".env", "SECRET=2");
    assert_eq!(std::fs::read(project.join(".env")).unwrap(), b"SECRET=1");
    write(worktree.path(), "target/out", "x");
    let finished = worktrees.finish(&worktree).await.unwrap();
    assert_eq!(finished, Finished::Removed { ignored: vec![".env".into(), "target".into()] });
}

#[tokio::test]
async fn a_path_is_known_before_anything_is_made() {
    let fixture = Fixture::new();
    let worktrees = fixture.worktrees();
    let plan = worktrees.plan(spec("a-1", fixture.project().join("src"))).await.unwrap();
    assert!(!fixture.worktrees_root().exists());
    let (path, directory, branch) = (plan.path.clone(), plan.directory.clone(), plan.branch.clone());
    let worktree = worktrees.carry_out(plan, &Cancel::default(), |_| {}).await.unwrap();
    assert_eq!((worktree.path(), worktree.directory(), &worktree.branch), (path.as_path(), directory, &branch));
}

#[tokio::test]
async fn a_bare_layout_has_forks_too() {
    let fixture = Fixture::new();
    fixture.git(&fixture.root, &["clone", "--quiet", "--bare", "project", "bare"]);
    fixture.git(&fixture.root.join("bare"), &["worktree", "add", "--quiet", "../tree", "-b", "topic"]);
    write(&fixture.root.join("tree"), "dirty.txt", "x");
    let worktrees = fixture.worktrees();
    let worktree = worktrees.create(spec("a-1", fixture.root.join("tree"))).await.unwrap();
    assert_eq!(files(worktree.path()), files(&fixture.root.join("tree")));
    write(worktree.path(), "new.txt", "x");
    let archive = worktrees.archive(&worktree).await.unwrap();
    let back = worktrees.restore(&worktree.repository, Trust::Trusted, &archive.reference, None).await.unwrap();
    assert!(back.path().join("new.txt").exists());
}

#[tokio::test]
async fn another_root_is_found_again_with_everything_that_is_kept_there() {
    let fixture = Fixture::new();
    let elsewhere = fixture.root.join("trees");
    let worktrees = fixture.worktrees();
    let usual = worktrees.create(spec("a-1", fixture.project())).await.unwrap();
    let wanted = Spec { root: Some(fixture.project().join("../trees")), ..spec("a-2", fixture.project()) };
    let moved = worktrees.create(wanted).await.unwrap();
    assert!(moved.path().starts_with(&elsewhere), "{}", moved.path().display());

    let fresh = fixture.worktrees();
    let listed: Vec<_> = fresh.list().await.unwrap().into_iter().map(|listed| listed.path).collect();
    assert_eq!(listed, [usual.path(), moved.path()]);
    write(moved.path(), "new.txt", "x");
    let archive = fresh.archive(&moved).await.unwrap();
    let kept = fixture.worktrees().all_archives().await.unwrap();
    let kept: Vec<_> = kept.into_iter().map(|kept| kept.archived.reference).collect();
    assert_eq!(kept, std::slice::from_ref(&archive.reference));
    let root = Some(elsewhere.as_path());
    let back = fresh.restore(&moved.repository, Trust::Trusted, &archive.reference, root).await.unwrap();
    assert_eq!(back.path(), moved.path());
    let inside = Spec { root: Some(fixture.project().join("src")), ..spec("a-3", fixture.project()) };
    assert!(matches!(fresh.create(inside).await, Err(WorktreeError::InsideRepository { .. })));
}
