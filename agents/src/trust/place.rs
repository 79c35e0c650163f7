//! Finding the main checkout of a folder, without running git and without believing what the folder says of itself.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::settings::read_text;

/// The real path of the main checkout that `project` belongs to: of a repository the folder that holds its `.git`, also
/// from a linked worktree; the common directory itself for worktrees of a bare repository; without a repository the folder.
///
/// A `.git` *file* may name any repository, somebody else's trusted one included. It counts as a linked worktree only if
/// that repository lists it as one of its own.
pub fn main_checkout(project: &Path) -> io::Result<PathBuf> {
    let project = project.canonicalize()?;
    let Some(checkout) = project.ancestors().find(|level| level.join(".git").symlink_metadata().is_ok()) else {
        return Ok(project);
    };
    let checkout = checkout.to_path_buf();
    match common_dir(&checkout) {
        Some(common) if common.file_name().is_some_and(|name| name == ".git") => {
            Ok(common.parent().map_or(checkout, Path::to_path_buf))
        }
        Some(common) => Ok(common),
        None => Ok(checkout),
    }
}

/// The common directory of the repository that lists `checkout` as a linked worktree.
fn common_dir(checkout: &Path) -> Option<PathBuf> {
    let file = checkout.join(".git");
    if !file.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let text = read_text(&file, None).ok()??;
    let git_dir = checkout.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let common = git_dir.join(line(&git_dir.join("commondir"))?).canonicalize().ok()?;
    // Only the repository itself writes there, so what stands there is its own word.
    let is_registered = git_dir.parent() == Some(&common.join("worktrees"));
    let named = git_dir.join(line(&git_dir.join("gitdir"))?).canonicalize().ok()?;
    (is_registered && fs::canonicalize(&file).ok()? == named).then_some(common)
}

fn line(file: &Path) -> Option<String> {
    Some(read_text(file, None).ok()??.trim_end_matches(['\r', '\n']).to_owned())
}
