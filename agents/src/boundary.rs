//! Where an agent may write: the wall that no decision, rule, mode or hook opens.

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
        let wanted = self.absolute(path)?;
        let resolved = resolve(&wanted);
        // Git's own files decide what git runs; nothing writes them through a tool.
        if resolved.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
            return Err(BoundaryError::Outside { path: resolved, directory: self.directory.clone() });
        }
        if [&self.directory, &self.scratch].iter().any(|root| resolved.starts_with(root)) {
            return Ok(resolved);
        }
        if let Some(main) = &self.main_checkout
            && let Ok(inside) = resolved.strip_prefix(main)
        {
            let translated = self.directory.join(inside);
            return Err(BoundaryError::MainCheckout { path: wanted, translated });
        }
        Err(BoundaryError::Outside { path: resolved, directory: self.directory.clone() })
    }
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
    }
}
