//! What an agent has read, so that an edit can refuse a file that changed since.
//!
//! It remembers a hash of the whole content, never the content. It doesn't look at the disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

/// SHA-256 of a file's bytes.
type Hash = [u8; 32];

/// What one agent has read. See the module. A clone starts with the same memory and then goes its own way.
#[derive(Debug, Default)]
pub struct FileMemory(Mutex<HashMap<PathBuf, Hash>>);

/// How what is on the disk now relates to what the agent last saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It never read this file.
    Never,
    /// The content differs from what it read.
    Changed,
    /// The content is what it read.
    Current,
}

impl FileMemory {
    /// The agent now knows `content` of the file at `path` (absolute, links resolved).
    pub fn remember(&self, path: &Path, content: &[u8]) {
        self.lock().insert(path.to_path_buf(), Sha256::digest(content).into());
    }

    /// Compares the file's present `content` with what the agent last saw.
    pub fn seen(&self, path: &Path, content: &[u8]) -> Seen {
        match self.lock().get(path) {
            None => Seen::Never,
            Some(hash) if *hash == Hash::from(Sha256::digest(content)) => Seen::Current,
            Some(_) => Seen::Changed,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Hash>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for FileMemory {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.lock().clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_goes_its_own_way() {
        let parent = FileMemory::default();
        let path = Path::new("/r/a");
        assert_eq!(parent.seen(path, b"1"), Seen::Never);
        parent.remember(path, b"1");
        let child = parent.clone();
        child.remember(path, b"2");
        assert_eq!(parent.seen(path, b"1"), Seen::Current);
        assert_eq!(parent.seen(path, b"2"), Seen::Changed);
        assert_eq!(child.seen(path, b"2"), Seen::Current);
    }
}
