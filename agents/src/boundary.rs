//! Where an agent may write: the wall that no decision, rule, mode or hook opens.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The place an agent works in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Absolute, canonical path of its directory. Relative paths are meant from here; writes stay beneath it.
    pub directory: PathBuf,
    /// The checkout that an isolated agent's inherited paths speak of; writes there are refused and translated.
    pub main_checkout: Option<PathBuf>,
    /// A folder of the session outside any repository, also writable.
    pub scratch: PathBuf,
}

/// A path that may not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundaryError {
    /// An isolated agent named the checkout it was split off from.
    #[error(
        "{path} is in the main checkout, and this agent works in its own worktree. Use {translated} instead.",
        path = .path.display(), translated = .translated.display()
    )]
    MainCheckout {
        /// What was asked for.
        path: PathBuf,
        /// The same file in the agent's worktree.
        translated: PathBuf,
    },
    /// Anywhere else outside.
    #[error("{path} is outside {directory}, where this agent may write.", path = .path.display(), directory = .directory.display())]
    Outside {
        /// What was asked for, resolved.
        path: PathBuf,
        /// Where it may write.
        directory: PathBuf,
    },
    /// Git's own files decide what git runs; nothing writes them through a tool.
    #[error("{path} belongs to version control itself, where nothing is written through a tool.", path = .0.display())]
    VersionControl(PathBuf),
    /// The text is no path.
    #[error("not a path: {0}")]
    Malformed(&'static str),
}

impl Place {
    /// Makes a path absolute, from this place's directory, and takes `.` and `..` out of it textually.
    pub fn absolute(&self, path: &str) -> Result<PathBuf, BoundaryError> {
        if path.is_empty() {
            return Err(BoundaryError::Malformed("it is empty"));
        }
        if path.contains('\0') {
            return Err(BoundaryError::Malformed("it contains a NUL byte"));
        }
        Ok(normalise(&self.directory.join(path)))
    }

    /// Checks that `path` may be written: it and everything that links on the way lead to must lie beneath the directory
    /// or the scratch folder. Returns the path with all links resolved.
    pub fn writable(&self, path: &str) -> Result<PathBuf, BoundaryError> {
        self.target(path).map(|target| target.path())
    }

    /// Like [`Self::writable`], split at the folder beneath which it lies: to be opened from there, one component after
    /// the other and without following links, so that nothing can be swapped between this check and the write.
    pub fn target(&self, path: &str) -> Result<Target, BoundaryError> {
        let wanted = self.absolute(path)?;
        let resolved = resolve(&wanted);
        for root in [&self.directory, &self.scratch] {
            let Ok(beneath) = resolved.strip_prefix(root) else { continue };
            if beneath.components().any(|part| is_version_control(part.as_os_str())) {
                return Err(BoundaryError::VersionControl(resolved));
            }
            return Ok(Target { root: root.clone(), beneath: beneath.to_path_buf() });
        }
        if let Some(main) = &self.main_checkout
            && let Ok(inside) = resolved.strip_prefix(main)
        {
            let translated = self.directory.join(inside);
            return Err(BoundaryError::MainCheckout { path: wanted, translated });
        }
        Err(BoundaryError::Outside { path: resolved, directory: self.directory.clone() })
    }

    /// What a command must not write although it lies in the agent's own directory, whether it exists or not: version
    /// control's own files and what Offshoot takes orders from. The checkout that a worktree belongs to is among them.
    pub fn protected(&self) -> Vec<PathBuf> {
        let own = [".git", ".offshoot", ".claude/agents"].map(|name| self.directory.join(name));
        // These are protected where they are; nobody keeps an empty folder of theirs in every project.
        let others =
            [".hg", ".jj", ".svn"].map(|name| self.directory.join(name)).into_iter().filter(|path| path.exists());
        own.into_iter().chain(others).chain(self.main_checkout.clone()).collect()
    }
}

/// A path that may be written. See [`Place::target`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The agent's directory or the scratch folder: absolute and canonical.
    pub root: PathBuf,
    /// The rest, without links when it was checked; empty for the folder itself.
    pub beneath: PathBuf,
}

impl Target {
    /// The whole path.
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.beneath)
    }
}

/// Whether a file system could take this name for version control's folder: by letter case, by the characters that HFS+
/// ignores, by what NTFS cuts off the end, or by its short name (the same list as git's own `core.protectHFS` and
/// `core.protectNTFS`).
fn is_version_control(name: &OsStr) -> bool {
    let ignored = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let plain: String = name.to_string_lossy().chars().filter(|c| !ignored(c)).collect();
    let plain = plain.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']).to_ascii_lowercase();
    matches!(plain.as_str(), ".git" | "git~1" | ".hg" | ".jj" | ".svn")
}

fn normalise(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Resolves links of the longest part that exists, a dangling link included, and appends the rest.
fn resolve(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    // A chain of dangling links is followed by hand; forty is the kernel's own limit.
    for _ in 0..40 {
        let mut existing = path.as_path();
        let mut rest = Vec::new();
        loop {
            if let Ok(real) = existing.canonicalize() {
                return rest.iter().rev().fold(real, |base: PathBuf, part| base.join(part));
            }
            if existing.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
                break;
            }
            match (existing.parent(), existing.file_name()) {
                (Some(parent), Some(name)) => {
                    rest.push(name.to_os_string());
                    existing = parent;
                }
                _ => return path,
            }
        }
        let Ok(target) = std::fs::read_link(existing) else { return path };
        let base = existing.parent().unwrap_or(Path::new("/")).join(target);
        path = normalise(&rest.iter().rev().fold(base, |base, part| base.join(part)));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(root: &Path) -> Place {
        let root = root.canonicalize().unwrap();
        for folder in ["work", "work-evil", "main", "scratch"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        Place { directory: root.join("work"), main_checkout: Some(root.join("main")), scratch: root.join("scratch") }
    }

    #[test]
    fn components_are_compared_not_characters() {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path());
        assert!(place.writable("a/b").is_ok());
        assert!(place.writable(root.path().join("workshop/x").to_str().unwrap()).is_err());
        assert!(place.writable("../work-evil/x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_outside_are_refused_dangling_ones_too() {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path());
        std::os::unix::fs::symlink(root.path().join("work-evil"), place.directory.join("link")).unwrap();
        std::os::unix::fs::symlink(root.path().join("nowhere"), place.directory.join("dangling")).unwrap();
        assert!(place.writable("link/x").is_err());
        assert!(place.writable("dangling").is_err());
    }

    #[test]
    fn an_inherited_path_is_translated() {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path());
        let main = place.main_checkout.clone().unwrap();
        let error = place.writable(main.join("src/a.rs").to_str().unwrap()).unwrap_err();
        assert!(error.to_string().contains(place.directory.join("src/a.rs").to_str().unwrap()), "{error}");
    }

    #[test]
    fn version_control_internals_and_nul_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path());
        assert!(place.writable(".git/hooks/x").is_err());
        assert!(place.writable("sub/.GIT/config").is_err());
        assert!(place.writable("a\0b").is_err());
        for name in [".git/x", ".gIt.", ".git ", "git~1/x", ".g\u{200c}it/x", ".git::$INDEX_ALLOCATION/x", ".hg/hgrc"] {
            let error = place.writable(&format!("sub/{name}")).unwrap_err();
            assert!(matches!(error, BoundaryError::VersionControl(_)), "{name}: {error}");
        }
        assert!(place.writable(".gitignore").is_ok());
        assert!(place.writable(".github/workflows/x.yml").is_ok());
    }

    #[test]
    fn a_folder_beneath_version_controls_own_can_be_worked_in() {
        let root = tempfile::tempdir().unwrap();
        let mut place = place(root.path());
        place.scratch = place.main_checkout.clone().unwrap().join(".git/offshoot/scratch");
        std::fs::create_dir_all(&place.scratch).unwrap();
        assert!(place.writable(place.scratch.join("x").to_str().unwrap()).is_ok());
        assert!(place.writable(place.scratch.join("../x").to_str().unwrap()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn chains_and_circles_of_links_end() {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path());
        let link = |from: &str, to: &str| std::os::unix::fs::symlink(to, place.directory.join(from)).unwrap();
        link("a", "b");
        link("b", "a");
        link("inside", "new/file");
        link("back", "../main/src");
        assert!(place.writable("inside").unwrap().ends_with("work/new/file"));
        // A circle names nothing; opening it fails without following anything.
        assert!(place.writable("a").is_ok());
        assert!(matches!(place.writable("back/x.rs").unwrap_err(), BoundaryError::MainCheckout { .. }));
    }

    #[test]
    fn what_commands_must_not_write_is_named_whether_it_exists_or_not() {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path());
        std::fs::create_dir(place.directory.join(".jj")).unwrap();
        let protected = place.protected();
        for name in [".git", ".offshoot", ".claude/agents", ".jj", "../main"] {
            assert!(protected.contains(&normalise(&place.directory.join(name))), "{name}");
        }
        assert!(!protected.contains(&place.directory.join(".hg")));
    }

    #[test]
    fn a_target_is_split_at_its_root() {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path());
        let target = place.target("a/./b/../c").unwrap();
        assert_eq!(target, Target { root: place.directory.clone(), beneath: PathBuf::from("a/c") });
        let scratch = place.target(place.scratch.join("x").to_str().unwrap()).unwrap();
        assert_eq!(scratch.root, place.scratch);
    }
}
