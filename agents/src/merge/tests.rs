use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::clock::SystemClock;
use crate::git::fixture::{Fixture, set_executable, write};
use crate::worktree::{Base, Spec, Worktrees};

mod commit;
mod crash;
mod history;
mod home;
mod picked;
mod rejected;
mod settled;
mod several;

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
            shares: forks.iter().map(|fork| share(fork, MergeSelection::All)).collect(),
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

fn share(fork: &Worktree, selection: MergeSelection) -> Share {
    Share { fork: fork.clone(), selection }
}
