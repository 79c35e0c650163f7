//! The project's instructions for agents: `AGENTS.md` and `CLAUDE.md` in its top folder.

use std::path::Path;

/// Files that are read, in this order. Both are conventions of the field.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Most bytes of one file that enter a prompt.
const LIMIT: u64 = 64 * 1024;

/// File name and content of each instruction file there is. A file that isn't text, is empty or leads elsewhere by a link
/// is left out; a longer one is cut and says so.
pub(crate) fn read(project: &Path) -> Vec<(String, String)> {
    NAMES.iter().filter_map(|name| read_one(&project.join(name)).map(|text| ((*name).to_owned(), text))).collect()
}

fn read_one(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let meta = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(LIMIT).read_to_end(&mut bytes).ok()?;
    if bytes.contains(&0) {
        return None;
    }
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if meta.len() > LIMIT {
        text.push_str("\n[cut here: the file is longer]");
    }
    Some(text).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_in_order_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("CLAUDE.md"), "x".repeat(100_000)).unwrap();
        std::fs::write(folder.path().join("AGENTS.md"), "rules").unwrap();
        let found = read(folder.path());
        assert_eq!(found[0], ("AGENTS.md".to_owned(), "rules".to_owned()));
        assert!(found[1].1.len() < 70_000 && found[1].1.ends_with("is longer]"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("AGENTS.md")).unwrap();
        assert!(read(folder.path()).is_empty());
    }
}
