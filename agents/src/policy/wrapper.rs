//! Programs that start the command in their arguments, where it is certain which command that is.

use crate::shell::{Piece, Word};

/// Names that start what follows them.
const WRAPPERS: &[&str] = &[
    "timeout",
    "nice",
    "env",
    "xargs",
    "nohup",
    "stdbuf",
    "setsid",
    "sudo",
    "doas",
    "command",
    "builtin",
    "exec",
    "time",
    "ionice",
    "chrt",
    "watch",
    "parallel",
    "strace",
    "ltrace",
    "flock",
    "busybox",
    "toybox",
    "chroot",
    "nsenter",
    "unshare",
    "script",
    "su",
    "runuser",
    "systemd-run",
    "entr",
    "taskset",
    "setpriv",
    "prlimit",
    "unbuffer",
    "rlwrap",
    "hyperfine",
];

/// A command within another one's arguments.
pub(super) struct Inner {
    /// Where its name stands.
    pub(super) at: usize,
    /// The command. For `xargs` with an unknown rest.
    pub(super) argv: Vec<Word>,
    /// Whether running it this way is no more than running it.
    pub(super) same: bool,
}

/// Wrappers within wrappers that are looked through.
pub(super) const MAX_DEPTH: usize = 4;

/// Whether `name` starts other commands.
pub(super) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.contains(&name)
}

/// The command that a wrapper starts, if its options are all known.
pub(super) fn inner(argv: &[Word]) -> Option<Inner> {
    let name = argv.first()?.literal()?;
    let text = |at: usize| argv.get(at).and_then(Word::literal);
    let mut at = 1;
    let mut same = true;
    match name {
        "timeout" => {
            while let Some(option) = text(at).filter(|text| text.starts_with('-')) {
                at += match option {
                    "-k" | "-s" => 2,
                    "--foreground" | "--preserve-status" | "-v" | "--verbose" => 1,
                    other if other.starts_with("--kill-after=") || other.starts_with("--signal=") => 1,
                    _ => return None,
                };
            }
            let duration = text(at)?.trim_end_matches(['s', 'm', 'h', 'd']);
            if duration.is_empty() || !duration.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
                return None;
            }
            at += 1;
        }
        "nice" => {
            if let Some(option) = text(at).filter(|text| text.starts_with('-')) {
                let number = option.strip_prefix("-n").unwrap_or(&option[1..]);
                let value = if option == "-n" { text(at + 1)? } else { number };
                value.parse::<i8>().ok()?;
                at += if option == "-n" { 2 } else { 1 };
            }
        }
        "nohup" => {}
        "command" => same = true,
        "stdbuf" => {
            while let Some(option) = text(at).filter(|text| text.starts_with('-')) {
                let mode = ["-i", "-o", "-e"].iter().find_map(|stream| option.strip_prefix(stream))?;
                let is_size = !mode.is_empty() && mode.bytes().all(|byte| byte.is_ascii_digit());
                if mode != "L" && !is_size {
                    return None;
                }
                at += 1;
            }
        }
        "env" => {
            while let Some((variable, _)) = text(at).and_then(|text| text.split_once('=')) {
                if !is_harmless_variable(variable) {
                    return None;
                }
                at += 1;
            }
        }
        "xargs" => {
            while let Some(option) = text(at).filter(|text| text.starts_with('-')) {
                at += match option {
                    "-0" | "-r" | "-t" | "--null" | "--no-run-if-empty" => 1,
                    "-n" | "-P" | "-L" => 2,
                    other
                        if other[1..].starts_with(['n', 'P', 'L'])
                            && other[2..].bytes().all(|b| b.is_ascii_digit()) =>
                    {
                        1
                    }
                    _ => return None,
                };
            }
        }
        // Others do more than start it, or their options aren't known here.
        _ => same = false,
    }
    let first = text(at)?;
    if first.starts_with('-') || first.is_empty() || first.contains('=') {
        return None;
    }
    let mut inner = argv[at..].to_vec();
    if name == "xargs" {
        inner.push(Word { pieces: vec![Piece::Unknown { quoted: false }] });
    }
    Some(Inner { at, argv: inner, same })
}

/// Variables that may be set for one command without a rule: they change what it prints, not what it runs.
pub(super) fn is_harmless_variable(name: &str) -> bool {
    const HARMLESS: &[&str] = &[
        "CI",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "DEBIAN_FRONTEND",
        "FORCE_COLOR",
        "GOARCH",
        "GOOS",
        "LANG",
        "LANGUAGE",
        "LINES",
        "NODE_ENV",
        "NO_COLOR",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONUNBUFFERED",
        "RAILS_ENV",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "TZ",
        "CARGO_TERM_COLOR",
        "CARGO_INCREMENTAL",
        "RUST_TEST_THREADS",
        "CGO_ENABLED",
        "APP_ENV",
        "LOG_LEVEL",
        "LC_ALL",
        "LC_COLLATE",
        "LC_CTYPE",
        "LC_MESSAGES",
        "LC_NUMERIC",
        "LC_TIME",
    ];
    HARMLESS.contains(&name)
}

/// Variables that may be assigned on their own: the harmless ones, and a script's own in lower case.
pub(super) fn is_local_variable(name: &str) -> bool {
    let own = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let inherited = name.ends_with("_proxy") || name.starts_with("npm_") || matches!(name, "auto_resume" | "histchars");
    is_harmless_variable(name) || own && !inherited
}
