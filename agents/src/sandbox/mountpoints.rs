//! What must not be written must not come into being either: a place to mount on is made where there is none.
//!
//! It is an empty folder, on the disk, for as long as a command needs it. One that was given content meanwhile stays.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{CommandSpec, SandboxError};

/// The folders that exist only to be mounted on, with the number of commands that need each.
#[derive(Debug, Default)]
pub(super) struct Mountpoints(Mutex<HashMap<PathBuf, usize>>);

/// The folders that one command needs. Dropped when the command and everything it started is gone.
#[derive(Debug, Default)]
pub(super) struct Planted {
    folders: Vec<(Arc<Mountpoints>, PathBuf)>,
    /// A folder for the command's temporary files, where it can't have a `/tmp` of its own.
    temporary: Option<tempfile::TempDir>,
}

impl Mountpoints {
    /// Makes what is missing of the protected paths and lies in a writable folder, where a command could make it itself.
    pub(super) fn plant(self: &Arc<Self>, spec: &CommandSpec<'_>) -> Result<Planted, SandboxError> {
        let mut planted = Planted::default();
        for path in spec.protected {
            let Some(root) = spec.writable.iter().find(|root| path.starts_with(root)) else { continue };
            let Ok(beneath) = path.strip_prefix(root) else { continue };
            let mut folder = root.clone();
            for part in beneath.components() {
                folder.push(part);
                match self.hold(&folder) {
                    Ok(Held::Planted) => planted.folders.push((self.clone(), folder.clone())),
                    Ok(Held::Existing) => {}
                    // A link or a file on the way: what it leads to is protected if it is there.
                    Ok(Held::Elsewhere) => break,
                    Err(source) => return Err(SandboxError::Protect { path: folder, source }),
                }
            }
        }
        Ok(planted)
    }

    fn hold(&self, folder: &Path) -> std::io::Result<Held> {
        let mut folders = self.lock();
        if let Some(count) = folders.get_mut(folder) {
            *count += 1;
            return Ok(Held::Planted);
        }
        match folder.symlink_metadata() {
            Ok(meta) if meta.is_dir() => Ok(Held::Existing),
            Ok(_) => Ok(Held::Elsewhere),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                std::fs::create_dir(folder)?;
                folders.insert(folder.to_path_buf(), 1);
                Ok(Held::Planted)
            }
            Err(error) => Err(error),
        }
    }

    fn release(&self, folder: &Path) {
        let mut folders = self.lock();
        let Some(count) = folders.get_mut(folder) else { return };
        *count -= 1;
        if *count == 0 {
            folders.remove(folder);
            // Fails, as it should, if something is in it by now.
            let _ = std::fs::remove_dir(folder);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is at a path that is to be mounted on.
enum Held {
    /// A folder made for that.
    Planted,
    /// A folder of the user's.
    Existing,
    /// A file or a link.
    Elsewhere,
}

impl Planted {
    /// Only a folder for temporary files, which is removed with all that is in it.
    pub(super) fn temporary(folder: tempfile::TempDir) -> Self {
        Self { folders: Vec::new(), temporary: Some(folder) }
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        for (mountpoints, folder) in self.folders.drain(..).rev() {
            mountpoints.release(&folder);
        }
        self.temporary.take();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Limits;
    use super::*;

    #[test]
    fn folders_last_as_long_as_the_last_command_that_needs_them() {
        let root = tempfile::tempdir().unwrap();
        let writable = [root.path().to_path_buf()];
        let protected = [".git", ".claude/agents", ".offshoot"].map(|name| root.path().join(name));
        std::fs::create_dir(root.path().join(".offshoot")).unwrap();
        let spec = CommandSpec {
            command: "",
            directory: root.path(),
            writable: &writable,
            protected: &protected,
            environment: &[],
            network: false,
            limits: Limits::default(),
        };
        let mountpoints = Arc::<Mountpoints>::default();
        let first = mountpoints.plant(&spec).unwrap();
        let second = mountpoints.plant(&spec).unwrap();
        assert!(protected.iter().all(|path| path.is_dir()));
        drop(first);
        assert!(protected.iter().all(|path| path.is_dir()));
        std::fs::write(root.path().join(".git/HEAD"), "").unwrap();
        drop(second);
        assert!(root.path().join(".git/HEAD").exists(), "what was given content stays");
        assert!(root.path().join(".offshoot").exists(), "what was there stays");
        assert!(!root.path().join(".claude").exists());
    }
}
