//! Two trees walked side by side. Equal subtrees aren't entered, so that the time depends on what differs.

use std::collections::BTreeMap;

use git2::{FileMode, Oid, Tree};

use super::compare::Side;
use crate::git::GitError;

/// Longest path of a folder that is entered, in bytes; no file system has longer ones. Bounds the depth.
const LONGEST: usize = 4_096;

/// What differs between two trees, file by file.
#[derive(Default)]
pub(super) struct Difference {
    /// Files that are in both, with another content or mode.
    pub(super) modified: Vec<(Side, Side)>,
    /// Files of the old tree alone.
    pub(super) deleted: Vec<Side>,
    /// Files of the new tree alone.
    pub(super) added: Vec<Side>,
}

impl Difference {
    /// Compares two trees.
    pub(super) fn between(library: &git2::Repository, old: Oid, new: Oid) -> Result<Self, GitError> {
        let mut difference = Self::default();
        difference.walk(library, Some(old), Some(new), &[])?;
        Ok(difference)
    }

    fn walk(
        &mut self,
        library: &git2::Repository,
        old: Option<Oid>,
        new: Option<Oid>,
        above: &[u8],
    ) -> Result<(), GitError> {
        if old == new {
            return Ok(());
        }
        if above.len() > LONGEST {
            let source = git2::Error::from_str("its folders are nested too deep");
            return Err(GitError::Library { what: "reading a tree".to_owned(), source });
        }
        let find = |tree: Option<Oid>| {
            let found = tree.map(|tree| library.find_tree(tree)).transpose();
            found.map_err(GitError::library(format!("reading the tree of {}", String::from_utf8_lossy(above))))
        };
        let (old, new) = (find(old)?, find(new)?);
        let mut names: BTreeMap<Vec<u8>, [Option<(Oid, FileMode)>; 2]> = BTreeMap::new();
        for (side, tree) in [old, new].iter().enumerate() {
            for entry in tree.iter().flat_map(Tree::iter) {
                names.entry(entry.name_bytes().to_vec()).or_default()[side] = Some((entry.id(), mode(&entry)));
            }
        }
        for (name, [before, after]) in names {
            if before == after {
                continue;
            }
            let path = [above, &name].concat();
            let is_tree = |side: &Option<(Oid, FileMode)>| side.is_some_and(|(_, mode)| mode == FileMode::Tree);
            let tree =
                |side: Option<(Oid, FileMode)>| side.filter(|(_, mode)| *mode == FileMode::Tree).map(|(id, _)| id);
            let file = |side: Option<(Oid, FileMode)>| {
                let (id, mode) = side.filter(|(_, mode)| *mode != FileMode::Tree)?;
                Some(Side { path: Some(path.clone()), id, mode })
            };
            match (file(before), file(after)) {
                (Some(before), Some(after)) => self.modified.push((before, after)),
                (Some(before), None) => self.deleted.push(before),
                (None, Some(after)) => self.added.push(after),
                (None, None) => {}
            }
            if is_tree(&before) || is_tree(&after) {
                self.walk(library, tree(before), tree(after), &[path.as_slice(), b"/"].concat())?;
            }
        }
        Ok(())
    }
}

fn mode(entry: &git2::TreeEntry<'_>) -> FileMode {
    match entry.filemode() {
        0o040_000 => FileMode::Tree,
        0o100_755 => FileMode::BlobExecutable,
        0o120_000 => FileMode::Link,
        0o160_000 => FileMode::Commit,
        _ => FileMode::Blob,
    }
}
