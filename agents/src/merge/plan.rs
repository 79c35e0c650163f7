//! What would change, found out in memory.

use std::collections::{BTreeMap, BTreeSet};

use git2::{FileMode, Oid};
use offshoot_protocol::{AgentId, ChangeCount, ChangedFile, MergeConflict, MergeId, MergePart, MergePreview};

use super::disk::{Print, look, obstacle};
use super::resolution::{Resolved, settle};
use super::selection::select;
use super::three_way::{Collision, Settled, join};
use super::{Inner, MergeError, Order, Place, Share};
use crate::changes::Comparison;
use crate::git::{Checkout, GitError, index_entry, to_path};
use crate::worktree::{Parent, Worktree, verify};

/// How often a checkout that changes while it is looked at is looked at again.
const TRIES: usize = 4;

/// A merge that can be carried out.
pub(super) struct Planned {
    pub(super) preview: MergePreview,
    pub(super) order: Order,
    /// What was settled on the way here.
    pub(super) resolved: Vec<Resolved>,
    /// What wasn't, and whose change it is.
    pub(super) open: Vec<(AgentId, Collision)>,
    pub(super) checkout: Checkout,
    /// The checkout's tree, and what it would become.
    pub(super) ours: Oid,
    pub(super) merged: Oid,
    /// Every path that would be written or deleted.
    pub(super) paths: BTreeMap<Vec<u8>, Touch>,
    /// For each fork, the tree of its changes that would be home then.
    pub(super) settled: Vec<(String, Option<String>, String)>,
    /// What became of the conflicts that were settled: whose, which file, its content.
    pub(super) became: Vec<(String, String, String)>,
}

/// What a tree has at a path: content and mode, or nothing.
pub(super) type Content = Option<(Oid, FileMode)>;

/// What would happen to one path.
pub(super) struct Touch {
    /// What the preview saw there.
    pub(super) seen: Print,
    /// What would be written: content and mode; nothing: it would be deleted.
    pub(super) new: Content,
}

/// A part of the merge: the difference of two trees, and whose it is.
pub(super) struct Part<'a> {
    pub(super) fork: &'a Worktree,
    pub(super) base: Oid,
    pub(super) theirs: Oid,
    /// What of it was brought home before.
    pub(super) settled: Settled,
}

/// A fork's changes merged in.
struct Step<'a> {
    fork: &'a Worktree,
    theirs: Oid,
    base: Oid,
    touched: BTreeSet<Vec<u8>>,
}

pub(super) fn plan(
    inner: &Inner,
    place: &Place,
    checkout: &Checkout,
    order: &Order,
    resolved: &[Resolved],
) -> Result<Planned, MergeError> {
    let library = place.store.library(checkout)?;
    let mut ours = place.capture(&inner.git, checkout)?;
    let mut parts = Vec::new();
    let mut taken = Vec::new();
    let mut unknown: Option<Vec<String>> = None;
    for Share { fork, selection } in &order.shares {
        let base = base_tree(&library, fork)?;
        let theirs = fork_tree(inner, place, checkout, fork)?;
        let selected = select(&library, base, theirs, selection)?;
        parts.push(Part { fork, base, theirs: selected.tree, settled: place.settled(&fork.id) });
        if let Some((hunks, of)) = selected.taken {
            taken.push(MergePart { agent: AgentId(fork.id.clone()), hunks, of });
        }
        // One of several forks has it, usually.
        unknown = Some(match unknown {
            None => selected.unknown,
            Some(before) => before.into_iter().filter(|name| selected.unknown.contains(name)).collect(),
        });
    }
    let unknown = unknown.unwrap_or_default();
    for _ in 0..TRIES {
        let planned = merge(&library, place, checkout, ours, &parts, resolved)?;
        let now = place.capture(&inner.git, checkout)?;
        // What was seen on the disk is what the tree says only when nothing changed in between.
        if now == ours {
            let merge = MergeId(inner.ids.next("m-"));
            let preview = MergePreview { merge, parts: taken, unknown, ..planned.preview };
            return Ok(Planned { preview, order: order.clone(), resolved: resolved.to_vec(), ..planned });
        }
        ours = now;
    }
    Err(MergeError::Changed(vec![checkout.work_tree.display().to_string()]))
}

/// The tree a fork started from.
pub(super) fn base_tree(library: &git2::Repository, fork: &Worktree) -> Result<Oid, GitError> {
    let base = fork.base_commit()?;
    let commit = library.find_commit(base).map_err(GitError::library(format!("reading the base {base}")))?;
    Ok(commit.tree_id())
}

/// What a fork holds now.
pub(super) fn fork_tree(inner: &Inner, place: &Place, checkout: &Checkout, fork: &Worktree) -> Result<Oid, MergeError> {
    if fork.checkout.common_dir != checkout.common_dir {
        return Err(MergeError::OtherRepository(fork.id.clone()));
    }
    verify(fork)?;
    Ok(place.capture(&inner.git, &fork.checkout)?)
}

/// Merges in memory and looks at what stands where files would be written. The preview has no id yet.
pub(super) fn merge(
    library: &git2::Repository,
    place: &Place,
    checkout: &Checkout,
    ours: Oid,
    parts: &[Part<'_>],
    resolved: &[Resolved],
) -> Result<Planned, MergeError> {
    let mut merged = ours;
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut conflicts = Vec::new();
    let mut open = Vec::new();
    let mut left_out: BTreeSet<Vec<u8>> = BTreeSet::new();
    for Part { fork, base, theirs, settled } in parts {
        let mut joined = join(library, *base, merged, *theirs, Some(settled))?;
        if !joined.conflicts.is_empty() && !resolved.is_empty() {
            joined.tree = settle(library, joined.tree, &fork.id, &mut joined.conflicts, resolved)?;
        }
        for collision in joined.conflicts {
            let other = steps.iter().rev().find(|step| !step.touched.is_disjoint(&collision.paths));
            conflicts.push(conflict(fork, other.map(|step| step.fork), &collision));
            left_out.extend(collision.paths.iter().cloned());
            open.push((AgentId(fork.id.clone()), collision));
        }
        let touched = paths(library, merged, joined.tree)?.into_keys().collect();
        steps.push(Step { fork, theirs: *theirs, base: *base, touched });
        merged = joined.tree;
    }

    // What the tree doesn't know of (ignored files, folders, links) can stand in the way, too.
    let mut seen = BTreeMap::new();
    let touched = paths(library, ours, merged)?;
    let deleted: BTreeSet<_> = touched.iter().filter(|(_, new)| new.is_none()).map(|(path, _)| path.clone()).collect();
    let our_tree = library.find_tree(ours).map_err(GitError::library("reading the checkout's tree"))?;
    let mut blocked: BTreeMap<Vec<u8>, &'static str> = BTreeMap::new();
    for (path, new) in &touched {
        let shown = || String::from_utf8_lossy(path).into_owned();
        let print = look(&checkout.work_tree, path).map_err(MergeError::storage(format!("reading {}", shown())))?;
        let known = our_tree.get_path(&to_path(path)).ok();
        let is_module = |mode: i32| mode == i32::from(FileMode::Commit);
        let module = known.as_ref().is_some_and(|entry| is_module(entry.filemode()))
            || new.is_some_and(|(_, mode)| mode == FileMode::Commit);
        let is_file = known.is_some_and(|entry| entry.kind() == Some(git2::ObjectType::Blob));
        let reason = if module {
            Some("it is a submodule; check the commit out in it by hand")
        } else if new.is_some() && !is_file && print != Print::Absent {
            Some("an untracked file of this name is in the way")
        } else {
            obstacle(&checkout.work_tree, path, &deleted).filter(|_| new.is_some())
        };
        match reason {
            Some(reason) => drop(blocked.insert(path.clone(), reason)),
            None => drop(seen.insert(path.clone(), print)),
        }
    }
    if !blocked.is_empty() {
        merged = without(library, ours, merged, blocked.keys())?;
        for (path, reason) in blocked {
            let step = steps.iter().rev().find(|step| step.touched.contains(&path));
            if let Some(step) = step {
                let collision = Collision { paths: BTreeSet::from([path.clone()]), reason, sides: None };
                conflicts.push(conflict(step.fork, None, &collision));
            }
            left_out.insert(path);
        }
    }

    let settled = steps
        .iter()
        .map(|step| {
            let tree = without(library, step.base, step.theirs, left_out.iter())?;
            let before = place.settled(&step.fork.id).tree;
            Ok((step.fork.id.clone(), before.map(|tree| tree.to_string()), tree.to_string()))
        })
        .collect::<Result<_, GitError>>()?;
    let paths = paths(library, ours, merged)?
        .into_iter()
        .filter_map(|(path, new)| seen.remove(&path).map(|seen| (path, Touch { seen, new })))
        .collect();
    let files: Vec<ChangedFile> =
        Comparison::between(library, ours, merged)?.sides().map(|(file, ..)| file.clone()).collect();
    let count = files.iter().fold(ChangeCount::default(), |sum, file| ChangeCount {
        files: sum.files + 1,
        added: sum.added.saturating_add(file.added),
        removed: sum.removed.saturating_add(file.removed),
    });
    conflicts.sort_by(|a, b| a.path.cmp(&b.path));
    let preview = MergePreview {
        merge: MergeId(String::new()),
        agents: parts.iter().map(|part| AgentId(part.fork.id.clone())).collect(),
        target: checkout.work_tree.display().to_string(),
        count,
        files,
        conflicts,
        parts: Vec::new(),
        unknown: Vec::new(),
    };
    let order =
        Order { target: Parent::Directory(checkout.work_tree.clone()), trust: checkout.trust, shares: Vec::new() };
    let merged_tree = library.find_tree(merged).map_err(GitError::library("reading the merged tree"))?;
    let became = super::resolution::became(resolved, &open, &merged_tree);
    let resolved = Vec::new();
    Ok(Planned { became, preview, order, resolved, open, checkout: checkout.clone(), ours, merged, paths, settled })
}

fn conflict(fork: &Worktree, other: Option<&Worktree>, collision: &Collision) -> MergeConflict {
    MergeConflict {
        agent: AgentId(fork.id.clone()),
        path: collision.shown(),
        other: other.map(|other| AgentId(other.id.clone())),
        reason: collision.reason.to_owned(),
        resolvable: collision.sides.is_some(),
    }
}

/// Every path that differs between two trees, with what the new one has there.
fn paths(library: &git2::Repository, old: Oid, new: Oid) -> Result<BTreeMap<Vec<u8>, Content>, GitError> {
    let comparison = Comparison::between(library, old, new)?;
    let mut paths = BTreeMap::new();
    for (_, before, _) in comparison.sides() {
        paths.extend(before.path.iter().map(|path| (path.clone(), None)));
    }
    for (_, _, after) in comparison.sides() {
        paths.extend(after.path.iter().map(|path| (path.clone(), Some((after.id, after.mode)))));
    }
    Ok(paths)
}

/// The tree `new` in which these paths are as in `old`.
pub(super) fn without<'a>(
    library: &git2::Repository,
    old: Oid,
    new: Oid,
    paths: impl Iterator<Item = &'a Vec<u8>>,
) -> Result<Oid, GitError> {
    let failed = |source| GitError::library("leaving files out")(source);
    let find = |tree| library.find_tree(tree).map_err(failed);
    let (old, mut index) = (find(old)?, git2::Index::new().map_err(failed)?);
    index.read_tree(&find(new)?).map_err(failed)?;
    for path in paths {
        let name = to_path(path);
        // It isn't there when the new tree deleted it.
        let _ = index.remove(&name, 0);
        if let Ok(kept) = old.get_path(&name)
            && kept.kind() != Some(git2::ObjectType::Tree)
        {
            index.add(&index_entry(path.clone(), kept.id(), kept.filemode().cast_unsigned())).map_err(failed)?;
        }
    }
    index.write_tree_to(library).map_err(failed)
}
