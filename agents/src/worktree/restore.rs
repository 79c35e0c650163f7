//! Brings an archived worktree back.

use std::path::{Component, Path, PathBuf};
use std::sync::PoisonError;

use super::archive::{ARCHIVES, State, state};
use super::create::{Unclaimed, branches, free_path, mark, registered};
use super::record::write_json;
use super::{Inner, Worktree, WorktreeError, include, known, name};
use crate::git::{Cancel, Checkout, GitError, Repository, Trust, missing_filters, to_path};

pub(super) fn restore(
    inner: &Inner,
    repository: &Repository,
    trust: Trust,
    reference: &str,
    root: &Path,
) -> Result<Worktree, WorktreeError> {
    let missing = || WorktreeError::NoArchive(reference.to_owned());
    let library = repository.library()?;
    let commit = reference.starts_with(ARCHIVES).then(|| library.find_reference(reference).ok()).flatten();
    let commit = commit.and_then(|found| found.peel_to_commit().ok()).ok_or_else(missing)?;
    let state = state(&commit).filter(is_plausible).ok_or_else(missing)?;
    let find = |hash: &str| git2::Oid::from_str(hash).ok().and_then(|id| library.find_commit(id).ok());
    let (Some(head), Some(base)) = (find(&state.head), find(&state.base)) else { return Err(missing()) };

    let from = any_checkout(inner, repository, trust)?;
    let project = root.join(name::project_folder(&repository.common_dir, repository.top_level.as_deref()));
    std::fs::create_dir_all(&project).map_err(WorktreeError::storage(format!("making {}", project.display())))?;
    let project = project.canonicalize().map_err(WorktreeError::storage(format!("opening {}", project.display())))?;
    known::remember(&project, repository)?;
    // Names are made anew from the branch's last part: the archive comes from the repository, which may be hostile.
    let leaf = name::slug(state.branch.rsplit('/').next().unwrap_or_default());
    let branch = free_branch(inner, &from, &state, &leaf)?;
    let taken = inner.reserved.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let made = Unclaimed::begin(Worktree {
        id: state.id.clone(),
        branch,
        base: state.base.clone(),
        base_is_snapshot: state.base_is_snapshot,
        checkout: Checkout {
            work_tree: free_path(&project, &leaf, |path| taken.contains_key(path)),
            git_dir: PathBuf::new(),
            ..from.clone()
        },
        repository: repository.clone(),
        prefix: state.prefix.clone(),
        created_at: state.created_at,
        warnings: Vec::new(),
    })?;
    let mut made = made.with_branch_at(head.id());
    let what = format!("keeping the base as {}", made.base_ref());
    library.reference(&made.base_ref(), base.id(), true, "offshoot").map_err(GitError::library(what))?;
    check_out(inner, &from, &mut made, &state, commit.tree_id())?;
    if let Some(bytes) = state.bytes.as_deref() {
        let tree = find(bytes).and_then(|commit| commit.tree().ok()).ok_or_else(missing)?;
        write_bytes(&library, &tree, made.path())?;
    }
    // What had been copied in and was left as it was is not in the archive (secrets, often): it is copied again.
    let copied = include::copy(&inner.git, &from, &made, &Cancel::default())?;
    write_json(&include::list_path(&made), &copied.files)?;
    stage(inner, &made, state.staged.as_deref())?;
    std::fs::create_dir_all(made.directory())
        .map_err(WorktreeError::storage(format!("making {}", made.directory().display())))?;
    made.complete()?;
    Ok(made.claim())
}

/// Whether nothing in the state could lead outside.
fn is_plausible(state: &State) -> bool {
    name::is_id(&state.id) && state.prefix.components().all(|part| matches!(part, Component::Normal(_)))
}

/// Something to call git on: worktrees are added to the repository, not to a checkout.
fn any_checkout(inner: &Inner, repository: &Repository, trust: Trust) -> Result<Checkout, WorktreeError> {
    let common_dir = repository.common_dir.clone();
    let work_tree = repository.top_level.clone().unwrap_or_else(|| common_dir.clone());
    let mut checkout = Checkout { work_tree, git_dir: common_dir.clone(), common_dir, trust, filters_off: Vec::new() };
    if trust == Trust::Trusted {
        checkout.filters_off = missing_filters(&inner.git, &checkout)?;
    }
    Ok(checkout)
}

/// The old branch name, unless something has taken it meanwhile.
fn free_branch(inner: &Inner, from: &Checkout, state: &State, leaf: &str) -> Result<String, WorktreeError> {
    let existing = branches(inner, from)?;
    let fresh = name::branch(leaf, &existing);
    let folder = fresh.split('/').next().unwrap_or_default();
    let old = format!("{folder}/{leaf}");
    Ok(if state.branch == old && !existing.contains(&old) { old } else { fresh })
}

/// Registers it and lays out `HEAD`, files and staged state.
fn check_out(
    inner: &Inner,
    from: &Checkout,
    made: &mut Unclaimed,
    state: &State,
    tree: git2::Oid,
) -> Result<(), WorktreeError> {
    let mut add = inner.git.on(from).args(["worktree", "add", "--quiet", "--no-checkout"]).holding(made.shared_lock()?);
    add = if state.on_branch { add.args(["--no-track", "-b", &made.branch]) } else { add.arg("--detach") };
    add.arg(made.path()).arg(&state.head).run()?;
    let admin = registered(made)?;
    made.registered_at(admin);
    let read = inner.git.on(&made.checkout).args(["read-tree", "--reset", "-u", &tree.to_string()]);
    read.holding(made.shared_lock()?).run()?;
    mark(made)
}

/// Brings back what was staged, and lets git note which files are as they should be.
fn stage(inner: &Inner, made: &Worktree, staged: Option<&str>) -> Result<(), GitError> {
    let git = |args: &[&str]| inner.git.on(&made.checkout).args(args);
    if let Some(staged) = staged {
        git(&["read-tree", "--reset", staged]).run()?;
    }
    // Its exit code only says whether files differ from what is staged.
    git(&["update-index", "-q", "--refresh", "--ignore-submodules"]).run_any()?;
    Ok(())
}

/// Writes files byte for byte over what the checkout made. Never through a link, never into version control's files.
fn write_bytes(library: &git2::Repository, tree: &git2::Tree<'_>, root: &Path) -> Result<(), WorktreeError> {
    let mut files = Vec::new();
    let walked = tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
        if entry.kind() == Some(git2::ObjectType::Blob) {
            let path = to_path(folder.as_bytes()).join(to_path(entry.name_bytes()));
            files.push((path, entry.id(), entry.filemode()));
        }
        git2::TreeWalkResult::Ok
    });
    walked.map_err(GitError::library("reading the bytes of an archive"))?;
    for (path, blob, mode) in files {
        let what = || format!("writing {}", root.join(&path).display());
        let allowed =
            |part: Component<'_>| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
        let content = library.find_blob(blob).map_err(GitError::library(what()))?;
        if path.components().all(allowed)
            && include::make_folders(root, &path).map_err(WorktreeError::storage(what()))?
        {
            place(&root.join(&path), content.content(), mode).map_err(WorktreeError::storage(what()))?;
        }
    }
    Ok(())
}

fn place(path: &Path, content: &[u8], mode: i32) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        if mode == 0o120_000 {
            return std::os::unix::fs::symlink(to_path(content), path);
        }
        let mode = if mode == 0o100_755 { 0o777 } else { 0o666 };
        let mut file = std::fs::File::options().write(true).create_new(true).mode(mode).open(path)?;
        std::io::Write::write_all(&mut file, content)
    }
    #[cfg(not(unix))]
    {
        let _ = mode;
        std::fs::write(path, content)
    }
}
