//! Git's index file: copied, and written whole (version 2, with no extension but the cached trees).
//!
//! Format: <https://git-scm.com/docs/index-format>.

use std::path::Path;

use git2::Oid;
use sha1::{Digest, Sha1};

use super::GitError;

/// What the index remembers of a file on disk, so that it needn't be read to know that it wasn't touched. Each number is
/// cut to 32 bits, as git does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Seconds and nanoseconds of the last change of the file's entry.
    pub(crate) changed: (u32, u32),
    /// Seconds and nanoseconds of the last change of its content.
    pub(crate) modified: (u32, u32),
    pub(crate) device: u32,
    pub(crate) inode: u32,
    pub(crate) user: u32,
    pub(crate) group: u32,
    /// In bytes.
    pub(crate) size: u32,
}

/// A file in an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: Vec<u8>,
    pub(crate) id: Oid,
    pub(crate) mode: u32,
    pub(crate) stat: Stat,
}

/// A tree that the entries of an index are known to make, so that git needn't put it together again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder {
    /// The last part of its path; empty for the root.
    pub(crate) name: Vec<u8>,
    pub(crate) id: Oid,
    /// Files below it, at any depth.
    pub(crate) entries: usize,
    /// Folders directly in it; they follow, each with its own behind it.
    pub(crate) folders: usize,
}

/// Writes an index of these entries. They must be in the order of their paths, byte by byte. `folders` are the trees that
/// they make, the root first, or nothing.
pub(crate) fn write(path: &Path, entries: &[Entry], folders: &[Folder]) -> Result<(), GitError> {
    let what = || format!("writing {}", path.display());
    std::fs::write(path, encode(entries, folders)).map_err(GitError::io(what()))
}

/// Copies an index with its time. A file that was written after the index, but in the same moment, looks untouched by its
/// own time alone; git reads such files again because they aren't older than the index. In a copy that is newer it would
/// take them for untouched for good.
pub(crate) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    // Taken first: a time that is too early only makes git read more.
    let modified = std::fs::metadata(from)?.modified()?;
    std::fs::copy(from, to)?;
    std::fs::File::options().append(true).open(to)?.set_modified(modified)
}

fn encode(entries: &[Entry], folders: &[Folder]) -> Vec<u8> {
    /// Bytes of an entry before its path.
    const FIXED: usize = 62;
    /// Longest path whose length is written down.
    const LENGTH: usize = 0xFFF;
    let mut bytes =
        Vec::with_capacity(12 + entries.iter().map(|entry| FIXED + entry.path.len() + 8).sum::<usize>() + 20);
    bytes.extend(b"DIRC");
    bytes.extend(2_u32.to_be_bytes());
    bytes.extend(u32::try_from(entries.len()).unwrap_or(u32::MAX).to_be_bytes());
    for Entry { path, id, mode, stat } in entries {
        let Stat { changed, modified, device, inode, user, group, size } = stat;
        let start = bytes.len();
        for number in [changed.0, changed.1, modified.0, modified.1, *device, *inode, *mode, *user, *group, *size] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend(id.as_bytes());
        bytes.extend(u16::try_from(path.len().min(LENGTH)).unwrap_or(u16::MAX).to_be_bytes());
        bytes.extend(path);
        // At least one NUL, up to a multiple of eight.
        let length = (bytes.len() - start) / 8 * 8 + 8;
        bytes.resize(start + length, 0);
    }
    if !folders.is_empty() {
        let mut extension: Vec<u8> = Vec::with_capacity(folders.len() * 48);
        for Folder { name, id, entries, folders } in folders {
            extension.extend(name);
            extension.extend(format!("\0{entries} {folders}\n").as_bytes());
            extension.extend(id.as_bytes());
        }
        bytes.extend(b"TREE");
        bytes.extend(u32::try_from(extension.len()).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend(extension);
    }
    let checksum = Sha1::digest(&bytes);
    bytes.extend(checksum);
    bytes
}
