//! The small languages of `sed` and `awk`: whether a script only reads and prints.

use crate::shell::Word;

use super::danger::Danger;

const WRITES: &str = "its script isn't known to only print";
const OPTION: &str = "it is an option that may write or run";

/// What a `sed` command does.
#[derive(Default)]
pub(super) struct Sed {
    /// Arguments that a rule has to spell out.
    pub(super) dangers: Vec<Danger>,
    /// Where its files stand.
    pub(super) files: Vec<usize>,
}

/// Reads the arguments of `sed`: a few options, scripts that only print, files.
pub(super) fn sed(argv: &[Word]) -> Sed {
    let mut out = Sed::default();
    let mut scripts = Vec::new();
    let mut operands = Vec::new();
    let mut at = 1;
    let mut options = true;
    while let Some(word) = argv.get(at) {
        let Some(text) = word.literal() else {
            if word.may_be_option() && options || operands.is_empty() && scripts.is_empty() {
                out.dangers.push(Danger { at, why: OPTION });
            }
            operands.push(at);
            at += 1;
            continue;
        };
        match text {
            "--" if options => options = false,
            "-e" | "--expression" if options => {
                at += 1;
                scripts.push(at);
            }
            "--quiet" | "--silent" | "--regexp-extended" | "--posix" | "--separate" | "--unbuffered"
            | "--null-data"
                if options => {}
            _ if options && text.len() > 1 && text.starts_with('-') => {
                if text.starts_with("--") || !text[1..].bytes().all(|letter| b"nErsuz".contains(&letter)) {
                    out.dangers.push(Danger { at, why: OPTION });
                }
            }
            _ => operands.push(at),
        }
        at += 1;
    }
    if scripts.is_empty() && !operands.is_empty() {
        scripts.push(operands.remove(0));
    }
    for at in scripts {
        if !argv.get(at).and_then(Word::literal).is_some_and(sed_only_prints) {
            out.dangers.push(Danger { at, why: WRITES });
        }
    }
    out.files = operands;
    out
}

/// Whether every command of a `sed` script is one of those that change only what is printed.
fn sed_only_prints(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', ';', '\n', '}']);
        if rest.is_empty() {
            return true;
        }
        let Some(behind) = sed_address(rest) else { return false };
        let Some(behind) = (match behind.trim_start().strip_prefix(',') {
            Some(second) => sed_address(second.trim_start()),
            None => Some(behind),
        }) else {
            return false;
        };
        let behind = behind.trim_start().trim_start_matches('!').trim_start();
        let mut chars = behind.chars();
        match chars.next() {
            Some('p' | 'd' | 'q' | 'Q' | '=' | 'n' | 'N' | 'D' | 'P' | 'h' | 'H' | 'g' | 'G' | 'x' | 'l') => {
                rest = chars.as_str().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
                if !rest.is_empty() && !rest.starts_with([';', '\n', '}']) {
                    return false;
                }
            }
            Some('{') => rest = chars.as_str(),
            Some('s') => {
                let Some(behind) = sed_delimited(chars.as_str(), 2) else { return false };
                // `e` runs the result, `w` writes it.
                rest = behind.trim_start_matches(|c: char| "gpiI0123456789".contains(c)).trim_start();
                if !rest.is_empty() && !rest.starts_with([';', '\n', '}']) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// What follows an address, or the text itself if it begins with none.
fn sed_address(text: &str) -> Option<&str> {
    if let Some(pattern) = text.strip_prefix('/') {
        return sed_delimited(&format!("/{pattern}"), 1).map(|rest| &text[text.len() - rest.len()..]);
    }
    if text.starts_with('\\') {
        return None;
    }
    Some(text.trim_start_matches(|c: char| c.is_ascii_digit() || "$~+".contains(c)))
}

/// What follows `parts` parts that end with the delimiter with which the text begins.
fn sed_delimited(text: &str, parts: usize) -> Option<&str> {
    let mut chars = text.chars();
    let delimiter = chars.next().filter(|c| c.is_ascii_punctuation() && *c != '\\')?;
    let mut left = parts;
    let mut brackets = false;
    while left > 0 {
        match chars.next()? {
            // Newlines and brackets are where implementations and versions differ.
            '\n' => return None,
            '\\' => {
                chars.next()?;
            }
            c if c == delimiter && brackets => return None,
            c if c == delimiter => left -= 1,
            '[' => brackets = true,
            ']' => brackets = false,
            _ => {}
        }
    }
    (!brackets).then_some(chars.as_str())
}

/// The arguments of `awk` that a rule has to spell out: every option but the field separator and variables, and a
/// program that could run something, write, or read other files.
pub(super) fn awk(argv: &[Word]) -> Vec<Danger> {
    let mut out = Vec::new();
    let mut program = None;
    let mut at = 1;
    while let Some(word) = argv.get(at) {
        let text = word.literal();
        match text {
            Some("-F" | "-v") if program.is_none() => at += 1,
            Some(text) if program.is_none() && text.starts_with("-F") => {}
            Some(text) if program.is_none() && !text.starts_with('-') => {
                const TOKENS: &[&str] =
                    &["system", "getline", "|", ">", "@", "ARGV", "close", "printf -", "include", "load"];
                program = Some(at);
                if TOKENS.iter().any(|token| text.contains(token)) {
                    out.push(Danger { at, why: WRITES });
                }
            }
            _ if program.is_none() || word.may_be_option() => {
                out.push(Danger { at, why: OPTION });
                if program.is_none() {
                    // What follows can't be told apart any more.
                    out.extend((at + 1..argv.len()).map(|at| Danger { at, why: OPTION }));
                    break;
                }
            }
            _ => {}
        }
        at += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts_that_only_print() {
        for script in [
            "1,5p", "$p", "/a/p", "/a/,/b/p", "s/a/b/", "s|a|b|g", "1d;2d", "/x/!d", "10q", "s/a/w/;p", "/a\\/b/p",
            "1~2p", "/a/{p;d}",
        ] {
            assert!(sed_only_prints(script), "{script}");
        }
        for script in [
            "1e touch P",
            "/a/wout",
            "w out",
            "s/a/b/e",
            "s/a/b/w out",
            "s/a/b/gew x",
            "r f",
            "R f",
            "1!e x",
            "e",
            "$!{e x",
            "a\\\nx",
            "s/[/]/x/e",
            "s/a\n/b/",
            "\\,a,e x",
            "1p e x",
            "y/a/b/;e",
            "s/a/b/;1e x",
            "{e x",
            "/[/]/e x/p",
            "F",
            "bx",
            "s\\a\\b\\e",
        ] {
            assert!(!sed_only_prints(script), "{script}");
        }
    }
}
