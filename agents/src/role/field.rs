//! What the single values of a role file may be.

use offshoot_protocol::{Isolation, PermissionMode};

use super::model_alias;
use super::parse::shown;

/// Longest name, in characters.
const NAME_LIMIT: usize = 64;

/// Most model calls that a role may ask for (delegation, section 3).
pub const MAX_TURNS: u32 = 200;

/// The colours that a role can have.
pub const COLORS: [&str; 15] = [
    "red", "orange", "amber", "yellow", "lime", "green", "teal", "cyan", "blue", "indigo", "violet", "purple",
    "magenta", "pink", "gray",
];

/// Whether a plain text is YAML for "nothing".
pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "null" | "Null" | "NULL" | "~" | "")
}

/// Checks a role's name: letters and digits of any script, `-`, `_`, `.`, `:` and single spaces between them.
pub(super) fn name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("`name` is missing".to_owned());
    }
    if name.chars().count() > NAME_LIMIT {
        return Err(format!("the name {} is longer than {NAME_LIMIT} characters", shown(name)));
    }
    if name.to_lowercase() == "fork" {
        return Err(format!("the name {} is reserved: without a role, a call starts a fork", shown(name)));
    }
    let allowed = |character: char| character.is_alphanumeric() || "-_.: ".contains(character);
    if let Some(bad) = name.chars().find(|character| !allowed(*character)) {
        let bad = bad.escape_debug();
        return Err(format!(
            "the name {} contains `{bad}`: letters, digits, `-`, `_` and `.` are possible",
            shown(name)
        ));
    }
    let at_the_ends = |end: Option<char>| end.is_some_and(char::is_alphanumeric);
    if !at_the_ends(name.chars().next()) || !at_the_ends(name.chars().next_back()) || name.contains("  ") {
        return Err(format!("the name {} must start and end with a letter or digit", shown(name)));
    }
    Ok(())
}

/// A model: an alias or an id, kept as written. Which model that is, is found out when the role starts.
pub(super) fn model(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > 200 || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(format!("{} is no model id", shown(text)));
    }
    Ok(text.to_owned())
}

/// Why a model is probably not what its author means.
pub(super) fn doubtful_model(text: &str) -> Option<String> {
    if !text.chars().any(char::is_alphabetic) {
        return Some(format!("`model`: {} is unknown: neither an alias nor a model id", shown(text)));
    }
    let near = model_alias::NAMES.iter().find(|alias| strsim::damerau_levenshtein(alias, &text.to_lowercase()) == 1)?;
    Some(format!("`model`: {} is unknown; did you mean `{near}`?", shown(text)))
}

/// Turns, 1 to [`MAX_TURNS`].
pub(super) fn max_turns(text: &str) -> Result<u32, String> {
    let turns = text.parse().ok().filter(|turns| (1..=MAX_TURNS).contains(turns));
    turns.ok_or_else(|| format!("{} is not a number from 1 to {MAX_TURNS}", shown(text)))
}

/// A mode, in this program's spelling or the field's; `inherit` and `bubble` are what a role without one has.
pub(super) fn permission(text: &str) -> Result<Option<PermissionMode>, String> {
    Ok(Some(match super::key::plain(text).as_str() {
        "default" => PermissionMode::Default,
        "acceptedits" => PermissionMode::AcceptEdits,
        "plan" => PermissionMode::Plan,
        "dontask" => PermissionMode::DontAsk,
        "bypass" | "bypasspermissions" => PermissionMode::Bypass,
        "inherit" | "bubble" => return Ok(None),
        _ => {
            let modes = "default, accept-edits, plan, dont-ask, bypass";
            return Err(format!("{} is not a mode ({modes})", shown(text)));
        }
    }))
}

/// How a mode is written.
pub(super) fn permission_text(mode: PermissionMode, camel: bool) -> &'static str {
    match (mode, camel) {
        (PermissionMode::Default, _) => "default",
        (PermissionMode::AcceptEdits, false) => "accept-edits",
        (PermissionMode::AcceptEdits, true) => "acceptEdits",
        (PermissionMode::Plan, _) => "plan",
        (PermissionMode::DontAsk, false) => "dont-ask",
        (PermissionMode::DontAsk, true) => "dontAsk",
        (PermissionMode::Bypass, false) => "bypass",
        (PermissionMode::Bypass, true) => "bypassPermissions",
    }
}

/// Yes or no, in all the words that YAML ever had for them.
pub(super) fn boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Ok(true),
        "false" | "no" | "off" => Ok(false),
        _ => Err(format!("{} is neither `true` nor `false`", shown(text))),
    }
}

/// Where it works.
pub(super) fn isolation(text: &str) -> Result<Isolation, String> {
    match text.to_ascii_lowercase().as_str() {
        "worktree" => Ok(Isolation::Worktree),
        "shared" | "none" => Ok(Isolation::Shared),
        _ => Err(format!("{} is not possible; `worktree` is the only isolation", shown(text))),
    }
}

/// A colour of [`COLORS`].
pub(super) fn color(text: &str) -> Result<String, String> {
    let color = text.to_ascii_lowercase();
    if color == "grey" {
        return Ok("gray".to_owned());
    }
    if COLORS.contains(&color.as_str()) {
        return Ok(color);
    }
    Err(format!("{} is not one of {}", shown(text), COLORS.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["reviewer", "审阅者", "Code Reviewer", "a", "v1.2_x", "acme:reviewer"] {
            assert_eq!(name(good), Ok(()), "{good}");
        }
        for bad in
            ["", "fork", "Fork", "FORK", "-x", "x-", "a  b", "a/b", "a\u{202e}b", "a<b", "a\nb", "*", &"x".repeat(65)]
        {
            assert!(name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn doubtful_models() {
        assert!(doubtful_model("3000").is_some());
        assert!(doubtful_model("sonet").is_some_and(|doubt| doubt.contains("`sonnet`")));
        for good in ["sonnet", "inherit", "o3", "gpt-5.1", "mistral", "anthropic/claude-x:beta"] {
            assert_eq!(doubtful_model(good), None, "{good}");
        }
    }

    #[test]
    fn values() {
        assert_eq!(max_turns("12"), Ok(12));
        for bad in ["0", "201", "-3", "1.5", "many"] {
            assert!(max_turns(bad).is_err(), "{bad}");
        }
        for mode in ["acceptEdits", "accept-edits", "accept_edits"] {
            assert_eq!(permission(mode), Ok(Some(PermissionMode::AcceptEdits)));
        }
        assert_eq!(permission("inherit"), Ok(None));
        assert_eq!(boolean("Yes"), Ok(true));
        assert!(boolean("maybe").is_err());
        assert_eq!(color("Grey"), Ok("gray".to_owned()));
        assert!(color("url(x)").is_err());
    }

    #[test]
    fn modes_are_read_back() {
        use PermissionMode::{AcceptEdits, Bypass, Default, DontAsk, Plan};
        for mode in [Default, AcceptEdits, Plan, DontAsk, Bypass] {
            for camel in [false, true] {
                assert_eq!(permission(permission_text(mode, camel)), Ok(Some(mode)));
            }
        }
    }
}
