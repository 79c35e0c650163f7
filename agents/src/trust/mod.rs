//! Which folders the person trusts.
//!
//! A repository can bring settings, hooks, roles and instructions along. They count only in a folder that the person said
//! to trust; until then [`would_activate`] lists them for the question. The answer is remembered by the real path of the
//! main checkout, so that it holds for all its worktrees and moves nowhere else.
//!
//! When in doubt nothing is trusted: a file that can't be read means no folder is, and it is kept aside, never overwritten.

mod activate;
mod place;
mod project;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::settings::{SettingWarning, lock, read_text, replace};

pub use activate::would_activate;
pub use offshoot_protocol::Trust;
pub use place::main_checkout;
pub use project::Project;

/// Why an answer was not remembered. What was remembered before still is.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The folder isn't there.
    #[error("{} can't be trusted or distrusted: {source}.", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its path can't be written down.
    #[error("{} can't be remembered: its path is no UTF-8 text. Rename the folder.", .0.display())]
    Name(PathBuf),
    /// The disk says no.
    #[error("{} was not changed: {source}.", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The answers, in `<config dir>/trust.json`: `{"version": 1, "folders": {"/path": "trusted" | "untrusted"}}`.
#[derive(Clone, Debug)]
pub struct TrustFile {
    path: PathBuf,
    folders: Map<String, Value>,
}

/// Version of the file's shape that this program writes and reads.
const VERSION: u64 = 1;

impl TrustFile {
    /// Reads the answers. A file that can't be read is a warning, and as good as none.
    pub fn open(config_dir: &Path) -> (Self, Option<SettingWarning>) {
        let path = config_dir.join("trust.json");
        let (folders, warning) = match read(&path) {
            Ok(folders) => (folders.unwrap_or_default(), None),
            Err(why) => {
                let message =
                    format!("no folder is trusted, because the file can't be read: {why}. It is kept as it is");
                (Map::new(), Some(SettingWarning { path: path.clone(), line: None, message }))
            }
        };
        (Self { path, folders }, warning)
    }

    /// What the person said about a project, as of the last [`Self::open`] or [`Self::set`].
    pub fn of(&self, project: &Path) -> Trust {
        let known = key(project).ok().and_then(|key| self.folders.get(&key)?.as_str());
        match known {
            Some("trusted") => Trust::Trusted,
            Some("untrusted") => Trust::Untrusted,
            _ => Trust::Unknown,
        }
    }

    /// Remembers what the person said; [`Trust::Unknown`] forgets it. What others remembered in the meantime is kept. A file
    /// that can't be read is renamed to `trust.json.bad` (or `.bad.1` …) first. Blocks on the disk.
    pub fn set(&mut self, project: &Path, trust: Trust) -> Result<(), TrustError> {
        let key = key(project)?;
        let failed = |source| TrustError::Io { path: self.path.clone(), source };
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(failed)?;
        let _lock = lock(folder).map_err(failed)?;
        let mut folders = if let Ok(folders) = read(&self.path) {
            folders.unwrap_or_default()
        } else {
            put_aside(&self.path).map_err(failed)?;
            Map::new()
        };
        match trust {
            Trust::Trusted => folders.insert(key, "trusted".into()),
            Trust::Untrusted => folders.insert(key, "untrusted".into()),
            Trust::Unknown => folders.remove(&key),
        };
        let text = format!("{:#}\n", json!({ "version": VERSION, "folders": folders }));
        replace(&self.path, text.as_bytes()).map_err(failed)?;
        self.folders = folders;
        Ok(())
    }
}

/// What stands for a project in the file.
fn key(project: &Path) -> Result<String, TrustError> {
    let failed = |source| TrustError::Folder { folder: project.to_path_buf(), source };
    let place = main_checkout(project).map_err(failed)?;
    place.into_os_string().into_string().map_err(|name| TrustError::Name(name.into()))
}

fn read(path: &Path) -> Result<Option<Map<String, Value>>, String> {
    let Some(text) = read_text(path, None)? else { return Ok(None) };
    let mut value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    match value["version"].as_u64() {
        Some(VERSION) => {}
        Some(other) => return Err(format!("it has version {other}, and this program knows version {VERSION}")),
        None => return Err("it has no version".to_owned()),
    }
    match value["folders"].take() {
        Value::Object(folders) => Ok(Some(folders)),
        _ => Err("it has no `folders`".to_owned()),
    }
}

/// Renames to the first free name of `x.bad`, `x.bad.1`, ….
fn put_aside(path: &Path) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".bad");
    let first = PathBuf::from(&name);
    let numbered = (1..100).map(|number| {
        let mut name = name.clone();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    });
    let free = std::iter::once(first).chain(numbered).find(|name| name.symlink_metadata().is_err());
    let free = free.ok_or_else(|| io::Error::other("there are too many files put aside beside it"))?;
    fs::rename(path, free)
}

#[cfg(test)]
mod tests;
