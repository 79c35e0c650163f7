//! The tree after a few files were touched, from the tree before: no index is read, and nothing else is looked at.
//!
//! Whatever is out of the ordinary (rules that changed, folders that became files, submodules) is left to a look at
//! everything.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, ObjectType, Oid, Tree};

use crate::git::{Git, GitError, Quarantine};
use crate::worktree::Worktree;

/// Most files that are looked at one by one.
const FEW: usize = 300;

/// Files that change what other files mean.
const RULES: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];

/// The tree now; nothing when only a look at everything can tell.
pub(super) fn tree(
    git: &Git,
    worktree: &Worktree,
    (library, quarantine): (&git2::Repository, &Quarantine),
    before: Oid,
    touched: &[PathBuf],
) -> Result<Option<Oid>, GitError> {
    let what = || format!("looking at {}", worktree.path().display());
    let config = worktree.checkout.library()?.config().map_err(GitError::library(what()))?;
    if !config.get_bool("core.filemode").unwrap_or(true) || !config.get_bool("core.symlinks").unwrap_or(true) {
        return Ok(None);
    }
    let before = library.find_tree(before).map_err(GitError::library(what()))?;
    let Some(Plan { mut written, linked, removed, unknown }) = Plan::new(worktree, &before, touched) else {
        return Ok(None);
    };
    let Some(ignored) = ignored(git, worktree, &unknown)? else { return Ok(None) };
    written.retain(|(path, _)| !ignored.contains(path));

    let mut update = TreeUpdateBuilder::new();
    for path in &removed {
        update.remove(path.as_str());
    }
    let names: Vec<&str> = written.iter().map(|(path, _)| path.as_str()).collect();
    let Some(blobs) = stored(git, worktree, quarantine, &names)? else { return Ok(None) };
    for ((path, mode), blob) in written.iter().zip(blobs) {
        update.upsert(path.as_str(), blob, *mode);
    }
    for path in linked.iter().filter(|path| !ignored.contains(*path)) {
        let Ok(target) = std::fs::read_link(worktree.path().join(path)) else { return Ok(None) };
        let blob = library.blob(target.as_os_str().as_encoded_bytes()).map_err(GitError::library(what()))?;
        update.upsert(path.as_str(), blob, FileMode::Link);
    }
    update.create_updated(library, &before).map(Some).map_err(GitError::library(what()))
}

/// What to do to the tree.
#[derive(Default)]
struct Plan {
    written: Vec<(String, FileMode)>,
    linked: Vec<String>,
    removed: Vec<String>,
    /// Those that weren't in the tree: ignored ones among them don't count.
    unknown: BTreeSet<String>,
}

impl Plan {
    /// Nothing when something is out of the ordinary.
    fn new(worktree: &Worktree, before: &Tree<'_>, touched: &[PathBuf]) -> Option<Self> {
        let mut plan = Self::default();
        let mut seen = BTreeSet::new();
        for path in touched {
            plan.add(worktree.path(), before, path, &mut seen)?;
        }
        Some(plan)
    }

    fn add(&mut self, root: &Path, before: &Tree<'_>, path: &Path, seen: &mut BTreeSet<PathBuf>) -> Option<()> {
        let plain = |part: Component<'_>| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
        let name = path.to_str().filter(|name| !name.contains('\n') && !name.starts_with('"'))?;
        if !path.components().all(plain) || RULES.iter().any(|rule| path.ends_with(rule)) || !is_beneath(root, path) {
            return None;
        }
        if !seen.insert(path.to_path_buf()) {
            return Some(());
        }
        if seen.len() > FEW {
            return None;
        }
        // A file of the tree above it would have to go first.
        let parents = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        let blocked = |above: &Path| before.get_path(above).is_ok_and(|entry| entry.kind() != Some(ObjectType::Tree));
        if parents.into_iter().any(blocked) {
            return None;
        }
        let known = before.get_path(path).ok().map(|entry| entry.kind());
        let meta = root.join(path).symlink_metadata().ok();
        match (known, meta) {
            (None, None) => {}
            (Some(Some(ObjectType::Blob)), None) => self.removed.push(name.to_owned()),
            (None, Some(meta)) if meta.is_dir() => {
                for entry in std::fs::read_dir(root.join(path)).ok()? {
                    self.add(root, before, &path.join(entry.ok()?.file_name()), seen)?;
                }
            }
            (None | Some(Some(ObjectType::Blob)), Some(meta)) if meta.is_file() || meta.is_symlink() => {
                if known.is_none() {
                    self.unknown.insert(name.to_owned());
                }
                if meta.is_symlink() {
                    self.linked.push(name.to_owned());
                } else {
                    self.written.push((name.to_owned(), mode(&meta)));
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// Whether no link leads to the path's folder.
fn is_beneath(root: &Path, path: &Path) -> bool {
    path.ancestors().skip(1).all(|above| root.join(above).symlink_metadata().map_or(true, |meta| meta.is_dir()))
}

#[cfg(unix)]
fn mode(meta: &Metadata) -> FileMode {
    let executable = std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o100 != 0;
    if executable { FileMode::BlobExecutable } else { FileMode::Blob }
}

#[cfg(not(unix))]
fn mode(_meta: &Metadata) -> FileMode {
    FileMode::Blob
}

/// Those of the paths that git ignores. Nothing when it couldn't tell.
fn ignored(git: &Git, worktree: &Worktree, paths: &BTreeSet<String>) -> Result<Option<BTreeSet<String>>, GitError> {
    if paths.is_empty() {
        return Ok(Some(BTreeSet::new()));
    }
    // Begun with `./`, so that none is taken for a pattern: this command doesn't know literal paths.
    let input = paths.iter().flat_map(|path| b"./".iter().copied().chain(path.bytes()).chain([0])).collect();
    let command = git.on(&worktree.checkout).args(["check-ignore", "--no-index", "-z", "--stdin"]).input(input);
    let output = command.variable("GIT_LITERAL_PATHSPECS", "0").run_any()?;
    // Exit 1 says that none is ignored.
    if !matches!(output.exit, Some(0 | 1)) {
        return Ok(None);
    }
    let names = output.stdout.split(|byte| *byte == 0).filter_map(|name| name.strip_prefix(b"./"));
    Ok(Some(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()))
}

/// Stores files as git would, conversions included. Nothing when one couldn't be read; it may have gone meanwhile.
fn stored(
    git: &Git,
    worktree: &Worktree,
    quarantine: &Quarantine,
    paths: &[&str],
) -> Result<Option<Vec<Oid>>, GitError> {
    if paths.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let input = paths.iter().flat_map(|path| path.bytes().chain([b'\n'])).collect();
    let command = git.on(&worktree.checkout).args(["hash-object", "-w", "--stdin-paths"]).input(input);
    let output = quarantine.apply(command, &worktree.checkout).run_any()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let blobs: Vec<Oid> = text.lines().filter_map(|line| Oid::from_str(line).ok()).collect();
    Ok((output.exit == Some(0) && blobs.len() == paths.len()).then_some(blobs))
}
