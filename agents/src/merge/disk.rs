//! What stands at a path of a checkout, without ever following a link.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::changes::hex;
use crate::git::to_path;

/// What was seen at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Print {
    /// No file: nothing, a folder, or something above it isn't a folder.
    Absent,
    /// A file.
    File {
        /// SHA-256 of its bytes.
        sha256: String,
        executable: bool,
    },
    /// A symbolic link.
    Link {
        /// Where it leads, as bytes.
        target: Vec<u8>,
    },
    /// A device, a socket.
    Other,
}

/// What stands at `path` below `root`.
pub(super) fn look(root: &Path, path: &[u8]) -> std::io::Result<Print> {
    let path = to_path(path);
    let mut above = root.to_path_buf();
    for part in path.parent().into_iter().flat_map(Path::components) {
        above.push(part);
        match above.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Ok(Print::Absent),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Print::Absent),
            Err(error) => return Err(error),
        }
    }
    let full = root.join(&path);
    let meta = match full.symlink_metadata() {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Print::Absent),
        Err(error) => return Err(error),
    };
    if meta.is_symlink() {
        let target = std::fs::read_link(&full)?.as_os_str().as_encoded_bytes().to_vec();
        return Ok(Print::Link { target });
    }
    if meta.is_dir() {
        return Ok(Print::Absent);
    }
    if !meta.is_file() {
        return Ok(Print::Other);
    }
    let mut file = std::fs::File::open(&full)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Ok(Print::File { sha256: hex(&hash.finalize()), executable: is_executable(&meta) })
}

/// What stands where a file has to be written and isn't about to be deleted. `deleted` are the paths that are.
pub(super) fn obstacle(root: &Path, path: &[u8], deleted: &BTreeSet<Vec<u8>>) -> Option<&'static str> {
    let name = to_path(path);
    if !is_allowed(&name) {
        return Some("a file of this name is never written");
    }
    let mut above = root.to_path_buf();
    for part in name.parent().into_iter().flat_map(Path::components) {
        above.push(part);
        let Ok(meta) = above.symlink_metadata() else { return None };
        if !meta.is_dir() {
            let relative = above.strip_prefix(root).unwrap_or(&above).as_os_str().as_encoded_bytes();
            let goes = deleted.contains(relative);
            return (!goes).then_some("a file or link stands where its folder would be");
        }
        if above.join(".git").symlink_metadata().is_ok() {
            return Some("it lies in another repository");
        }
    }
    let full = root.join(&name);
    let is_folder = full.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    (is_folder && !all_go(root, &full, deleted)).then_some("a folder with other files stands in the way")
}

/// Whether no file below `folder` stays.
fn all_go(root: &Path, folder: &Path, deleted: &BTreeSet<Vec<u8>>) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().all(|entry| {
        let path = entry.path();
        match path.symlink_metadata() {
            Ok(meta) if meta.is_dir() => all_go(root, &path, deleted),
            _ => path.strip_prefix(root).is_ok_and(|path| deleted.contains(path.as_os_str().as_encoded_bytes())),
        }
    })
}

/// Whether a path stays inside, and out of version control's own files, also where letter case doesn't count.
fn is_allowed(path: &Path) -> bool {
    path.components().all(|part| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git") && !name.eq_ignore_ascii_case("git~1"),
        _ => false,
    })
}

#[cfg(unix)]
pub(super) fn is_executable(meta: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o100 != 0
}

#[cfg(not(unix))]
pub(super) fn is_executable(_meta: &std::fs::Metadata) -> bool {
    false
}
