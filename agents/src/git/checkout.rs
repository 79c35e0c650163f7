//! Which repository a directory belongs to: found once, then pinned.

use std::path::{Path, PathBuf};

use git2::RepositoryOpenFlags as Open;
use serde::{Deserialize, Serialize};

use super::{Git, GitError, filter_commands};

/// Whether the person trusts the repository's configuration and attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Its filters run, as they do for the person's own git.
    Trusted,
    /// Nothing of it runs; files are taken byte for byte.
    Untrusted,
}

/// A working tree and the git directories that belong to it, from our own records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkout {
    /// Absolute, canonical path of the working tree.
    pub work_tree: PathBuf,
    /// Its git directory: the common directory of a main checkout, `<common>/worktrees/<name>` of a worktree.
    pub git_dir: PathBuf,
    /// The directory that all checkouts of the repository share.
    pub common_dir: PathBuf,
    /// Whether filters may run.
    pub trust: Trust,
    /// Filter drivers that do nothing, because their program isn't there (`lfs`, usually).
    pub filters_off: Vec<String>,
}

/// A repository, independent of its checkouts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// The directory that all checkouts share; identifies the repository.
    pub common_dir: PathBuf,
    /// Top level of the main checkout; absent in a bare layout.
    pub top_level: Option<PathBuf>,
}

/// What [`discover`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The repository.
    pub repository: Repository,
    /// The checkout that the directory lies in.
    pub checkout: Checkout,
    /// The directory, relative to the checkout's top level; empty at the top.
    pub prefix: PathBuf,
}

/// Why a directory has no checkout that can be worked with.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// There is no such directory.
    #[error("{path} can't be opened: {source}", path = .path.display())]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It belongs to no repository.
    #[error("{} is in no git repository", .0.display())]
    NoRepository(PathBuf),
    /// It is in a repository that has no files checked out.
    #[error("{} is a bare repository: there are no files to work on", .0.display())]
    Bare(PathBuf),
    /// It is inside `.git`.
    #[error("{} is inside a git directory", .0.display())]
    InsideGitDirectory(PathBuf),
    /// The repository says that its files are elsewhere.
    #[error("the repository at {path} puts its files at {work_tree} (core.worktree), which doesn't contain it",
        path = .path.display(), work_tree = .work_tree.display())]
    Elsewhere {
        /// The directory.
        path: PathBuf,
        /// Where `core.worktree` leads.
        work_tree: PathBuf,
    },
    /// The repository belongs to another user of this machine.
    #[error("{} belongs to another user; git's `safe.directory` setting must name it", .0.display())]
    ForeignOwner(PathBuf),
    /// It uses something that can't be read here.
    #[error("the repository at {path} can't be read: {reason}", path = .path.display())]
    Unsupported {
        /// The directory.
        path: PathBuf,
        /// Which extension or damage.
        reason: String,
    },
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Finds the checkout that `directory` lies in. Reads files only; nothing of the repository runs.
pub fn discover(git: &Git, directory: &Path, trust: Trust) -> Result<Found, DiscoverError> {
    let unreadable = |source| DiscoverError::Unreadable { path: directory.to_path_buf(), source };
    let directory = directory.canonicalize().map_err(unreadable)?;
    let opened = git2::Repository::open_ext(&directory, Open::CROSS_FS, std::iter::empty::<&Path>())
        .map_err(|error| refusal(&directory, &error))?;
    let resolve = |path: &Path| path.canonicalize().map_err(unreadable);
    let (git_dir, common_dir) = (resolve(opened.path())?, resolve(opened.commondir())?);
    let Some(work_tree) = opened.workdir() else {
        return Err(DiscoverError::Bare(directory));
    };
    let work_tree = resolve(work_tree)?;
    if directory.starts_with(&git_dir) || directory.starts_with(&common_dir) {
        return Err(DiscoverError::InsideGitDirectory(directory));
    }
    let Ok(prefix) = directory.strip_prefix(&work_tree).map(Path::to_path_buf) else {
        return Err(DiscoverError::Elsewhere { path: directory, work_tree });
    };
    let repository = Repository { top_level: top_level(&opened, &common_dir), common_dir: common_dir.clone() };
    let mut checkout = Checkout { work_tree, git_dir, common_dir, trust, filters_off: Vec::new() };
    checkout.library()?;
    if trust == Trust::Trusted {
        checkout.filters_off = missing_filters(git, &checkout)?;
    }
    Ok(Found { repository, checkout, prefix })
}

fn refusal(directory: &Path, error: &git2::Error) -> DiscoverError {
    match error.code() {
        git2::ErrorCode::NotFound => DiscoverError::NoRepository(directory.to_path_buf()),
        git2::ErrorCode::Owner => DiscoverError::ForeignOwner(directory.to_path_buf()),
        _ => DiscoverError::Unsupported { path: directory.to_path_buf(), reason: error.message().to_owned() },
    }
}

/// Where the main checkout is, from any of the repository's checkouts.
fn top_level(opened: &git2::Repository, common_dir: &Path) -> Option<PathBuf> {
    if !opened.is_worktree() {
        return opened.workdir()?.canonicalize().ok();
    }
    let main = git2::Repository::open_ext(common_dir, Open::NO_SEARCH | Open::NO_DOTGIT, std::iter::empty::<&Path>());
    main.ok()?.workdir()?.canonicalize().ok()
}

/// Drivers whose program isn't there. A required one would make every checkout fail.
pub(crate) fn missing_filters(git: &Git, checkout: &Checkout) -> Result<Vec<String>, GitError> {
    let mut missing: Vec<String> = filter_commands(git, checkout)?
        .into_iter()
        .filter(|(_, command)| {
            let word = command.split_whitespace().next().unwrap_or_default();
            // Only a plain name can be looked up; anything else is left to the shell that git starts.
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            !matches!(word, "" | "true" | "false") && word.chars().all(plain) && !git.finds(word)
        })
        .map(|(driver, _)| driver)
        .collect();
    missing.sort_unstable();
    missing.dedup();
    Ok(missing)
}

/// Where a checkout's `HEAD` points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch.
    Branch {
        /// Full name of the ref.
        name: String,
        /// Its commit; absent when the branch has none yet.
        commit: Option<git2::Oid>,
    },
    /// A commit, on no branch.
    Detached(git2::Oid),
}

impl Head {
    /// The commit, if there is one.
    pub fn commit(&self) -> Option<git2::Oid> {
        match self {
            Self::Branch { commit, .. } => *commit,
            Self::Detached(commit) => Some(*commit),
        }
    }
}

impl Repository {
    /// Opens the object store and the shared refs for use in this process. Doesn't know of any working tree.
    pub fn library(&self) -> Result<git2::Repository, GitError> {
        let flags = Open::NO_SEARCH | Open::NO_DOTGIT | Open::BARE;
        git2::Repository::open_ext(&self.common_dir, flags, std::iter::empty::<&Path>())
            .map_err(GitError::library(format!("opening the repository {}", self.common_dir.display())))
    }
}

impl Checkout {
    /// The checkout's own index file.
    pub fn index(&self) -> PathBuf {
        self.git_dir.join("index")
    }

    /// As [`Repository::library`].
    pub fn library(&self) -> Result<git2::Repository, GitError> {
        Repository { common_dir: self.common_dir.clone(), top_level: None }.library()
    }

    /// Where `HEAD` points, read from this checkout's own git directory.
    pub fn head(&self, library: &git2::Repository) -> Result<Head, GitError> {
        let path = self.git_dir.join("HEAD");
        let text = std::fs::read_to_string(&path).map_err(GitError::io(format!("reading {}", path.display())))?;
        let text = text.trim();
        let Some(name) = text.strip_prefix("ref:").map(str::trim) else {
            let commit = git2::Oid::from_str(text).map_err(GitError::library(format!("reading {}", path.display())))?;
            return Ok(Head::Detached(commit));
        };
        let commit = match library.find_reference(name).and_then(|found| found.peel_to_commit()) {
            Ok(commit) => Some(commit.id()),
            Err(error) if error.code() == git2::ErrorCode::NotFound => None,
            Err(error) => return Err(GitError::library(format!("reading {name}"))(error)),
        };
        Ok(Head::Branch { name: name.to_owned(), commit })
    }
}
