//! Which paths a command may touch, for what forbids: errs on the side of finding too many.

use std::path::{Path, PathBuf};

use crate::shell::{Piece, RedirectionKind, SimpleCommand, Word};

use super::wildcard::Token;

/// What a command may do with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Touch {
    Read,
    Edit,
    Remove,
}

/// A path as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Exactly this text; relative to where the command runs unless absolute.
    Path(String),
    /// Names of files that match.
    Glob(Vec<Token>),
    /// It begins with something that isn't known.
    Unknown,
}

/// Programs that print nothing of the files they are given.
const NOT_READING: &[&str] = &[
    "echo", "printf", "ls", "test", "[", "touch", "mkdir", "rm", "rmdir", "unlink", "chmod", "chown", "cd", "pushd",
    "which", "type", "basename", "dirname", "realpath", "readlink", "stat", "true", "false", ":", "for", "kill", "pwd",
    "export",
];

/// Programs that change or create the files they are given, or may.
const WRITING: &[&str] = &[
    "tee", "cp", "mv", "install", "ln", "dd", "truncate", "touch", "rm", "rmdir", "unlink", "mkdir", "shred", "chmod",
    "chown", "chgrp", "patch", "rsync", "scp", "unzip", "tar", "bsdtar", "ed", "ex", "vi", "vim", "nvim", "nano",
    "emacs", "sponge", "split", "csplit", "mkfifo", "mknod", "xxd", "uniq", "setfacl", "xattr", "gzip", "gunzip",
    "bzip2", "xz", "zstd", "link", "rename", "prename", "mktemp", "trash", "gio", "ditto", "chattr", "cpio", "sqlite3",
    "code", "prettier", "rustfmt",
];

/// Programs that change the files they are given only with certain options.
const WRITING_WITH: &[(&str, &[&str])] = &[
    ("sed", &["-i", "--in-place", "--in-p"]),
    ("gsed", &["-i", "--in-place"]),
    ("perl", &["-i", "-pi", "-ni", "-p", "-e"]),
    ("ruby", &["-i", "-pi", "-e"]),
    ("awk", &["-i", "inplace"]),
    ("gawk", &["-i", "inplace"]),
    ("yq", &["-i", "--inplace"]),
    ("git", &["checkout", "restore", "rm", "mv", "apply", "stash", "reset", "clean", "config"]),
    ("find", &["-delete", "-exec", "-execdir", "-fprint", "-fprintf", "-fls"]),
    ("curl", &["-o", "-O", "--output", "--remote-name"]),
    ("wget", &["-O", "--output-document", "-o"]),
    ("python", &["-c"]),
    ("python3", &["-c"]),
    ("node", &["-e", "-p", "--eval"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
];

/// Programs that remove what they are given.
const REMOVING: &[&str] = &["rm", "rmdir", "unlink", "shred", "mv", "trash", "gio", "srm"];

/// Languages whose one-line programs name files in their strings.
const LANGUAGES: &[&str] =
    &["python", "python3", "perl", "ruby", "node", "php", "lua", "awk", "gawk", "mawk", "sed", "ed", "ex", "vim"];

/// Every path that the command may touch.
pub(super) fn targets(command: &SimpleCommand) -> Vec<(Touch, Target)> {
    let mut out = Vec::new();
    for redirection in &command.redirections {
        let touch = if redirection.kind == RedirectionKind::Read { Touch::Read } else { Touch::Edit };
        out.extend(target(&redirection.target).map(|target| (touch, target)));
    }
    let Some(name) = command.argv.first() else { return out };
    let base = name.literal().map_or("", |name| name.rsplit('/').next().unwrap_or(name));
    let reads = !NOT_READING.contains(&base);
    let writes = writes(base, &command.argv);
    let removes = REMOVING.contains(&base) || base == "find" && finds_and_removes(&command.argv);
    for word in &command.argv[1..] {
        for candidate in candidates(word) {
            let Some(found) = target(&candidate) else { continue };
            if reads {
                out.push((Touch::Read, found.clone()));
            }
            if writes {
                out.push((Touch::Edit, found.clone()));
            }
            if removes {
                out.push((Touch::Remove, found));
            }
        }
        if LANGUAGES.contains(&base)
            && let Some(code) = word.literal()
        {
            let inside = |c: char| !(c.is_alphanumeric() || "/._-~@+".contains(c));
            for name in code.split(inside).filter(|name| !name.is_empty() && *name != code) {
                out.push((Touch::Read, Target::Path(name.to_owned())));
                if writes {
                    out.push((Touch::Edit, Target::Path(name.to_owned())));
                }
            }
        }
    }
    // `-o file` writes it, whatever the program.
    for pair in command.argv.windows(2) {
        if matches!(pair[0].literal(), Some("-o" | "--output" | "--out" | "-O" | "--output-file")) {
            out.extend(target(&pair[1]).map(|target| (Touch::Edit, target)));
        }
    }
    for word in &command.argv[1..] {
        let value = word.literal().and_then(|text| text.split_once('=')).filter(|(option, _)| {
            matches!(*option, "of" | "--output" | "--out" | "--output-file" | "--output-document" | "--log-file")
        });
        out.extend(value.map(|(_, value)| (Touch::Edit, Target::Path(value.to_owned()))));
    }
    out
}

/// Whether it removes something whose beginning isn't known, with all that is in it.
pub(super) fn removes_unknown(command: &SimpleCommand) -> bool {
    let base = command.argv.first().and_then(Word::literal).map_or("", |name| name.rsplit('/').next().unwrap_or(name));
    let recursive = |word: &Word| {
        let text = word.prefix();
        text.starts_with("--rec") || text.starts_with('-') && !text.starts_with("--") && text.contains(['r', 'R'])
    };
    base == "rm"
        && command.argv.iter().any(recursive)
        && command.argv[1..].iter().any(|word| matches!(target(word), Some(Target::Unknown)))
}

/// The folders to which the commands change, as written; `None` in the list is one that isn't known.
pub(super) fn changed_folders(commands: &[SimpleCommand]) -> Vec<Option<String>> {
    let mut out = Vec::new();
    for command in commands {
        let Some(name) = command.argv.first().and_then(Word::literal) else { continue };
        match name.rsplit('/').next().unwrap_or(name) {
            "cd" | "pushd" => {
                let operand =
                    command.argv[1..].iter().find(|word| !matches!(word.literal(), Some("-P" | "-L" | "--" | "-e")));
                let folder = operand.map_or(Some("~".to_owned()), |word| match target(word) {
                    Some(Target::Path(path)) if path != "-" => Some(path),
                    _ => None,
                });
                out.push(folder);
            }
            "git" | "make" | "env" | "tar" | "ninja" | "npm" | "pnpm" | "cargo" => {
                for pair in command.argv.windows(2) {
                    if matches!(pair[0].literal(), Some("-C" | "--chdir" | "--directory" | "--prefix")) {
                        out.push(match target(&pair[1]) {
                            Some(Target::Path(path)) => Some(path),
                            _ => None,
                        });
                    }
                }
            }
            _ => {}
        }
    }
    out
}

/// Whether a `find` removes what it finds, and finds everything.
fn finds_and_removes(argv: &[Word]) -> bool {
    const NARROWING: &[&str] =
        &["-name", "-iname", "-path", "-ipath", "-regex", "-newer", "-empty", "-size", "-mtime", "-mmin"];
    let removes = |word: &Word| word.literal().is_some_and(|text| text == "-delete" || REMOVING.contains(&text));
    argv.iter().any(removes) && !argv.iter().any(|word| word.literal().is_some_and(|text| NARROWING.contains(&text)))
}

fn writes(base: &str, argv: &[Word]) -> bool {
    let with = WRITING_WITH.iter().find(|(name, _)| *name == base);
    WRITING.contains(&base) || with.is_some_and(|(_, options)| has(argv, options))
}

fn has(argv: &[Word], options: &[&str]) -> bool {
    argv[1..].iter().any(|word| options.iter().any(|option| word.prefix().starts_with(option)))
}

/// What in a word may be a path: all of it, the value of an option, what stands behind `:`, `=`, `@`.
fn candidates(word: &Word) -> Vec<Word> {
    let mut out = Vec::new();
    let prefix = word.prefix();
    if !prefix.starts_with('-') {
        out.push(word.clone());
    }
    let Some(Piece::Text(first)) = word.pieces.first() else { return out };
    let mut starts: Vec<usize> =
        first.match_indices([':', '=', '@', ',']).map(|(at, sign)| at + sign.len()).take(4).collect();
    if first.starts_with('-') && !first.starts_with("--") && first.len() > 2 && first.is_char_boundary(2) {
        starts.push(2);
    }
    for start in starts {
        let mut rest = Word::literal_of(&first[start..]);
        word.pieces[1..].iter().for_each(|piece| rest.push(piece.clone()));
        if !rest.pieces.is_empty() {
            out.push(rest);
        }
    }
    out
}

/// What a word names, none for the empty word. The home directory is written as `~`.
pub(super) fn target(word: &Word) -> Option<Target> {
    let mut tokens = Vec::new();
    let mut text = String::new();
    let mut glob = false;
    for (at, piece) in word.pieces.iter().enumerate() {
        match piece {
            Piece::Text(piece) => {
                // A literal `~` in front isn't the home directory.
                if at == 0 && piece.starts_with('~') {
                    text.push_str("./");
                    tokens.extend([Token::Char('.'), Token::Char('/')]);
                }
                text.push_str(piece);
                tokens.extend(piece.chars().map(Token::Char));
            }
            Piece::Home => {
                text.push('~');
                tokens.push(Token::Char('~'));
            }
            Piece::Glob(c) => {
                glob = true;
                tokens.push(if *c == '?' { Token::One } else { Token::Any });
            }
            Piece::Variable { .. } | Piece::Unknown { .. } if at == 0 => return Some(Target::Unknown),
            Piece::Variable { .. } | Piece::Unknown { .. } => {
                glob = true;
                tokens.push(Token::Any);
            }
        }
    }
    if glob {
        return Some(Target::Glob(tokens));
    }
    (!text.is_empty()).then_some(Target::Path(text))
}

/// `text` as an absolute path, `~` replaced, `..` kept.
pub(super) fn absolute(text: &str, base: &Path, home: &Path) -> PathBuf {
    match text.strip_prefix('~') {
        Some("") => home.to_path_buf(),
        Some(rest) if rest.starts_with('/') => home.join(&rest[1..]),
        _ => base.join(text),
    }
}

/// The components of a glob as an absolute path; `None` if `..` stands in it.
pub(super) fn glob_components(glob: &[Token], base: &Path, home: &Path) -> Option<Vec<Vec<Token>>> {
    let mut parts: Vec<Vec<Token>> = glob.split(|token| *token == Token::Char('/')).map(<[Token]>::to_vec).collect();
    let from = match parts.first()?.as_slice() {
        [] => Path::new("/"),
        [Token::Char('~')] => {
            parts.remove(0);
            home
        }
        _ => base,
    };
    let mut out: Vec<Vec<Token>> = from
        .components()
        .skip(1)
        .map(|part| part.as_os_str().to_string_lossy().chars().map(Token::Char).collect())
        .collect();
    for part in parts {
        match part.as_slice() {
            [] | [Token::Char('.')] => {}
            [Token::Char('.'), Token::Char('.')] => {
                out.pop();
            }
            _ => out.push(part),
        }
    }
    Some(out)
}
