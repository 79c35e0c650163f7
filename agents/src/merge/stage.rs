//! Old and new contents put aside before the first file changes.

use std::path::{Path, PathBuf};

use offshoot_protocol::{MergeDone, SessionId};

use super::disk::{Print, look};
use super::plan::Planned;
use super::record::{Record, Stage, Step};
use super::{Inner, MergeError, Place};
use crate::git::{Checkout, GitError, index_entry, to_path};

/// Collects everything in `folder`. Refused when a file isn't what the preview saw.
pub(super) fn stage(
    inner: &Inner,
    place: &Place,
    planned: &Planned,
    folder: &Path,
    session: Option<&SessionId>,
) -> Result<Record, MergeError> {
    let root = &planned.checkout.work_tree;
    let what = || format!("collecting files in {}", folder.display());
    let made = std::fs::create_dir_all(folder.join("old")).and_then(|()| std::fs::create_dir_all(folder.join("new")));
    made.map_err(MergeError::storage(what()))?;
    let written = folder.join("written");
    write_out(inner, place, planned, folder, &written)?;
    let mut steps = Vec::new();
    let mut changed = Vec::new();
    for (n, (path, touch)) in planned.paths.iter().enumerate() {
        let shown = || String::from_utf8_lossy(path).into_owned();
        let reading = |path: &Path| MergeError::storage(format!("reading {}", path.display()));
        let name = to_path(path);
        let seen = look(root, path).map_err(reading(&root.join(&name)))?;
        if seen != touch.seen {
            changed.push(shown());
            continue;
        }
        let mut bits = None;
        if let Print::File { .. } = seen {
            let kept = folder.join("old").join(n.to_string());
            let from = root.join(&name);
            let copied = std::fs::copy(&from, &kept).and_then(|_| std::fs::File::open(&kept)?.sync_all());
            copied.map_err(reading(&from))?;
            bits = permissions(&from);
            let copy = look(&folder.join("old"), n.to_string().as_bytes()).map_err(reading(&kept))?;
            if !same_bytes(&copy, &seen) {
                changed.push(shown());
                continue;
            }
        }
        let mut new = Print::Absent;
        if touch.new.is_some() {
            let from = written.join(&name);
            new = look(&written, path).map_err(reading(&from))?;
            let moved = std::fs::rename(&from, folder.join("new").join(n.to_string()));
            moved.map_err(reading(&from))?;
            if let Print::File { .. } = new {
                let kept = folder.join("new").join(n.to_string());
                std::fs::File::open(&kept).and_then(|file| file.sync_all()).map_err(reading(&kept))?;
            }
        }
        steps.push(Step { path: path.clone(), old: seen, new, mode: bits });
    }
    let _ = std::fs::remove_dir_all(&written);
    if !changed.is_empty() {
        return Err(MergeError::Changed(changed));
    }
    let preview = &planned.preview;
    let mut left_out: Vec<String> = preview.conflicts.iter().map(|conflict| conflict.path.clone()).collect();
    left_out.dedup();
    let record = Record {
        stage: Stage::Prepared,
        work_tree: root.clone(),
        temporary: temporary(&planned.checkout, &preview.merge.0),
        done: MergeDone {
            merge: preview.merge.clone(),
            agents: preview.agents.clone(),
            count: preview.count,
            files: steps.iter().map(Step::shown).collect(),
            left_out,
            commit: None,
        },
        steps,
        session: session.cloned(),
        told: true,
        settled: planned.settled.clone(),
        resolved: planned.became.clone(),
        trees: Some((planned.ours.to_string(), planned.merged.to_string())),
        head: None,
        is_within: false,
    };
    record.write(folder)?;
    inner.step();
    Ok(record)
}

/// Lets git write the new files: line endings and filters are as the person's own checkout would have them.
fn write_out(inner: &Inner, place: &Place, planned: &Planned, folder: &Path, written: &Path) -> Result<(), MergeError> {
    let index_file = folder.join("index");
    let failed = |source| GitError::library("collecting the new files")(source);
    let mut index = git2::Index::open(&index_file).map_err(failed)?;
    for (path, touch) in &planned.paths {
        if let Some((id, mode)) = touch.new {
            index.add(&index_entry(path.clone(), id, i32::from(mode).cast_unsigned())).map_err(failed)?;
        }
    }
    index.write().map_err(failed)?;
    let mut prefix = std::ffi::OsString::from("--prefix=");
    prefix.push(written);
    prefix.push("/");
    let command = inner.git.on(&planned.checkout).index(&index_file);
    place.store.apply(command, &planned.checkout).args(["checkout-index", "--all", "--quiet"]).arg(prefix).run()?;
    let _ = std::fs::remove_file(index_file);
    Ok(())
}

/// Where temporary files can be renamed from into the checkout: the git directory, out of sight of whoever watches the
/// files; when that lies on another file system, a hidden folder at the top.
fn temporary(checkout: &Checkout, merge: &str) -> PathBuf {
    let hidden = checkout.git_dir.join("offshoot").join(merge);
    if same_file_system(&checkout.git_dir, &checkout.work_tree) {
        hidden
    } else {
        checkout.work_tree.join(format!(".offshoot-{merge}"))
    }
}

fn same_bytes(one: &Print, other: &Print) -> bool {
    match (one, other) {
        (Print::File { sha256: one, .. }, Print::File { sha256: other, .. }) => one == other,
        _ => false,
    }
}

#[cfg(unix)]
fn permissions(path: &Path) -> Option<u32> {
    let meta = path.symlink_metadata().ok()?;
    Some(std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o7777)
}

#[cfg(not(unix))]
fn permissions(_path: &Path) -> Option<u32> {
    None
}

#[cfg(unix)]
fn same_file_system(one: &Path, other: &Path) -> bool {
    let device = |path: &Path| path.metadata().map(|meta| std::os::unix::fs::MetadataExt::dev(&meta)).ok();
    device(one).is_some() && device(one) == device(other)
}

#[cfg(not(unix))]
fn same_file_system(one: &Path, other: &Path) -> bool {
    one.components().next() == other.components().next()
}
