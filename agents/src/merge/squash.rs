//! Changes brought home as one commit on the checkout's branch.
//!
//! The commit is git's own: the person's identity, hooks and signing; without hooks and signing where the repository isn't
//! trusted. It is made with an index of its own, so that what
//! they have staged of other files stays staged and out of it.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use offshoot_protocol::{MergeDone, MergeId, SessionId};

use super::plan::Planned;
use super::record::{Lock, Record};
use super::swap::{To, swap};
use super::{MergeError, Merges, Place, prune, settle};
use crate::git::{GitError, Head, Trust, to_path};

/// How a commit is made.
#[derive(Clone, Debug)]
pub struct Message {
    /// What it says.
    pub text: String,
    /// How long hooks and signing may take together.
    pub patience: Duration,
}

impl Merges {
    /// Does what a preview said and commits it. Refused when the checkout has changes of its own in the same files, staged
    /// or not. When a hook or signing fails or takes too long, everything is as before.
    pub fn squash(
        &self,
        merge: &MergeId,
        leave_out: bool,
        message: &Message,
        session: Option<&SessionId>,
    ) -> Result<MergeDone, MergeError> {
        let planned = self.planned(merge)?;
        let place = Place::of(&self.0, &planned.checkout)?;
        let _lock = Lock::take(&place.folder)?;
        let head = self.clean_head(&planned)?;
        let (folder, mut record) = self.carry_out(&planned, &place, leave_out, session)?;
        let made = self.commit(&planned, &place, &folder, head, message);
        self.keep_or_put_back(&place, &folder, &mut record, head, made)
    }

    /// What follows when commits were to be made behind `head` of files that are there already: the record names the last
    /// one, or the files become what they were.
    pub(super) fn keep_or_put_back(
        &self,
        place: &Place,
        folder: &Path,
        record: &mut Record,
        head: git2::Oid,
        made: Result<String, MergeError>,
    ) -> Result<MergeDone, MergeError> {
        match made {
            Ok(commit) => {
                record.done.commit = Some(commit);
                record.head = Some(head.to_string());
                record.write(folder)?;
                settle(&place.folder, record, To::New)?;
                prune(&place.folder, folder);
                Ok(record.done.clone())
            }
            Err(error) => match swap(&self.0, folder, record, To::Old) {
                Ok(()) => {
                    let _ = std::fs::remove_dir_all(folder);
                    Err(error)
                }
                // A hook has changed the files itself, say. What they were is kept in the record.
                Err(left) => Err(MergeError::Refused(format!("{error}. The files stayed: {left}"))),
            },
        }
    }

    /// The commit to build on. Refused when a touched file differs from it, in the index or on disk.
    pub(super) fn clean_head(&self, planned: &Planned) -> Result<git2::Oid, MergeError> {
        let checkout = &planned.checkout;
        let library = checkout.library()?;
        let Head::Branch { commit: Some(head), .. } = checkout.head(&library)? else {
            return Err(MergeError::NoCommit("it is on no branch, or the branch has no commit yet".to_owned()));
        };
        let under_way = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];
        if let Some(name) = under_way.iter().find(|name| checkout.git_dir.join(name).exists()) {
            return Err(MergeError::NoCommit(format!("something else is under way ({name})")));
        }
        let what = || format!("reading the index of {}", checkout.work_tree.display());
        let tree = library.find_commit(head).and_then(|commit| commit.tree()).map_err(GitError::library(what()))?;
        let ours = planned.ours;
        let store =
            self.0.git.on(checkout).args(["diff-index", "-z", "--name-only", "--cached", "--ignore-submodules=all"]);
        let staged = store.arg(tree.id().to_string()).run()?.stdout;
        let staged: BTreeSet<&[u8]> = staged.split(|byte| *byte == 0).collect();
        let place = Place::of(&self.0, checkout)?;
        let both = place.store.library(checkout)?;
        let our_tree = both.find_tree(ours).map_err(GitError::library(what()))?;
        let at =
            |tree: &git2::Tree<'_>, path: &Path| tree.get_path(path).ok().map(|entry| (entry.id(), entry.filemode()));
        let dirty: Vec<String> = planned
            .paths
            .keys()
            .filter(|path| {
                let name = to_path(path);
                staged.contains(path.as_slice()) || at(&tree, &name) != at(&our_tree, &name)
            })
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect();
        if dirty.is_empty() { Ok(head) } else { Err(MergeError::Dirty(dirty)) }
    }

    fn commit(
        &self,
        planned: &Planned,
        place: &Place,
        folder: &Path,
        head: git2::Oid,
        message: &Message,
    ) -> Result<String, MergeError> {
        let checkout = &planned.checkout;
        let git = || self.0.git.on(checkout);
        let index = folder.join("commit.index");
        git().index(&index).args(["read-tree", &head.to_string()]).run()?;
        let entries = entries(planned, place)?;
        git().index(&index).args(["update-index", "-z", "--index-info"]).input(entries.clone()).run()?;
        // What the repository itself names as its hooks and as the program that signs runs only where it is trusted.
        let trusted = checkout.trust == Trust::Trusted;
        let signs = trusted && self.wants_signature(planned)?;
        let command = git().index(&index).config("commit.gpgSign", if signs { "true" } else { "false" });
        let command = command.args(["commit", "--quiet", "--cleanup=strip", "-F", "-"]);
        let output =
            command.input(message.text.as_bytes().to_vec()).with_hooks(trusted).patience(message.patience).run_any();
        let refused = match output {
            Ok(output) if output.exit == Some(0) => None,
            Ok(output) => Some(format!("{}\n{}", output.stderr, String::from_utf8_lossy(&output.stdout))),
            Err(error) => Some(error.to_string()),
        };
        let _ = std::fs::remove_file(&index);
        // A hook that fails or hangs behind the commit doesn't undo it.
        if let Some(refused) = refused
            && checkout.head(&checkout.library()?)?.commit() == Some(head)
        {
            return Err(MergeError::Refused(refused.trim().to_owned()));
        }
        // What was committed is no longer a difference to what is staged.
        git().args(["update-index", "-z", "--index-info"]).input(entries).run()?;
        let _ = git().args(["update-index", "-q", "--refresh", "--ignore-submodules"]).run_any()?;
        let library = checkout.library()?;
        let commit = checkout.head(&library)?.commit();
        commit.map(|commit| commit.to_string()).ok_or_else(|| MergeError::NoCommit("its branch is gone".to_owned()))
    }

    /// Whether the person signs their commits: the last value but ours.
    pub(super) fn wants_signature(&self, planned: &Planned) -> Result<bool, MergeError> {
        let asked = self.0.git.on(&planned.checkout).args(["config", "--type=bool", "--get-all", "commit.gpgSign"]);
        let values = String::from_utf8_lossy(&asked.run_any()?.stdout).into_owned();
        Ok(values.lines().rev().nth(1) == Some("true"))
    }
}

/// The touched files as git's index takes them. Their contents move into the repository's own store.
pub(super) fn entries(planned: &Planned, place: &Place) -> Result<Vec<u8>, MergeError> {
    let from = place.store.library(&planned.checkout)?;
    let to = planned.checkout.library()?;
    let what = |source| GitError::library("storing what is committed")(source);
    let mut entries = Vec::new();
    for (path, touch) in &planned.paths {
        let line = match touch.new {
            None => format!("0 {}\t", git2::Oid::ZERO_SHA1),
            Some((id, mode)) => {
                let blob = from.find_blob(id).map_err(what)?;
                to.blob(blob.content()).map_err(what)?;
                format!("{:o} {id}\t", i32::from(mode))
            }
        };
        entries.extend_from_slice(line.as_bytes());
        entries.extend_from_slice(path);
        entries.push(0);
    }
    Ok(entries)
}
