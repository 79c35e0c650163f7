//! Finds files that have another name.
//!
//! Equal content first, then similar content: two texts are the same file when at least half of the larger one's bytes
//! stand in lines that both have. Independent of anybody's configuration, and bounded.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use git2::{FileMode, Oid};

use super::compare::Side;
use crate::git::GitError;

/// Most pairs of removed and added files whose content is compared.
const PAIRS: usize = 20_000;

/// Largest file whose content is compared, in bytes.
const LARGEST: usize = 1 << 20;

/// Takes pairs out of both lists that are one file under two names.
pub(super) fn find(
    library: &git2::Repository,
    deleted: &mut Vec<Side>,
    added: &mut Vec<Side>,
) -> Result<Vec<(Side, Side)>, GitError> {
    let mut pairs = equal(library, deleted, added)?;
    pairs.extend(similar(library, deleted, added)?);
    Ok(pairs)
}

/// Pairs of equal content; among several, the one with the same file name.
fn equal(
    library: &git2::Repository,
    deleted: &mut Vec<Side>,
    added: &mut Vec<Side>,
) -> Result<Vec<(Side, Side)>, GitError> {
    let mut by_content: HashMap<(Oid, Kind), Vec<usize>> = HashMap::new();
    for (n, side) in deleted.iter().enumerate() {
        by_content.entry((side.id, Kind::of(side))).or_default().push(n);
    }
    let mut found = Vec::new();
    for (to, side) in added.iter().enumerate() {
        // Empty files are equal without having anything to do with each other.
        let Some(candidates) = by_content.get_mut(&(side.id, Kind::of(side))) else { continue };
        if candidates.is_empty() || side.size(library)? == 0 {
            continue;
        }
        let same_name = candidates.iter().position(|from| name(&deleted[*from]) == name(side));
        found.push((candidates.remove(same_name.unwrap_or(0)), to));
    }
    Ok(take(deleted, added, &found))
}

fn similar(
    library: &git2::Repository,
    deleted: &mut Vec<Side>,
    added: &mut Vec<Side>,
) -> Result<Vec<(Side, Side)>, GitError> {
    if deleted.len() * added.len() > PAIRS || deleted.is_empty() || added.is_empty() {
        return Ok(Vec::new());
    }
    let contents = |sides: &[Side]| sides.iter().map(|side| Content::of(library, side)).collect::<Result<Vec<_>, _>>();
    let (before, after) = (contents(deleted)?, contents(added)?);
    let mut scored = Vec::new();
    for (from, old) in before.iter().enumerate() {
        for (to, new) in after.iter().enumerate() {
            let score = old.as_ref().zip(new.as_ref()).map_or(0, |(old, new)| old.score(new));
            if score >= 50 {
                let same_name = name(&deleted[from]) == name(&added[to]);
                scored.push((Reverse((score, same_name)), from, to));
            }
        }
    }
    scored.sort_unstable();
    let (mut froms, mut tos) = (vec![false; deleted.len()], vec![false; added.len()]);
    let mut found = Vec::new();
    for (_, from, to) in scored {
        if !froms[from] && !tos[to] {
            (froms[from], tos[to]) = (true, true);
            found.push((from, to));
        }
    }
    Ok(take(deleted, added, &found))
}

/// Takes the pairs, given by their places, out of both lists.
fn take(deleted: &mut Vec<Side>, added: &mut Vec<Side>, found: &[(usize, usize)]) -> Vec<(Side, Side)> {
    let pairs = found.iter().map(|(from, to)| (deleted[*from].clone(), added[*to].clone())).collect();
    let without = |sides: &mut Vec<Side>, gone: std::collections::HashSet<usize>| {
        let mut n = 0..;
        sides.retain(|_| n.next().is_some_and(|n| !gone.contains(&n)));
    };
    without(deleted, found.iter().map(|(from, _)| *from).collect());
    without(added, found.iter().map(|(_, to)| *to).collect());
    pairs
}

fn name(side: &Side) -> Option<&[u8]> {
    side.path.as_ref()?.rsplit(|byte| *byte == b'/').next()
}

/// Only files of one kind can be each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    File,
    Link,
    Submodule,
}

impl Kind {
    fn of(side: &Side) -> Self {
        match side.mode {
            FileMode::Link => Self::Link,
            FileMode::Commit => Self::Submodule,
            _ => Self::File,
        }
    }
}

/// A file's lines, as sorted hashes with their lengths.
struct Content {
    lines: Vec<(u64, usize)>,
    size: usize,
}

impl Content {
    /// Nothing for what isn't compared: links, submodules, large and empty files.
    fn of(library: &git2::Repository, side: &Side) -> Result<Option<Self>, GitError> {
        let length = side.size(library)?;
        if Kind::of(side) != Kind::File || length == 0 || length > LARGEST {
            return Ok(None);
        }
        let content = side.content(library)?;
        let hashed = content.split_inclusive(|byte| *byte == b'\n').map(|line| {
            let mut hasher = DefaultHasher::new();
            line.hash(&mut hasher);
            (hasher.finish(), line.len())
        });
        let mut lines: Vec<_> = hashed.collect();
        lines.sort_unstable();
        Ok(Some(Self { lines, size: length }))
    }

    /// How many of a hundred bytes of the larger one are in both.
    fn score(&self, other: &Self) -> usize {
        let larger = self.size.max(other.size);
        if self.size.min(other.size) * 2 < larger {
            return 0;
        }
        let (mut shared, mut others) = (0, other.lines.iter().peekable());
        for line in &self.lines {
            while others.next_if(|other| *other < line).is_some() {}
            if others.next_if(|other| *other == line).is_some() {
                shared += line.1;
            }
        }
        shared * 100 / larger
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name=content` pairs to sides of a scratch repository.
    fn found(deleted: &[(&str, &str)], added: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let library = git2::Repository::init_bare(folder.path()).unwrap();
        let sides = |files: &[(&str, &str)]| -> Vec<Side> {
            let side = |(path, content): &(&str, &str)| Side {
                path: Some(path.as_bytes().to_vec()),
                id: library.blob(content.as_bytes()).unwrap(),
                mode: FileMode::Blob,
            };
            files.iter().map(side).collect()
        };
        let (mut before, mut after) = (sides(deleted), sides(added));
        let pairs = find(&library, &mut before, &mut after).unwrap();
        assert_eq!(pairs.len() + before.len(), deleted.len());
        assert_eq!(pairs.len() + after.len(), added.len());
        let text = |side: &Side| String::from_utf8(side.path.clone().unwrap()).unwrap();
        pairs.iter().map(|(from, to)| format!("{} -> {}", text(from), text(to))).collect()
    }

    #[test]
    fn equal_content_prefers_the_same_name() {
        let moved = found(&[("a/one.rs", "x\n"), ("a/two.rs", "x\n")], &[("b/two.rs", "x\n"), ("b/one.rs", "x\n")]);
        assert_eq!(moved, ["a/two.rs -> b/two.rs", "a/one.rs -> b/one.rs"]);
    }

    #[test]
    fn similar_content_is_a_rename_and_other_content_is_not() {
        let old = "fn one() {}\nfn two() {}\nfn three() {}\nfn four() {}\n";
        let edited = old.replace("three", "drei");
        assert_eq!(
            found(&[("old.rs", old)], &[("other.rs", "struct X;\n"), ("new.rs", &edited)]),
            ["old.rs -> new.rs"]
        );
        assert_eq!(
            found(&[("old.rs", old)], &[("new.rs", "fn one() {}\nstruct X;\nstruct Y;\n")]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn empty_files_are_nobodys_rename() {
        assert_eq!(found(&[("a/__init__.py", "")], &[("b/__init__.py", "")]), Vec::<String>::new());
    }
}
