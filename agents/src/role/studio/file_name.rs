//! A file's name from a role's. Safe on every file system that a repository may be checked out on.

/// Longest name without its extension, in bytes; file systems take 255.
const LIMIT: usize = 120;

/// Names that Windows keeps for devices, with whatever extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The name, without extension: letters and digits of any script, `-`, `_` and dots inside.
pub(super) fn of(role: &str) -> String {
    let mut name = String::new();
    for character in role.chars() {
        let kept = if character.is_alphanumeric() || matches!(character, '_' | '.') { character } else { '-' };
        let doubled = name.ends_with(kept) && !kept.is_alphanumeric();
        if name.len() + kept.len_utf8() > LIMIT {
            break;
        }
        if !doubled {
            name.push(kept);
        }
    }
    let name = name.trim_matches(['-', '.', '_']);
    let first = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_port = first.len() == 4
        && (first.starts_with("com") || first.starts_with("lpt"))
        && first.ends_with(|last: char| last.is_ascii_digit());
    if name.is_empty() || DEVICES.contains(&first.as_str()) || is_port {
        return format!("role-{name}").trim_end_matches('-').to_owned();
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn names_of_files() {
        for (role, file) in [
            ("reviewer", "reviewer"),
            ("Code Reviewer", "Code-Reviewer"),
            ("acme:reviewer", "acme-reviewer"),
            ("审阅者", "审阅者"),
            ("v1.2_x", "v1.2_x"),
            ("../../etc/passwd", "etc-passwd"),
            ("..\\..\\boot", "boot"),
            ("a/b\0c\nd", "a-b-c-d"),
            (".hidden", "hidden"),
            ("con", "role-con"),
            ("NUL.x", "role-NUL.x"),
            ("com1", "role-com1"),
            ("comet", "comet"),
            ("...", "role"),
            ("", "role"),
        ] {
            assert_eq!(of(role), file, "{role:?}");
        }
        assert!(of(&"𒀀".repeat(64)).len() <= 120);
    }
}
