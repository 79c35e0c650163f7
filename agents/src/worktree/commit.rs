//! Commits for the agent, which can't write to the repository itself.

use std::path::{Path, PathBuf};

use super::record::Lock;
use super::{Inner, Worktree, WorktreeError, create, verify};
use crate::git::{Capture, Checkout, Git, GitError, Head, index};

/// How long the repository's hooks may take when they are wanted.
const HOOK_PATIENCE: std::time::Duration = std::time::Duration::from_secs(10 * 60);

/// What was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The commit, as full hexadecimal hash.
    pub commit: String,
    /// The branch that moved, without `refs/heads/`; absent when the checkout is on none.
    pub branch: Option<String>,
    /// The files it changes, relative to the repository's top, at most 50.
    pub files: Vec<String>,
    /// How many those are.
    pub file_count: usize,
    /// Lines that came.
    pub insertions: usize,
    /// Lines that went.
    pub deletions: usize,
    /// Whether the person's configuration asks for signatures: this commit has none.
    pub signature_missing: bool,
}

/// Most files that are named.
const LISTED: usize = 50;

/// Commits on the worktree's branch: everything, or only what lies at or beneath `paths` (relative to the top).
pub(super) fn commit(
    inner: &Inner,
    worktree: &Worktree,
    message: &str,
    paths: &[PathBuf],
    hooks: bool,
) -> Result<Option<Committed>, WorktreeError> {
    let _lock = Lock::take(worktree.project_folder())?;
    verify(worktree)?;
    let checkout = &worktree.checkout;
    let library = checkout.library()?;
    let what = || format!("committing {}", worktree.path().display());
    let head = match checkout.head(&library)? {
        Head::Branch { name, commit: Some(commit) } if name == worktree.branch_ref() => commit,
        Head::Detached(commit) => commit,
        Head::Branch { name, .. } => {
            return Err(WorktreeError::OtherBranch { path: worktree.path().to_path_buf(), head: name });
        }
    };
    let scratch = create::scratch(worktree.project_folder())?;
    let mut index = scratch.path().join("index");
    let captured = Capture::new(&inner.git, checkout, &index).run()?;
    let before = library.find_commit(head).and_then(|commit| commit.tree()).map_err(GitError::library(what()))?;
    let mut tree = captured.tree;
    if !paths.is_empty() {
        tree = selected(&library, &before, tree, paths).map_err(GitError::library(what()))?;
        index = scratch.path().join("selected");
        inner.git.on(checkout).index(&index).args(["read-tree", &tree.to_string()]).run()?;
    }
    if before.id() == tree {
        return Ok(None);
    }
    let message = if message.trim().is_empty() { "Work of an agent\n" } else { message };
    let who = Identity::of(inner, checkout)?;
    if hooks {
        commit_with_hooks(inner, worktree, &index, message, &who)?;
    } else {
        let args = ["commit-tree", &tree.to_string(), "-p", &head.to_string(), "-F", "-"];
        let commit = inner.git.on(checkout).args(args).input(message.as_bytes().to_vec());
        let commit = who.sign(commit).run()?;
        let commit = String::from_utf8_lossy(&commit.stdout).trim().to_owned();
        let args = ["update-ref", "-m", "offshoot: commit", "HEAD", &commit, &head.to_string()];
        who.sign(inner.git.on(checkout).args(args)).run()?;
        stage(checkout, &index)?;
    }
    Ok(Some(told(&inner.git, checkout, &before)?))
}

/// Commits in a checkout of the person's, as they would: what is staged beside `paths` stays staged. No hook runs unless
/// `hooks` says so, and nothing is signed. `paths` are relative to the top; none: everything.
pub fn commit_in_checkout(
    git: &Git,
    checkout: &Checkout,
    message: &str,
    paths: &[PathBuf],
    hooks: bool,
) -> Result<Option<Committed>, GitError> {
    let library = checkout.library()?;
    let what = || format!("committing {}", checkout.work_tree.display());
    let before = match checkout.head(&library)?.commit() {
        Some(commit) => library.find_commit(commit).and_then(|commit| commit.tree()),
        None => library.treebuilder(None).and_then(|empty| empty.write()).and_then(|empty| library.find_tree(empty)),
    };
    let before = before.map_err(GitError::library(what()))?;
    let on = || git.on(checkout);
    // An empty list of paths means everything beneath the top, where git is run.
    on().args(["add", "--all", "--"]).args(paths).run()?;
    let staged = on().args(["diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", "--"]).args(paths);
    if staged.run_any()?.exit == Some(0) {
        return Ok(None);
    }
    let who = Identity::with(git, checkout)?;
    let commit = on().args(["commit", "--quiet", "--no-gpg-sign", "-F", "-"]);
    let commit = if paths.is_empty() { commit } else { commit.args(["--only", "--"]).args(paths) };
    let commit = commit.input(message.as_bytes().to_vec()).with_hooks(hooks).patience(HOOK_PATIENCE);
    who.sign(commit).run()?;
    told(git, checkout, &before).map(Some)
}

/// `before` with what `after` has at or beneath `paths`.
fn selected(
    library: &git2::Repository,
    before: &git2::Tree<'_>,
    after: git2::Oid,
    paths: &[PathBuf],
) -> Result<git2::Oid, git2::Error> {
    let after = library.find_tree(after)?;
    let mut update = git2::build::TreeUpdateBuilder::new();
    for delta in library.diff_tree_to_tree(Some(before), Some(&after), None)?.deltas() {
        let path_of = |file: &git2::DiffFile<'_>| file.path().map(Path::to_path_buf);
        let Some(path) = path_of(&delta.new_file()).or_else(|| path_of(&delta.old_file())) else { continue };
        if !paths.iter().any(|wanted| path.starts_with(wanted)) {
            continue;
        }
        if delta.status() == git2::Delta::Deleted {
            update.remove(&path);
        } else {
            let entry = after.get_path(&path)?;
            let mode = match entry.filemode() {
                0o100_755 => git2::FileMode::BlobExecutable,
                0o120_000 => git2::FileMode::Link,
                0o160_000 => git2::FileMode::Commit,
                _ => git2::FileMode::Blob,
            };
            update.upsert(&path, entry.id(), mode);
        }
    }
    update.create_updated(library, before)
}

/// What the commit that `HEAD` is now changes, against the tree before.
fn told(git: &Git, checkout: &Checkout, before: &git2::Tree<'_>) -> Result<Committed, GitError> {
    let library = checkout.library()?;
    let what = || format!("looking at the commit in {}", checkout.work_tree.display());
    let head = checkout.head(&library)?;
    let look = |commit: git2::Oid| {
        let after = library.find_commit(commit)?.tree()?;
        let before = library.find_tree(before.id())?;
        let diff = library.diff_tree_to_tree(Some(&before), Some(&after), None)?;
        let stats = diff.stats()?;
        let path = |delta: git2::DiffDelta<'_>| {
            let path = delta.new_file().path().or_else(|| delta.old_file().path());
            path.map(|path| path.display().to_string()).unwrap_or_default()
        };
        let files = diff.deltas().take(LISTED).map(path).collect();
        Ok((files, stats.files_changed(), stats.insertions(), stats.deletions()))
    };
    let commit = head.commit().ok_or_else(|| GitError::library(what())(git2::Error::from_str("there is none")))?;
    let (files, file_count, insertions, deletions) = look(commit).map_err(GitError::library(what()))?;
    let wants = git.on(checkout).args(["config", "--type=bool", "--get-all", "commit.gpgSign"]).run_any()?;
    let branch = match &head {
        Head::Branch { name, .. } => Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
        Head::Detached(_) => None,
    };
    // The last word is this program's own, which never signs; the one before it is the person's.
    let said = String::from_utf8_lossy(&wants.stdout);
    let signature_missing = said.lines().rev().nth(1) == Some("true");
    Ok(Committed { commit: commit.to_string(), branch, files, file_count, insertions, deletions, signature_missing })
}

/// Makes the captured index the worktree's own, by git's rules: nobody else may be writing it.
fn stage(checkout: &Checkout, captured: &Path) -> Result<(), WorktreeError> {
    let index = checkout.index();
    let lock = checkout.git_dir.join("index.lock");
    let what = || format!("writing {}", index.display());
    let mut from = std::fs::File::open(captured).map_err(WorktreeError::storage(what()))?;
    let to = std::fs::File::options().write(true).create_new(true).open(&lock);
    let mut to = to.map_err(WorktreeError::storage(format!("locking {}", index.display())))?;
    let written = std::io::copy(&mut from, &mut to).and_then(|_| std::fs::rename(&lock, &index));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&lock);
        WorktreeError::storage(what())(error)
    })
}

/// Lets git itself commit what is staged, so that every hook runs as the person's own commit would run it. When a hook
/// refuses, the worktree's index is as before.
fn commit_with_hooks(
    inner: &Inner,
    worktree: &Worktree,
    captured: &Path,
    message: &str,
    who: &Identity,
) -> Result<(), WorktreeError> {
    let checkout = &worktree.checkout;
    let kept = worktree.own_folder().join("before-commit.index");
    let what = || format!("copying the index of {}", worktree.path().display());
    index::copy(&checkout.index(), &kept).map_err(WorktreeError::storage(what()))?;
    stage(checkout, captured)?;
    let command = inner
        .git
        .on(checkout)
        .args(["commit", "--quiet", "--no-gpg-sign", "-F", "-"])
        .input(message.as_bytes().to_vec());
    let output = who.sign(command).with_hooks(true).patience(HOOK_PATIENCE).run_any();
    if matches!(&output, Ok(output) if output.exit == Some(0)) {
        let _ = std::fs::remove_file(&kept);
        return Ok(());
    }
    std::fs::rename(&kept, checkout.index()).map_err(WorktreeError::storage(what()))?;
    let output = output?;
    Err(WorktreeError::Refused(format!("{}{}", output.stderr, String::from_utf8_lossy(&output.stdout))))
}

/// Who a commit is from: the person, as their configuration says, or Offshoot.
struct Identity(Option<[(&'static str, &'static str); 4]>);

impl Identity {
    fn of(inner: &Inner, checkout: &Checkout) -> Result<Self, GitError> {
        Self::with(&inner.git, checkout)
    }

    fn with(git: &Git, checkout: &Checkout) -> Result<Self, GitError> {
        let asked = git.on(checkout).config("user.useConfigOnly", "true").args(["var", "GIT_AUTHOR_IDENT"]);
        let fallback = [
            ("GIT_AUTHOR_NAME", "Offshoot"),
            ("GIT_AUTHOR_EMAIL", "offshoot@localhost"),
            ("GIT_COMMITTER_NAME", "Offshoot"),
            ("GIT_COMMITTER_EMAIL", "offshoot@localhost"),
        ];
        Ok(Self((asked.run_any()?.exit != Some(0)).then_some(fallback)))
    }

    fn sign<'a>(&self, command: crate::git::Command<'a>) -> crate::git::Command<'a> {
        let variables = self.0.iter().flatten();
        variables.fold(command, |command, (name, value)| command.variable(name, value))
    }
}
