//! Worktrees: a directory of its own for one agent, made from what its parent sees, and never lost.
//!
//! The main type is [`Worktrees`]. It makes a worktree whole or not at all ([`Worktrees::create`]), checks that it is
//! still the one it made ([`verify`]), and takes it away: at once when nothing was changed ([`Worktrees::finish`]),
//! otherwise only after everything in it was written to a ref ([`Worktrees::archive`], [`Worktrees::discard`]).
//!
//! What it never does: change the person's index, `HEAD`, stash or files; follow a link while it removes; remove what it
//! has no record of, at the recorded path, with the marker it wrote; fall back to the main checkout when something fails.
//!
//! On disk, under the root that is handed in:
//!
//! ```text
//! <root>/<project>-<hash>/<slug>-<short id>     a worktree
//! <root>/<project>-<hash>/.records/<id>.json    what was made, or is being made or removed
//! <root>/<project>-<hash>/.trash/               renamed away, deleted in the background
//! <root>/.roots.json                            other roots that were used, in the usual one
//! <root>/<project>-<hash>/.repository.json      which repository that is
//! <root>/<project>-<hash>/.lock                 held while something is made or removed
//! <common dir>/worktrees/<name>/offshoot/       our marker and throw-away indexes, beside git's own files
//! ```
//!
//! Refs: `refs/heads/offshoot/<slug>-<short id>`, `refs/offshoot/base/<id>`, `refs/offshoot/archive/<id>`.

mod archive;
mod commit;
mod create;
mod error;
mod fill;
mod flush;
mod include;
mod known;
mod name;
mod record;
mod remove;
mod repair;
mod restore;
mod snapshot;
mod trash;
mod verify;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use offshoot_protocol::{WorktreeState, WorktreeView};
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedMutexGuard;

pub use archive::{Archive, Archived};
pub use commit::{Committed, commit_in_checkout};
pub use create::{Plan, Progress, Setup};
pub use error::WorktreeError;
pub use known::Kept;
pub use remove::Finished;
pub use repair::{Listed, Mended, Repaired, Standing};
pub use verify::verify;

use crate::clock::Clock;
use crate::git::{Cancel, Checkout, Git, GitError, Repository, Trust};

/// What a worktree is to be made from.
pub struct Spec {
    /// The agent's id: ASCII letters, digits, `-` and `_`, at most 64.
    pub id: String,
    /// The call's description; the branch and the directory are named after it.
    pub title: String,
    /// Where the parent works.
    pub parent: Parent,
    /// What it starts from.
    pub base: Base,
    /// Whether the repository's filters may run.
    pub trust: Trust,
    /// Whether the repository's `post-checkout` hook runs, as the person's setting says.
    pub hooks: bool,
    /// What runs last, before the worktree counts as made.
    pub setup: Option<Setup>,
    /// Another root than the usual one, absolute: where the person wants this project's worktrees.
    pub root: Option<PathBuf>,
}

/// Where the parent works.
#[derive(Clone, Debug)]
pub enum Parent {
    /// A directory of the person, discovered.
    Directory(PathBuf),
    /// A worktree of ours: taken from its record, so that nothing the agent wrote there misleads.
    Worktree(Box<Worktree>),
}

/// What a worktree starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// What the parent sees now: HEAD, staged, unstaged and untracked (not ignored) files.
    #[default]
    Snapshot,
    /// The parent's HEAD.
    Head,
    /// A branch or tag by name, or a commit by its full hash.
    Named(String),
}

/// A worktree that was made: enough to find it again after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// The agent's id.
    pub id: String,
    /// Its branch, without `refs/heads/`.
    pub branch: String,
    /// The commit it started from, as full hexadecimal hash.
    pub base: String,
    /// Whether the base is a snapshot of uncommitted work rather than a commit of the person.
    pub base_is_snapshot: bool,
    /// Its directories.
    pub checkout: Checkout,
    /// The repository it belongs to.
    pub repository: Repository,
    /// Where in it the agent works, as the parent did; empty at the top.
    pub prefix: PathBuf,
    /// When it was made (UTC).
    pub created_at: Timestamp,
    /// What the person should know: empty submodules, missing filters, files that weren't copied.
    pub warnings: Vec<String>,
}

impl Worktree {
    /// Absolute path of its top level.
    pub fn path(&self) -> &Path {
        &self.checkout.work_tree
    }

    /// Where the agent works in it.
    pub fn directory(&self) -> PathBuf {
        below(&self.checkout.work_tree, &self.prefix)
    }

    /// What the window shows of it while it is there. (A planned one: [`Plan::view`].)
    pub fn view(&self) -> WorktreeView {
        WorktreeView {
            path: self.path().display().to_string(),
            branch: self.branch.clone(),
            base: self.base.clone(),
            base_is_snapshot: self.base_is_snapshot,
            state: WorktreeState::Live,
        }
    }

    /// The base commit.
    pub(crate) fn base_commit(&self) -> Result<git2::Oid, GitError> {
        git2::Oid::from_str(&self.base).map_err(GitError::library(format!("reading the base {}", self.base)))
    }

    fn branch_ref(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    fn base_ref(&self) -> String {
        format!("refs/offshoot/base/{}", self.id)
    }

    /// Our own folder inside its git directory.
    pub(crate) fn own_folder(&self) -> PathBuf {
        self.checkout.git_dir.join("offshoot")
    }

    /// `<root>/<project>-<hash>`.
    fn project_folder(&self) -> &Path {
        self.checkout.work_tree.parent().unwrap_or(&self.checkout.work_tree)
    }
}

/// All worktrees under one root. Clones are the same.
#[derive(Clone)]
pub struct Worktrees(Arc<Inner>);

struct Inner {
    root: PathBuf,
    git: Git,
    clock: Arc<dyn Clock>,
    gates: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
    reserved: create::Reserved,
    trash: trash::Trash,
}

impl Worktrees {
    /// Worktrees under `root`, which is made when the first one is.
    pub fn new(root: PathBuf, git: Git, clock: Arc<dyn Clock>) -> Self {
        let trash = trash::Trash::default();
        Self(Arc::new(Inner {
            root,
            git,
            clock,
            gates: Mutex::default(),
            reserved: create::Reserved::default(),
            trash,
        }))
    }

    /// The git program that is used.
    pub fn git(&self) -> &Git {
        &self.0.git
    }

    /// Where a worktree will be and what its branch will be called. Makes nothing; refuses what can't work.
    pub async fn plan(&self, spec: Spec) -> Result<Plan, WorktreeError> {
        let inner = Arc::clone(&self.0);
        blocking(move || create::plan(&inner, spec)).await
    }

    /// Makes a worktree: [`Worktrees::plan`], then [`Worktrees::carry_out`].
    pub async fn create(&self, spec: Spec) -> Result<Worktree, WorktreeError> {
        let plan = self.plan(spec).await?;
        self.carry_out(plan, &Cancel::default(), |_| {}).await
    }

    /// Makes a planned worktree, whole or not at all. First what it starts from is recorded; then it waits for its turn:
    /// one is made at a time per repository. `told` hears how far it is, from any thread, and must not block.
    ///
    /// The work is done on threads of the runtime's blocking pool. When `cancel` is called, the running process is killed,
    /// and directory, registration, branch and refs are undone before this returns. Dropping the future does the same
    /// behind: before the next creation of the repository begins. A worktree that is finished in the moment of the drop is
    /// undone likewise.
    pub async fn carry_out(
        &self,
        plan: Plan,
        cancel: &Cancel,
        told: impl Fn(Progress) + Send + Sync + 'static,
    ) -> Result<Worktree, WorktreeError> {
        let guard = CancelOnDrop(Some(cancel.clone()));
        let (inner, stop) = (Arc::clone(&self.0), cancel.clone());
        let planned = blocking(move || create::record_start(&inner, plan, &stop)).await?;
        told(Progress::Recorded);
        let gate = tokio::select! {
            gate = self.gate(planned.common_dir()) => gate,
            () = cancel.cancelled() => return Err(WorktreeError::Cancelled),
        };
        let (inner, stop) = (Arc::clone(&self.0), cancel.clone());
        let (send, receive) = tokio::sync::oneshot::channel();
        tokio::task::spawn_blocking(move || {
            // When nobody receives it any more, the value is dropped here: undone first, then the gate opens.
            let _ = send.send((create::carry_out(&inner, planned, &stop, &told), gate));
        });
        let (made, _gate) = receive.await.map_err(|_| WorktreeError::Cancelled)?;
        guard.disarm();
        made.map(create::Unclaimed::claim)
    }

    /// What happens when a worktree's agent ends: it is removed when it is unchanged, otherwise kept.
    /// Runs to its end even when the future is dropped.
    pub async fn finish(&self, worktree: &Worktree) -> Result<Finished, WorktreeError> {
        self.on(worktree, remove::finish).await
    }

    /// Writes everything in the worktree to a commit under `refs/offshoot/archive/` and frees the directory.
    /// Runs to its end even when the future is dropped.
    pub async fn archive(&self, worktree: &Worktree) -> Result<Archive, WorktreeError> {
        self.on(worktree, |inner, worktree| archive::archive(inner, worktree, None)).await
    }

    /// An archive that [`Worktrees::expire`] deletes after thirty days.
    /// Runs to its end even when the future is dropped.
    pub async fn discard(&self, worktree: &Worktree) -> Result<Archive, WorktreeError> {
        self.on(worktree, |inner, worktree| {
            let expires = inner.clock.now() + archive::KEPT_AFTER_DISCARD;
            archive::archive(inner, worktree, Some(expires))
        })
        .await
    }

    /// Everything archived of a repository.
    pub async fn archives(&self, repository: &Repository) -> Result<Vec<Archived>, WorktreeError> {
        let repository = repository.clone();
        blocking(move || archive::list(&repository)).await
    }

    /// Deletes the archives of discarded worktrees whose time is over, and says which.
    pub async fn expire(&self, repository: &Repository) -> Result<Vec<String>, WorktreeError> {
        let (inner, repository) = (Arc::clone(&self.0), repository.clone());
        blocking(move || archive::expire(&inner, &repository)).await
    }

    /// Brings an archived worktree back to the byte, staged state included. The archive stays.
    /// Runs to its end even when the future is dropped. `root` is as in [`Spec::root`].
    pub async fn restore(
        &self,
        repository: &Repository,
        trust: Trust,
        reference: &str,
        root: Option<&Path>,
    ) -> Result<Worktree, WorktreeError> {
        let gate = self.gate(&repository.common_dir).await;
        let (inner, repository, reference) = (Arc::clone(&self.0), repository.clone(), reference.to_owned());
        let root = root.map(Path::to_path_buf);
        blocking(move || {
            let _gate = gate;
            let root = known::use_root(&inner, root.as_deref())?;
            restore::restore(&inner, &repository, trust, &reference, &root)
        })
        .await
    }

    /// Commits everything in the worktree on its branch, for the agent. Nothing when there is nothing to commit.
    /// The repository's hooks run only when `hooks` says so. Runs to its end even when the future is dropped.
    pub async fn commit_all(
        &self,
        worktree: &Worktree,
        message: &str,
        hooks: bool,
    ) -> Result<Option<String>, WorktreeError> {
        let message = message.to_owned();
        let committed =
            self.on(worktree, move |inner, worktree| commit::commit(inner, worktree, &message, &[], hooks)).await?;
        Ok(committed.map(|committed| committed.commit))
    }

    /// Commits on the worktree's branch, for the agent: what lies at or beneath `paths` (relative to the top of the
    /// repository), or everything when there are none. Otherwise as [`Worktrees::commit_all`].
    pub async fn commit(
        &self,
        worktree: &Worktree,
        message: &str,
        paths: Vec<PathBuf>,
        hooks: bool,
    ) -> Result<Option<Committed>, WorktreeError> {
        let message = message.to_owned();
        self.on(worktree, move |inner, worktree| commit::commit(inner, worktree, &message, &paths, hooks)).await
    }

    /// Everything that is recorded, with its standing. Changes nothing.
    pub async fn list(&self) -> Result<Vec<Listed>, WorktreeError> {
        let inner = Arc::clone(&self.0);
        blocking(move || repair::list(&inner)).await
    }

    /// Everything archived of every repository that worktrees were made of.
    pub async fn all_archives(&self) -> Result<Vec<Kept>, WorktreeError> {
        let inner = Arc::clone(&self.0);
        blocking(move || known::archives(&inner)).await
    }

    /// Deletes the archives of discarded worktrees whose time is over, of every repository, and says which.
    pub async fn expire_all(&self) -> Result<Vec<String>, WorktreeError> {
        let inner = Arc::clone(&self.0);
        blocking(move || known::expire(&inner)).await
    }

    /// Puts right what a crash left: half-made worktrees are undone, half-done removals finished, locks of dead
    /// processes and old trash removed. To be called when no agent runs. Returns what was done and what is there.
    pub async fn repair(&self) -> Result<Repaired, WorktreeError> {
        let inner = Arc::clone(&self.0);
        blocking(move || repair::repair(&inner)).await
    }

    /// Waits until everything that was removed so far is deleted on disk, too.
    pub async fn settle(&self) {
        let inner = Arc::clone(&self.0);
        // It fails only when the runtime shuts down.
        let _ = tokio::task::spawn_blocking(move || inner.trash.settle()).await;
    }

    /// Bytes that a worktree takes on disk, links not followed.
    pub async fn disk_use(&self, worktree: &Worktree) -> Result<u64, WorktreeError> {
        let path = worktree.path().to_path_buf();
        blocking(move || Ok(repair::disk_use(&path))).await
    }

    async fn gate(&self, common_dir: &Path) -> OwnedMutexGuard<()> {
        let gate = {
            let mut gates = self.0.gates.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(gates.entry(common_dir.to_path_buf()).or_default())
        };
        gate.lock_owned().await
    }

    async fn on<T: Send + 'static>(
        &self,
        worktree: &Worktree,
        work: impl FnOnce(&Inner, &Worktree) -> Result<T, WorktreeError> + Send + 'static,
    ) -> Result<T, WorktreeError> {
        let gate = self.gate(&worktree.repository.common_dir).await;
        let (inner, worktree) = (Arc::clone(&self.0), worktree.clone());
        blocking(move || {
            let _gate = gate;
            work(&inner, &worktree)
        })
        .await
    }
}

/// A folder in a worktree; joining nothing would put a slash behind the top's path.
fn below(top: &Path, prefix: &Path) -> PathBuf {
    if prefix.as_os_str().is_empty() { top.to_path_buf() } else { top.join(prefix) }
}

/// Runs `work` on the blocking pool. It is finished even when the future is dropped.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorktreeError> + Send + 'static,
) -> Result<T, WorktreeError> {
    // It fails only when the runtime shuts down before the work began.
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(WorktreeError::Cancelled))
}

struct CancelOnDrop(Option<Cancel>);

impl CancelOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(cancel) = &self.0 {
            cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests;
