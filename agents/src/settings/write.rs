//! Adding rules to a settings file, for "always allow".
//!
//! The file belongs to the person: only the new text is put in, in the file's own indentation, and every other byte stays
//! where it is. A file that isn't understood is never written.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::json::{Document, Member, Node};
use super::read_text;
use super::splice::Splice;

/// How often, and how long apart, a file that somebody else is changing is tried again.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Why rules were not added. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file is no JSON.
    #[error("{} was not changed: it is no JSON: {message} in line {line}, column {column}. Correct it and try again.", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: u32,
        /// From 1.
        column: u32,
        /// What is wrong there.
        message: String,
    },
    /// The file is JSON, but rules have no place in it.
    #[error("{}:{line} was not changed: {message}. Correct it and try again.", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: u32,
        /// What stands in the way.
        message: String,
    },
    /// It is not the kind of file that is written: a link, too large, no text.
    #[error("{} was not changed: {message}.", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// The disk says no.
    #[error("{} was not changed: {source}.", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Adds rules to `permissions.allow` of a settings file, all or none; those that are there already are skipped. Returns how
/// many are new. Makes the file, its folder, and beside a file named `settings.local.json` a `.gitignore` that keeps it out
/// of the repository. Blocks on the disk, and up to a second on another program that writes the file.
pub fn add_allow_rules(path: &Path, rules: &[String]) -> Result<usize, WriteError> {
    let refused = |message: &str| WriteError::Refused { path: path.to_path_buf(), message: message.to_owned() };
    let failed = |source| WriteError::Io { path: path.to_path_buf(), source };
    let folder = path.parent().ok_or_else(|| refused("it has no folder"))?;
    // A repository may come with links that lead to somebody else's settings.
    for link in [folder, path] {
        if link.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
            return Err(refused(&format!("{} is a link", link.display())));
        }
    }
    fs::create_dir_all(folder).map_err(failed)?;
    let _lock = lock(folder).map_err(failed)?;
    let old = read_text(path, Some(folder)).map_err(|message| refused(&message))?;
    let is_new = old.is_none();
    let (text, added) = with_rules(path, old.unwrap_or_default(), rules)?;
    if added == 0 {
        return Ok(0);
    }
    if is_new && path.file_name().is_some_and(|name| name == "settings.local.json") {
        // Before the file is there, so that no commit catches it in between.
        ignore(folder).map_err(failed)?;
    }
    replace(path, text.as_bytes()).map_err(failed)?;
    Ok(added)
}

/// The file's text with the rules in it, and how many of them are new.
fn with_rules(path: &Path, old: String, rules: &[String]) -> Result<(String, usize), WriteError> {
    let old = if old.trim_start_matches('\u{feff}').trim().is_empty() { "{}\n".to_owned() } else { old };
    let document = parse(path, old)?;
    let shape = |node: &Node, message: String| WriteError::Shape {
        path: path.to_path_buf(),
        line: document.line(node.span.start),
        message,
    };
    let members = |node: &Node, what: &str| match node.members() {
        Some(_) => Ok(()),
        None => Err(shape(node, format!("{what} must be an object, not {}", node.kind()))),
    };
    let root = &document.root;
    members(root, "the file")?;
    let permissions = root.member("permissions");
    permissions.map_or(Ok(()), |node| members(node, "`permissions`"))?;
    let allow = permissions.and_then(|node| node.member("allow"));
    let items = match allow.map(|node| (node, node.items())) {
        None => &[],
        Some((_, Some(items))) => items,
        Some((node, None)) => return Err(shape(node, format!("`allow` must be a list, not {}", node.kind()))),
    };
    let mut new: Vec<Value> = Vec::new();
    for rule in rules {
        let is_there = items.iter().any(|item| item.text() == Some(rule));
        if !is_there && !new.iter().any(|other| other == rule) {
            new.push(rule.as_str().into());
        }
    }
    if new.is_empty() {
        return Ok((String::new(), 0));
    }
    let added = new.len();
    let splice = Splice::new(&document);
    let text = match (permissions, allow) {
        (_, Some(allow)) => splice.append(allow, items.last().map(|item| item.span.end), &new, None),
        (Some(permissions), None) => splice.append(permissions, last_end(permissions), &[new.into()], Some("allow")),
        (None, None) => {
            let permissions = serde_json::json!({ "allow": new });
            splice.append(root, last_end(root), &[permissions], Some("permissions"))
        }
    };
    // What was put in must be what is read back; if it isn't, the file stays as it is.
    let written = parse(path, text)?;
    let all = written.root.member("permissions").and_then(|node| node.member("allow")).and_then(Node::items);
    if all.is_none_or(|all| all.len() != items.len() + added) {
        return Err(WriteError::Refused {
            path: path.to_path_buf(),
            message: "there is no place for the rules in it".into(),
        });
    }
    Ok((written.text, added))
}

pub(super) fn last_end(node: &Node) -> Option<usize> {
    node.members()?.last().map(|Member { value, .. }| value.span.end)
}

pub(super) fn parse(path: &Path, text: String) -> Result<Document, WriteError> {
    Document::parse(text).map_err(|error| {
        let path = path.to_path_buf();
        WriteError::Syntax { path, line: error.line, column: error.column, message: error.message }
    })
}

/// Keeps programs that add rules at the same time from overwriting each other. Given back when it is dropped.
#[cfg(unix)]
pub(crate) fn lock(folder: &Path) -> io::Result<File> {
    let file = File::open(folder)?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::WouldBlock, "another program is changing it; try again"))
}

/// Where folders can't be opened as files, the last writer wins.
#[cfg(not(unix))]
pub(crate) fn lock(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Puts `bytes` in the place of a file's content, all or nothing, with the file's permissions (a new one is the owner's).
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".settings-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions(path) {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn permissions(path: &Path) -> Option<Permissions> {
    path.symlink_metadata().ok().filter(fs::Metadata::is_file).map(|meta| meta.permissions())
}

/// Lists `settings.local.json` in the folder's `.gitignore`, unless that is there, or a link.
fn ignore(folder: &Path) -> io::Result<()> {
    let path = folder.join(".gitignore");
    let Ok(old) = read_text(&path, Some(folder)) else { return Ok(()) };
    if path.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
        return Ok(());
    }
    let mut text = old.unwrap_or_default();
    if text.lines().any(|line| matches!(line.trim(), "settings.local.json" | "/settings.local.json" | "*")) {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str("settings.local.json\n");
    replace(&path, text.as_bytes())
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
