//! Making a worktree, whole or not at all.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use offshoot_protocol::{WorktreeState, WorktreeView};

use super::fill::Filled;
use super::record::{Lock, Record, Stage, write_json};
use super::verify::{Marker, marker_path, points_at, verify};
use super::{Base, Inner, Parent, Spec, Worktree, WorktreeError, fill, include, known, name, remove, snapshot};
use crate::git::{Cancel, Checkout, Found, GitError, Trust, discover, index, to_path};

/// Longest time a checkout may take; it can be cancelled before.
const CHECKOUT_PATIENCE: std::time::Duration = std::time::Duration::from_secs(60 * 60);

/// The last step of a creation: the person's setup command, usually. An error undoes everything and is shown.
pub struct Setup(Box<SetupStep>);

type SetupStep = dyn FnOnce(&Worktree, &Cancel) -> Result<(), String> + Send;

impl Setup {
    /// A step. It blocks, and must end soon after the token is cancelled.
    pub fn new(step: impl FnOnce(&Worktree, &Cancel) -> Result<(), String> + Send + 'static) -> Self {
        Self(Box::new(step))
    }
}

/// How far a creation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// What it starts from is recorded: what happens to the parent's files from here on is not in it. It waits for its turn.
    Recorded,
    /// Its files are laid out.
    Files {
        /// So many of them are there.
        done: usize,
        /// All; 0 when that isn't known.
        all: usize,
    },
    /// All files are there, and the setup runs.
    Setup,
}

/// A worktree that can be made: nothing of it is there yet.
pub struct Plan {
    /// Where it will be.
    pub path: PathBuf,
    /// Where the agent will work in it.
    pub directory: PathBuf,
    /// What its branch will be called, without `refs/heads/`.
    pub branch: String,
    id: String,
    parent: Found,
    base: Base,
    hooks: bool,
    setup: Option<Setup>,
    _reservation: Reservation,
}

impl Plan {
    /// What the window shows of it while it is being made.
    pub fn view(&self) -> WorktreeView {
        WorktreeView {
            path: self.path.display().to_string(),
            branch: self.branch.clone(),
            base: String::new(),
            base_is_snapshot: false,
            state: WorktreeState::Making,
        }
    }
}

/// Names that a plan has chosen and nobody else may choose meanwhile. Dropping it frees them.
struct Reservation {
    all: Reserved,
    path: PathBuf,
}

/// Paths and branches of plans that aren't carried out yet.
pub(super) type Reserved = Arc<Mutex<HashMap<PathBuf, String>>>;

impl Drop for Reservation {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
    }
}

/// A plan whose start is recorded.
pub(super) struct Planned {
    plan: Plan,
    start: snapshot::Start,
}

impl Planned {
    pub(super) fn common_dir(&self) -> &Path {
        &self.plan.parent.repository.common_dir
    }
}

/// Finds or records what a worktree will start from. Only objects are written.
pub(super) fn record_start(inner: &Inner, plan: Plan, cancel: &Cancel) -> Result<Planned, WorktreeError> {
    let project = plan.path.parent().unwrap_or(&plan.path);
    std::fs::create_dir_all(project).map_err(WorktreeError::storage(format!("making {}", project.display())))?;
    known::use_root(inner, project.parent())?;
    known::remember(project, &plan.parent.repository)?;
    let scratch = scratch(project)?;
    let start = snapshot::start(inner, &plan.parent.checkout, &plan.base, scratch.path(), cancel)?;
    Ok(Planned { plan, start })
}

pub(super) fn plan(inner: &Inner, spec: Spec) -> Result<Plan, WorktreeError> {
    if !name::is_id(&spec.id) {
        return Err(WorktreeError::MalformedId(spec.id));
    }
    let mut parent = match spec.parent {
        Parent::Directory(directory) => discover(&inner.git, &directory, spec.trust)?,
        Parent::Worktree(worktree) => {
            verify(&worktree)?;
            let Worktree { repository, checkout, prefix, .. } = *worktree;
            Found { repository, checkout, prefix }
        }
    };
    parent.checkout.trust = spec.trust;
    let Found { repository, checkout, prefix } = &parent;
    let library = checkout.library()?;
    if checkout.head(&library)?.commit().is_none() {
        return Err(WorktreeError::NoCommits(checkout.work_tree.clone()));
    }
    let root = resolve(spec.root.as_deref().unwrap_or(&inner.root));
    let main = repository.top_level.as_deref().unwrap_or(&repository.common_dir);
    if root.starts_with(main) || root.starts_with(&repository.common_dir) {
        return Err(WorktreeError::InsideRepository { root, repository: main.to_path_buf() });
    }
    for path in [&root, &checkout.work_tree, &repository.common_dir, prefix] {
        if path.to_str().is_none() {
            return Err(WorktreeError::NotUtf8(path.clone()));
        }
    }
    let project = root.join(name::project_folder(&repository.common_dir, repository.top_level.as_deref()));
    let leaf = format!("{}-{}", name::slug(&spec.title), name::short(&spec.id));
    let mut branches = branches(inner, checkout)?;
    let mut reserved = inner.reserved.lock().unwrap_or_else(PoisonError::into_inner);
    branches.extend(reserved.values().cloned());
    let branch = name::branch(&leaf, &branches);
    let path = free_path(&project, &leaf, |path| reserved.contains_key(path));
    reserved.insert(path.clone(), branch.clone());
    drop(reserved);
    Ok(Plan {
        _reservation: Reservation { all: Arc::clone(&inner.reserved), path: path.clone() },
        directory: super::below(&path, prefix),
        path,
        branch,
        id: spec.id,
        base: spec.base,
        hooks: spec.hooks,
        setup: spec.setup,
        parent,
    })
}

/// Names of all branches.
pub(super) fn branches(inner: &Inner, checkout: &Checkout) -> Result<Vec<String>, GitError> {
    let args = ["for-each-ref", "--format=%(refname)", "refs/heads/"];
    let output = inner.git.on(checkout).args(args).run()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_prefix("refs/heads/")).map(str::to_owned).collect())
}

/// A path in the folder that nothing has and nobody has `taken`.
pub(super) fn free_path(project: &Path, leaf: &str, taken: impl Fn(&Path) -> bool) -> PathBuf {
    let mut path = project.join(leaf);
    let mut n = 2;
    while path.symlink_metadata().is_ok() || taken(&path) {
        path = project.join(format!("{leaf}-{n}"));
        n += 1;
    }
    path
}

/// Resolves links in the part of a path that exists already.
pub(super) fn resolve(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            return path.strip_prefix(ancestor).map_or(real.clone(), |rest| real.join(rest));
        }
    }
    path.to_path_buf()
}

/// A worktree that nobody has taken yet. Dropping it undoes it.
pub(super) struct Unclaimed {
    worktree: Worktree,
    /// Where a branch was made for it, other than at the base.
    branch_at: Option<git2::Oid>,
    claimed: bool,
    lock: Lock,
}

impl Unclaimed {
    /// Begins: writes the record first, so that a crash is found later.
    pub(super) fn begin(worktree: Worktree) -> Result<Self, WorktreeError> {
        let lock = Lock::take(worktree.project_folder())?;
        let taken = Record::path(&worktree).exists() || worktree.path().symlink_metadata().is_ok();
        if taken {
            return Err(WorktreeError::Exists(worktree.id));
        }
        Record::write(Stage::Creating, &worktree)?;
        Ok(Self { worktree, branch_at: None, claimed: false, lock })
    }

    /// Says where its branch starts, when that isn't the base.
    pub(super) fn with_branch_at(mut self, commit: git2::Oid) -> Self {
        self.branch_at = Some(commit);
        self
    }

    /// Says under which git directory it was registered.
    pub(super) fn registered_at(&mut self, git_dir: PathBuf) {
        self.worktree.checkout.git_dir = git_dir;
    }

    pub(super) fn claim(mut self) -> Worktree {
        self.claimed = true;
        self.worktree.clone()
    }

    /// The last step: from here on a crash leaves a whole worktree.
    pub(super) fn complete(&self) -> Result<(), WorktreeError> {
        verify(&self.worktree)?;
        Record::write(Stage::Live, &self.worktree)
    }
}

impl Unclaimed {
    /// The lock under which this is made. Git has it too while it works: after a crash nothing is undone that git is still
    /// busy with.
    pub(super) fn shared_lock(&self) -> Result<File, WorktreeError> {
        self.lock.shared()
    }
}

impl std::ops::Deref for Unclaimed {
    type Target = Worktree;

    fn deref(&self) -> &Worktree {
        &self.worktree
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if !self.claimed {
            remove::undo(&self.worktree, self.branch_at);
        }
    }
}

pub(super) fn carry_out(
    inner: &Inner,
    Planned { plan, start }: Planned,
    cancel: &Cancel,
    told: &(dyn Fn(Progress) + Sync),
) -> Result<Unclaimed, WorktreeError> {
    cancel.check()?;
    told(Progress::Files { done: 0, all: 0 });
    let Plan { path, branch, id, parent, hooks, setup, _reservation, .. } = plan;
    let Found { repository, checkout: from, prefix } = &parent;
    let mut made = Unclaimed::begin(Worktree {
        id,
        branch,
        base: start.commit.to_string(),
        base_is_snapshot: start.is_snapshot,
        checkout: Checkout { work_tree: path, git_dir: PathBuf::new(), ..from.clone() },
        repository: repository.clone(),
        prefix: prefix.clone(),
        created_at: inner.clock.now(),
        warnings: nested_warning(&start.nested).into_iter().collect(),
    })?;
    let library = from.library()?;
    let what = || format!("keeping the base as {}", made.base_ref());
    library.reference(&made.base_ref(), start.commit, false, "offshoot").map_err(GitError::library(what()))?;

    add(inner, from, &mut made, cancel, told)?;
    made.worktree.warnings.extend(content_warnings(&library, start.commit, &made.checkout)?);
    let copied = include::copy(&inner.git, from, &made, cancel)?;
    made.worktree.warnings.extend(copied.warnings);
    write_json(&include::list_path(&made), &copied.files)?;
    if hooks {
        made.worktree.warnings.extend(post_checkout(inner, &made, cancel)?);
    }
    if let Some(Setup(step)) = setup {
        told(Progress::Setup);
        step(&made, cancel).map_err(WorktreeError::Setup)?;
    }
    // An agent whose parent worked in a folder that the base doesn't have still gets its directory.
    std::fs::create_dir_all(made.directory())
        .map_err(WorktreeError::storage(format!("making {}", made.directory().display())))?;
    cancel.check()?;
    made.complete()?;
    Ok(made)
}

/// A folder for a throw-away index, gone when dropped.
pub(super) fn scratch(project: &Path) -> Result<tempfile::TempDir, WorktreeError> {
    let what = format!("making a folder in {}", project.display());
    tempfile::Builder::new().prefix(".scratch-").tempdir_in(project).map_err(WorktreeError::storage(what))
}

/// Registers the worktree, fills it and puts our mark on it.
fn add(
    inner: &Inner,
    from: &Checkout,
    made: &mut Unclaimed,
    cancel: &Cancel,
    told: &(dyn Fn(Progress) + Sync),
) -> Result<(), WorktreeError> {
    let plan = fill::plan(&from.library()?, made.base_commit()?)?;
    let lock = made.shared_lock()?;
    let worktree = &mut made.worktree;
    let mut command = inner.git.on(from).args(["worktree", "add", "--quiet", "--no-track", "-b", &worktree.branch]);
    if plan.is_some() {
        command = command.arg("--no-checkout");
    }
    let command = command.holding(lock);
    command.arg(worktree.path()).arg(&worktree.base).cancel(cancel).patience(CHECKOUT_PATIENCE).run()?;
    worktree.checkout.git_dir = registered(worktree)?;
    if let Some(plan) = plan {
        let scratch = scratch(made.project_folder())?;
        let copied = |done, all| told(Progress::Files { done, all });
        let filled = plan.carry_out(&inner.git, from, &made.checkout, scratch.path(), cancel, &copied)?;
        if filled == Filled::InPart {
            // What `worktree add` does itself otherwise.
            let command = inner.git.on(&made.checkout).args(["reset", "--hard", "--quiet", "--no-recurse-submodules"]);
            command.holding(made.shared_lock()?).cancel(cancel).patience(CHECKOUT_PATIENCE).run()?;
        }
    }
    mark(&made.worktree)
}

/// The git directory of a worktree that was added just now.
pub(super) fn registered(worktree: &Worktree) -> Result<PathBuf, WorktreeError> {
    let admin = points_at(&worktree.path().join(".git"), "gitdir: ").and_then(|admin| admin.canonicalize().ok());
    let folder = worktree.checkout.common_dir.join("worktrees");
    admin.filter(|admin| admin.parent() == Some(&folder)).ok_or_else(|| {
        let reason = "git registered it somewhere else".to_owned();
        WorktreeError::Missing { path: worktree.path().to_path_buf(), reason }
    })
}

/// Writes the marker, and keeps the index of the fresh checkout: what differs from it later was touched.
pub(super) fn mark(worktree: &Worktree) -> Result<(), WorktreeError> {
    let marker = Marker { id: worktree.id.clone(), path: worktree.path().to_path_buf() };
    write_json(&marker_path(&worktree.checkout.git_dir), &marker)?;
    let pristine = worktree.own_folder().join("pristine.index");
    let what = format!("copying the index of {}", worktree.path().display());
    index::copy(&worktree.checkout.index(), &pristine).map_err(WorktreeError::storage(what))
}

fn nested_warning(nested: &[PathBuf]) -> Option<String> {
    if nested.is_empty() {
        return None;
    }
    let names: Vec<_> = nested.iter().map(|path| path.display().to_string()).collect();
    Some(format!("Repositories inside the project are not in the worktree: {}.", names.join(", ")))
}

/// What the checkout couldn't bring along: submodules, and files whose filter is off.
fn content_warnings(library: &git2::Repository, base: git2::Oid, checkout: &Checkout) -> Result<Vec<String>, GitError> {
    let what = || format!("reading the tree of {base}");
    let tree = library.find_commit(base).and_then(|commit| commit.tree()).map_err(GitError::library(what()))?;
    let filters_matter = checkout.trust == Trust::Untrusted || !checkout.filters_off.is_empty();
    if !filters_matter && tree.get_name(".gitmodules").is_none() {
        return Ok(Vec::new());
    }
    let (mut modules, mut filters) = (Vec::new(), std::collections::BTreeSet::new());
    tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
        if entry.kind() == Some(git2::ObjectType::Commit) {
            modules.push(format!("{folder}{}", to_path(entry.name_bytes()).display()));
        } else if entry.name_bytes() == b".gitattributes"
            && let Ok(blob) = library.find_blob(entry.id())
        {
            let text = String::from_utf8_lossy(blob.content()).into_owned();
            filters.extend(text.split_whitespace().filter_map(|word| word.strip_prefix("filter=")).map(str::to_owned));
        }
        git2::TreeWalkResult::Ok
    })
    .map_err(GitError::library(what()))?;
    let mut warnings = Vec::new();
    if !modules.is_empty() {
        warnings.push(format!("Submodules are empty in the worktree: {}.", modules.join(", ")));
    }
    if checkout.trust == Trust::Untrusted && !filters.is_empty() {
        let names: Vec<_> = filters.into_iter().collect();
        warnings.push(format!("Filters are off, as this folder isn't trusted: {}.", names.join(", ")));
    } else {
        for driver in checkout.filters_off.iter().filter(|driver| filters.contains(*driver)) {
            warnings
                .push(format!("The program of the filter `{driver}` isn't there: its files are as git stores them."));
        }
    }
    Ok(warnings)
}

/// Runs the repository's own hook. Its failure doesn't take the worktree away.
fn post_checkout(inner: &Inner, worktree: &Worktree, cancel: &Cancel) -> Result<Option<String>, GitError> {
    const NOTHING: &str = "0000000000000000000000000000000000000000";
    let args = ["hook", "run", "--ignore-missing", "post-checkout", "--", NOTHING, &worktree.base, "1"];
    let output = inner.git.on(&worktree.checkout).args(args).with_hooks(true).cancel(cancel).run_any()?;
    let failed = output.exit != Some(0);
    Ok(failed.then(|| format!("The repository's post-checkout hook failed: {}", output.stderr)))
}
