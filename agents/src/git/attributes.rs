//! Which files a checkout writes byte for byte as they are stored.

use std::collections::HashMap;
use std::path::Path;

use super::{Checkout, Git, GitError};

/// What decides about a file's conversion.
#[derive(Clone, Copy, Default)]
struct Attributes {
    /// `text` (or `crlf`, its old name) is explicitly off.
    is_binary: bool,
    /// A filter, `ident`, another encoding or other line endings.
    is_converted: bool,
}

/// For each path, in order, whether a checkout writes it as it is stored. `index` must hold the `.gitattributes` files that
/// count.
pub(crate) fn plain(git: &Git, checkout: &Checkout, index: &Path, paths: &[&[u8]]) -> Result<Vec<bool>, GitError> {
    let converts_line_ends = converts_line_ends(git, checkout)?;
    let input = paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect();
    let command = git.on(checkout).index(index).args(["check-attr", "-z", "--stdin", "--cached", "--all"]);
    let output = command.input(input).run()?;
    let mut found: HashMap<&[u8], Attributes> = HashMap::new();
    let mut fields = output.stdout.split(|byte| *byte == 0);
    while let (Some(path), Some(name), Some(value)) = (fields.next(), fields.next(), fields.next()) {
        let of_path = found.entry(path).or_default();
        let is_off = matches!(value, b"unset" | b"unspecified");
        match name {
            b"filter" | b"ident" | b"working-tree-encoding" => of_path.is_converted |= !is_off,
            b"eol" => of_path.is_converted |= value == b"crlf",
            b"text" | b"crlf" => of_path.is_binary |= value == b"unset",
            _ => {}
        }
    }
    let is_plain = |path: &&[u8]| {
        let Attributes { is_binary, is_converted } = found.get(path).copied().unwrap_or_default();
        !is_converted && (is_binary || !converts_line_ends)
    };
    Ok(paths.iter().map(is_plain).collect())
}

/// Whether the configuration writes text with other line endings than it is stored with.
fn converts_line_ends(git: &Git, checkout: &Checkout) -> Result<bool, GitError> {
    if cfg!(windows) {
        return Ok(true);
    }
    let args = ["config", "--null", "--get-regexp", r"^core\.(autocrlf|eol)$"];
    let output = git.on(checkout).args(args).run_any()?;
    let mut converts = HashMap::new();
    for entry in output.stdout.split(|byte| *byte == 0) {
        let entry = String::from_utf8_lossy(entry).to_ascii_lowercase();
        match entry.split_once('\n') {
            Some(("core.autocrlf", value)) => {
                converts.insert("autocrlf", !matches!(value, "false" | "no" | "off" | "0" | "" | "input"))
            }
            Some(("core.eol", value)) => converts.insert("eol", value == "crlf"),
            // Without a value it is true.
            None if entry == "core.autocrlf" => converts.insert("autocrlf", true),
            _ => None,
        };
    }
    Ok(converts.into_values().any(|converts| converts))
}
