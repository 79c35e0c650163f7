//! Commits for the agent, which can't write to the repository itself.

use std::path::Path;

use super::record::Lock;
use super::{Inner, Worktree, WorktreeError, create, verify};
use crate::git::{Capture, Checkout, GitError, Head, index};

/// How long the repository's hooks may take when they are wanted.
const HOOK_PATIENCE: std::time::Duration = std::time::Duration::from_secs(10 * 60);

pub(super) fn commit_all(
    inner: &Inner,
    worktree: &Worktree,
    message: &str,
    hooks: bool,
) -> Result<Option<String>, WorktreeError> {
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
    let index = scratch.path().join("index");
    let captured = Capture::new(&inner.git, checkout, &index).run()?;
    if library.find_commit(head).map_err(GitError::library(what()))?.tree_id() == captured.tree {
        return Ok(None);
    }
    let tree = captured.tree.to_string();
    let message = if message.trim().is_empty() { "Work of an agent\n" } else { message };
    let who = Identity::of(inner, checkout)?;
    if hooks {
        commit_with_hooks(inner, worktree, &index, message, &who)?;
    } else {
        let args = ["commit-tree", &tree, "-p", &head.to_string(), "-F", "-"];
        let commit = inner.git.on(checkout).args(args).input(message.as_bytes().to_vec());
        let commit = who.sign(commit).run()?;
        let commit = String::from_utf8_lossy(&commit.stdout).trim().to_owned();
        let args = ["update-ref", "-m", "offshoot: commit", "HEAD", &commit, &head.to_string()];
        who.sign(inner.git.on(checkout).args(args)).run()?;
        stage(checkout, &index)?;
    }
    Ok(checkout.head(&library)?.commit().map(|commit| commit.to_string()))
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
    let command = inner.git.on(checkout).args(["commit", "--quiet", "-F", "-"]).input(message.as_bytes().to_vec());
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
        let asked = inner.git.on(checkout).config("user.useConfigOnly", "true").args(["var", "GIT_AUTHOR_IDENT"]);
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
