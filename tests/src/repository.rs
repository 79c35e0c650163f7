//! Temporary git repositories: real ones, made by git, untouched by the machine's own settings.

use std::path::{Path, PathBuf};
use std::process::Command;

use offshoot_agents::model::demo::create_sample;

/// A repository in a temporary folder, removed on drop.
pub struct Repository {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Repository {
    /// The sample project.
    pub fn sample() -> Self {
        let repository = Self::folder();
        create_sample(&repository.path).expect("the folder is empty");
        repository
    }

    /// An empty repository on branch `main`, with a user.
    pub fn empty() -> Self {
        let repository = Self::folder();
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.git(&["config", "user.name", "Test"]);
        repository.git(&["config", "user.email", "test@example.com"]);
        repository
    }

    fn folder() -> Self {
        let folder = tempfile::tempdir().expect("the machine has a temporary folder");
        // A folder inside, so that what is made beside the repository is temporary too.
        let path = folder.path().canonicalize().expect("it exists").join("project");
        std::fs::create_dir(&path).expect("the folder is new");
        Self { folder, path }
    }

    /// A repository with these files in one commit.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let repository = Self::empty();
        for (path, content) in files {
            repository.write(path, content);
        }
        repository.commit("Start");
        repository
    }

    /// A folder with these files that no git knows.
    pub fn without_git(files: &[(&str, &str)]) -> Self {
        let folder = Self::folder();
        for (path, content) in files {
            folder.write(path, content);
        }
        folder
    }

    /// Absolute, canonical path of the working tree.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A temporary folder beside the working tree, for a program's own data. Removed with the repository.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.path.with_file_name(name)
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path.join(path);
        let parent = path.parent().expect("it is beneath the repository");
        std::fs::create_dir_all(parent).expect("the repository is writable");
        std::fs::write(path, content).expect("the repository is writable");
    }

    /// A file's text.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Commits everything that is there; returns the commit's hash.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Runs git in the working tree; returns its output without the last line feed.
    ///
    /// # Panics
    /// When git fails.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.path, arguments)
    }

    /// Runs git in another folder, such as a worktree's.
    ///
    /// # Panics
    /// When git fails.
    pub fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(folder).args(arguments).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        // Fixed times make the hashes the same in every run.
        command
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z");
        let output = command.output().expect("git is installed");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?} in {}: {error}", folder.display());
        String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_committed_in_a_clean_environment() {
        let repository = Repository::with(&[("src/a.txt", "one\n")]);
        repository.write("src/a.txt", "two\n");
        assert_eq!(repository.git(&["status", "--porcelain"]), " M src/a.txt");
        let hash = repository.commit("Second");
        assert_eq!(repository.git(&["log", "--format=%s %an"]), "Second Test\nStart Test");
        assert_eq!(repository.git(&["rev-parse", "main"]), hash);
        assert_eq!(repository.read("src/a.txt"), "two\n");
    }
}
