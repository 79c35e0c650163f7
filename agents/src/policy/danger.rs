//! What rules for harmless use don't cover: options and arguments by which a program runs others or writes files.
//!
//! A rule covers such an argument only if it spells it out: `Bash(sed -i *)` covers `-i`, `Bash(sed *)` doesn't.

use crate::shell::Word;

use super::{scripts, wrapper};

/// An argument that a rule has to spell out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Danger {
    /// Its place in `argv`.
    pub(super) at: usize,
    /// What it does.
    pub(super) why: &'static str,
}

const RUNS: &str = "it can run another program";
const WRITES: &str = "it can write a file";
const EVALUATES: &str = "the shell evaluates it";
const UNKNOWN: &str = "it may become an option";

/// Options of a program: long ones (any abbreviation counts), letters within a group of short ones, and what they do.
struct Guard {
    programs: &'static [&'static str],
    long: &'static [&'static str],
    short: &'static str,
    why: &'static str,
}

#[rustfmt::skip]
const GUARDS: &[Guard] = &[
    Guard { programs: &["sort"], long: &["--output", "--compress-program", "--temporary-directory", "--files0-from"], short: "oT", why: WRITES },
    Guard { programs: &["rg"], long: &["--pre", "--pre-glob", "--hostname-bin", "--search-zip"], short: "z", why: RUNS },
    Guard { programs: &["fd", "fdfind"], long: &["--exec", "--exec-batch"], short: "xX", why: RUNS },
    Guard { programs: &["ag", "ack", "bat", "batcat", "delta"], long: &["--pager"], short: "", why: RUNS },
    Guard { programs: &["man"], long: &["--pager", "--html", "--preprocessor", "--config-file"], short: "PHC", why: RUNS },
    Guard { programs: &["tar", "bsdtar", "gtar"], long: &["--checkpoint-action", "--use-compress-program", "--to-command", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command", "--absolute-names"], short: "IFP", why: RUNS },
    Guard { programs: &["zip"], long: &["--unzip-command"], short: "T", why: RUNS },
    Guard { programs: &["rsync"], long: &["--rsh", "--rsync-path", "--log-file", "--files-from", "--daemon"], short: "e", why: RUNS },
    Guard { programs: &["ssh", "scp", "sftp"], long: &[], short: "oFESDLRWJw", why: RUNS },
    Guard { programs: &["curl"], long: &["--output", "--output-dir", "--remote-name", "--remote-name-all", "--remote-header-name", "--config", "--dump-header", "--cookie-jar", "--trace", "--trace-ascii", "--libcurl", "--stderr", "--etag-save", "--hsts", "--alt-svc", "--upload-file", "--engine"], short: "oOJKDcT", why: WRITES },
    Guard { programs: &["wget"], long: &["--output-document", "--output-file", "--append-output", "--directory-prefix", "--use-askpass", "--execute", "--config", "--input-file", "--post-file", "--body-file"], short: "OoaPei", why: WRITES },
    Guard { programs: &["tree", "iconv", "strace", "ltrace", "less", "zless"], long: &["--output", "--log-file", "--LOG-FILE"], short: "oO", why: WRITES },
    Guard { programs: &["yq"], long: &["--inplace", "--in-place", "--split-exp"], short: "is", why: WRITES },
    Guard { programs: &["cargo"], long: &["--config"], short: "Z", why: RUNS },
    Guard { programs: &["npm", "pnpm", "yarn"], long: &["--script-shell", "--node-options", "--shell", "--userconfig", "--globalconfig", "--prefix", "--dir", "--cwd", "--git"], short: "C", why: RUNS },
    Guard { programs: &["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish"], long: &["--rcfile", "--init-file", "--command", "--init-command"], short: "cislO", why: EVALUATES },
    Guard { programs: &["make", "gmake"], long: &["--eval"], short: "E", why: EVALUATES },
    Guard { programs: &["date"], long: &["--set"], short: "s", why: "it sets the clock" },
    Guard { programs: &["file"], long: &["--compile", "--magic-file"], short: "Cm", why: WRITES },
];

/// Builtins all of whose arguments the shell may evaluate, or that change what later words mean.
const EVALUATING: &[&str] = &[
    "eval",
    "source",
    ".",
    "trap",
    "let",
    "read",
    "mapfile",
    "readarray",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "unset",
    "getopts",
    "alias",
    "unalias",
    "bind",
    "complete",
    "compgen",
    "compopt",
    "enable",
    "hash",
    "set",
    "shopt",
    "fc",
    "history",
    "wait",
    "caller",
    "dirs",
    "return",
    "ulimit",
    "umask",
    "coproc",
    "function",
];

/// The arguments that a rule has to spell out. `elsewhere`: the command may run in another folder than the agent's.
pub(super) fn dangers(argv: &[Word], elsewhere: bool) -> Vec<Danger> {
    dangers_within(argv, elsewhere, 0)
}

fn dangers_within(argv: &[Word], elsewhere: bool, depth: usize) -> Vec<Danger> {
    let Some(name) = argv.first().and_then(Word::literal) else { return vec![Danger { at: 0, why: UNKNOWN }] };
    let base = name.rsplit('/').next().unwrap_or(name);
    let mut out = Vec::new();
    if elsewhere && (base == "git" || name.contains('/')) {
        // Git and relative names take what they run from the folder they are in.
        out.push(Danger { at: usize::MAX, why: "it runs in another folder, with that folder's configuration" });
    }
    if EVALUATING.contains(&base) {
        out.extend((1..argv.len()).map(|at| Danger { at, why: EVALUATES }));
        return out;
    }
    if wrapper::is_wrapper(base) {
        match wrapper::inner(argv).filter(|_| depth < wrapper::MAX_DEPTH) {
            Some(inner) => {
                out.push(Danger { at: inner.at, why: RUNS });
                let shift = |danger: Danger| Danger { at: danger.at.saturating_add(inner.at), ..danger };
                out.extend(dangers_within(&inner.argv, elsewhere, depth + 1).into_iter().map(shift));
            }
            None => out.extend((1..argv.len()).map(|at| Danger { at, why: RUNS })),
        }
        return out;
    }
    match base {
        "git" => git(argv, &mut out),
        "find" => find(argv, &mut out),
        "go" => go(argv, &mut out),
        "test" | "[" => out.extend(each(argv, |word| {
            let odd = |text: &str| matches!(text, "-v" | "-R") || text.contains(['[', '$', '`']);
            word.literal().is_none_or(odd).then_some(EVALUATES)
        })),
        "printf" => printf(argv, &mut out),
        "sed" | "gsed" => out.extend(scripts::sed(argv).dangers),
        "awk" | "gawk" | "mawk" | "nawk" => out.extend(scripts::awk(argv)),
        "uniq" | "xxd" => {
            let operands = (1..argv.len()).filter(|&at| !argv[at].prefix().starts_with('-'));
            out.extend(operands.skip(1).map(|at| Danger { at, why: WRITES }));
            out.extend(unknown(argv));
        }
        _ => {
            if let Some(guard) = GUARDS.iter().find(|guard| guard.programs.contains(&base)) {
                out.extend(each(argv, |word| {
                    let text = word.prefix();
                    (has_long(text, guard.long) || has_short(text, guard.short)).then_some(guard.why)
                }));
                // `tar xIf`: the old style has no dash.
                if base.ends_with("tar") && argv.get(1).is_some_and(|word| word.prefix().contains(['I', 'F', 'P'])) {
                    out.push(Danger { at: 1, why: RUNS });
                }
                out.extend(unknown(argv));
            }
        }
    }
    out
}

fn each(argv: &[Word], judge: impl Fn(&Word) -> Option<&'static str>) -> Vec<Danger> {
    let judged = |(at, word)| judge(word).map(|why| Danger { at, why });
    argv.iter().enumerate().skip(1).filter_map(judged).collect()
}

/// Words of which it isn't known whether they are options.
fn unknown(argv: &[Word]) -> Vec<Danger> {
    let unknown = |word: &Word| (word.literal().is_none() && word.may_be_option()).then_some(UNKNOWN);
    let end = argv.iter().position(|word| word.literal() == Some("--")).unwrap_or(argv.len());
    each(&argv[..end], unknown)
}

/// Whether `text` is one of the long options, abbreviated or not, with or without a value.
fn has_long(text: &str, long: &[&str]) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    name.len() > 2 && name.starts_with("--") && long.iter().any(|option| option.starts_with(name))
}

/// Whether `text` is a group of short options with one of these letters in it, or in a value glued to it.
fn has_short(text: &str, short: &str) -> bool {
    text.len() > 1 && text.starts_with('-') && !text.starts_with("--") && text.contains(|c| short.contains(c))
}

fn git(argv: &[Word], out: &mut Vec<Danger>) {
    const LONG: &[&str] = &[
        "--output",
        "--output-directory",
        "--ext-diff",
        "--textconv",
        "--upload-pack",
        "--receive-pack",
        "--exec",
        "--open-files-in-pager",
        "--extcmd",
        "--config",
        "--template",
        "--config-env",
        "--separate-git-dir",
        "--reference",
        "--show-signature",
        "--git-dir",
        "--work-tree",
        "--exec-path",
        "--remote",
        "--tool",
        "--gpg-sign",
        "--trailer",
        "--paginate",
        "--super-prefix",
        "--file",
        "--pathspec-from-file",
        "--directory",
        "--strategy",
    ];
    /// Subcommands that run programs, or change what other subcommands run.
    const RUNNING: &[&str] = &[
        "config",
        "difftool",
        "mergetool",
        "filter-branch",
        "hook",
        "credential",
        "daemon",
        "instaweb",
        "web--browse",
        "send-email",
        "svn",
        "p4",
        "cvsserver",
        "shell",
        "remote-ext",
        "submodule",
        "bisect",
        "maintenance",
        "help",
        "alias",
        "replace",
        "update-ref",
        "symbolic-ref",
        "init-db",
        "upload-pack",
        "receive-pack",
        "for-each-repo",
        "archimport",
    ];
    let mut sub = 1;
    while let Some(word) = argv.get(sub) {
        match word.literal() {
            Some("--no-pager" | "--literal-pathspecs" | "--no-optional-locks" | "--version" | "--help") => sub += 1,
            Some(text) if !text.starts_with('-') => break,
            _ => {
                out.push(Danger { at: sub, why: RUNS });
                sub += 1;
                // Its value, and whatever else stands before a subcommand that can be told.
                out.extend((sub..argv.len()).map(|at| Danger { at, why: RUNS }));
                return;
            }
        }
    }
    let name = argv.get(sub).and_then(Word::literal).unwrap_or_default();
    if RUNNING.contains(&name) {
        out.push(Danger { at: sub, why: RUNS });
    }
    let short = match name {
        "rebase" => "x",
        "clone" | "fetch" | "pull" => "uc",
        "archive" | "format-patch" => "o",
        "difftool" => "xt",
        "grep" => "O",
        "bundle" => "",
        _ => "\0",
    };
    let judge = |(at, word): (usize, &Word)| {
        let text = word.prefix();
        let address = text.contains("::") && !text.starts_with('-');
        let formatted = text.starts_with("--") && text.contains("%G");
        (has_long(text, LONG) || has_short(text, short) || address || formatted).then_some(Danger { at, why: RUNS })
    };
    out.extend(argv.iter().enumerate().skip(sub + 1).filter_map(judge));
    if matches!(name, "bisect" | "submodule" | "config") {
        out.extend((sub + 1..argv.len()).map(|at| Danger { at, why: RUNS }));
    }
    out.extend(unknown(argv));
}

fn find(argv: &[Word], out: &mut Vec<Danger>) {
    const ACTIONS: &[&str] =
        &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"];
    out.extend(each(argv, |word| {
        let text = word.prefix();
        match text {
            "-delete" => Some("it removes files"),
            _ if ACTIONS.contains(&text) || text.starts_with("-fprint") => {
                Some(if text.starts_with("-f") { WRITES } else { RUNS })
            }
            _ => (word.literal().is_none() && word.may_be_option()).then_some(UNKNOWN),
        }
    }));
}

fn go(argv: &[Word], out: &mut Vec<Danger>) {
    const FLAGS: &[&str] = &[
        "exec",
        "toolexec",
        "vettool",
        "o",
        "overlay",
        "modfile",
        "C",
        "gcflags",
        "ldflags",
        "gccgoflags",
        "coverprofile",
        "outputdir",
    ];
    out.extend(each(argv, |word| {
        let name = word.prefix().trim_start_matches('-').split('=').next().unwrap_or_default();
        (word.prefix().starts_with('-') && FLAGS.contains(&name)).then_some(RUNS)
    }));
    out.extend(unknown(argv));
}

/// `-v` assigns to a variable whose subscript is evaluated, and so does `%n`.
fn printf(argv: &[Word], out: &mut Vec<Danger>) {
    let assigns = |format: &str| {
        format
            .split('%')
            .skip(1)
            .any(|behind| behind.trim_start_matches(|c: char| "0123456789#+- '.*hlLjtz".contains(c)).starts_with('n'))
    };
    for (at, word) in argv.iter().enumerate().skip(1) {
        let text = word.prefix();
        let odd = text.starts_with("-v") || (text.starts_with('-') && text.len() > 1 && at == 1 && text != "--");
        let format = word.literal().is_none_or(assigns) && at <= 2 || word.literal().is_some_and(assigns);
        if odd || format && (at == 1 || word.literal().is_some()) {
            out.push(Danger { at, why: EVALUATES });
        }
    }
}
