//! Changes brought home with their history: as a merge commit, or commit by commit.
//!
//! Every commit is made in memory first: its difference to its parent is merged into what is there by then. Only when all of
//! them can be made do files change, and only then the branch moves, from the commit that was looked at or not at all.
//! What a snapshot of the person's uncommitted work holds never becomes a commit.

use git2::{Commit, Oid, Repository};
use offshoot_protocol::{MergeDone, MergeId, MergeSelection, SessionId};

use super::plan::{self, Part, Planned};
use super::record::Lock;
use super::three_way::{Settled, join};
use super::{MergeError, Merges, Message, Place};
use crate::git::{GitError, Output, Trust};
use crate::worktree::Worktree;

/// In which form the history comes home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A commit with two parents for each worktree.
    Merge,
    /// The commits of the worktrees, one after the other, behind the branch's last one.
    Rebase,
    /// As [`Form::Rebase`], each with a line that names the commit that it was picked from.
    CherryPick,
}

/// A commit that is to be made.
struct Step {
    tree: Oid,
    message: Vec<u8>,
    /// Whose work it is, and when that was: name, address, and git's own spelling of the time.
    author: Option<(String, String, String)>,
}

impl Merges {
    /// Does what a preview said, with history. Refused when there are conflicts, when only a part of the changes is meant, and
    /// when the checkout has changes of its own in the same files. When a hook or signing fails, everything is as before.
    pub fn bring_history(
        &self,
        merge: &MergeId,
        kind: &Form,
        message: &Message,
        session: Option<&SessionId>,
    ) -> Result<MergeDone, MergeError> {
        let previewed = self.planned(merge)?;
        if !previewed.preview.conflicts.is_empty() {
            let paths = previewed.preview.conflicts.iter().map(|conflict| conflict.path.clone()).collect();
            return Err(MergeError::Conflicts(paths));
        }
        if previewed.order.shares.iter().any(|share| share.selection != MergeSelection::All) {
            return Err(MergeError::NoCommit("only all changes of a worktree have a history".to_owned()));
        }
        let checkout = &previewed.checkout;
        let place = Place::of(&self.0, checkout)?;
        let _lock = Lock::take(&place.folder)?;
        let head = self.clean_head(&previewed)?;
        let library = place.store.library(checkout)?;
        let head_tree = tree_of(&library, head)?;

        // First everything in memory, then the files, then the commits, then the branch.
        let mut tip = head_tree;
        let mut work = Vec::new();
        for share in &previewed.order.shares {
            let fork = &share.fork;
            let now = plan::fork_tree(&self.0, &place, checkout, fork)?;
            let own = Own::of(&library, fork, now)?;
            match kind {
                Form::Merge => {
                    let side = own.replayed(&library, tree_of(&library, own.ancestor)?, false)?;
                    let theirs = side.last().map_or(tree_of(&library, own.ancestor)?, |step| step.tree);
                    tip = merged(&library, tree_of(&library, own.ancestor)?, tip, theirs, "the merge")?;
                    work.push((own, side, tip));
                }
                Form::Rebase | Form::CherryPick => {
                    let steps = own.replayed(&library, tip, *kind == Form::CherryPick)?;
                    tip = steps.last().map_or(tip, |step| step.tree);
                    work.push((own, steps, tip));
                }
            }
        }
        if tip == head_tree {
            return Err(MergeError::Nothing);
        }
        let Some(first) = previewed.order.shares.first() else { return Err(MergeError::Nothing) };
        let part = Part { fork: &first.fork, base: head_tree, theirs: tip, settled: Settled::default() };
        let mut planned = plan::merge(&library, &place, checkout, previewed.ours, &[part], &[])?;
        let blocked: Vec<String> = planned.preview.conflicts.iter().map(|conflict| conflict.path.clone()).collect();
        if !blocked.is_empty() {
            return Err(MergeError::Conflicts(blocked));
        }
        planned.preview.merge = merge.clone();
        planned.preview.agents.clone_from(&previewed.preview.agents);
        planned.settled.clone_from(&previewed.settled);
        // More files may be touched than the preview's.
        self.clean_head(&planned)?;

        let (folder, mut record) = self.carry_out(&planned, &place, false, session)?;
        self.forget(merge);
        let made = self.make(&planned, &place, &library, head, &work, kind, message).map(|commit| commit.to_string());
        self.keep_or_put_back(&place, &folder, &mut record, head, made)
    }

    /// Makes the commits and moves the branch. Returns its new last commit.
    #[expect(clippy::too_many_arguments, reason = "one step of one function, cut out to keep it on a screen")]
    fn make(
        &self,
        planned: &Planned,
        place: &Place,
        library: &Repository,
        head: Oid,
        work: &[(Own, Vec<Step>, Oid)],
        kind: &Form,
        message: &Message,
    ) -> Result<Oid, MergeError> {
        let checkout = &planned.checkout;
        let own_store = checkout.library()?;
        let mut tip = head;
        for (own, steps, merged) in work {
            if *kind == Form::Merge {
                let mut side = own.ancestor;
                if own.is_as_it_is {
                    side = own.head;
                } else {
                    for step in steps {
                        side = self.commit_tree(planned, library, &own_store, step, &[side], message)?;
                    }
                }
                if side == own.ancestor {
                    continue;
                }
                let step = Step { tree: *merged, message: message.text.clone().into_bytes(), author: None };
                self.hook(planned, "pre-merge-commit", &[], message)?;
                tip = self.commit_tree(planned, library, &own_store, &step, &[tip, side], message)?;
            } else {
                for step in steps {
                    tip = self.commit_tree(planned, library, &own_store, step, &[tip], message)?;
                }
            }
        }
        let git = || self.0.git.on(checkout);
        // Before the branch moves: what can still fail shall fail now.
        let entries = super::squash::entries(planned, place)?;
        let (new, old) = (tip.to_string(), head.to_string());
        git().args(["update-ref", "-m", "offshoot: merge", "HEAD", &new, &old]).run()?;
        git().args(["update-index", "-z", "--index-info"]).input(entries).run()?;
        let _ = git().args(["update-index", "-q", "--refresh", "--ignore-submodules"]).run_any()?;
        if *kind == Form::Merge {
            // It comes behind the fact: what it says doesn't undo the merge.
            let _ = self.hook(planned, "post-merge", &["0"], message);
        }
        Ok(tip)
    }

    /// Makes one commit, after the hook that may look at and change its message; signed if the person signs.
    fn commit_tree(
        &self,
        planned: &Planned,
        from: &Repository,
        to: &Repository,
        step: &Step,
        parents: &[Oid],
        message: &Message,
    ) -> Result<Oid, MergeError> {
        publish(from, to, step.tree)?;
        let checkout = &planned.checkout;
        let trusted = checkout.trust == Trust::Trusted;
        let mut text = step.message.clone();
        if trusted {
            let file = tempfile::NamedTempFile::new().map_err(MergeError::storage("writing a message"))?;
            std::fs::write(file.path(), &text).map_err(MergeError::storage("writing a message"))?;
            let path = file.path().to_string_lossy().into_owned();
            self.hook(planned, "commit-msg", &[&path], message)?;
            text = std::fs::read(file.path()).map_err(MergeError::storage("reading a message"))?;
        }
        let mut command = self.0.git.on(checkout).args(["commit-tree", &step.tree.to_string()]);
        for parent in parents {
            command = command.args(["-p", &parent.to_string()]);
        }
        if trusted && self.wants_signature(planned)? {
            command = command.arg("-S");
        }
        if let Some((name, address, time)) = &step.author {
            command = command.variable("GIT_AUTHOR_NAME", name).variable("GIT_AUTHOR_EMAIL", address);
            command = command.variable("GIT_AUTHOR_DATE", time);
        }
        let output = command.args(["-F", "-"]).input(text).patience(message.patience).run_any();
        let output = succeeded(output)?;
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(Oid::from_str(&id).map_err(GitError::library(format!("reading the new commit {id:?}")))?)
    }

    /// Runs one of the person's hooks, if there is one and the repository is trusted.
    fn hook(&self, planned: &Planned, name: &str, args: &[&str], message: &Message) -> Result<(), MergeError> {
        if planned.checkout.trust != Trust::Trusted {
            return Ok(());
        }
        let mut command = self.0.git.on(&planned.checkout).args(["hook", "run", "--ignore-missing", name]);
        if !args.is_empty() {
            command = command.arg("--").args(args);
        }
        succeeded(command.with_hooks(true).patience(message.patience).run_any()).map(drop)
    }
}

fn succeeded(output: Result<Output, GitError>) -> Result<Output, MergeError> {
    match output {
        Ok(output) if output.exit == Some(0) => Ok(output),
        Ok(output) => {
            let said = format!("{}\n{}", output.stderr, String::from_utf8_lossy(&output.stdout));
            Err(MergeError::Refused(said.trim().to_owned()))
        }
        Err(error) => Err(MergeError::Refused(error.to_string())),
    }
}

/// What a worktree has of its own.
struct Own {
    /// The commit of the person that it started from: the base, or what a snapshot lies on.
    ancestor: Oid,
    /// Its last commit.
    head: Oid,
    /// Whether its commits can be taken as they are: they lie on the ancestor and nothing is uncommitted.
    is_as_it_is: bool,
    /// Its commits, oldest first, each with the tree it is to be compared to.
    commits: Vec<(Oid, Oid)>,
    /// What isn't committed: the tree before and now.
    rest: Option<(Oid, Oid)>,
    title: String,
}

impl Own {
    fn of(library: &Repository, fork: &Worktree, now: Oid) -> Result<Self, MergeError> {
        let failed = |source| GitError::library(format!("reading the history of {}", fork.branch))(source);
        let base = library.find_commit(fork.base_commit()?).map_err(failed)?;
        let ancestor = if fork.base_is_snapshot { base.parent_id(0).map_err(failed)? } else { base.id() };
        let own = fork.checkout.library()?;
        let head = fork.checkout.head(&own)?.commit().unwrap_or_else(|| base.id());
        let mut walk = library.revwalk().map_err(failed)?;
        walk.simplify_first_parent().map_err(failed)?;
        walk.set_sorting(git2::Sort::TOPOLOGICAL | git2::Sort::REVERSE).map_err(failed)?;
        walk.push(head).map_err(failed)?;
        walk.hide(base.id()).map_err(failed)?;
        let mut commits = Vec::new();
        let mut before = base.tree_id();
        for id in walk {
            let commit = library.find_commit(id.map_err(failed)?).map_err(failed)?;
            commits.push((commit.id(), before));
            before = commit.tree_id();
        }
        let is_clean = before == now;
        Ok(Self {
            ancestor,
            head,
            is_as_it_is: is_clean && !fork.base_is_snapshot,
            commits,
            rest: (!is_clean).then_some((before, now)),
            title: fork.branch.rsplit('/').next().unwrap_or(&fork.branch).to_owned(),
        })
    }

    /// Its commits, on top of a tree. Those that would change nothing are left out.
    fn replayed(&self, library: &Repository, onto: Oid, names_source: bool) -> Result<Vec<Step>, MergeError> {
        let mut at = onto;
        let mut steps = Vec::new();
        for (id, before) in &self.commits {
            let commit = library.find_commit(*id).map_err(GitError::library(format!("reading {id}")))?;
            let tree = merged(library, *before, at, commit.tree_id(), &format!("commit {}", short(*id)))?;
            if tree != at {
                steps.push(Step { tree, message: message_of(&commit, names_source), author: author_of(&commit) });
                at = tree;
            }
        }
        if let Some((before, now)) = self.rest {
            let tree = merged(library, before, at, now, "what is uncommitted")?;
            if tree != at {
                steps.push(Step { tree, message: format!("{}\n", self.title).into_bytes(), author: None });
            }
        }
        Ok(steps)
    }
}

fn message_of(commit: &Commit<'_>, names_source: bool) -> Vec<u8> {
    let mut message = commit.message_bytes().to_vec();
    if names_source {
        let text = String::from_utf8_lossy(&message);
        let line = format!("\n(cherry picked from commit {})\n", commit.id());
        message = format!("{}\n{line}", text.trim_end()).into_bytes();
    }
    message
}

fn author_of(commit: &Commit<'_>) -> Option<(String, String, String)> {
    let author = commit.author();
    let (name, address) = (author.name().ok()?.to_owned(), author.email().ok()?.to_owned());
    let (sign, offset) = (author.when().sign(), author.when().offset_minutes().abs());
    let time = format!("@{} {sign}{:02}{:02}", author.when().seconds(), offset / 60, offset % 60);
    Some((name, address, time))
}

/// Three trees merged, or the conflict told with the step that it is in.
fn merged(library: &Repository, base: Oid, ours: Oid, theirs: Oid, what: &str) -> Result<Oid, MergeError> {
    let joined = join(library, base, ours, theirs, None)?;
    if joined.conflicts.is_empty() {
        return Ok(joined.tree);
    }
    let files: Vec<String> = joined.conflicts.iter().map(super::three_way::Collision::shown).collect();
    Err(MergeError::NoCommit(format!("{what} conflicts in {}", files.join(", "))))
}

fn tree_of(library: &Repository, commit: Oid) -> Result<Oid, GitError> {
    let commit = library.find_commit(commit).map_err(GitError::library(format!("reading {commit}")))?;
    Ok(commit.tree_id())
}

fn short(id: Oid) -> String {
    id.to_string().chars().take(10).collect()
}

/// Copies a tree with everything below it into the repository's own store.
fn publish(from: &Repository, to: &Repository, tree: Oid) -> Result<(), GitError> {
    let failed = |source| GitError::library("storing what is committed")(source);
    let store = to.odb().map_err(failed)?;
    if store.exists(tree) {
        return Ok(());
    }
    let whole = from.find_tree(tree).map_err(failed)?;
    for entry in &whole {
        match entry.kind() {
            Some(git2::ObjectType::Tree) => publish(from, to, entry.id())?,
            Some(git2::ObjectType::Blob) if !store.exists(entry.id()) => {
                let blob = from.find_blob(entry.id()).map_err(failed)?;
                to.blob(blob.content()).map_err(failed)?;
            }
            _ => {}
        }
    }
    let raw = from.odb().and_then(|odb| odb.read(tree).map(|object| object.data().to_vec())).map_err(failed)?;
    store.write(git2::ObjectType::Tree, &raw).map(drop).map_err(failed)
}
