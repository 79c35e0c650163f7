//! The part of a worktree's changes that is meant.

use std::collections::HashSet;
use std::fmt::Write;

use git2::Oid;
use offshoot_protocol::{Hunk, LineKind, MergeSelection};
use sha2::{Digest, Sha256};

use crate::changes::{Comparison, Side, hunks, is_binary};
use crate::git::{GitError, index_entry, to_path};

/// What a hunk is told apart by: its file and its lines, wherever they stand. In lower-case hexadecimal.
pub fn hunk_hash(path: &str, hunk: &Hunk) -> String {
    let mut hash = Sha256::new();
    hash.update(path.as_bytes());
    for line in &hunk.lines {
        let sign = match line.kind {
            LineKind::Context => b' ',
            LineKind::Added => b'+',
            LineKind::Removed => b'-',
        };
        hash.update([0, sign, u8::from(line.no_newline)]);
        hash.update(line.text.as_bytes());
    }
    hex(&hash.finalize())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

/// The tree that has, seen from `base`, only the selected changes of `theirs`.
pub(super) fn select(
    library: &git2::Repository,
    base: Oid,
    theirs: Oid,
    selection: &MergeSelection,
) -> Result<Oid, GitError> {
    let failed = |source| GitError::library("selecting changes")(source);
    let wanted: HashSet<&str> = match selection {
        MergeSelection::All => return Ok(theirs),
        MergeSelection::Files { paths } => paths.iter().map(String::as_str).collect(),
        MergeSelection::Hunks { hashes } => hashes.iter().map(String::as_str).collect(),
    };
    let mut index = git2::Index::new().map_err(failed)?;
    index.read_tree(&library.find_tree(base).map_err(failed)?).map_err(failed)?;
    for (file, old, new) in Comparison::between(library, base, theirs)?.sides() {
        let blob = match selection {
            MergeSelection::Files { .. } => wanted.contains(file.path.as_str()).then_some(new.id),
            _ if wanted.contains(file.hash.0.as_str()) => Some(new.id),
            _ => by_hunks(library, &file.path, old, new, &wanted)?,
        };
        let Some(blob) = blob else { continue };
        if let Some(path) = &old.path {
            // A folder's content may have gone before it.
            let _ = index.remove(&to_path(path), 0);
        }
        if let Some(path) = &new.path {
            index.add(&index_entry(path.clone(), blob, i32::from(new.mode).cast_unsigned())).map_err(failed)?;
        }
    }
    index.write_tree_to(library).map_err(failed)
}

/// The old content with the wanted hunks in it; nothing when none is wanted.
fn by_hunks(
    library: &git2::Repository,
    path: &str,
    old: &Side,
    new: &Side,
    wanted: &HashSet<&str>,
) -> Result<Option<Oid>, GitError> {
    let (before, after) = (old.content(library)?, new.content(library)?);
    if is_binary(&before) || is_binary(&after) || old.id == new.id {
        return Ok(None);
    }
    let all = hunks(&before, &after);
    let chosen: Vec<&Hunk> = all.iter().filter(|hunk| wanted.contains(hunk_hash(path, hunk).as_str())).collect();
    if chosen.is_empty() {
        return Ok(None);
    }
    if chosen.len() == all.len() {
        return Ok(Some(new.id));
    }
    let split = |content: &'_ [u8]| content.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (before, after): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (split(&before), split(&after));
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
    library.blob(&content).map(Some).map_err(GitError::library("storing selected changes"))
}

/// A line's place from 0; a hunk without lines on this side stands at the beginning.
fn first(line: u32) -> usize {
    line.saturating_sub(1) as usize
}
