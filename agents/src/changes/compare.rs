//! Two trees compared: which files, how many lines, what kind of change.

use std::collections::{HashMap, HashSet};

use git2::{FileMode, Oid};
use offshoot_protocol::{BlobHash, ChangeCount, ChangeKind, ChangeSummary, ChangedFile, FileDiff};
use sha2::{Digest, Sha256};

use super::trees::Difference;
use super::{label, lines, renames};
use crate::git::GitError;

/// Most bytes of a side whose lines are compared for the summary.
const COMPARED: usize = 8 << 20;

/// Most bytes of a side that is read at all for the summary.
const READ: usize = 64 << 20;

/// What differs between two trees.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The tree now.
    pub(super) new: Oid,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    file: ChangedFile,
    old: Side,
    new: Side,
}

/// One side of a changed file. Without a path: there is no file on this side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) path: Option<Vec<u8>>,
    pub(crate) id: Oid,
    pub(crate) mode: FileMode,
}

impl Default for Side {
    fn default() -> Self {
        Self { path: None, id: Oid::ZERO_SHA1, mode: FileMode::Unreadable }
    }
}

/// What was found out about a pair of contents.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    added: u32,
    removed: u32,
    binary: bool,
    labels: Vec<&'static str>,
    marked_generated: bool,
}

impl Comparison {
    /// Compares two trees. `counted` is what earlier comparisons found out; it is added to.
    pub(super) fn new(
        library: &git2::Repository,
        old: Oid,
        new: Oid,
        counted: &mut HashMap<(Oid, Oid), Counted>,
    ) -> Result<Self, GitError> {
        let Difference { modified, mut deleted, mut added } = Difference::between(library, old, new)?;
        let mut entries = Vec::new();
        for (before, after) in modified {
            entries.push(entry(library, before, after, counted)?);
        }
        for (from, to) in renames::find(library, &mut deleted, &mut added)? {
            entries.push(entry(library, from, to, counted)?);
        }
        let nothing = Side::default();
        for side in deleted {
            entries.push(entry(library, side, nothing.clone(), counted)?);
        }
        for side in added {
            entries.push(entry(library, nothing.clone(), side, counted)?);
        }
        entries.sort_by(|a, b| a.file.path.cmp(&b.file.path));
        Ok(Self { new, entries })
    }

    /// Compares two trees, once.
    pub(crate) fn between(library: &git2::Repository, old: Oid, new: Oid) -> Result<Self, GitError> {
        Self::new(library, old, new, &mut HashMap::new())
    }

    /// The files with both of their sides.
    pub(crate) fn sides(&self) -> impl Iterator<Item = (&ChangedFile, &Side, &Side)> {
        self.entries.iter().map(|entry| (&entry.file, &entry.old, &entry.new))
    }

    /// Takes out of `counted` what isn't about this comparison's files.
    pub(super) fn forget_others(&self, counted: &mut HashMap<(Oid, Oid), Counted>) {
        let current: HashSet<_> = self.entries.iter().map(|entry| (entry.old.id, entry.new.id)).collect();
        counted.retain(|pair, _| current.contains(pair));
    }

    /// The list, counted from `base`.
    pub fn summary(&self, base: &str) -> ChangeSummary {
        let files: Vec<_> = self.entries.iter().map(|entry| entry.file.clone()).collect();
        let count = files.iter().fold(ChangeCount::default(), |sum, file| ChangeCount {
            files: sum.files + 1,
            added: sum.added.saturating_add(file.added),
            removed: sum.removed.saturating_add(file.removed),
        });
        ChangeSummary { base: base.to_owned(), count, files }
    }

    /// The lines of one file; nothing when it isn't in the list. `library` must be able to read both trees' objects.
    pub fn file_diff(&self, library: &git2::Repository, path: &str, budget: u64) -> Result<Option<FileDiff>, GitError> {
        let Some(Entry { file, old, new }) = self.entries.iter().find(|entry| entry.file.path == path) else {
            return Ok(None);
        };
        let mut diff = FileDiff { file: file.clone(), hunks: Vec::new(), too_large: None };
        let size = old.size(library)?.max(new.size(library)?);
        if file.binary || old.id == new.id {
            return Ok(Some(diff));
        }
        if u64::try_from(size).unwrap_or(u64::MAX) > budget {
            diff.too_large = Some(u64::try_from(size).unwrap_or(u64::MAX));
            return Ok(Some(diff));
        }
        let (old, new) = (old.content(library)?, new.content(library)?);
        // A large file may turn out to be binary only now.
        diff.file.binary = lines::is_binary(&old) || lines::is_binary(&new);
        if !diff.file.binary {
            diff.hunks = super::hunks(path, &old, &new);
        }
        Ok(Some(diff))
    }
}

impl Side {
    fn name(&self) -> Option<String> {
        self.path.as_ref().map(|path| String::from_utf8_lossy(path).into_owned())
    }

    pub(super) fn size(&self, library: &git2::Repository) -> Result<usize, GitError> {
        if self.id.is_zero() || self.mode == FileMode::Commit {
            return Ok(0);
        }
        let what = || format!("reading the size of {}", self.id);
        let store = library.odb().map_err(GitError::library(what()))?;
        Ok(store.read_header(self.id).map_err(GitError::library(what()))?.0)
    }

    pub(crate) fn content(&self, library: &git2::Repository) -> Result<Vec<u8>, GitError> {
        if self.id.is_zero() {
            return Ok(Vec::new());
        }
        if self.mode == FileMode::Commit {
            return Ok(format!("Subproject commit {}\n", self.id).into_bytes());
        }
        let blob = library.find_blob(self.id).map_err(GitError::library(format!("reading {}", self.id)))?;
        Ok(blob.content().to_vec())
    }
}

fn entry(
    library: &git2::Repository,
    old: Side,
    new: Side,
    counted: &mut HashMap<(Oid, Oid), Counted>,
) -> Result<Entry, GitError> {
    let seen = if let Some(seen) = counted.get(&(old.id, new.id)) {
        seen.clone()
    } else {
        let seen = count(library, &old, &new)?;
        counted.insert((old.id, new.id), seen.clone());
        seen
    };
    let (kind, path, old_path) = match (old.name(), new.name()) {
        (None, after) => (ChangeKind::Added, after.unwrap_or_default(), None),
        (Some(before), None) => (ChangeKind::Deleted, before, None),
        (Some(before), Some(after)) if before == after => (ChangeKind::Modified, after, None),
        (before, Some(after)) => (ChangeKind::Renamed, after, before),
    };
    let mut labels: Vec<&str> = Vec::new();
    let modes = [old.mode, new.mode];
    if modes.contains(&FileMode::Commit) {
        labels.push("submodule");
    }
    if modes.contains(&FileMode::Link) {
        labels.push("symlink");
    }
    let is_changed = matches!(kind, ChangeKind::Modified | ChangeKind::Renamed);
    if is_changed && old.mode != new.mode && !modes.contains(&FileMode::Link) {
        labels.push(if old.id == new.id { "mode only" } else { "mode changed" });
    }
    labels.extend(&seen.labels);
    if seen.marked_generated || label::is_generated(&path) {
        labels.push("generated");
    }
    let hash = Sha256::digest(
        format!("{path}\0{old_path:?}\0{:?} {}\0{:?} {}", old.mode, old.id, new.mode, new.id).as_bytes(),
    );
    let hash = hash.iter().fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    let file = ChangedFile {
        path,
        old_path,
        kind,
        added: seen.added,
        removed: seen.removed,
        binary: seen.binary,
        labels: labels.into_iter().map(str::to_owned).collect(),
        hash: BlobHash(hash),
    };
    Ok(Entry { file, old, new })
}

fn count(library: &git2::Repository, old: &Side, new: &Side) -> Result<Counted, GitError> {
    let mut counted = Counted { added: 0, removed: 0, binary: false, labels: Vec::new(), marked_generated: false };
    if old.id == new.id {
        return Ok(counted);
    }
    let largest = old.size(library)?.max(new.size(library)?);
    if largest > READ {
        counted.labels.push("large");
        return Ok(counted);
    }
    let (before, after) = (old.content(library)?, new.content(library)?);
    if lines::is_binary(&before) || lines::is_binary(&after) {
        counted.binary = true;
        return Ok(counted);
    }
    counted.marked_generated = label::says_generated(if new.id.is_zero() { &before } else { &after });
    if before.is_empty() || after.is_empty() {
        counted.added = lines::number(&after);
        counted.removed = lines::number(&before);
    } else if largest > COMPARED {
        counted.labels.push("large");
    } else {
        (counted.added, counted.removed) = lines::count(&before, &after);
        counted.labels.extend(label::only(&before, &after));
    }
    Ok(counted)
}
