//! Brings changes home: from worktrees into the checkout that they were delegated from.
//!
//! [`Merges::preview`] merges in memory (the worktree's base, the checkout as it is now with everything uncommitted and
//! untracked, the worktree as it is now; several forks one after the other) and says what would change.
//! [`Merges::apply`] puts exactly that into the checkout's files, all or none; [`Merges::undo`] takes it out again.
//!
//! What is never done: change the person's index, `HEAD`, branches or stash (only [`Merges::squash`] does, as its name
//! says); overwrite a file that isn't what the preview saw; follow a link; apply half of something.
//!
//! On disk, under the root that is handed in:
//!
//! ```text
//! <root>/<repository>/store/       objects of merges in memory
//! <root>/<repository>/index/       throw-away indexes of what was looked at
//! <root>/<repository>/settled/     for each fork, the tree that was brought home last
//! <root>/<repository>/<merge id>/  old and new contents of one step, and how far it is
//! ```
//!
//! Everything here blocks: callers use the blocking pool.

mod disk;
mod error;
mod history;
mod patch;
mod plan;
mod radar;
mod record;
mod recovery;
mod rejection;
mod resolution;
mod selection;
mod squash;
mod stage;
mod swap;
mod three_way;
mod uncommit;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use offshoot_protocol::{MergeDone, MergeId, MergePreview, MergeSelection, SessionId};
use sha2::{Digest, Sha256};

use crate::changes::hex;
use crate::clock::Ids;
use crate::git::{Capture, Checkout, Git, GitError, Quarantine, Trust, discover};
use crate::worktree::{Parent, Worktree, verify};

pub use error::MergeError;
pub use history::Form;
pub use recovery::Recovered;
pub use rejection::TakenOut;
pub use squash::Message;

use plan::Planned;
use record::{Lock, Record, Stage};
use swap::To;
use three_way::Settled;

/// How many previews are remembered.
const REMEMBERED: usize = 16;

/// How many steps of a repository can be undone; older ones are forgotten.
const UNDOABLE: usize = 20;

/// How many changes that were taken out of worktrees can be put back.
const PUT_BACK: usize = 500;

/// Brings changes home. Clones are the same.
#[derive(Clone)]
pub struct Merges(Arc<Inner>);

struct Inner {
    root: PathBuf,
    git: Git,
    ids: Arc<Ids>,
    planned: Mutex<VecDeque<Arc<Planned>>>,
    #[cfg(test)]
    steps_left: Mutex<Option<usize>>,
}

impl Inner {
    /// A place between two changes on disk: tests let the program end at each of them.
    fn step(&self) {
        #[cfg(test)]
        if let Some(left) = self.steps_left.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            *left = left.checked_sub(1).expect("the program ended here");
        }
        #[cfg(not(test))]
        let _ = self;
    }
}

/// Whose changes are to come home, and where that is.
#[derive(Clone)]
pub struct Order {
    /// The checkout.
    pub target: Parent,
    /// Whether its filters may run.
    pub trust: Trust,
    /// Whose changes, in the order they are merged.
    pub shares: Vec<Share>,
}

/// What of a worktree is to come home.
#[derive(Clone, Debug)]
pub struct Share {
    /// The worktree.
    pub fork: Worktree,
    /// Which of its changes. What a person accepted is named by its hashes here.
    pub selection: MergeSelection,
}

impl Merges {
    /// Merges whose records are under `root`, which is made when the first one is.
    pub fn new(root: PathBuf, git: Git, ids: Arc<Ids>) -> Self {
        Self(Arc::new(Inner {
            root,
            git,
            ids,
            planned: Mutex::default(),
            #[cfg(test)]
            steps_left: Mutex::default(),
        }))
    }

    /// Says what bringing changes home would do. Changes nothing in any checkout.
    pub fn preview(&self, order: &Order) -> Result<MergePreview, MergeError> {
        let checkout = target(&self.0, &order.target, order.trust)?;
        let place = Place::of(&self.0, &checkout)?;
        let _lock = Lock::take(&place.folder)?;
        let planned = plan::plan(&self.0, &place, &checkout, order, &[])?;
        Ok(self.remember(planned))
    }

    fn remember(&self, planned: Planned) -> MergePreview {
        let preview = planned.preview.clone();
        let mut all = self.0.planned.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == REMEMBERED {
            all.pop_front();
        }
        all.push_back(Arc::new(planned));
        preview
    }

    /// Does what a preview said: puts the result into the checkout's files, uncommitted. Refused when a file that it
    /// touches isn't what the preview saw, and when there are conflicts, unless these files are to be left out.
    /// `session` is whose log is to say so, see [`Merges::untold`].
    pub fn apply(
        &self,
        merge: &MergeId,
        leave_out: bool,
        session: Option<&SessionId>,
    ) -> Result<MergeDone, MergeError> {
        let planned = self.planned(merge)?;
        let place = Place::of(&self.0, &planned.checkout)?;
        let _lock = Lock::take(&place.folder)?;
        let (folder, record) = self.carry_out(&planned, &place, leave_out, session)?;
        settle(&place.folder, &record, To::New)?;
        prune(&place.folder, &folder);
        Ok(record.done)
    }

    /// Takes out again what was applied: every file is what it was before. Refused when one of them changed since. A commit
    /// is taken back as long as it is its branch's last one.
    pub fn undo(&self, merge: &MergeId) -> Result<MergeDone, MergeError> {
        let missing = || MergeError::NotApplied(merge.0.clone());
        let place = recovery::place_of(&self.0.root, merge).ok_or_else(missing)?;
        let _lock = Lock::take(&place)?;
        let folder = place.join(&merge.0);
        let mut record = Record::read(&folder).filter(|record| record.stage == Stage::Applied).ok_or_else(missing)?;
        if !recovery::is_there(&record) {
            return Err(missing());
        }
        match record.done.commit.clone() {
            Some(commit) => self.undo_commit(&folder, &mut record, &commit)?,
            None => swap::swap(&self.0, &folder, &mut record, To::Old)?,
        }
        settle(&place, &record, To::Old)?;
        Ok(record.done)
    }

    /// A preview that is still known.
    pub fn known_preview(&self, merge: &MergeId) -> Result<MergePreview, MergeError> {
        Ok(self.planned(merge)?.preview.clone())
    }

    fn planned(&self, merge: &MergeId) -> Result<Arc<Planned>, MergeError> {
        let all = self.0.planned.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|planned| planned.preview.merge == *merge).cloned().ok_or(MergeError::UnknownPreview)
    }

    fn forget(&self, merge: &MergeId) {
        let mut all = self.0.planned.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|planned| planned.preview.merge != *merge);
    }

    /// Collects the contents and replaces the files.
    fn carry_out(
        &self,
        planned: &Planned,
        place: &Place,
        leave_out: bool,
        session: Option<&SessionId>,
    ) -> Result<(PathBuf, Record), MergeError> {
        let mut in_conflict: Vec<String> =
            planned.preview.conflicts.iter().map(|conflict| conflict.path.clone()).collect();
        in_conflict.dedup();
        if !in_conflict.is_empty() && !leave_out {
            return Err(MergeError::Conflicts(in_conflict));
        }
        if planned.paths.is_empty() {
            return Err(MergeError::Nothing);
        }
        let folder = place.folder.join(&planned.preview.merge.0);
        let done = stage::stage(&self.0, place, planned, &folder, session)
            .and_then(|mut record| swap::swap(&self.0, &folder, &mut record, To::New).map(|()| record));
        match done {
            Ok(record) => {
                self.forget(&planned.preview.merge);
                Ok((folder, record))
            }
            Err(error) => {
                // Unless files are half-way, nothing of the person's is in there that isn't in the checkout.
                if Record::read(&folder).is_none_or(|record| record.stage == Stage::Prepared) {
                    let _ = std::fs::remove_dir_all(&folder);
                }
                Err(error)
            }
        }
    }
}

/// What is kept for one repository.
struct Place {
    folder: PathBuf,
    store: Quarantine,
}

impl Place {
    fn of(inner: &Inner, checkout: &Checkout) -> Result<Self, MergeError> {
        let hash = Sha256::digest(checkout.common_dir.as_os_str().as_encoded_bytes());
        let folder = inner.root.join(hex(&hash[..8]));
        std::fs::create_dir_all(folder.join("index"))
            .map_err(MergeError::storage(format!("making {}", folder.display())))?;
        let store = Quarantine::at(folder.join("store"))?;
        Ok(Self { folder, store })
    }

    /// What a checkout holds now, as a tree in the store.
    fn capture(&self, git: &Git, checkout: &Checkout) -> Result<git2::Oid, GitError> {
        let hash = Sha256::digest(checkout.work_tree.as_os_str().as_encoded_bytes());
        let index = self.folder.join("index").join(hex(&hash[..8]));
        Ok(Capture::new(git, checkout, &index).quarantine(&self.store).run()?.tree)
    }

    fn settled(&self, fork: &str) -> Settled {
        let folder = self.folder.join("settled");
        let text = std::fs::read_to_string(folder.join(fork)).ok();
        let tree = text.and_then(|text| git2::Oid::from_str(text.trim()).ok());
        let resolved = read_resolved(&folder.join(format!("{fork}.resolved")));
        let known = |(path, id): (String, String)| Some((path, git2::Oid::from_str(&id).ok()?));
        Settled { tree, resolved: resolved.into_iter().filter_map(known).collect() }
    }
}

/// What became of conflicts, by path. One that can't be read is asked about again.
fn read_resolved(path: &Path) -> BTreeMap<String, String> {
    let bytes = std::fs::read(path).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Remembers what of each fork is home now.
fn settle(place: &Path, record: &Record, to: To) -> Result<(), MergeError> {
    for (fork, before, after) in &record.settled {
        let path = place.join("settled").join(fork);
        match if to == To::New { Some(after) } else { before.as_ref() } {
            Some(tree) => record::write(&path, tree.as_bytes())?,
            None => drop(std::fs::remove_file(path)),
        }
    }
    for (fork, name, content) in &record.resolved {
        let path = place.join("settled").join(format!("{fork}.resolved"));
        let mut all = read_resolved(&path);
        match to {
            To::New => drop(all.insert(name.clone(), content.clone())),
            To::Old => drop(all.remove(name)),
        }
        let json = serde_json::to_vec(&all);
        record::write(
            &path,
            &json.map_err(|error| MergeError::storage("remembering what was settled")(error.into()))?,
        )?;
    }
    Ok(())
}

/// The checkout of a target that is still there.
fn target(inner: &Inner, target: &Parent, trust: Trust) -> Result<Checkout, MergeError> {
    match target {
        Parent::Directory(directory) => Ok(discover(&inner.git, directory, trust)?.checkout),
        Parent::Worktree(worktree) => {
            verify(worktree)?;
            Ok(worktree.checkout.clone())
        }
    }
}

/// Forgets the oldest steps.
fn prune(place: &Path, newest: &Path) {
    let mut steps: Vec<_> = recovery::steps(place)
        .into_iter()
        .filter(|folder| folder != newest)
        .map(|folder| (folder.metadata().and_then(|meta| meta.modified()).ok(), folder))
        .collect();
    steps.sort();
    let (mut undoable, mut put_back) = (UNDOABLE - 1, PUT_BACK - 1);
    for (_, folder) in steps.iter().rev() {
        let record = Record::read(folder);
        let left = if record.as_ref().is_some_and(|record| record.is_within) { &mut put_back } else { &mut undoable };
        if *left > 0 {
            *left -= 1;
        } else if record.is_none_or(|record| matches!(record.stage, Stage::Applied | Stage::Undone)) {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Whether a text can be the id of a step: it becomes a folder's name.
fn is_id(text: &str) -> bool {
    text.starts_with("m-") && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests;
