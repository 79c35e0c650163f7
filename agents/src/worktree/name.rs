//! Names: slugs, project folders, and branches that clash with nothing.

use std::path::Path;

use sha2::{Digest, Sha256};

/// Most characters of a slug.
const SLUG: usize = 40;

/// A file and ref name from a title: lower-case ASCII letters and digits with single `-` between, at most forty.
/// A title without any is `work`.
pub(super) fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars() {
        if slug.len() == SLUG {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "work".to_owned() } else { slug.to_owned() }
}

/// The last six letters and digits of an id: they tell worktrees of one title apart.
pub(super) fn short(id: &str) -> String {
    let letters: Vec<char> = id.chars().filter(char::is_ascii_alphanumeric).collect();
    letters[letters.len().saturating_sub(6)..].iter().map(char::to_ascii_lowercase).collect()
}

/// Whether an id can be a file name and part of a ref name everywhere.
pub(super) fn is_id(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=64).contains(&id.len()) && id.chars().all(allowed) && id.chars().any(|c| c.is_ascii_alphanumeric())
}

/// The folder of a repository's worktrees: its name, readable, and a hash of where it is.
pub(super) fn project_folder(common_dir: &Path, top_level: Option<&Path>) -> String {
    let named = top_level.unwrap_or(common_dir);
    let name = named.file_name().map(|name| slug(&name.to_string_lossy())).unwrap_or_default();
    let hash = Sha256::digest(common_dir.as_os_str().as_encoded_bytes());
    let hash = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
    format!("{name}-{hash:08x}")
}

/// A branch name for `leaf` that no existing branch equals, contains or is contained in, letter case aside: such a pair
/// can't be stored side by side on every file system.
pub(super) fn branch(leaf: &str, existing: &[String]) -> String {
    let lower: Vec<String> = existing.iter().map(|other| other.to_lowercase()).collect();
    let is_free = |name: &str| {
        let name = name.to_lowercase();
        lower.iter().all(|other| {
            *other != name && !name.starts_with(&format!("{other}/")) && !other.starts_with(&format!("{name}/"))
        })
    };
    // A folder that exists in other letters (`Offshoot/`) would be the same as ours on some file systems.
    let is_spelled_alike = |folder: &str| {
        let mut folders = existing.iter().filter_map(|other| other.split_once('/'));
        folders.all(|(other, _)| !other.eq_ignore_ascii_case(folder) || other == folder)
    };
    let folders = std::iter::once("offshoot".to_owned()).chain((2..).map(|n| format!("offshoot-{n}")));
    folders
        .filter(|folder| is_spelled_alike(folder))
        .flat_map(|folder| {
            let leaves = std::iter::once(leaf.to_owned()).chain((2..20).map(|n| format!("{leaf}-{n}")));
            leaves.map(move |leaf| format!("{folder}/{leaf}")).collect::<Vec<_>>()
        })
        .find(|name| is_free(name))
        .expect("the candidates don't end, and there are finitely many branches")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(existing: &[&str]) -> String {
        branch("fix-it-abc123", &existing.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn slugs_are_ascii_short_and_never_empty() {
        assert_eq!(slug("Fix the  parser: `a/b` – now!"), "fix-the-parser-a-b-now");
        assert_eq!(slug("漢字"), "work");
        assert_eq!(slug("--upload-pack=x"), "upload-pack-x");
        assert!(slug(&"word ".repeat(40)).len() <= 40);
        assert!(!slug(&"abcdefghi ".repeat(8)).ends_with('-'));
    }

    #[test]
    fn branches_clash_neither_as_a_prefix_nor_by_letter_case() {
        assert_eq!(chosen(&["main"]), "offshoot/fix-it-abc123");
        assert_eq!(chosen(&["main", "offshoot/other"]), "offshoot/fix-it-abc123");
        assert_eq!(chosen(&["offshoot"]), "offshoot-2/fix-it-abc123");
        assert_eq!(chosen(&["OffShoot"]), "offshoot-2/fix-it-abc123");
        assert_eq!(chosen(&["Offshoot/x/y"]), "offshoot-2/fix-it-abc123");
        assert_eq!(chosen(&["offshoot/fix-it-abc123/deeper"]), "offshoot/fix-it-abc123-2");
        assert_eq!(chosen(&["offshoot/FIX-it-abc123"]), "offshoot/fix-it-abc123-2");
        assert_eq!(chosen(&["offshoot", "offshoot-2/x", "Offshoot-3"]), "offshoot-2/fix-it-abc123");
    }

    #[test]
    fn ids_that_could_leave_their_folder_are_refused() {
        assert!(is_id("a-0123456789"));
        for id in ["", "..", "a/b", "a b", "ü", "-", "a.lock"] {
            assert!(!is_id(id), "{id}");
        }
    }
}
