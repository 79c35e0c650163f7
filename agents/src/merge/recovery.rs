//! After a crash: what was half-way is finished, and what was only prepared is forgotten.

use std::path::{Path, PathBuf};

use offshoot_protocol::{MergeDone, MergeId, SessionId};

use super::record::{Lock, Record, Stage};
use super::swap::{To, clean, finish};
use super::{MergeError, Merges, is_id};

/// From so many bytes on, what merges in memory have stored is thrown away at the start.
const STORE_LIMIT: u64 = 256 << 20;

/// A step that a crash had interrupted, and that is finished now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Which.
    pub merge: MergeId,
    /// Top level of the checkout.
    pub target: PathBuf,
    /// Whether the files are the new ones rather than the old ones.
    pub applied: bool,
    /// Files that somebody changed in between; they were left alone.
    pub left_alone: Vec<String>,
}

impl Merges {
    /// Finishes what a crash interrupted. To be called at the start, before anything is applied.
    pub fn recover(&self) -> Result<Vec<Recovered>, MergeError> {
        let mut recovered = Vec::new();
        for place in folders(&self.0.root) {
            let _lock = Lock::take(&place)?;
            trim(&place);
            for folder in steps(&place) {
                let Some(mut record) = Record::read(&folder) else {
                    // It ended before anything was written down: no file of the person had changed.
                    let _ = std::fs::remove_dir_all(&folder);
                    continue;
                };
                let to = match record.stage {
                    Stage::Applied | Stage::Undone => continue,
                    Stage::Prepared => {
                        clean(&record);
                        let _ = std::fs::remove_dir_all(&folder);
                        continue;
                    }
                    Stage::Applying => To::New,
                    Stage::Undoing => To::Old,
                };
                if !is_there(&record) {
                    // The checkout isn't there; perhaps it will be at the next start.
                    continue;
                }
                let left_alone = finish(&self.0, &folder, &mut record, to)?;
                recovered.push(Recovered {
                    merge: record.done.merge.clone(),
                    target: record.work_tree.clone(),
                    applied: to == To::New,
                    left_alone,
                });
            }
        }
        Ok(recovered)
    }

    /// What was applied for a session and isn't in its log yet.
    pub fn untold(&self, session: &SessionId) -> Vec<MergeDone> {
        let all = folders(&self.0.root).into_iter().flat_map(|place| steps(&place));
        let records = all.filter_map(|folder| Record::read(&folder));
        let untold = records.filter(|record| {
            record.stage == Stage::Applied && !record.told && record.session.as_ref() == Some(session)
        });
        untold.map(|record| record.done).collect()
    }

    /// Notes that the log says so.
    pub fn told(&self, merge: &MergeId) -> Result<(), MergeError> {
        let Some(place) = place_of(&self.0.root, merge) else { return Ok(()) };
        let _lock = Lock::take(&place)?;
        let folder = place.join(&merge.0);
        let Some(mut record) = Record::read(&folder) else { return Ok(()) };
        record.told = true;
        record.write(&folder)
    }
}

/// The repository's folder that a step is in.
pub(super) fn place_of(root: &Path, merge: &MergeId) -> Option<PathBuf> {
    let mut all = folders(root).into_iter().filter(|_| is_id(&merge.0));
    all.find(|place| place.join(&merge.0).join("record.json").is_file())
}

/// Throws the objects of merges in memory away once they take much room: all of them can be made again. The indexes go
/// with them, since what they list is there.
fn trim(place: &Path) {
    let store = place.join("store");
    if disk_use(&store) > STORE_LIMIT {
        let _ = std::fs::remove_dir_all(place.join("index"));
        let _ = std::fs::remove_dir_all(store);
    }
}

fn disk_use(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => disk_use(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// Whether the checkout is where it was.
pub(super) fn is_there(record: &Record) -> bool {
    record.work_tree.canonicalize().ok().as_ref() == Some(&record.work_tree)
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.join(".lock").is_file()).collect()
}

/// The folders of a repository's steps.
pub(super) fn steps(place: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let steps = entries.filter(|entry| is_id(&entry.file_name().to_string_lossy()));
    let mut steps: Vec<PathBuf> = steps.map(|entry| entry.path()).collect();
    steps.sort_unstable();
    steps
}
