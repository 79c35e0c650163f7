//! Files replaced in a checkout's working tree: all of them, or none.
//!
//! Every content that will be needed, old and new, is in the record's folder before the first file changes. Each file is
//! looked at once more right before it is replaced, and is replaced by a rename.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::disk::{self, Print, look};
use super::record::{Record, Stage, Step, sync_folder};
use super::{Inner, MergeError};
use crate::git::to_path;

/// Which of a step's two states is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    New,
    Old,
}

impl To {
    fn other(self) -> Self {
        match self {
            Self::New => Self::Old,
            Self::Old => Self::New,
        }
    }

    fn of(self, step: &Step) -> &Print {
        match self {
            Self::New => &step.new,
            Self::Old => &step.old,
        }
    }

    /// Where in a record's folder the `n`th step's content is.
    fn kept(self, folder: &Path, n: usize) -> PathBuf {
        folder.join(if self == Self::New { "new" } else { "old" }).join(n.to_string())
    }
}

/// Puts every file into the wanted state, or leaves every file as it is. The record says where it stands in between.
pub(super) fn swap(inner: &Inner, folder: &Path, record: &mut Record, to: To) -> Result<(), MergeError> {
    let changed = differing(record, to.other())?;
    if !changed.is_empty() {
        return Err(if to == To::New { MergeError::Changed(changed) } else { MergeError::ChangedSince(changed) });
    }
    let before = record.stage;
    fill(folder, record, to)?;
    (record.stage, record.told) = if to == To::New { (Stage::Applying, false) } else { (Stage::Undoing, record.told) };
    record.write(folder)?;
    inner.step();
    if let Err(error) = carry_out(inner, record, to, Strictness::Strict) {
        // Back, as far as files are what was just written.
        record.stage = if to == To::New { Stage::Undoing } else { Stage::Applying };
        record.write(folder)?;
        fill(folder, record, to.other())?;
        carry_out(inner, record, to.other(), Strictness::Lenient)?;
        let stuck = standing(record, to)?;
        if !stuck.is_empty() {
            // The record stays, and with it every content: the next start tries again.
            return Err(MergeError::Stuck { paths: stuck, because: error.to_string() });
        }
        record.stage = before;
        record.write(folder)?;
        clean(record);
        return Err(error);
    }
    inner.step();
    clean(record);
    record.stage = if to == To::New { Stage::Applied } else { Stage::Undone };
    record.write(folder)?;
    inner.step();
    Ok(())
}

/// Finishes what a crash interrupted. Returns the paths that somebody has changed since; they are left alone.
pub(super) fn finish(inner: &Inner, folder: &Path, record: &mut Record, to: To) -> Result<Vec<String>, MergeError> {
    fill(folder, record, to)?;
    carry_out(inner, record, to, Strictness::Lenient)?;
    clean(record);
    if standing(record, to.other())?.is_empty() {
        record.stage = if to == To::New { Stage::Applied } else { Stage::Undone };
        record.write(folder)?;
    }
    differing(record, to)
}

/// Removes the temporary files, and the folder that they were in unless there is something else in it.
pub(super) fn clean(record: &Record) {
    let _ = std::fs::remove_dir_all(&record.temporary);
    if let Some(above) = record.temporary.parent().filter(|above| *above != record.work_tree) {
        let _ = std::fs::remove_dir(above);
    }
}

/// The paths that don't stand as they should.
pub(super) fn differing(record: &Record, expected: To) -> Result<Vec<String>, MergeError> {
    let mut differing = Vec::new();
    for step in &record.steps {
        let seen =
            look(&record.work_tree, &step.path).map_err(MergeError::storage(format!("reading {}", step.shown())))?;
        if seen != *expected.of(step) {
            differing.push(step.shown());
        }
    }
    Ok(differing)
}

/// The paths that stand as `expected`, and not as the other side has them.
fn standing(record: &Record, expected: To) -> Result<Vec<String>, MergeError> {
    let differing = differing(record, expected)?;
    let changes = record.steps.iter().filter(|step| step.old != step.new).map(Step::shown);
    Ok(changes.filter(|path| !differing.contains(path)).collect())
}

/// Makes a temporary file, on the checkout's file system, for every file that will be written.
fn fill(folder: &Path, record: &Record, to: To) -> Result<(), MergeError> {
    let temporary = &record.temporary;
    let filled = || {
        match std::fs::remove_dir_all(temporary) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => std::fs::create_dir_all(temporary)?,
        }
        for (n, step) in record.steps.iter().enumerate() {
            let target = temporary.join(n.to_string());
            match to.of(step) {
                Print::Absent | Print::Other => {}
                Print::Link { target: leads } => link(leads, &target)?,
                Print::File { executable, .. } => {
                    std::fs::copy(to.kept(folder, n), &target)?;
                    set_mode(&target, step.mode, *executable, to)?;
                    std::fs::File::open(&target)?.sync_all()?;
                }
            }
        }
        sync_folder(temporary)
    };
    filled().map_err(MergeError::storage(format!("preparing files in {}", temporary.display())))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// A file that isn't as expected is an error.
    Strict,
    /// It is left alone.
    Lenient,
}

fn carry_out(inner: &Inner, record: &Record, to: To, strictness: Strictness) -> Result<(), MergeError> {
    let deletes = |step: &Step| *to.of(step) == Print::Absent;
    let all = || record.steps.iter().enumerate();
    // Deletions first, the deepest first: a file may become a folder or the other way round.
    let deletions = all().rev().filter(|(_, step)| deletes(step));
    let writes = all().filter(|(_, step)| !deletes(step));
    let mut folders = BTreeSet::new();
    for (n, step) in deletions.chain(writes) {
        let what = || format!("writing {}", record.work_tree.join(to_path(&step.path)).display());
        let seen = look(&record.work_tree, &step.path).map_err(MergeError::storage(what()))?;
        if seen == *to.of(step) {
            continue;
        }
        if seen != *to.other().of(step) {
            match strictness {
                Strictness::Strict if to == To::New => return Err(MergeError::Changed(vec![step.shown()])),
                Strictness::Strict => return Err(MergeError::ChangedSince(vec![step.shown()])),
                Strictness::Lenient => continue,
            }
        }
        let temporary = record.temporary.join(n.to_string());
        let replaced = replace(&record.work_tree, step, *to.of(step) == Print::Absent, &temporary);
        match replaced {
            Ok(folder) => folders.extend(folder),
            Err(_) if strictness == Strictness::Lenient => {}
            Err(error) => return Err(MergeError::storage(what())(error)),
        }
        inner.step();
    }
    for folder in folders {
        // A folder may have gone with its last file.
        let _ = sync_folder(&folder);
    }
    Ok(())
}

/// Replaces or deletes one file. Returns the folder whose entries changed.
fn replace(root: &Path, step: &Step, delete: bool, temporary: &Path) -> std::io::Result<Option<PathBuf>> {
    if let Some(reason) = disk::obstacle(root, &step.path, &BTreeSet::new()) {
        let is_empty_folder = !delete && std::fs::remove_dir(root.join(to_path(&step.path))).is_ok();
        if !is_empty_folder {
            return Err(std::io::Error::other(reason));
        }
    }
    let path = root.join(to_path(&step.path));
    let folder = path.parent().unwrap_or(root);
    if delete {
        std::fs::remove_file(&path)?;
        // Folders that are empty now go too, as git does it.
        let mut above = folder;
        while above != root && std::fs::remove_dir(above).is_ok() {
            above = above.parent().unwrap_or(root);
        }
        return Ok(Some(above.to_path_buf()));
    }
    std::fs::create_dir_all(folder)?;
    // An empty folder in the place of a file holds nothing that could be lost.
    let _ = std::fs::remove_dir(&path);
    std::fs::rename(temporary, &path)?;
    Ok(Some(folder.to_path_buf()))
}

#[cfg(unix)]
fn link(leads: &[u8], at: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to_path(leads), at)
}

#[cfg(not(unix))]
fn link(_leads: &[u8], _at: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("symbolic links can't be written on this platform"))
}

/// A file that was there keeps its permission bits, but for whether it can be executed.
#[cfg(unix)]
fn set_mode(file: &Path, old: Option<u32>, executable: bool, to: To) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let Some(old) = old else { return Ok(()) };
    let mode = match (to, executable) {
        (To::Old, _) => old,
        (To::New, true) => old | (old & 0o444) >> 2,
        (To::New, false) => old & !0o111,
    };
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_file: &Path, _old: Option<u32>, _executable: bool, _to: To) -> std::io::Result<()> {
    Ok(())
}
