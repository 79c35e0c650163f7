//! The keys that settings files may have, and what somebody may have meant by another.

use super::json::{Document, Member, Node};

/// Keys of the file itself. `$schema` is for editors.
pub(super) const TOP: [&str; 20] = [
    "$schema",
    "permissions",
    "hooks",
    "forks",
    "background",
    "foregroundTimeout",
    "runningLimit",
    "agentLimit",
    "wakeParent",
    "compactAt",
    "contextWindow",
    "model",
    "modelAliases",
    "provider",
    "baseUrl",
    "worktree",
    "environment",
    "fetchNetworks",
    "theme",
    "notifications",
];
/// Keys of `permissions`.
pub(super) const PERMISSIONS: [&str; 6] =
    ["allow", "ask", "deny", "defaultMode", "additionalDirectories", "unconfinedCommands"];
/// Keys of `worktree`.
pub(super) const WORKTREE: [&str; 5] = ["base", "budget", "directory", "hooks", "setup"];
/// Keys of one entry of an event in `hooks`.
pub(super) const GROUP: [&str; 2] = ["matcher", "hooks"];
/// Keys of one hook.
pub(super) const HOOK: [&str; 3] = ["type", "command", "timeout"];

/// Goes through the keys of an object: `report` gets a place and a message for each that is nearly a known one, or that is
/// there twice. Others are left in peace: files are shared with other programs.
pub(super) fn check(node: &Node, known: &[&str], document: &Document, mut report: impl FnMut(u32, String)) {
    let Some(members) = node.members() else { return };
    for (number, Member { key, key_start, .. }) in members.iter().enumerate() {
        if known.contains(&key.as_str()) {
            if members[..number].iter().any(|earlier| earlier.key == *key) {
                report(document.line(*key_start), format!("`{key}` is there twice: only this one counts"));
            }
        } else if let Some(meant) = nearest(key, known) {
            report(document.line(*key_start), format!("`{key}` has no meaning here; did you mean `{meant}`?"));
        }
    }
}

/// The known word that `word` was probably meant to be.
pub(super) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    // Nothing that long is a slip of the fingers, and comparing it would take long.
    if word.len() > 40 {
        return None;
    }
    let plain = |word: &str| word.replace(['-', '_', ' '], "").to_lowercase();
    let word = plain(word);
    let distance = |known: &str| {
        let limit = if known.len() < 5 { 1 } else { 2 };
        Some(strsim::osa_distance(&word, &plain(known))).filter(|distance| *distance <= limit)
    };
    known.iter().filter_map(|known| Some((distance(known)?, *known))).min().map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_other_programs_keys_are_not() {
        for (written, meant) in [
            ("permision", Some("permissions")),
            ("Permissions", Some("permissions")),
            ("foreground_timeout", Some("foregroundTimeout")),
            ("base-url", Some("baseUrl")),
            ("baseURL", Some("baseUrl")),
            ("hook", Some("hooks")),
            ("env", None),
            ("statusLine", None),
            ("apiKeyHelper", None),
            ("cleanupPeriodDays", None),
            ("enabledPlugins", None),
            ("includeCoAuthoredBy", None),
            ("outputStyle", None),
        ] {
            assert_eq!(nearest(written, &TOP), meant, "{written}");
        }
        assert_eq!(nearest("alow", &PERMISSIONS), Some("allow"));
        assert_eq!(nearest("disableBypassPermissionsMode", &PERMISSIONS), None);
        assert_eq!(nearest(&"allow".repeat(100_000), &PERMISSIONS), None);
    }
}
