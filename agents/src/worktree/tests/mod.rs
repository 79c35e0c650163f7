use super::*;
use crate::clock::SystemClock;
use crate::git::DiscoverError;
use crate::git::fixture::{Fixture, files, make_hostile, set_executable, write};

mod bringing_back;
mod filling;
mod making;
mod property;
mod refusing;
mod taking_away;

impl Fixture {
    fn worktrees(&self) -> Worktrees {
        Worktrees::new(self.worktrees_root(), self.offshoot(), Arc::new(SystemClock))
    }

    fn worktrees_root(&self) -> PathBuf {
        self.root.join("data/worktrees")
    }

    fn repository(&self) -> Repository {
        Repository { common_dir: self.project().join(".git"), top_level: Some(self.project()) }
    }

    /// Asserts that nothing of a worktree is on disk or in the repository.
    fn assert_nothing_left(&self) {
        let refs = self.git(&self.project(), &["for-each-ref", "--format=%(refname)"]);
        assert!(!refs.contains("offshoot"), "{refs}");
        let listed = self.git(&self.project(), &["worktree", "list", "--porcelain"]);
        assert_eq!(listed.matches("worktree ").count(), 1, "{listed}");
        assert!(!self.project().join(".git/worktrees").exists());
        assert_eq!(files(&self.project().join(".git/logs/refs/heads")).len(), 1);
        let left = files(&self.worktrees_root());
        let left: Vec<_> =
            left.keys().filter(|name| !name.ends_with("/.lock") && !name.ends_with("/.repository.json")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn spec(id: &str, parent: PathBuf) -> Spec {
    Spec {
        id: id.to_owned(),
        title: "Fix the parser".to_owned(),
        parent: Parent::Directory(parent),
        base: Base::Snapshot,
        trust: Trust::Trusted,
        hooks: false,
        setup: None,
        root: None,
    }
}

/// A fresh worktree of the fixture's project.
async fn made(fixture: &Fixture) -> (Worktrees, Worktree) {
    let worktrees = fixture.worktrees();
    let worktree = worktrees.create(spec("a-0123456789", fixture.project())).await.unwrap();
    (worktrees, worktree)
}
