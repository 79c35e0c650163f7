//! Fills a fresh worktree from the parent's checkout instead of unpacking every file again.
//!
//! A file is copied only when its bytes, hashed on the way, are what the base's tree says and a checkout would write just
//! those: no filter, no conversion of line endings. The index says of each copy what is on disk. Where that is everything the
//! base has, the worktree is ready. Otherwise git resets it to its base: it takes the copies for what they are, and checks
//! out the rest (links, converted and changed files, submodules, what a sparse checkout leaves out) as it always does. So
//! nothing depends on the parent's index, nor on what its files were believed to hold.

mod copy;

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use git2::Oid;

use super::WorktreeError;
use crate::git::{Cancel, Checkout, Git, GitError, attributes, index};

/// Fewer files are checked out as quickly as they are copied. Tests copy always.
const MANY: usize = if cfg!(test) { 1 } else { 400 };

/// Most threads that copy.
const THREADS: usize = 8;

/// Files that a thread takes at once: neighbours, so that threads seldom meet in a folder.
const BATCH: usize = 128;

/// Longest path of a folder that is entered, in bytes; no file system has longer ones. Bounds the depth.
const LONGEST: usize = 4_096;

/// A regular file of the base.
struct Candidate {
    path: Vec<u8>,
    id: Oid,
    mode: u32,
}

/// The files of a base that may be copied.
#[derive(Default)]
pub(super) struct Plan {
    candidates: Vec<Candidate>,
    /// All folders, as an index lists them.
    folders: Vec<index::Folder>,
    /// Whether the base has anything else.
    has_more: bool,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// Everything is there, and the index says so.
    Whole,
    /// What could be copied is. Git has to do the rest.
    InPart,
}

/// What could be copied. Nothing when a checkout is as quick, or the only safe way.
pub(super) fn plan(library: &git2::Repository, base: Oid) -> Result<Option<Plan>, GitError> {
    let what = || format!("reading the tree of {base}");
    let tree = library.find_commit(base).and_then(|commit| commit.tree()).map_err(GitError::library(what()))?;
    let mut plan = Plan::default();
    let safe =
        cfg!(unix) && plan.list(library, &tree, Vec::new(), &mut Vec::new()).map_err(GitError::library(what()))?;
    Ok((safe && plan.candidates.len() >= MANY).then_some(plan))
}

/// Whether a name is plain enough to be made here. Git refuses some of the others, and knows which.
fn is_safe(name: &[u8]) -> bool {
    let starts = |prefix: &[u8]| name.len() >= prefix.len() && name[..prefix.len()].eq_ignore_ascii_case(prefix);
    let is_of_git = starts(b".git") && !matches!(name, b".gitattributes" | b".gitignore" | b".gitmodules" | b".github");
    let is_plain = !name.is_empty() && name != b"." && name != b".." && !name.contains(&b'/') && !name.contains(&b'\\');
    is_plain && !starts(b"git~") && (!is_of_git || name.iter().skip(4).all(u8::is_ascii_alphanumeric) && name.len() > 4)
}

impl Plan {
    /// Lists the regular files of a tree, and its folders. False when a name is none that can be made here without a
    /// thought.
    fn list(
        &mut self,
        library: &git2::Repository,
        tree: &git2::Tree<'_>,
        name: Vec<u8>,
        above: &mut Vec<u8>,
    ) -> Result<bool, git2::Error> {
        let (place, before) = (self.folders.len(), self.candidates.len());
        self.folders.push(index::Folder { name, id: tree.id(), entries: 0, folders: 0 });
        for entry in tree {
            let name = entry.name_bytes();
            if !is_safe(name) || above.len() > LONGEST {
                return Ok(false);
            }
            let length = above.len();
            above.extend(name);
            let mode = entry.filemode_raw().cast_unsigned();
            match mode {
                0o100_644 | 0o100_755 => {
                    self.candidates.push(Candidate { path: above.clone(), id: entry.id(), mode });
                }
                0o040_000 => {
                    above.push(b'/');
                    self.folders[place].folders += 1;
                    if !self.list(library, &library.find_tree(entry.id())?, name.to_vec(), above)? {
                        return Ok(false);
                    }
                }
                _ => self.has_more = true,
            }
            above.truncate(length);
        }
        self.folders[place].entries = self.candidates.len() - before;
        Ok(true)
    }

    /// Copies what can be from the parent's checkout, and writes the index of that. `told` is given the number of files
    /// that are dealt with and of all. What can't be copied isn't there afterwards; only a cancellation is an error.
    pub(super) fn carry_out(
        self,
        git: &Git,
        from: &Checkout,
        to: &Checkout,
        scratch: &Path,
        cancel: &Cancel,
        told: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Filled, WorktreeError> {
        let Self { candidates, folders, has_more } = self;
        let all = candidates.len();
        let Some(candidates) = without_conversions(git, to, scratch, candidates)? else { return Ok(Filled::InPart) };
        let copying = copy::Copying::new(&from.work_tree, &to.work_tree);
        let Some(copying) = copying else { return Ok(Filled::InPart) };
        let batches: Vec<&[Candidate]> = candidates.chunks(BATCH).collect();
        let copied: Vec<Mutex<Vec<index::Entry>>> = batches.iter().map(|_| Mutex::default()).collect();
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let mut buffer = Vec::new();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                let Some(batch) = batches.get(n).filter(|_| !cancel.is_cancelled()) else { return };
                let entries = batch.iter().filter_map(|Candidate { path, id, mode }| {
                    let stat = copying.copy(path, *id, *mode == 0o100_755, &mut buffer)?;
                    Some(index::Entry { path: path.clone(), id: *id, mode: *mode, stat })
                });
                *copied[n].lock().unwrap_or_else(PoisonError::into_inner) = entries.collect();
                told(done.fetch_add(batch.len(), Ordering::Relaxed) + batch.len(), candidates.len());
            }
        };
        let threads = std::thread::available_parallelism().map_or(2, usize::from).min(THREADS);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        cancel.check()?;
        let entries = copied.into_iter().flat_map(|batch| batch.into_inner().unwrap_or_else(PoisonError::into_inner));
        let mut entries: Vec<index::Entry> = entries.collect();
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let is_whole = !has_more && entries.len() == all && !is_sparse(git, to)?;
        index::write(&to.index(), &entries, if is_whole { &folders } else { &[] })?;
        Ok(if is_whole { Filled::Whole } else { Filled::InPart })
    }
}

/// Those that a checkout writes as they are stored, on this file system. Nothing when two of them could be the same file.
fn without_conversions(
    git: &Git,
    to: &Checkout,
    scratch: &Path,
    candidates: Vec<Candidate>,
) -> Result<Option<Vec<Candidate>>, GitError> {
    if folds_case(git, to)? && clash(&candidates) {
        return Ok(None);
    }
    // An index of the rules alone: asking about a path doesn't need the path to be in it.
    let is_rule =
        |candidate: &&Candidate| candidate.path.split(|byte| *byte == b'/').next_back() == Some(b".gitattributes");
    let rule = |Candidate { path, id, mode }: &Candidate| index::Entry {
        path: path.clone(),
        id: *id,
        mode: *mode,
        stat: index::Stat::default(),
    };
    let mut rules: Vec<index::Entry> = candidates.iter().filter(is_rule).map(rule).collect();
    rules.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let rules_index = scratch.join("rules.index");
    index::write(&rules_index, &rules, &[])?;
    let paths: Vec<&[u8]> = candidates.iter().map(|candidate| candidate.path.as_slice()).collect();
    let plain = attributes::plain(git, to, &rules_index, &paths)?;
    Ok(Some(candidates.into_iter().zip(plain).filter_map(|(candidate, plain)| plain.then_some(candidate)).collect()))
}

/// Whether a checkout leaves files out.
fn is_sparse(git: &Git, checkout: &Checkout) -> Result<bool, GitError> {
    let output = git.on(checkout).args(["config", "--type=bool", "--get", "core.sparseCheckout"]).run_any()?;
    Ok(output.stdout.starts_with(b"true"))
}

/// Whether the file system takes `A` and `a` for the same.
fn folds_case(git: &Git, checkout: &Checkout) -> Result<bool, GitError> {
    let output = git.on(checkout).args(["config", "--type=bool", "--get", "core.ignorecase"]).run_any()?;
    Ok(output.stdout.starts_with(b"true"))
}

/// Whether two paths might be one where letter case doesn't count. Anything but ASCII is taken to clash: forms of the same
/// letter do.
fn clash(candidates: &[Candidate]) -> bool {
    let mut seen = std::collections::HashSet::new();
    candidates.iter().any(|candidate| !candidate.path.is_ascii() || !seen.insert(candidate.path.to_ascii_lowercase()))
}
