//! Archives: everything in a worktree as one commit, so that the directory can go.
//!
//! The commit's tree is what the directory holds as git would commit it. Its parents keep what that leaves out: where
//! `HEAD` and the branch were, what was staged, and the bytes of files that git would convert or ignores. The last line
//! of its message says what each is ([`State`]).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::record::Lock;
use super::{Inner, Worktree, WorktreeError, create, flush, include, remove, snapshot, verify};
use crate::git::{Capture, GitError, Head, Repository, index, index_entry, to_path};

/// How long the archive of a discarded worktree is kept.
pub(super) const KEPT_AFTER_DISCARD: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Where archives are.
pub(super) const ARCHIVES: &str = "refs/offshoot/archive/";

/// Begins the line of a commit message that holds the [`State`].
const STATE: &str = "Offshoot-Archive: ";

/// Most bytes that are archived of one ignored file or folder; build folders are larger and can be made again.
const IGNORED_BUDGET: u64 = 32 << 20;

/// Most files that are archived of one ignored folder.
const IGNORED_FILES: usize = 2_000;

/// A new archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Full name of its ref.
    pub reference: String,
    /// Its commit.
    pub commit: String,
    /// Ignored files and folders that are not in it: too large, or repositories of their own.
    pub left_out: Vec<String>,
    /// When it may be deleted (UTC); absent: never by itself.
    pub expires_at: Option<Timestamp>,
}

/// An archive that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// Full name of its ref.
    pub reference: String,
    /// The agent's id.
    pub id: String,
    /// The branch it was on.
    pub branch: String,
    /// The commit it had started from.
    pub base: String,
    /// When it was archived (UTC).
    pub archived_at: Timestamp,
    /// When it may be deleted (UTC); absent: never by itself.
    pub expires_at: Option<Timestamp>,
}

/// What [`super::restore`] needs beside the tree. It comes out of the repository, so nothing in it is believed unchecked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) id: String,
    pub(super) branch: String,
    pub(super) base: String,
    pub(super) base_is_snapshot: bool,
    pub(super) prefix: PathBuf,
    pub(super) created_at: Timestamp,
    pub(super) archived_at: Timestamp,
    pub(super) expires_at: Option<Timestamp>,
    /// The commit `HEAD` was at.
    pub(super) head: String,
    /// Whether `HEAD` was on the branch rather than detached.
    pub(super) on_branch: bool,
    /// Tree of what was staged; absent when that couldn't be written (conflicts).
    pub(super) staged: Option<String>,
    /// Commit whose tree holds files byte for byte.
    pub(super) bytes: Option<String>,
}

pub(super) fn archive(
    inner: &Inner,
    worktree: &Worktree,
    expires_at: Option<Timestamp>,
) -> Result<Archive, WorktreeError> {
    let _lock = Lock::take(worktree.project_folder())?;
    verify(worktree)?;
    let what = || format!("archiving {}", worktree.path().display());
    let library = worktree.checkout.library()?;
    let scratch = create::scratch(worktree.project_folder())?;
    let captured = Capture::new(&inner.git, &worktree.checkout, &scratch.path().join("index")).run()?;
    if !captured.nested.is_empty() {
        let nested = captured.nested.iter().map(|path| path.display().to_string()).collect();
        return Err(WorktreeError::Nested { path: worktree.path().to_path_buf(), nested });
    }
    let base = worktree.base_commit()?;
    let branch_tip = library.find_reference(&worktree.branch_ref()).ok().and_then(|branch| branch.target());
    let head = worktree.checkout.head(&library)?;
    let on_branch = matches!(&head, Head::Branch { name, .. } if *name == worktree.branch_ref());
    let head = head.commit().or(branch_tip).unwrap_or(base);

    let mut keeping = Keeping { library: &library, entries: git2::Index::new().map_err(GitError::library(what()))? };
    let base_tree = library.find_commit(base).and_then(|commit| commit.tree()).map_err(GitError::library(what()))?;
    let tree = library.find_tree(captured.tree).map_err(GitError::library(what()))?;
    let touched = touched(inner, worktree, scratch.path(), &base_tree, &tree)?;
    keeping.touched(inner, worktree, &touched, &tree)?;
    let left_out = keeping.ignored(worktree, &include::made_by_agent(&inner.git, worktree)?)?;

    let who = snapshot::offshoot(inner)?;
    let find = |commit| library.find_commit(commit).map_err(GitError::library(what()));
    let mut parents = vec![find(head)?];
    for other in [branch_tip, Some(base)].into_iter().flatten() {
        let reached = parents
            .iter()
            .any(|parent| parent.id() == other || library.graph_descendant_of(parent.id(), other).unwrap_or(false));
        if !reached {
            parents.push(find(other)?);
        }
    }
    let staged = staged(inner, worktree, scratch.path())?;
    let side = |message: &str, tree: git2::Oid| -> Result<git2::Commit<'_>, GitError> {
        let tree = library.find_tree(tree).map_err(GitError::library(what()))?;
        let commit = library.commit(None, &who, &who, message, &tree, &[]).map_err(GitError::library(what()))?;
        find(commit)
    };
    if let Some(staged) = staged {
        parents.push(side("What was staged\n", staged)?);
    }
    let bytes = keeping.tree(&what())?.map(|tree| side("Files byte for byte\n", tree)).transpose()?;
    let bytes_id = bytes.as_ref().map(|commit| commit.id().to_string());
    parents.extend(bytes);

    let state = State {
        id: worktree.id.clone(),
        branch: worktree.branch.clone(),
        base: worktree.base.clone(),
        base_is_snapshot: worktree.base_is_snapshot,
        prefix: worktree.prefix.clone(),
        created_at: worktree.created_at,
        archived_at: inner.clock.now(),
        expires_at,
        head: head.to_string(),
        on_branch,
        staged: staged.map(|tree| tree.to_string()),
        bytes: bytes_id,
    };
    let json = serde_json::to_string(&state).map_err(|error| WorktreeError::storage(what())(error.into()))?;
    let message = format!("Archive of {}\n\nEverything that was in the worktree.\n\n{STATE}{json}\n", worktree.branch);
    let parents: Vec<_> = parents.iter().collect();
    let commit = library.commit(None, &who, &who, &message, &tree, &parents).map_err(GitError::library(what()))?;
    let reference = free_reference(&library, &worktree.id);
    library.reference(&reference, commit, false, "offshoot: archive").map_err(GitError::library(what()))?;

    // A crash of the machine after the removal must find the archive on the disk.
    flush::flush(inner, worktree, &reference)?;
    remove::retire(inner, worktree, branch_tip)?;
    Ok(Archive { reference, commit: commit.to_string(), left_out, expires_at })
}

fn free_reference(library: &git2::Repository, id: &str) -> String {
    let names = std::iter::once(format!("{ARCHIVES}{id}")).chain((2..).map(|n| format!("{ARCHIVES}{id}-{n}")));
    names.into_iter().find(|name| library.find_reference(name).is_err()).expect("the names don't end")
}

/// The tree of the worktree's own index. Absent while it has conflicts.
fn staged(inner: &Inner, worktree: &Worktree, scratch: &Path) -> Result<Option<git2::Oid>, WorktreeError> {
    let copy = scratch.join("staged.index");
    let what = format!("copying the index of {}", worktree.path().display());
    index::copy(&worktree.checkout.index(), &copy).map_err(WorktreeError::storage(what))?;
    let output = inner.git.on(&worktree.checkout).index(&copy).arg("write-tree").run_any()?;
    let tree = (output.exit == Some(0)).then(|| git2::Oid::from_str(String::from_utf8_lossy(&output.stdout).trim()));
    tree.transpose().map_err(|error| GitError::library("reading the hash of a tree")(error).into())
}

/// Files that are not as the checkout wrote them: what differs from the base, and what was written without a difference
/// that git would see (line endings that it converts).
fn touched(
    inner: &Inner,
    worktree: &Worktree,
    scratch: &Path,
    base: &git2::Tree<'_>,
    now: &git2::Tree<'_>,
) -> Result<BTreeSet<Vec<u8>>, WorktreeError> {
    let what = || format!("comparing {} with its base", worktree.path().display());
    let library = worktree.checkout.library()?;
    let diff = library.diff_tree_to_tree(Some(base), Some(now), None).map_err(GitError::library(what()))?;
    let mut touched: BTreeSet<Vec<u8>> =
        diff.deltas().filter_map(|delta| delta.new_file().path_bytes().map(<[u8]>::to_vec)).collect();
    let pristine = scratch.join("pristine.index");
    if index::copy(&worktree.own_folder().join("pristine.index"), &pristine).is_ok() {
        let args = ["diff-files", "-z", "--name-only", "--ignore-submodules=all"];
        let output = inner.git.on(&worktree.checkout).index(&pristine).args(args).run()?;
        touched.extend(output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec));
    }
    Ok(touched)
}

/// Collects files that are kept byte for byte.
struct Keeping<'a> {
    library: &'a git2::Repository,
    entries: git2::Index,
}

impl Keeping<'_> {
    /// Keeps the bytes of touched files. Most are what the tree holds anyway, and cost nothing; for the rest git would
    /// write other line endings when it checks them out.
    fn touched(
        &mut self,
        inner: &Inner,
        worktree: &Worktree,
        touched: &BTreeSet<Vec<u8>>,
        tree: &git2::Tree<'_>,
    ) -> Result<(), WorktreeError> {
        let filtered = filtered(inner, worktree, touched)?;
        for path in touched.difference(&filtered) {
            let name = to_path(path);
            let is_file = worktree.path().join(&name).symlink_metadata().is_ok_and(|meta| meta.is_file());
            if let (true, Ok(entry)) = (is_file, tree.get_path(&name)) {
                self.keep(worktree.path(), path.clone(), entry.filemode().cast_unsigned())?;
            }
        }
        Ok(())
    }

    /// Keeps ignored files, within bounds. Returns what was left out.
    fn ignored(&mut self, worktree: &Worktree, ignored: &[PathBuf]) -> Result<Vec<String>, WorktreeError> {
        let mut left_out = Vec::new();
        for top in ignored {
            let mut found = Vec::new();
            let mut budget = IGNORED_BUDGET;
            if collect(worktree.path(), top, &mut found, &mut budget) {
                for path in found {
                    self.keep_ignored(worktree.path(), &path)?;
                }
            } else {
                left_out.push(top.display().to_string());
            }
        }
        Ok(left_out)
    }

    fn keep_ignored(&mut self, root: &Path, path: &Path) -> Result<(), WorktreeError> {
        let full = root.join(path);
        let what = || format!("reading {}", full.display());
        let meta = full.symlink_metadata().map_err(WorktreeError::storage(what()))?;
        let bytes = path.as_os_str().as_encoded_bytes().to_vec();
        if !meta.is_symlink() {
            return self.keep(root, bytes, if is_executable(&meta) { 0o100_755 } else { 0o100_644 });
        }
        let target = std::fs::read_link(&full).map_err(WorktreeError::storage(what()))?;
        let blob = self.library.blob(target.as_os_str().as_encoded_bytes()).map_err(GitError::library(what()))?;
        self.enter(bytes, blob, 0o120_000).map_err(|source| GitError::library(what())(source).into())
    }

    /// Stores a file's bytes, in pieces, so that a large one doesn't fill the memory.
    fn keep(&mut self, root: &Path, path: Vec<u8>, mode: u32) -> Result<(), WorktreeError> {
        let full = root.join(to_path(&path));
        let what = || format!("storing {}", full.display());
        let mut file = std::fs::File::open(&full).map_err(WorktreeError::storage(what()))?;
        let mut writer = self.library.blob_writer(None).map_err(GitError::library(what()))?;
        std::io::copy(&mut file, &mut writer).map_err(WorktreeError::storage(what()))?;
        let blob = writer.commit().map_err(GitError::library(what()))?;
        self.enter(path, blob, mode).map_err(|source| GitError::library(what())(source).into())
    }

    fn enter(&mut self, path: Vec<u8>, id: git2::Oid, mode: u32) -> Result<(), git2::Error> {
        self.entries.add(&index_entry(path, id, mode))
    }

    fn tree(&mut self, what: &str) -> Result<Option<git2::Oid>, GitError> {
        if self.entries.is_empty() {
            return Ok(None);
        }
        self.entries.write_tree_to(self.library).map(Some).map_err(GitError::library(what))
    }
}

/// Those of the paths that a working filter driver (LFS) converts. Such a driver keeps the content itself.
fn filtered(inner: &Inner, worktree: &Worktree, paths: &BTreeSet<Vec<u8>>) -> Result<BTreeSet<Vec<u8>>, WorktreeError> {
    if paths.is_empty() {
        return Ok(BTreeSet::new());
    }
    let input = paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect();
    let args = ["check-attr", "-z", "--stdin", "filter"];
    let output = inner.git.on(&worktree.checkout).args(args).input(input).run()?;
    let working = crate::git::filters(&inner.git, &worktree.checkout)?;
    let mut fields = output.stdout.split(|byte| *byte == 0);
    let mut filtered = BTreeSet::new();
    while let (Some(path), Some(_), Some(value)) = (fields.next(), fields.next(), fields.next()) {
        let driver = String::from_utf8_lossy(value).into_owned();
        if working.contains(&driver) && !worktree.checkout.filters_off.contains(&driver) {
            filtered.insert(path.to_vec());
        }
    }
    Ok(filtered)
}

/// Lists the files and links of an ignored entry. False when it is too much, or a repository of its own.
fn collect(root: &Path, path: &Path, found: &mut Vec<PathBuf>, budget: &mut u64) -> bool {
    let full = root.join(path);
    let Ok(meta) = full.symlink_metadata() else { return true };
    if meta.is_dir() {
        let is_repository = full.join(".git").symlink_metadata().is_ok();
        let mut entries = std::fs::read_dir(&full).into_iter().flatten().flatten();
        return !is_repository && entries.all(|entry| collect(root, &path.join(entry.file_name()), found, budget));
    }
    if meta.is_file() && meta.len() > *budget || found.len() == IGNORED_FILES {
        return false;
    }
    if meta.is_file() || meta.is_symlink() {
        *budget -= if meta.is_file() { meta.len() } else { 0 };
        found.push(path.to_path_buf());
    }
    true
}

#[cfg(unix)]
fn is_executable(meta: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_meta: &std::fs::Metadata) -> bool {
    false
}

/// What an archive's commit says of itself.
pub(super) fn state(commit: &git2::Commit<'_>) -> Option<State> {
    let message = String::from_utf8_lossy(commit.message_bytes());
    message.lines().rev().find_map(|line| serde_json::from_str(line.strip_prefix(STATE)?).ok())
}

pub(super) fn list(repository: &Repository) -> Result<Vec<Archived>, WorktreeError> {
    let library = repository.library()?;
    let what = || format!("listing the archives of {}", repository.common_dir.display());
    let references = library.references_glob(&format!("{ARCHIVES}*")).map_err(GitError::library(what()))?;
    let mut archives: Vec<Archived> = references
        .flatten()
        .filter_map(|reference| {
            let state = state(&reference.peel_to_commit().ok()?)?;
            Some(Archived {
                reference: reference.name().ok()?.to_owned(),
                id: state.id,
                branch: state.branch,
                base: state.base,
                archived_at: state.archived_at,
                expires_at: state.expires_at,
            })
        })
        .collect();
    archives.sort_by(|a, b| a.reference.cmp(&b.reference));
    Ok(archives)
}

pub(super) fn expire(inner: &Inner, repository: &Repository) -> Result<Vec<String>, WorktreeError> {
    let library = repository.library()?;
    let now = inner.clock.now();
    let mut gone = Vec::new();
    for archived in list(repository)? {
        if archived.expires_at.is_some_and(|time| time <= now)
            && let Ok(mut reference) = library.find_reference(&archived.reference)
        {
            let what = format!("deleting {}", archived.reference);
            reference.delete().map_err(GitError::library(what))?;
            gone.push(archived.reference);
        }
    }
    Ok(gone)
}
