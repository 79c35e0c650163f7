//! Copies files that git ignores but the project needs (`.env`), as the project's include files say.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::{Deserialize, Serialize};

use super::{Worktree, WorktreeError};
use crate::git::{Cancel, Checkout, Git, GitError, to_path};

/// Files with patterns in gitignore syntax, at the top of the checkout; later ones win.
const INCLUDE_FILES: [&str; 2] = [".worktreeinclude", ".offshoot/worktree-include"];

/// Longest include file that is read, in bytes.
const INCLUDE_LIMIT: u64 = 64 << 10;

/// Most bytes that are copied where the file system can't share them.
const BUDGET: u64 = 256 << 20;

/// Most ignored files that are looked at.
const LOOKED_AT: usize = 50_000;

/// A copied file, so that it can be told later from one the agent made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CopiedFile {
    path: PathBuf,
    len: u64,
    /// Nanoseconds since 1970.
    modified: u128,
}

#[derive(Default)]
pub(super) struct Copied {
    pub(super) files: Vec<CopiedFile>,
    pub(super) warnings: Vec<String>,
}

pub(super) fn list_path(worktree: &Worktree) -> PathBuf {
    worktree.own_folder().join("copied.json")
}

/// Copies from the parent's checkout what the include files name and git ignores. Files are copied or cloned, never
/// linked; what the checkout already has stays.
pub(super) fn copy(git: &Git, from: &Checkout, worktree: &Worktree, cancel: &Cancel) -> Result<Copied, WorktreeError> {
    let Some(wanted) = patterns(&from.work_tree) else { return Ok(Copied::default()) };
    let mut walk = Walk { root: &from.work_tree, wanted, files: Vec::new(), looked_at: 0, skipped: Vec::new() };
    for entry in ignored(git, from, Some(cancel))? {
        walk.take(&entry, false);
    }
    let Walk { files, looked_at, skipped, .. } = walk;
    let mut copied = Copied::default();
    if looked_at > LOOKED_AT {
        copied.warnings.push(format!("Only the first {LOOKED_AT} ignored files were looked at for copying."));
    }
    let mut copying = Copying { from: &from.work_tree, to: worktree.path(), budget: BUDGET, clones: true };
    let mut left_out = skipped;
    for path in files {
        cancel.check()?;
        match copying.copy(&path) {
            Ok(true) => copied.files.extend(describe(worktree.path(), &path)),
            Ok(false) => left_out.push(path.display().to_string()),
            Err(error) => return Err(WorktreeError::storage(format!("copying {}", path.display()))(error)),
        }
    }
    if !left_out.is_empty() {
        let shown = left_out.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        copied.warnings.push(format!("{} included files were not copied: {shown}.", left_out.len()));
    }
    Ok(copied)
}

fn patterns(root: &Path) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(root);
    let mut any = false;
    for name in INCLUDE_FILES {
        let path = root.join(name);
        let fits = path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= INCLUDE_LIMIT);
        let Some(text) = fits.then(|| std::fs::read(&path).ok()).flatten() else { continue };
        for line in String::from_utf8_lossy(&text).lines() {
            // A line that is no pattern includes nothing.
            any |= builder.add_line(None, line).is_ok();
        }
    }
    any.then(|| builder.build().ok()).flatten()
}

/// Ignored files, and folders that are ignored as a whole (with a `/` at the end of their bytes taken off).
pub(super) fn ignored(git: &Git, checkout: &Checkout, cancel: Option<&Cancel>) -> Result<Vec<PathBuf>, GitError> {
    let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
    let mut command = git.on(checkout).args(args);
    if let Some(cancel) = cancel {
        command = command.cancel(cancel);
    }
    let output = command.run()?;
    let entries = output.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    Ok(entries.map(|entry| to_path(entry.strip_suffix(b"/").unwrap_or(entry))).collect())
}

/// Collects what is wanted below ignored entries.
struct Walk<'a> {
    root: &'a Path,
    wanted: Gitignore,
    files: Vec<PathBuf>,
    looked_at: usize,
    skipped: Vec<String>,
}

impl Walk<'_> {
    fn take(&mut self, path: &Path, above_is_wanted: bool) {
        self.looked_at += 1;
        if self.looked_at > LOOKED_AT {
            return;
        }
        let full = self.root.join(path);
        let Ok(meta) = full.symlink_metadata() else { return };
        let verdict = self.wanted.matched(path, meta.is_dir());
        let is_wanted = verdict.is_ignore() || above_is_wanted && !verdict.is_whitelist();
        if meta.is_dir() {
            // A repository inside has a history of its own, which a copy would fork.
            if full.join(".git").symlink_metadata().is_ok() {
                return;
            }
            let entries = std::fs::read_dir(&full).into_iter().flatten().flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
            names.sort_unstable();
            for name in names {
                self.take(&path.join(name), is_wanted);
            }
        } else if is_wanted && meta.is_file() {
            self.files.push(path.to_path_buf());
        } else if is_wanted {
            self.skipped.push(format!("{} (a link)", path.display()));
        }
    }
}

struct Copying<'a> {
    from: &'a Path,
    to: &'a Path,
    budget: u64,
    clones: bool,
}

impl Copying<'_> {
    /// Copies one file. False when it was left out: too large, or something stands in its way.
    fn copy(&mut self, path: &Path) -> std::io::Result<bool> {
        let (source, target) = (self.from.join(path), self.to.join(path));
        if !make_folders(self.to, path)? || target.symlink_metadata().is_ok() {
            return Ok(false);
        }
        if self.clones {
            self.clones = clone_file(&source, &target)?;
            if self.clones {
                return Ok(true);
            }
        }
        let len = source.metadata()?.len();
        if len > self.budget {
            return Ok(false);
        }
        self.budget -= len;
        std::fs::copy(&source, &target)?;
        Ok(true)
    }
}

/// Makes the folders above `path` in `root`. False when one of them is something else, a link for instance.
pub(super) fn make_folders(root: &Path, path: &Path) -> std::io::Result<bool> {
    let mut folder = root.to_path_buf();
    for part in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(part) = part else { return Ok(false) };
        folder.push(part);
        match folder.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Ok(false),
            Err(_) => std::fs::create_dir(&folder)?,
        }
    }
    Ok(true)
}

/// Makes a file that shares its blocks with `source`. False where the file system can't.
#[cfg(target_os = "linux")]
fn clone_file(source: &Path, target: &Path) -> std::io::Result<bool> {
    let from = std::fs::File::open(source)?;
    let to = std::fs::File::options().write(true).create_new(true).open(target)?;
    if rustix::fs::ioctl_ficlone(&to, &from).is_ok() {
        to.set_permissions(from.metadata()?.permissions())?;
        return Ok(true);
    }
    drop(to);
    std::fs::remove_file(target)?;
    Ok(false)
}

/// Makes a file that shares its blocks with `source`. The standard copy does it where it can.
#[cfg(not(target_os = "linux"))]
fn clone_file(_source: &Path, _target: &Path) -> std::io::Result<bool> {
    Ok(false)
}

fn describe(root: &Path, path: &Path) -> Option<CopiedFile> {
    let meta = root.join(path).symlink_metadata().ok()?;
    let modified = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    Some(CopiedFile { path: path.to_path_buf(), len: meta.len(), modified })
}

/// Ignored files and folders in the worktree that weren't copied in, or were changed since. Sorted.
pub(super) fn made_by_agent(git: &Git, worktree: &Worktree) -> Result<Vec<PathBuf>, GitError> {
    let bytes = std::fs::read(list_path(worktree)).unwrap_or_default();
    let copied: Vec<CopiedFile> = serde_json::from_slice(&bytes).unwrap_or_default();
    let copied: HashMap<&Path, &CopiedFile> = copied.iter().map(|file| (file.path.as_path(), file)).collect();
    let is_copied =
        |path: &Path| copied.get(path).is_some_and(|file| describe(worktree.path(), path).as_ref() == Some(*file));
    let mut made = ignored(git, &worktree.checkout, None)?;
    made.retain(|path| {
        let full = worktree.path().join(path);
        let is_folder = full.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        !if is_folder { all_files(worktree.path(), path, &is_copied) } else { is_copied(path) }
    });
    made.sort_unstable();
    Ok(made)
}

/// Whether every file below `folder` passes. Ends at the first that doesn't.
fn all_files(root: &Path, folder: &Path, passes: &impl Fn(&Path) -> bool) -> bool {
    std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten().all(|entry| {
        let path = folder.join(entry.file_name());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder { all_files(root, &path, passes) } else { passes(&path) }
    })
}
