//! What is written down before, while and after files change, so that a crash leaves the old or the new, never a mixture.

use std::fs::File;
use std::path::{Path, PathBuf};

use offshoot_protocol::{MergeDone, SessionId};
use serde::{Deserialize, Serialize};

use super::MergeError;
use super::disk::Print;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// Contents are being collected; no file of the person has changed.
    Prepared,
    /// Files are being replaced by the new ones; a crash is followed by finishing it.
    Applying,
    /// The new ones are there.
    Applied,
    /// Files are being put back; a crash is followed by finishing it.
    Undoing,
    /// The old ones are there again.
    Undone,
}

/// A record, in `<token>/record.json` beside the contents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) stage: Stage,
    /// Top level of the checkout.
    pub(super) work_tree: PathBuf,
    /// Where temporary files are, on the checkout's file system; removed whole.
    pub(super) temporary: PathBuf,
    pub(super) steps: Vec<Step>,
    pub(super) done: MergeDone,
    /// The session whose log is to say that it happened.
    pub(super) session: Option<SessionId>,
    /// Whether the log says so.
    pub(super) told: bool,
    /// For each fork: the tree that had been brought home before, and the one that is now.
    pub(super) settled: Vec<(String, Option<String>, String)>,
    /// Whose conflict in which file was settled, and the content that the file became.
    #[serde(default)]
    pub(super) resolved: Vec<(String, String, String)>,
    /// The checkout's tree before and after, as long as the store has them.
    #[serde(default)]
    pub(super) trees: Option<(String, String)>,
    /// The branch's last commit before, where commits were made.
    #[serde(default)]
    pub(super) head: Option<String>,
    /// Whether it changed a worktree by itself, rather than bringing another's changes there.
    #[serde(default)]
    pub(super) is_within: bool,
}

/// One path.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) path: Vec<u8>,
    pub(super) old: Print,
    pub(super) new: Print,
    /// Permission bits of the old file.
    pub(super) mode: Option<u32>,
}

impl Step {
    pub(super) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }
}

impl Record {
    pub(super) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join("record.json")).ok()?).ok()
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), MergeError> {
        let json = serde_json::to_vec(self);
        let json = json.map_err(|error| MergeError::storage("writing a record")(error.into()))?;
        write(&folder.join("record.json"), &json)
    }
}

/// Writes a small file in one step, and makes sure that it is on the disk.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), MergeError> {
    let what = || format!("writing {}", path.display());
    let folder = path.parent().unwrap_or(path);
    let written = || {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut file, bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        sync_folder(folder)
    };
    written().map_err(MergeError::storage(what()))
}

/// Makes sure that a folder's entries are on the disk, where the platform has a call for it.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Makes sure that a folder's entries are on the disk, where the platform has a call for it.
#[cfg(not(unix))]
pub(super) fn sync_folder(_folder: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Holds a repository's folder against other processes until it is dropped. The system releases it when a process dies.
pub(super) struct Lock(#[expect(dead_code, reason = "held, not used")] File);

impl Lock {
    pub(super) fn take(folder: &Path) -> Result<Self, MergeError> {
        let what = || format!("locking {}", folder.display());
        let locked = || {
            std::fs::create_dir_all(folder)?;
            let file = File::options().create(true).truncate(false).write(true).open(folder.join(".lock"))?;
            file.lock()?;
            Ok(file)
        };
        locked().map(Self).map_err(MergeError::storage(what()))
    }
}
