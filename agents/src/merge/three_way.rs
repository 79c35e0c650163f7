//! Three trees merged in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git2::{IndexConflict, IndexEntry, Oid};

use crate::changes::is_binary;
use crate::git::{GitError, index_entry, to_path};

/// Mode of a submodule's entry.
const GITLINK: u32 = 0o160_000;

/// What merging came to: what can be merged is, conflicting files are as on our side.
pub(super) struct Joined {
    pub(super) tree: Oid,
    pub(super) conflicts: Vec<Collision>,
}

/// A file that can't be merged by itself.
#[derive(Clone, Debug)]
pub(super) struct Collision {
    /// Every name that the file has on some side.
    pub(super) paths: BTreeSet<Vec<u8>>,
    pub(super) reason: &'static str,
    /// The three sides, where it is one file of one name.
    pub(super) sides: Option<Sides>,
}

/// What each side has: content and mode, or no such file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sides {
    pub(super) base: Option<(Oid, u32)>,
    pub(super) ours: Option<(Oid, u32)>,
    pub(super) theirs: Option<(Oid, u32)>,
}

impl Collision {
    /// The name to show: the last one is as good as any when there are several.
    pub(super) fn shown(&self) -> String {
        self.paths.last().map_or(String::new(), |path| String::from_utf8_lossy(path).into_owned())
    }
}

/// What of a fork was brought home before.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    /// The tree of its changes.
    pub(super) tree: Option<Oid>,
    /// Files whose conflict a person settled, and the content that they became.
    pub(super) resolved: BTreeMap<String, Oid>,
}

/// Merges `theirs` into `ours`, seen from `base`. `settled` is what of `theirs` was brought home before, if anything:
/// where seeing it from `base` conflicts and seeing it from there doesn't, the latter counts, as long as `ours` still has
/// what was brought home.
pub(super) fn join(
    library: &git2::Repository,
    base: Oid,
    ours: Oid,
    theirs: Oid,
    settled: Option<&Settled>,
) -> Result<Joined, GitError> {
    let what = || "merging in memory".to_owned();
    let failed = |source| GitError::library(what())(source);
    let mut index = merge(library, base, ours, theirs)?;
    let collisions: Vec<IndexConflict> = index.conflicts().and_then(Iterator::collect).map_err(failed)?;
    if collisions.is_empty() {
        let tree = index.write_tree_to(library).map_err(failed)?;
        return Ok(Joined { tree, conflicts: Vec::new() });
    }
    let later = settled
        .and_then(|settled| settled.tree)
        .filter(|settled| *settled != base && library.find_tree(*settled).is_ok());
    // The files decide whether something is home, not the memory of having brought it: a person may have taken it out again.
    let home = later.map(|settled| merge(library, base, ours, settled)).transpose()?;
    let later = later.map(|settled| merge(library, settled, ours, theirs)).transpose()?;
    let our_tree = library.find_tree(ours).map_err(failed)?;
    let mut conflicts = Vec::new();
    for collision in &collisions {
        let sides = [&collision.ancestor, &collision.our, &collision.their];
        let paths: BTreeSet<Vec<u8>> = sides.into_iter().flatten().map(|entry| entry.path.clone()).collect();
        let only = paths.first().filter(|_| paths.len() == 1).map(|path| to_path(path));
        let solved = match (&later, &only) {
            (Some(later), Some(path))
                if later.conflict_get(path).is_err()
                    && (is_home(home.as_ref(), &our_tree, path) || is_resolved(settled, &our_tree, path)) =>
            {
                Some(later.get_path(path, 0))
            }
            _ => None,
        };
        for path in &paths {
            let name = to_path(path);
            for stage in 0..4 {
                // There is no entry at most of the stages.
                let _ = index.remove(&name, stage);
            }
            let kept = match &solved {
                Some(solved) => solved.as_ref().map(|entry| (entry.id, entry.mode)),
                None => our_tree
                    .get_path(&name)
                    .ok()
                    .filter(|entry| entry.kind() != Some(git2::ObjectType::Tree))
                    .map(|entry| (entry.id(), entry.filemode().cast_unsigned())),
            };
            if let Some((id, mode)) = kept {
                // What the other side has below a folder of this name goes with the conflict.
                let _ = index.remove_dir(&name, 0);
                index.add(&index_entry(path.clone(), id, mode)).map_err(failed)?;
            }
        }
        if solved.is_none() {
            let reason = reason(library, collision);
            conflicts.push(Collision { sides: sides_of(collision, &paths), paths, reason });
        }
    }
    let tree = index.write_tree_to(library).map_err(failed)?;
    Ok(Joined { tree, conflicts })
}

/// Whether bringing home again what was brought home before would change nothing at this path.
fn is_home(home: Option<&git2::Index>, ours: &git2::Tree<'_>, path: &Path) -> bool {
    let Some(home) = home.filter(|home| home.conflict_get(path).is_err()) else { return false };
    let there = home.get_path(path, 0).map(|entry| (entry.id, entry.mode));
    let here = ours.get_path(path).ok().map(|entry| (entry.id(), entry.filemode().cast_unsigned()));
    there == here
}

/// Whether our side has what a person made of a conflict at this path.
fn is_resolved(settled: Option<&Settled>, ours: &git2::Tree<'_>, path: &Path) -> bool {
    let result = settled.and_then(|settled| settled.resolved.get(path.to_string_lossy().as_ref()));
    result.is_some() && result.copied() == ours.get_path(path).ok().map(|entry| entry.id())
}

fn merge(library: &git2::Repository, base: Oid, ours: Oid, theirs: Oid) -> Result<git2::Index, GitError> {
    let find = |tree| library.find_tree(tree);
    let merged = || {
        let (base, ours, theirs) = (find(base)?, find(ours)?, find(theirs)?);
        library.merge_trees(&base, &ours, &theirs, Some(&git2::MergeOptions::new()))
    };
    merged().map_err(GitError::library("merging in memory"))
}

/// A file's sides; nothing when it has several names, or is none.
fn sides_of(collision: &IndexConflict, paths: &BTreeSet<Vec<u8>>) -> Option<Sides> {
    let all = [&collision.ancestor, &collision.our, &collision.their];
    let is_file = |side: &&IndexEntry| side.mode != GITLINK;
    let whole = paths.len() == 1 && all.iter().copied().flatten().all(|side| is_file(&side));
    // With one side alone there is a folder on the other.
    let two = all.iter().filter(|side| side.is_some()).count() >= 2;
    let side = |side: &Option<IndexEntry>| side.as_ref().map(|entry| (entry.id, entry.mode));
    let [base, ours, theirs] = all;
    (whole && two).then(|| Sides { base: side(base), ours: side(ours), theirs: side(theirs) })
}

fn reason(library: &git2::Repository, collision: &IndexConflict) -> &'static str {
    let sides = [&collision.ancestor, &collision.our, &collision.their];
    if sides.iter().any(|side| side.as_ref().is_some_and(|side| side.mode == GITLINK)) {
        return "both sides changed this submodule";
    }
    match (&collision.ancestor, &collision.our, &collision.their) {
        (None, Some(_), Some(_)) => return "both sides have a new file of this name, with different content",
        (None, None, Some(_)) | (None, Some(_), None) => return "one side has a file of this name, the other a folder",
        (_, None, Some(_)) => return "the other side deleted or renamed what was changed here",
        (_, Some(_), None) => return "what is deleted or renamed here was changed on the other side",
        _ => {}
    }
    let binary = |side: &IndexEntry| library.find_blob(side.id).is_ok_and(|blob| is_binary(blob.content()));
    if sides.into_iter().flatten().any(binary) {
        "both sides changed this file, which isn't text"
    } else {
        "both sides changed the same lines"
    }
}
