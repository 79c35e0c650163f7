//! The files beneath a folder as a developer means them: hidden and ignored ones left out, sorted by path.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use globset::{GlobBuilder, GlobMatcher};
use ignore::{WalkBuilder, WalkState};

use super::{ToolError, blocking};

/// Most files that are looked at.
const MAX_FILES: usize = 1_000_000;

/// File systems that describe the running machine.
const MACHINE: [&str; 3] = ["/proc", "/sys", "/dev"];

/// What a walk came to.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Absolute paths of regular files, sorted.
    pub(super) files: Vec<PathBuf>,
    /// Set when there were more than [`MAX_FILES`].
    pub(super) is_cut: bool,
}

/// Lists the files beneath `root`, links not followed; `root` itself if it is a file. Ends early once `stop` is set.
pub(super) fn list(root: &Path, stop: &AtomicBool) -> Result<Listing, ToolError> {
    let meta = root.metadata().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ToolError::new("not_found", format!("{} does not exist.", root.display())),
        _ => ToolError::new("io_error", format!("{}: {error}", root.display())),
    })?;
    if root.canonicalize().is_ok_and(|real| MACHINE.iter().any(|system| real.starts_with(system))) {
        let message = format!("{} describes the running machine, and holds no files to search.", root.display());
        return Err(ToolError::new("not_a_regular_file", message));
    }
    if !meta.is_dir() {
        return Ok(Listing { files: vec![root.to_path_buf()], is_cut: false });
    }
    let found = Mutex::new(Vec::new());
    let walk = WalkBuilder::new(root)
        .git_global(false)
        .filter_entry(|entry| !MACHINE.iter().any(|system| entry.path() == Path::new(system)))
        .build_parallel();
    walk.run(|| {
        Box::new(|entry| {
            if stop.load(Ordering::Relaxed) {
                return WalkState::Quit;
            }
            // Folders that can't be read are left out, as by every search.
            let Ok(entry) = entry else { return WalkState::Continue };
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                if found.len() >= MAX_FILES {
                    return WalkState::Quit;
                }
                found.push(entry.into_path());
            }
            WalkState::Continue
        })
    });
    let mut files = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    files.sort_unstable();
    Ok(Listing { is_cut: files.len() >= MAX_FILES, files })
}

/// A file name pattern: `*` and `?` within a component, `**` across, `{a,b}`, `[a-z]`. One without `/` is for the name of
/// the file, in any folder.
#[derive(Debug)]
pub(super) struct Pattern {
    matcher: GlobMatcher,
    by_name: bool,
}

impl Pattern {
    /// Understands the pattern in `field`.
    pub(super) fn parse(field: &str, text: &str) -> Result<Self, ToolError> {
        let by_name = !text.trim_start_matches("./").contains('/');
        Ok(Self { by_name, ..Self::from_root(field, text)? })
    }

    /// The same, but a pattern without `/` is for files directly in the root.
    pub(super) fn from_root(field: &str, text: &str) -> Result<Self, ToolError> {
        let plain = text.trim_start_matches("./");
        if plain.is_empty() {
            return Err(ToolError::invalid(format!("`{field}` is empty.")));
        }
        if plain.starts_with('!') || plain.split('/').any(|part| part == "..") {
            return Err(ToolError::invalid(format!("`{field}` can't contain `!` at its beginning or `..`.")));
        }
        let glob = GlobBuilder::new(plain)
            .literal_separator(true)
            .build()
            .map_err(|error| ToolError::invalid(format!("`{field}`: {error}.")))?;
        Ok(Self { matcher: glob.compile_matcher(), by_name: false })
    }

    /// Whether a file beneath `root` is meant.
    pub(super) fn matches(&self, root: &Path, file: &Path) -> bool {
        if self.by_name {
            return file.file_name().is_some_and(|name| self.matcher.is_match(name));
        }
        file.strip_prefix(root).is_ok_and(|path| self.matcher.is_match(path))
    }
}

/// A path as it is shown: relative to the agent's directory where it lies in it.
pub(super) fn shown(directory: &Path, path: &Path) -> String {
    path.strip_prefix(directory).unwrap_or(path).display().to_string()
}

/// Does blocking work that looks at a flag, which is set when the returned future is dropped.
pub(super) async fn stoppable<T: Send + 'static>(
    work: impl FnOnce(&AtomicBool) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    struct StopOnDrop(Arc<AtomicBool>);
    impl Drop for StopOnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = Arc::new(AtomicBool::new(false));
    let _guard = StopOnDrop(stop.clone());
    blocking(move || work(&stop)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let root = Path::new("/r");
        let matches = |pattern: &str, file: &str| Pattern::parse("p", pattern).unwrap().matches(root, Path::new(file));
        assert!(matches("*.rs", "/r/a/b.rs") && matches("*.rs", "/r/b.rs"));
        assert!(matches("src/*.rs", "/r/src/b.rs") && !matches("src/*.rs", "/r/src/a/b.rs"));
        assert!(matches("src/**/*.{rs,md}", "/r/src/b.md") && matches("**/b.md", "/r/x/y/b.md"));
        assert!(matches("./a?.rs", "/r/ab.rs") && !matches("a/b", "/other/a/b"));
        for wrong in ["", "!a", "../a", "a/../b", "[", "{a"] {
            assert_eq!(Pattern::parse("p", wrong).unwrap_err().code, "invalid_arguments", "{wrong}");
        }
    }

    #[test]
    fn a_set_flag_ends_the_walk() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a"), "").unwrap();
        assert_eq!(list(root.path(), &AtomicBool::new(false)).unwrap().files.len(), 1);
        assert_eq!(list(root.path(), &AtomicBool::new(true)).unwrap().files.len(), 0);
    }

    #[tokio::test]
    async fn dropping_sets_the_flag() {
        let (tell, told) = std::sync::mpsc::channel();
        let (begun, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
        let work = stoppable(move |stop| {
            let _ = begun.send(());
            while !stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let _ = tell.send(());
            Ok(())
        });
        tokio::select! {
            _ = work => panic!("it ended by itself"),
            _ = has_begun.recv() => {}
        }
        told.recv().unwrap();
    }
}
