//! Changes: everything in a worktree that differs from its base, committed or not, untracked files included.
//!
//! Computed tree against tree: the directory is captured with a throw-away index that is kept beside the worktree's
//! registration, so that only touched files are read again; its objects go to a store of their own. The worktree's own
//! index is never written, and no setting of the person's git changes the result.
//!
//! Everything here blocks: callers use the blocking pool.

mod compare;
mod hash;
mod label;
mod lines;
mod quick;
mod renames;
mod trees;
mod watch;

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use offshoot_protocol::{ChangeSummary, DiffSide, FileDiff};

use crate::git::{Capture, Git, GitError, Quarantine};
use crate::worktree::{Worktree, WorktreeError, verify};

pub use compare::Comparison;
use compare::Counted;
pub(crate) use compare::Side;
pub(crate) use hash::hex;
pub(crate) use hash::hunks;
pub(crate) use lines::is_binary;
pub use watch::{Touched, Watch};

/// Why changes couldn't be found out.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    /// The worktree isn't there, or isn't ours.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file has no changes.
    #[error("{0} has not changed")]
    NotChanged(String),
    /// It is larger than what was asked for.
    #[error("{0} is too large to be shown")]
    TooLarge(String),
}

/// The changes of one worktree. Keep it: what it has counted it doesn't count again.
pub struct Changes {
    git: Git,
    worktree: Worktree,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    last: Option<Comparison>,
    counted: HashMap<(git2::Oid, git2::Oid), Counted>,
}

impl Changes {
    /// The changes of `worktree`. Reads nothing yet.
    pub fn of(git: &Git, worktree: &Worktree) -> Self {
        Self { git: git.clone(), worktree: worktree.clone(), seen: Mutex::default() }
    }

    /// Looks at the whole directory and lists what differs from the base.
    pub fn summary(&self) -> Result<ChangeSummary, ChangesError> {
        self.summary_after(&[])
    }

    /// As [`Changes::summary`], when nothing but these paths, relative to the top, was touched since the last look
    /// (a [`Watch`] tells). Much quicker in a large directory. No paths: looks at everything.
    pub fn summary_after(&self, touched: &[PathBuf]) -> Result<ChangeSummary, ChangesError> {
        verify(&self.worktree)?;
        // One look at a time, whoever else looks at this worktree: the throw-away index has one writer.
        let mut seen = self.lock();
        let (library, quarantine) = self.store()?;
        let _turn = self.turn()?;
        let index = self.worktree.own_folder().join("changes.index");
        let capture = Capture::new(&self.git, &self.worktree.checkout, &index).quarantine(&quarantine);
        let quick = match &seen.last {
            Some(last) if !touched.is_empty() && capture.is_current() => {
                quick::tree(&self.git, &self.worktree, (&library, &quarantine), last.new, touched)?
            }
            _ => None,
        };
        let tree = match quick {
            Some(tree) => tree,
            None => capture.run()?.tree,
        };
        if let Some(last) = &seen.last
            && last.new == tree
        {
            return Ok(last.summary(&self.worktree.base));
        }
        let base = self.worktree.base_commit()?;
        let what = || format!("reading the base {base}");
        let base = library.find_commit(base).map_err(GitError::library(what()))?.tree_id();
        let comparison = Comparison::new(&library, base, tree, &mut seen.counted)?;
        comparison.forget_others(&mut seen.counted);
        let summary = comparison.summary(&self.worktree.base);
        seen.last = Some(comparison);
        Ok(summary)
    }

    /// The list as of the last look; nothing before the first.
    pub fn last_seen(&self) -> Option<ChangeSummary> {
        self.lock().last.as_ref().map(|last| last.summary(&self.worktree.base))
    }

    /// The lines of one file, as of the last look (the first one looks). `path` is as the summary spells it.
    /// When either side is larger than `budget` bytes, the hunks are left out and the result says how large it is.
    pub fn file_diff(&self, path: &str, budget: u64) -> Result<FileDiff, ChangesError> {
        if self.lock().last.is_none() {
            self.summary()?;
        }
        let (library, _) = self.store()?;
        let seen = self.lock();
        let comparison = seen.last.as_ref().ok_or_else(|| ChangesError::NotChanged(path.to_owned()))?;
        let diff = comparison.file_diff(&library, path, budget)?;
        diff.ok_or_else(|| ChangesError::NotChanged(path.to_owned()))
    }

    /// All of one side of a changed file, as of the last look (the first one looks). Nothing when there is no file on that
    /// side; an error when it is larger than `limit` bytes.
    pub fn content(&self, path: &str, side: DiffSide, limit: u64) -> Result<Option<Vec<u8>>, ChangesError> {
        if self.lock().last.is_none() {
            self.summary()?;
        }
        let (library, _) = self.store()?;
        let seen = self.lock();
        let not_changed = || ChangesError::NotChanged(path.to_owned());
        let comparison = seen.last.as_ref().ok_or_else(not_changed)?;
        let mut sides = comparison.sides().filter(|(file, ..)| file.path == path);
        let (_, old, new) = sides.next().ok_or_else(not_changed)?;
        let side = if side == DiffSide::Base { old } else { new };
        if side.path.is_none() {
            return Ok(None);
        }
        if u64::try_from(side.size(&library)?).unwrap_or(u64::MAX) > limit {
            return Err(ChangesError::TooLarge(path.to_owned()));
        }
        Ok(Some(side.content(&library)?))
    }

    /// Held while the throw-away index is written; released when dropped.
    fn turn(&self) -> Result<File, GitError> {
        let path = self.worktree.own_folder().join("changes.turn");
        let what = || format!("locking {}", path.display());
        let file =
            File::options().create(true).truncate(false).write(true).open(&path).map_err(GitError::io(what()))?;
        file.lock().map_err(GitError::io(what()))?;
        Ok(file)
    }

    fn store(&self) -> Result<(git2::Repository, Quarantine), GitError> {
        let quarantine = Quarantine::at(self.worktree.own_folder().join("store"))?;
        Ok((quarantine.library(&self.worktree.checkout)?, quarantine))
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
