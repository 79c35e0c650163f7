//! Values: what a JSON node has to look like to be one. Errors say what is expected; they are shown to people.

use std::path::{Path, PathBuf};

use offshoot_protocol::PermissionMode;
use serde_json::Value;

use crate::model::Provider;
use crate::worktree::Base;

use super::json::{Node, Shape};
use super::{Forks, Theme};

/// Longest text of any kind, in bytes.
const TEXT_LIMIT: usize = 16 * 1024;

pub(super) type Read<T> = Result<T, String>;

/// A text that isn't blank, without space around it.
pub(super) fn text(node: &Node) -> Read<String> {
    let text = node.text().ok_or_else(|| format!("it must be a text, not {}", node.kind()))?;
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    if text.len() > TEXT_LIMIT {
        return Err(format!("it has more than {} KiB", TEXT_LIMIT / 1024));
    }
    if text.contains('\0') {
        return Err("it contains a NUL character".to_owned());
    }
    Ok(text.to_owned())
}

pub(super) fn flag(node: &Node) -> Read<bool> {
    match node.shape {
        Shape::Scalar(Value::Bool(flag)) => Ok(flag),
        _ => Err(format!("it must be true or false, not {}", node.kind())),
    }
}

/// A whole number between `least` and `most`.
pub(super) fn number(node: &Node, least: u64, most: u64) -> Read<u64> {
    let number = if let Shape::Scalar(value) = &node.shape { value.as_u64() } else { None };
    number
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("it must be a whole number between {least} and {most}"))
}

/// One of a few words.
fn word<T: Copy>(node: &Node, words: &[(&str, T)]) -> Read<T> {
    let found = node.text().and_then(|text| words.iter().find(|(word, _)| *word == text));
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        format!("it must be one of {}", words.join(", "))
    })
}

/// What becomes of commands that can't be confined: whether they run where rules allow them.
pub(super) fn unconfined(node: &Node) -> Read<bool> {
    word(node, &[("ask", false), ("allow", true)])
}

pub(super) fn forks(node: &Node) -> Read<Forks> {
    word(node, &[("interactive", Forks::Interactive), ("always", Forks::Always), ("never", Forks::Never)])
}

/// In this program's spelling or in the field's.
pub(super) fn mode(node: &Node) -> Read<PermissionMode> {
    word(
        node,
        &[
            ("default", PermissionMode::Default),
            ("accept-edits", PermissionMode::AcceptEdits),
            ("acceptEdits", PermissionMode::AcceptEdits),
            ("plan", PermissionMode::Plan),
            ("dont-ask", PermissionMode::DontAsk),
            ("dontAsk", PermissionMode::DontAsk),
            ("bypass", PermissionMode::Bypass),
            ("bypassPermissions", PermissionMode::Bypass),
        ],
    )
}

pub(super) fn provider(node: &Node) -> Read<Provider> {
    word(
        node,
        &[
            ("anthropic", Provider::Anthropic),
            ("openai", Provider::Openai),
            ("openai-responses", Provider::OpenaiResponses),
            ("demo", Provider::Demo),
        ],
    )
}

pub(super) fn theme(node: &Node) -> Read<Theme> {
    let words = [
        ("system", Theme::System),
        ("light", Theme::Light),
        ("dark", Theme::Dark),
        ("high-contrast", Theme::HighContrast),
    ];
    word(node, &words)
}

/// The address of a provider. What is wrong with it is told without repeating it: it may contain a password.
pub(super) fn base_url(node: &Node) -> Read<String> {
    let text = text(node)?;
    let url = reqwest::Url::parse(&text).map_err(|error| format!("it is no address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("it must begin with http:// or https://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it must not contain a name or password; keys are kept elsewhere".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it must end with its path".to_owned());
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// A network in the usual notation, or one address.
pub(super) fn network(node: &Node) -> Read<ipnet::IpNet> {
    let text = text(node)?;
    let address = || text.parse::<std::net::IpAddr>().ok().map(ipnet::IpNet::from);
    text.parse().ok().or_else(address).ok_or_else(|| format!("{} is no network such as 10.1.0.0/16", quoted(&text)))
}

/// The name of an environment variable.
pub(super) fn variable(node: &Node) -> Read<String> {
    let name = text(node)?;
    let is_name = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.as_bytes()[0].is_ascii_digit()
    };
    if is_name(&name) { Ok(name) } else { Err("it must be the name of a variable: letters, digits and `_`".to_owned()) }
}

/// Whether a variable of that name usually holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"].iter().any(|word| name.contains(word))
}

/// A path: absolute, beneath `base`, or beneath the home directory (`~/`).
pub(super) fn path(node: &Node, base: Option<&Path>, home: Option<&Path>) -> Read<PathBuf> {
    let text = text(node)?;
    let (base, rest) = match text.strip_prefix("~/").or((text == "~").then_some("")) {
        Some(rest) => (home.ok_or("there is no home directory to find it in")?, rest),
        None if text.starts_with('~') => return Err("only `~/` is understood, not another person's home".to_owned()),
        None if Path::new(&text).is_absolute() => return Ok(PathBuf::from(text)),
        None => (base.ok_or("there is no project to find it in: write an absolute path")?, text.as_str()),
    };
    Ok(base.join(rest))
}

pub(super) fn worktree_base(node: &Node) -> Read<Base> {
    let text = text(node)?;
    Ok(match text.as_str() {
        "snapshot" => Base::Snapshot,
        "head" => Base::Head,
        _ if text.starts_with('-') || !git2::Reference::is_valid_name(&format!("refs/heads/{text}")) => {
            return Err("it must be `snapshot`, `head` or the name of a branch".to_owned());
        }
        _ => Base::Named(text),
    })
}

/// One command or a list of them.
pub(super) fn commands(node: &Node) -> Read<Vec<String>> {
    match node.items() {
        Some(items) => items.iter().map(text).collect(),
        None if node.text().is_some() => Ok(vec![text(node)?]),
        None => Err(format!("it must be a command or a list of commands, not {}", node.kind())),
    }
}

/// A text of unknown origin inside of a message: on one line, with what is invisible made visible, not too long.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("`");
    let mut characters = text.chars();
    for character in characters.by_ref().take(120) {
        match character {
            '"' | '\'' | '\\' => out.push(character),
            other => out.extend(other.escape_debug()),
        }
    }
    if characters.next().is_some() {
        out.push('…');
    }
    out.push('`');
    out
}

#[cfg(test)]
mod tests {
    use super::super::json::Document;
    use super::*;

    fn node(json: &str) -> Node {
        Document::parse(json.to_owned()).unwrap().root
    }

    #[test]
    fn addresses() {
        assert_eq!(base_url(&node(r#""http://localhost:8080/v1/""#)).unwrap(), "http://localhost:8080/v1");
        for wrong in ["file:///etc", "nowhere", "https://me:secret@host/", "https://host/?key=secret", "https://"] {
            let error = base_url(&node(&format!("{wrong:?}"))).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn paths() {
        let read = |text: &str| path(&node(&format!("{text:?}")), Some(Path::new("/p")), Some(Path::new("/home/x")));
        assert_eq!(read("../docs"), Ok("/p/../docs".into()));
        assert_eq!(read("~/docs"), Ok("/home/x/docs".into()));
        assert_eq!(read("~"), Ok("/home/x".into()));
        assert_eq!(read("/a"), Ok("/a".into()));
        assert!(read("~root/x").is_err() && read(" ").is_err());
        assert!(path(&node("\"/a\\u0000\""), None, None).unwrap_err().contains("NUL"));
        assert!(path(&node(r#""a""#), None, None).is_err() && path(&node(r#""~/a""#), None, None).is_err());
    }

    #[test]
    fn branches_are_no_options() {
        assert_eq!(worktree_base(&node(r#""feature/x""#)), Ok(Base::Named("feature/x".to_owned())));
        assert_eq!(worktree_base(&node(r#""head""#)), Ok(Base::Head));
        for wrong in ["--upload-pack=x", "a..b", "a b", "x.lock"] {
            assert!(worktree_base(&node(&format!("{wrong:?}"))).is_err(), "{wrong}");
        }
    }

    #[test]
    fn variables() {
        assert!(variable(&node(r#""CARGO_HOME""#)).is_ok());
        assert!(["1A", "A=B", "A B", "É"].iter().all(|name| variable(&node(&format!("{name:?}"))).is_err()));
        assert!(is_secret_name("ANTHROPIC_API_KEY") && is_secret_name("github_token") && !is_secret_name("CARGO_HOME"));
    }

    #[test]
    fn quoting_shows_what_is_hidden() {
        assert_eq!(quoted("a\n\u{202e}\u{200b}\u{1b}'é"), "`a\\n\\u{202e}\\u{200b}\\u{1b}'é`");
        assert!(quoted(&"x".repeat(10_000)).len() < 130);
    }
}
