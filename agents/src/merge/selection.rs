//! The part of a worktree's changes that is meant.

use std::collections::HashSet;

use git2::Oid;
use offshoot_protocol::{Hunk, MergeSelection};

use crate::changes::{Comparison, Side, hunks, is_binary};
use crate::git::{GitError, index_entry, to_path};

/// What was selected.
pub(super) struct Selected {
    /// The tree that has, seen from the base, only the selected changes.
    pub(super) tree: Oid,
    /// What was asked for and isn't there.
    pub(super) unknown: Vec<String>,
    /// How many changed places were taken, and how many there are; nothing when all were meant.
    pub(super) taken: Option<(u32, u32)>,
}

/// The tree that has, seen from `base`, only the selected changes of `theirs`.
pub(super) fn select(
    library: &git2::Repository,
    base: Oid,
    theirs: Oid,
    selection: &MergeSelection,
) -> Result<Selected, GitError> {
    let names = match selection {
        MergeSelection::All | MergeSelection::Accepted => {
            return Ok(Selected { tree: theirs, unknown: Vec::new(), taken: None });
        }
        MergeSelection::Files { paths } => paths,
        MergeSelection::Hunks { hashes } => hashes,
    };
    let wanted: HashSet<&str> = names.iter().map(String::as_str).collect();
    let by_path = matches!(selection, MergeSelection::Files { .. });
    let mut found: HashSet<String> = HashSet::new();
    let (mut taken, mut of) = (0, 0);
    let tree = rebuild(library, base, theirs, |file| {
        let name = if by_path { &file.changed.path } else { &file.changed.hash.0 };
        let all = file.hunks()?;
        let places = u32::try_from(all.len().max(1)).unwrap_or(u32::MAX);
        of += places;
        if wanted.contains(name.as_str()) {
            found.insert(name.clone());
            taken += places;
            return Ok(Part::Whole);
        }
        if by_path {
            return Ok(Part::None);
        }
        let chosen: Vec<Hunk> = all.into_iter().filter(|hunk| wanted.contains(hunk.hash.as_str())).collect();
        taken += u32::try_from(chosen.len()).unwrap_or(u32::MAX);
        found.extend(chosen.iter().map(|hunk| hunk.hash.clone()));
        if chosen.is_empty() { Ok(Part::None) } else { Ok(Part::Hunks(chosen)) }
    })?;
    let unknown = names.iter().filter(|name| !found.contains(*name)).cloned().collect();
    Ok(Selected { tree, unknown, taken: Some((taken, of)) })
}

/// The tree that has all of the changes but one: a hunk, or a whole file, by its hash. Also returns what was left out, for
/// showing; nothing at all when there is no such change.
pub(super) fn without_change(
    library: &git2::Repository,
    base: Oid,
    theirs: Oid,
    path: &str,
    hash: &str,
) -> Result<Option<(Oid, Vec<Hunk>)>, GitError> {
    let mut left_out = None;
    let tree = rebuild(library, base, theirs, |file| {
        if file.changed.path != path {
            return Ok(Part::Whole);
        }
        let all = file.hunks()?;
        if file.changed.hash.0 == hash {
            left_out = Some(all);
            return Ok(Part::None);
        }
        let (out, kept): (Vec<Hunk>, Vec<Hunk>) = all.into_iter().partition(|hunk| hunk.hash == hash);
        if out.is_empty() {
            return Ok(Part::Whole);
        }
        left_out = Some(out);
        // Without its last hunk a new file is no file any more, and a deleted one is there again.
        let is_one_sided = file.old.path.is_none() || file.new.path.is_none();
        if kept.is_empty() && is_one_sided { Ok(Part::None) } else { Ok(Part::Hunks(kept)) }
    })?;
    Ok(left_out.map(|hunks| (tree, hunks)))
}

/// How much of a file's change is taken.
enum Part {
    None,
    Whole,
    /// Only these of its hunks.
    Hunks(Vec<Hunk>),
}

/// A changed file, to be decided about.
struct Candidate<'a> {
    library: &'a git2::Repository,
    changed: &'a offshoot_protocol::ChangedFile,
    old: &'a Side,
    new: &'a Side,
}

impl Candidate<'_> {
    /// Its hunks; none when it isn't text or only its name or mode differs.
    fn hunks(&self) -> Result<Vec<Hunk>, GitError> {
        if self.changed.binary || self.old.id == self.new.id {
            return Ok(Vec::new());
        }
        let (before, after) = (self.old.content(self.library)?, self.new.content(self.library)?);
        if is_binary(&before) || is_binary(&after) {
            return Ok(Vec::new());
        }
        Ok(hunks(&self.changed.path, &before, &after))
    }

    /// The old content with only these hunks in it.
    fn with(&self, chosen: &[Hunk]) -> Result<Oid, GitError> {
        let (before, after) = (self.old.content(self.library)?, self.new.content(self.library)?);
        let content = replace(&before, &after, chosen);
        self.library.blob(&content).map_err(GitError::library("storing selected changes"))
    }
}

/// The base with what `part` says of each changed file.
fn rebuild(
    library: &git2::Repository,
    base: Oid,
    theirs: Oid,
    mut part: impl FnMut(&Candidate<'_>) -> Result<Part, GitError>,
) -> Result<Oid, GitError> {
    let failed = |source| GitError::library("selecting changes")(source);
    let mut index = git2::Index::new().map_err(failed)?;
    index.read_tree(&library.find_tree(base).map_err(failed)?).map_err(failed)?;
    let comparison = Comparison::between(library, base, theirs)?;
    let mut added = Vec::new();
    for (changed, old, new) in comparison.sides() {
        let candidate = Candidate { library, changed, old, new };
        let blob = match part(&candidate)? {
            Part::None => continue,
            Part::Whole => new.id,
            Part::Hunks(chosen) => candidate.with(&chosen)?,
        };
        if let Some(path) = &old.path {
            // A folder's content may have gone before it.
            let _ = index.remove(&to_path(path), 0);
        }
        added.extend(new.path.as_ref().map(|path| (path.clone(), blob, new.mode)));
    }
    // Behind all removals: a file may stand where another was renamed from.
    for (path, blob, mode) in added {
        index.add(&index_entry(path, blob, i32::from(mode).cast_unsigned())).map_err(failed)?;
    }
    index.write_tree_to(library).map_err(failed)
}

/// `before`, in which the places of these hunks are as in `after`.
fn replace(before: &[u8], after: &[u8], chosen: &[Hunk]) -> Vec<u8> {
    let split = |content: &'_ [u8]| content.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (before, after): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (split(before), split(after));
    let mut content = Vec::new();
    let mut at = 0;
    for hunk in chosen {
        let (from, to) = (first(hunk.old_start), first(hunk.new_start));
        let until = from + hunk.old_lines as usize;
        before.get(at..from).into_iter().flatten().for_each(|line| content.extend_from_slice(line));
        let lines = after.get(to..to + hunk.new_lines as usize);
        lines.into_iter().flatten().for_each(|line| content.extend_from_slice(line));
        at = until;
    }
    before.get(at..).into_iter().flatten().for_each(|line| content.extend_from_slice(line));
    content
}

/// A line's place from 0; a hunk without lines on this side stands at the beginning.
fn first(line: u32) -> usize {
    line.saturating_sub(1) as usize
}
