//! Makes sure that what a ref leads to is on the disk, and not only in the system's memory.

use std::fs::File;
use std::path::Path;

use super::{Inner, Worktree, WorktreeError};

/// From so many objects on, the whole file system is flushed instead of each file.
const MANY: usize = 200;

/// Flushes the objects that `reference` leads to beyond the worktree's base, and the ref itself.
pub(super) fn flush(inner: &Inner, worktree: &Worktree, reference: &str) -> Result<(), WorktreeError> {
    let args = ["rev-list", "--objects", "--no-object-names", reference, "--not", &worktree.base];
    let output = inner.git.on(&worktree.checkout).args(args).run()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let common_dir = &worktree.checkout.common_dir;
    let store = common_dir.join("objects");
    let what = || format!("flushing {}", common_dir.display());
    if text.lines().nth(MANY).is_some() && flush_all(&store).map_err(WorktreeError::storage(what()))? {
        return Ok(());
    }
    let objects = text.lines().filter(|hash| hash.len() > 2).map(|hash| store.join(&hash[..2]).join(&hash[2..]));
    for path in objects.chain([common_dir.join(reference)]) {
        match File::open(&path) {
            Ok(file) => file.sync_all().map_err(WorktreeError::storage(what()))?,
            // It is in a pack, which git has flushed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(WorktreeError::storage(what())(error)),
        }
    }
    Ok(())
}

/// Flushes everything on the file system of `folder`. False where there is no such call.
#[cfg(target_os = "linux")]
fn flush_all(folder: &Path) -> std::io::Result<bool> {
    rustix::fs::syncfs(File::open(folder)?)?;
    Ok(true)
}

/// Flushes everything on the file system of `folder`. False where there is no such call.
#[cfg(not(target_os = "linux"))]
fn flush_all(_folder: &Path) -> std::io::Result<bool> {
    Ok(false)
}
