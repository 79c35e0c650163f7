//! A change taken out of the worktree that it was made in, and put back again.
//!
//! The same step as any other: both contents are put aside first, all files change or none, and a crash in between is
//! finished at the next start.

use offshoot_protocol::{Hunk, MergeId};

use super::plan::{self, Part, Planned};
use super::record::{Lock, Record, Stage};
use super::selection::without_change;
use super::swap::{To, swap};
use super::three_way::Settled;
use super::{MergeError, Merges, Place, prune, recovery};
use crate::git::Checkout;
use crate::worktree::{Worktree, verify};

/// A change that was taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenOut {
    /// The files that changed.
    pub files: Vec<String>,
    /// What was taken out, as it had been seen from the base; empty for a file that isn't text.
    pub hunks: Vec<Hunk>,
}

impl Merges {
    /// An id for a change that will be taken out.
    pub fn next_id(&self) -> MergeId {
        MergeId(self.0.ids.next("m-"))
    }

    /// Takes one change, a hunk or a whole file by its hash, out of a worktree, as the step `id`. What was taken out under
    /// this id before isn't again. Nothing when there is no such change: it has become another, or went away.
    pub fn take_out(
        &self,
        id: &MergeId,
        worktree: &Worktree,
        path: &str,
        hash: &str,
    ) -> Result<Option<TakenOut>, MergeError> {
        verify(worktree)?;
        let checkout = &worktree.checkout;
        let place = Place::of(&self.0, checkout)?;
        let _lock = Lock::take(&place.folder)?;
        let folder = place.folder.join(&id.0);
        if let Some(record) = Record::read(&folder).filter(|record| record.stage == Stage::Applied) {
            return Ok(Some(TakenOut { files: record.done.files, hunks: Vec::new() }));
        }
        let library = place.store.library(checkout)?;
        let base = plan::base_tree(&library, worktree)?;
        let now = place.capture(&self.0.git, checkout)?;
        let Some((without, hunks)) = without_change(&library, base, now, path, hash)? else { return Ok(None) };
        let planned = Self::within(&place, worktree, id, (now, now, without))?;
        let done = self.step(&planned, &place, checkout)?;
        Ok(Some(TakenOut { files: done, hunks }))
    }

    /// Whether a change was taken out under this id and is out.
    pub fn is_out(&self, id: &MergeId) -> bool {
        let Some(place) = recovery::place_of(&self.0.root, id) else { return false };
        Record::read(&place.join(&id.0)).is_some_and(|record| record.stage == Stage::Applied)
    }

    /// Puts back what was taken out. When the files have changed since, it is merged into what they are now; refused when
    /// that conflicts. Returns the files that changed.
    pub fn put_back(&self, id: &MergeId, worktree: &Worktree) -> Result<Vec<String>, MergeError> {
        verify(worktree)?;
        let missing = || MergeError::NotApplied(id.0.clone());
        let checkout = &worktree.checkout;
        let place = Place::of(&self.0, checkout)?;
        let _lock = Lock::take(&place.folder)?;
        let folder = place.folder.join(&id.0);
        let mut record = Record::read(&folder).filter(|record| record.stage == Stage::Applied).ok_or_else(missing)?;
        if record.work_tree != checkout.work_tree {
            return Err(missing());
        }
        let since = match swap(&self.0, &folder, &mut record, To::Old) {
            Ok(()) => return Ok(record.done.files),
            Err(error @ MergeError::ChangedSince(_)) => error,
            Err(error) => return Err(error),
        };
        let library = place.store.library(checkout)?;
        let tree = |text: &str| git2::Oid::from_str(text).ok().filter(|tree| library.find_tree(*tree).is_ok());
        let trees = record.trees.as_ref().and_then(|(old, new)| Some((tree(old)?, tree(new)?)));
        // Where the trees were thrown away, only files that nobody touched can be put back.
        let Some((with, without)) = trees else { return Err(since) };
        let now = place.capture(&self.0.git, checkout)?;
        let planned = Self::within(&place, worktree, &self.next_id(), (now, without, with))?;
        let files = self.step(&planned, &place, checkout)?;
        record.stage = Stage::Undone;
        record.write(&folder)?;
        Ok(files)
    }

    /// What would change in a worktree that has the tree `now` when the difference of two trees is merged into it.
    fn within(
        place: &Place,
        worktree: &Worktree,
        id: &MergeId,
        (now, from, to): (git2::Oid, git2::Oid, git2::Oid),
    ) -> Result<Planned, MergeError> {
        let library = place.store.library(&worktree.checkout)?;
        let part = Part { fork: worktree, base: from, theirs: to, settled: Settled::default() };
        let mut planned = plan::merge(&library, place, &worktree.checkout, now, &[part], &[])?;
        planned.preview.merge = id.clone();
        planned.settled.clear();
        planned.became.clear();
        Ok(planned)
    }

    fn step(&self, planned: &Planned, place: &Place, checkout: &Checkout) -> Result<Vec<String>, MergeError> {
        // What was looked at on the disk is what the tree says only when nothing changed in between.
        if place.capture(&self.0.git, checkout)? != planned.ours {
            return Err(MergeError::Changed(vec![checkout.work_tree.display().to_string()]));
        }
        let (folder, mut record) = self.carry_out(planned, place, false, None)?;
        record.trees = Some((planned.ours.to_string(), planned.merged.to_string()));
        record.is_within = true;
        record.write(&folder)?;
        prune(&place.folder, &folder);
        Ok(record.done.files)
    }
}
