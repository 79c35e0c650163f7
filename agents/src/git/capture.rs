//! Writes what a directory contains (tracked, changed, untracked; not ignored) as a tree, with a throw-away index.
//!
//! The checkout's own index is only ever read: it is copied as the start of the throw-away one, so that unchanged files
//! aren't read again. A throw-away index that is kept makes the next capture read only what was touched since.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{Cancel, Checkout, Command, Git, GitError, index};

/// A captured directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The tree.
    pub tree: git2::Oid,
    /// Untracked repositories inside, relative paths. Their content is *not* in the tree.
    pub nested: Vec<PathBuf>,
}

/// A place for objects that nobody needs for long, beside the repository's own store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantine(PathBuf);

impl Quarantine {
    /// Makes the folder.
    pub fn at(folder: PathBuf) -> Result<Self, GitError> {
        let what = || format!("making {}", folder.display());
        git2::Repository::init_bare(&folder).map_err(GitError::library(what()))?;
        Ok(Self(folder))
    }

    /// A library handle that reads what is here and in the repository, and writes here.
    pub fn library(&self, checkout: &Checkout) -> Result<git2::Repository, GitError> {
        let what = || format!("opening {}", self.0.display());
        let library = git2::Repository::open_bare(&self.0).map_err(GitError::library(what()))?;
        let objects = checkout.common_dir.join("objects");
        let Some(path) = objects.to_str() else {
            return Err(GitError::Library { what: what(), source: git2::Error::from_str("the path isn't UTF-8") });
        };
        library.odb().and_then(|store| store.add_disk_alternate(path)).map_err(GitError::library(what()))?;
        Ok(library)
    }

    /// Lets a git process do the same.
    pub fn apply<'a>(&self, command: Command<'a>, checkout: &Checkout) -> Command<'a> {
        let (here, there) = (self.0.join("objects"), quoted(&checkout.common_dir.join("objects")));
        command.variable("GIT_OBJECT_DIRECTORY", here).variable("GIT_ALTERNATE_OBJECT_DIRECTORIES", there)
    }
}

/// A path as an entry of git's list of object stores, where `:` separates and `"` quotes.
fn quoted(path: &Path) -> std::ffi::OsString {
    let Some(text) = path.to_str() else { return path.as_os_str().to_owned() };
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"").into()
}

/// A capture that is about to be made.
#[must_use]
pub struct Capture<'a> {
    git: &'a Git,
    checkout: &'a Checkout,
    index: &'a Path,
    quarantine: Option<&'a Quarantine>,
    cancel: Option<&'a Cancel>,
}

/// What differs between the throw-away index and the directory.
#[derive(Default)]
struct Scan {
    changed: BTreeSet<Vec<u8>>,
    deleted: BTreeSet<Vec<u8>>,
    untracked: BTreeSet<Vec<u8>>,
    nested: BTreeSet<Vec<u8>>,
}

impl<'a> Capture<'a> {
    /// A capture of `checkout`. `index` is the throw-away index: made from the checkout's own when it isn't there or no
    /// longer fits. Objects go to the repository's store.
    pub fn new(git: &'a Git, checkout: &'a Checkout, index: &'a Path) -> Self {
        Self { git, checkout, index, quarantine: None, cancel: None }
    }

    /// Another place for the objects.
    pub fn quarantine(mut self, quarantine: &'a Quarantine) -> Self {
        self.quarantine = Some(quarantine);
        self
    }

    /// What ends it early.
    pub fn cancel(mut self, cancel: &'a Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Whether the index of an earlier capture still fits: nothing was staged and no rule outside the tree changed since.
    pub fn is_current(&self) -> bool {
        self.index.exists() && std::fs::read(self.stamp()).is_ok_and(|stamp| stamp == self.fingerprint())
    }

    /// Does it.
    pub fn run(self) -> Result<Captured, GitError> {
        let fresh = self.seed()?;
        let mut found = self.scan()?;
        let rules_changed = |path: &Vec<u8>| path == b".gitignore" || path.ends_with(b"/.gitignore");
        if !fresh && found.changed.iter().chain(&found.deleted).chain(&found.untracked).any(rules_changed) {
            // What was untracked at the last look may be ignored now: start again from the checkout's own index.
            self.reseed()?;
            found = self.scan()?;
        }
        self.record(&found)?;
        self.record_submodules()?;
        let output = self.command().arg("write-tree").run()?;
        let tree = String::from_utf8_lossy(&output.stdout);
        let tree = git2::Oid::from_str(tree.trim()).map_err(GitError::library("reading the hash of a tree"))?;
        let nested = found.nested.iter().map(|path| to_path(path)).collect();
        Ok(Captured { tree, nested })
    }

    fn command(&self) -> Command<'a> {
        let mut command = self.git.on(self.checkout).index(self.index);
        if let Some(quarantine) = self.quarantine {
            command = quarantine.apply(command, self.checkout);
        }
        match self.cancel {
            Some(cancel) => command.cancel(cancel),
            None => command,
        }
    }

    /// Makes the throw-away index fit. True when it is new.
    fn seed(&self) -> Result<bool, GitError> {
        let mut stale = self.index.as_os_str().to_owned();
        stale.push(".lock");
        // Left by a process that was killed; nobody else writes this index.
        let _ = std::fs::remove_file(stale);
        if self.is_current() {
            return Ok(false);
        }
        self.reseed()?;
        Ok(true)
    }

    fn reseed(&self) -> Result<(), GitError> {
        let what = || format!("copying the index of {}", self.checkout.work_tree.display());
        let fingerprint = self.fingerprint();
        match index::copy(&self.checkout.index(), self.index) {
            Ok(()) => {}
            // A checkout without an index has no tracked files.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let _ = std::fs::remove_file(self.index);
            }
            Err(error) => return Err(GitError::io(what())(error)),
        }
        self.clear_flags()?;
        std::fs::write(self.stamp(), fingerprint).map_err(GitError::io(what()))
    }

    fn stamp(&self) -> PathBuf {
        self.index.with_extension("stamp")
    }

    /// Changes when the checkout's own index or the ignore rules outside the tree do.
    fn fingerprint(&self) -> Vec<u8> {
        let of = |path: PathBuf| {
            std::fs::metadata(path).map_or(String::new(), |meta| {
                let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                format!("{} {:?}", meta.len(), modified)
            })
        };
        format!("{}\n{}", of(self.checkout.index()), of(self.checkout.common_dir.join("info/exclude"))).into_bytes()
    }

    /// Takes *assume unchanged* and *skip worktree* off entries whose file is there: what the file says counts.
    fn clear_flags(&self) -> Result<(), GitError> {
        // An index that the library can't read (a sparse one) keeps its flags.
        let Ok(index) = git2::Index::open(self.index) else { return Ok(()) };
        let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
        for entry in index.iter() {
            let there = || self.checkout.work_tree.join(to_path(&entry.path)).symlink_metadata().is_ok();
            if entry.flags & ASSUME_UNCHANGED != 0 {
                assumed.push(entry.path);
            } else if entry.flags_extended & SKIP_WORKTREE != 0 && there() {
                skipped.push(entry.path);
            }
        }
        for (switch, paths) in [("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)] {
            if !paths.is_empty() {
                self.command().args(["update-index", "-z", switch, "--stdin"]).input(joined(&paths)).run()?;
            }
        }
        Ok(())
    }

    fn scan(&self) -> Result<Scan, GitError> {
        let tracked = self.command().args(["diff-files", "-z", "--name-status", "--ignore-submodules=all"]);
        let others = self.command().args(["ls-files", "-z", "--others", "--exclude-standard"]);
        // Two walks over the same directory; side by side they take the time of one.
        let (tracked, others) = std::thread::scope(|scope| {
            let tracked = scope.spawn(|| tracked.run());
            (tracked.join(), others.run())
        });
        let (tracked, others) = (tracked.expect("running a process doesn't panic")?, others?);

        let mut scan = Scan::default();
        let mut fields = tracked.stdout.split(|byte| *byte == 0);
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            let meta = self.checkout.work_tree.join(to_path(path)).symlink_metadata();
            let kept = status != b"D" && meta.is_ok_and(|meta| meta.is_file() || meta.is_symlink());
            if kept {
                scan.changed.insert(path.to_vec())
            } else {
                scan.deleted.insert(path.to_vec())
            };
        }
        for path in others.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            match path.strip_suffix(b"/") {
                Some(nested) => scan.nested.insert(nested.to_vec()),
                None => scan.untracked.insert(path.to_vec()),
            };
        }
        Ok(scan)
    }

    fn record(&self, scan: &Scan) -> Result<(), GitError> {
        if !scan.deleted.is_empty() {
            // First, and without a look at the disk: a path that now lies behind a link would be an error below.
            let input = joined(&scan.deleted);
            self.command().args(["update-index", "-z", "--force-remove", "--stdin"]).input(input).run()?;
        }
        if !scan.changed.is_empty() || !scan.untracked.is_empty() {
            let input = joined(scan.changed.iter().chain(&scan.untracked));
            let args = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
            self.command().args(args).input(input).run()?;
        }
        Ok(())
    }

    /// Records which commit each submodule stands at. Their directories are never entered by a git process: it would
    /// obey their configuration.
    fn record_submodules(&self) -> Result<(), GitError> {
        if !self.checkout.work_tree.join(".gitmodules").exists() {
            return Ok(());
        }
        let Ok(index) = git2::Index::open(self.index) else { return Ok(()) };
        for entry in index.iter().filter(|entry| entry.mode == GITLINK) {
            let path = self.checkout.work_tree.join(to_path(&entry.path));
            let flags = git2::RepositoryOpenFlags::NO_SEARCH;
            let Ok(module) = git2::Repository::open_ext(&path, flags, std::iter::empty::<&Path>()) else { continue };
            let Some(commit) = module.head().ok().and_then(|head| head.target()) else { continue };
            if commit != entry.id {
                let input = [format!("160000 {commit}\t").as_bytes(), &entry.path, b"\0"].concat();
                self.command().args(["update-index", "-z", "--index-info"]).input(input).run()?;
            }
        }
        Ok(())
    }
}

/// `CE_VALID` of git's index format.
const ASSUME_UNCHANGED: u16 = 0x8000;
/// `CE_SKIP_WORKTREE`, in the extended flags.
const SKIP_WORKTREE: u16 = 0x4000;
/// Mode of a submodule's entry.
const GITLINK: u32 = 0o160_000;

fn joined<'a>(paths: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    paths.into_iter().flat_map(|path| path.iter().copied().chain([0])).collect()
}

/// A path as git writes it.
#[cfg(unix)]
pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// A path as git writes it.
#[cfg(not(unix))]
pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
