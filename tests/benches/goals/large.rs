//! A repository of 80 000 files in memory, for the sections that look at large ones.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use offshoot_agents::clock::SystemClock;
use offshoot_agents::git::{Git, GitSettings, Trust};
use offshoot_agents::worktree::{Base, Parent, Spec, Worktrees};

/// Files of the repository.
pub(crate) const FILES: usize = 80_000;

/// Where file systems without a journal, or slow disks, don't matter.
const IN_MEMORY: &str = "/dev/shm";

/// A repository whose files are all committed, and a folder for worktrees beside it. Removed on drop.
pub(crate) struct Large {
    folder: tempfile::TempDir,
    /// Paths and contents of all files.
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
}

impl Large {
    /// Nothing where there is no file system in memory.
    pub(crate) fn new() -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("offshoot-bench-").tempdir_in(IN_MEMORY).ok()?;
        let large = Self { folder, files: contents() };
        std::fs::create_dir(large.home()).unwrap();
        std::fs::write(large.home().join(".gitconfig"), "[user]\n\tname = Bench\n\temail = bench@example.org\n")
            .unwrap();
        write_all(&large.project(), &large.files, 1);
        for args in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "--message", "all"]] {
            large.git(&large.project(), args);
        }
        // As a repository in use is: most objects in one pack, and an index that is older than nothing.
        large.git(&large.project(), &["repack", "-adq"]);
        large.git(&large.project(), &["update-index", "--refresh", "-q"]);
        Some(large)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A place for something.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The person's git. Its processes are part of what is measured.
    pub(crate) fn git(&self, directory: &Path, args: &[&str]) {
        std::fs::create_dir_all(directory).unwrap();
        let mut command = Command::new("git");
        command.args(args).current_dir(directory).env("HOME", self.home()).env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Offshoot's git.
    pub(crate) fn settings(&self) -> Git {
        Git::new(GitSettings {
            program: "git".into(),
            path: std::env::var_os("PATH").unwrap_or_default(),
            home: Some(self.home()),
            environment: Vec::new(),
        })
    }

    /// Offshoot's worktrees.
    pub(crate) fn worktrees(&self) -> Worktrees {
        Worktrees::new(self.beside("worktrees"), self.settings(), Arc::new(SystemClock))
    }

    /// An order for one more worktree.
    pub(crate) fn spec(&self, number: usize) -> Spec {
        Spec {
            id: format!("a-{number:06}"),
            title: "Measured".to_owned(),
            parent: Parent::Directory(self.project()),
            base: Base::Snapshot,
            trust: Trust::Trusted,
            hooks: false,
            setup: None,
            root: None,
        }
    }
}

/// Files like a large project's: some sixteen in a folder, sizes between nothing and 60 KB, 4 KB in the middle.
fn contents() -> Vec<(PathBuf, Vec<u8>)> {
    let mut rng = fastrand::Rng::with_seed(7);
    let file = |n: usize| {
        let folder = n / 16;
        let path = PathBuf::from(format!("part-{:02}/area-{:02}/module-{folder}/file-{n}.c", folder % 23, folder % 71));
        let size = 1 << rng.usize(6..16);
        let size = rng.usize(size / 2..size);
        let mut text = format!("/* {n} */\n");
        while text.len() < size {
            writeln!(text, "int value_{} = {};", rng.u32(..), rng.u32(..)).unwrap();
        }
        (path, text.into_bytes())
    };
    (0..FILES).map(file).collect()
}

/// Writes files that are in memory, as quickly as the file system lets us: on `threads` threads, each folder made once.
pub(crate) fn write_all(root: &Path, files: &[(PathBuf, Vec<u8>)], threads: usize) {
    std::fs::create_dir_all(root).unwrap();
    std::thread::scope(|scope| {
        // Neighbours go to one thread, so that it alone makes their folders.
        for part in files.chunks(files.len().div_ceil(threads).next_multiple_of(16)) {
            scope.spawn(move || {
                let mut last = PathBuf::new();
                for (path, content) in part {
                    let path = root.join(path);
                    let folder = path.parent().unwrap();
                    if folder != last {
                        std::fs::create_dir_all(folder).unwrap();
                        last = folder.to_path_buf();
                    }
                    std::fs::write(&path, content).unwrap();
                }
            });
        }
    });
}
