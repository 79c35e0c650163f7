//! A commit taken back, with the files that it brought.

use std::path::Path;

use super::record::Record;
use super::swap::{To, swap};
use super::{MergeError, Merges};
use crate::git::{GitError, Trust, discover};

impl Merges {
    /// Puts the files back and moves the branch to where it was. Refused unless the commit is still its last one.
    pub(super) fn undo_commit(&self, folder: &Path, record: &mut Record, commit: &str) -> Result<(), MergeError> {
        let missing = || MergeError::NotApplied(record.done.merge.0.clone());
        let before = record.head.clone().ok_or_else(missing)?;
        // It runs no filters: the contents that go back are kept as they were.
        let checkout = discover(&self.0.git, &record.work_tree, Trust::Untrusted)?.checkout;
        let library = checkout.library()?;
        if checkout.head(&library)?.commit().map(|head| head.to_string()).as_deref() != Some(commit) {
            return Err(MergeError::MovedOn(commit.to_owned()));
        }
        let failed = |source| GitError::library("reading the commit before")(source);
        let parent = git2::Oid::from_str(&before).and_then(|id| library.find_commit(id)).map_err(failed)?;
        let tree = parent.tree().map_err(failed)?;
        let mut entries = Vec::new();
        for step in &record.steps {
            let line = match tree.get_path(&crate::git::to_path(&step.path)) {
                Ok(entry) => format!("{:o} {}\t", entry.filemode(), entry.id()),
                Err(_) => format!("0 {}\t", git2::Oid::ZERO_SHA1),
            };
            entries.extend_from_slice(line.as_bytes());
            entries.extend_from_slice(&step.path);
            entries.push(0);
        }
        swap(&self.0, folder, record, To::Old)?;
        let git = || self.0.git.on(&checkout);
        let moved = git().args(["update-ref", "-m", "offshoot: undo", "HEAD", &before, commit]).run();
        if let Err(error) = moved {
            swap(&self.0, folder, record, To::New)?;
            return Err(error.into());
        }
        git().args(["update-index", "-z", "--index-info"]).input(entries).run()?;
        let _ = git().args(["update-index", "-q", "--refresh", "--ignore-submodules"]).run_any()?;
        Ok(())
    }
}
