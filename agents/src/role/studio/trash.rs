//! Deleted role files, kept in a folder of ours until many more are deleted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use offshoot_protocol::RoleTrashId;
use serde::{Deserialize, Serialize};

use crate::boundary::Target;

/// How many are kept.
const KEPT: usize = 200;

/// See the module.
pub(super) struct Trash(PathBuf);

/// Where a file was, beside its content.
#[derive(Serialize, Deserialize)]
struct Origin {
    root: PathBuf,
    beneath: PathBuf,
}

impl Trash {
    /// The folder doesn't have to exist.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Keeps a file's content and where it was.
    pub(super) fn put(&self, from: &Target, content: &[u8]) -> Result<RoleTrashId, String> {
        let id = RoleTrashId(format!("{:016x}", fastrand::u64(..)));
        let kept = self.write(&id, from, content);
        kept.map_err(|error| format!("The role can't be kept for undo in {}: {error}.", self.0.display()))?;
        self.prune();
        Ok(id)
    }

    fn write(&self, id: &RoleTrashId, from: &Target, content: &[u8]) -> io::Result<()> {
        let folder = self.0.join(&id.0);
        fs::create_dir_all(&folder)?;
        let origin = Origin { root: from.root.clone(), beneath: from.beneath.clone() };
        fs::write(folder.join("origin.json"), serde_json::to_vec(&origin)?)?;
        fs::write(folder.join("role.md"), content)
    }

    /// Where a kept file was, and its content.
    pub(super) fn get(&self, id: &RoleTrashId) -> Result<(Target, Vec<u8>), String> {
        let is_ours = id.0.len() == 16 && id.0.bytes().all(|byte| byte.is_ascii_hexdigit());
        let folder = self.0.join(&id.0);
        if !is_ours || !folder.is_dir() {
            return Err("This role is no longer kept.".to_owned());
        }
        let read = || -> io::Result<(Origin, Vec<u8>)> {
            let origin = serde_json::from_slice(&fs::read(folder.join("origin.json"))?)?;
            Ok((origin, fs::read(folder.join("role.md"))?))
        };
        let (origin, content) = read().map_err(|error| format!("{} can't be read: {error}.", folder.display()))?;
        Ok((Target { root: origin.root, beneath: origin.beneath }, content))
    }

    /// Drops a file that is back where it was.
    pub(super) fn forget(&self, id: &RoleTrashId) {
        // A leftover costs a little space and goes with the next ones.
        let _ = fs::remove_dir_all(self.0.join(&id.0));
    }

    fn prune(&self) {
        let Ok(entries) = fs::read_dir(&self.0) else { return };
        let age = |path: &Path| path.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        let mut kept: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        kept.sort_by_cached_key(|path| std::cmp::Reverse(age(path)));
        for old in kept.iter().skip(KEPT) {
            let _ = fs::remove_dir_all(old);
        }
    }
}
