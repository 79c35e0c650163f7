//! A conflict looked at, and settled: by taking a side, or by a text that a person wrote.

use git2::{MergeFileInput, MergeFileOptions, Oid};
use offshoot_protocol::{AgentId, ConflictFile, MergeId, MergePreview, Resolution};

use super::plan::{self, Planned};
use super::record::Lock;
use super::three_way::{Collision, Sides};
use super::{MergeError, Merges, Place};
use crate::changes::is_binary;
use crate::git::{GitError, index_entry, to_path};

/// Most bytes of a side that is shown.
const SHOWN: usize = 2 << 20;

/// How a conflict is settled, and what it was about: when a side has changed since, it is open again.
#[derive(Clone)]
pub(super) struct Resolved {
    agent: AgentId,
    path: Vec<u8>,
    sides: Sides,
    with: Resolution,
}

impl Merges {
    /// The sides of a conflict that a preview named.
    pub fn conflict(&self, merge: &MergeId, agent: &AgentId, path: &str) -> Result<ConflictFile, MergeError> {
        let planned = self.planned(merge)?;
        let place = Place::of(&self.0, &planned.checkout)?;
        let library = place.store.library(&planned.checkout)?;
        let (_, sides) = open(&planned, agent, path)?;
        let read = |side: Option<(Oid, u32)>| match side {
            None => Ok(None),
            Some((id, _)) => {
                let blob = library.find_blob(id).map_err(GitError::library(format!("reading {id}")))?;
                Ok::<_, GitError>(Some(blob.content().to_vec()))
            }
        };
        let (base, ours, theirs) = (read(sides.base)?, read(sides.ours)?, read(sides.theirs)?);
        let all = [&base, &ours, &theirs];
        let is_text = |content: &Vec<u8>| !is_binary(content) && content.len() <= SHOWN;
        let text = all.iter().all(|side| side.as_ref().is_none_or(is_text));
        let merged = if text {
            marked(
                base.as_deref().unwrap_or_default(),
                ours.as_deref().unwrap_or_default(),
                theirs.as_deref().unwrap_or_default(),
            )?
        } else {
            String::new()
        };
        let shown =
            |side: Option<Vec<u8>>| side.filter(|_| text).map(|side| String::from_utf8_lossy(&side).into_owned());
        Ok(ConflictFile {
            agent: agent.clone(),
            path: path.to_owned(),
            text,
            base: shown(base),
            ours: shown(ours),
            theirs: shown(theirs),
            merged,
        })
    }

    /// Settles a conflict of a preview. Returns the preview that follows, with an id of its own; nothing has changed on disk.
    pub fn resolve(
        &self,
        merge: &MergeId,
        agent: &AgentId,
        path: &str,
        with: Resolution,
    ) -> Result<MergePreview, MergeError> {
        let planned = self.planned(merge)?;
        let place = Place::of(&self.0, &planned.checkout)?;
        let _lock = Lock::take(&place.folder)?;
        let (path, sides) = open(&planned, agent, path)?;
        let mut resolved = planned.resolved.clone();
        resolved.push(Resolved { agent: agent.clone(), path, sides, with });
        let next = plan::plan(&self.0, &place, &planned.checkout, &planned.order, &resolved)?;
        Ok(self.remember(next))
    }
}

/// A conflict that can be settled.
fn open(planned: &Planned, agent: &AgentId, path: &str) -> Result<(Vec<u8>, Sides), MergeError> {
    let found = planned.open.iter().find(|(whose, collision)| whose == agent && collision.shown() == path);
    let one = found.and_then(|(_, collision)| Some((collision.paths.first()?.clone(), collision.sides?)));
    one.ok_or_else(|| MergeError::NoSuchConflict(path.to_owned()))
}

/// The tree in which what was settled is as it was settled. Takes those conflicts out of the list.
pub(super) fn settle(
    library: &git2::Repository,
    tree: Oid,
    agent: &str,
    conflicts: &mut Vec<Collision>,
    resolved: &[Resolved],
) -> Result<Oid, GitError> {
    let failed = |source| GitError::library("settling conflicts")(source);
    let mut index = git2::Index::new().map_err(failed)?;
    index.read_tree(&library.find_tree(tree).map_err(failed)?).map_err(failed)?;
    let mut left = Vec::new();
    for collision in conflicts.drain(..) {
        let is_it = |one: &&Resolved| {
            one.agent.0 == agent && collision.paths.contains(&one.path) && collision.sides == Some(one.sides)
        };
        let Some(one) = resolved.iter().rev().find(is_it) else {
            left.push(collision);
            continue;
        };
        let content = match &one.with {
            Resolution::Ours => one.sides.ours,
            Resolution::Theirs => one.sides.theirs,
            Resolution::Text { text } => {
                let mode = one.sides.ours.or(one.sides.theirs).map_or(0o100_644, |(_, mode)| mode);
                Some((library.blob(text.as_bytes()).map_err(failed)?, mode))
            }
        };
        // It isn't there when our side has no such file.
        let _ = index.remove(&to_path(&one.path), 0);
        if let Some((id, mode)) = content {
            index.add(&index_entry(one.path.clone(), id, mode)).map_err(failed)?;
        }
    }
    *conflicts = left;
    index.write_tree_to(library).map_err(failed)
}

/// What the settled files became, for the ones that didn't open again.
pub(super) fn became(
    resolved: &[Resolved],
    open: &[(AgentId, Collision)],
    merged: &git2::Tree<'_>,
) -> Vec<(String, String, String)> {
    let is_closed = |one: &&Resolved| {
        !open.iter().any(|(agent, collision)| *agent == one.agent && collision.paths.contains(&one.path))
    };
    let content = |one: &Resolved| {
        let path = to_path(&one.path);
        let id = merged.get_path(&path).ok()?.id();
        Some((one.agent.0.clone(), path.to_string_lossy().into_owned(), id.to_string()))
    };
    resolved.iter().filter(is_closed).filter_map(content).collect()
}

/// Both sides in one text, with marks around what conflicts. A side without the file is an empty one.
fn marked(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<String, GitError> {
    let mut options = MergeFileOptions::new();
    options.our_label("yours").their_label("the fork's");
    let [base, ours, theirs] = [base, ours, theirs].map(|content| {
        let mut input = MergeFileInput::new();
        input.content(content);
        input
    });
    let merged = git2::merge_file(&base, &ours, &theirs, Some(&mut options));
    let merged = merged.map_err(GitError::library("merging a file"))?;
    Ok(String::from_utf8_lossy(merged.content()).into_owned())
}
