//! Commands that run without any rule in every mode: they only read and print. By allow-lists of flags; whatever isn't
//! listed here is asked for.

use crate::shell::{Piece, Word};

use super::scripts;

/// What a harmless command reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Harmless {
    /// The files whose content it prints. They still have to be readable without a question.
    pub(super) reads: Vec<Word>,
    /// Whether it descends into folders and prints what is in them.
    pub(super) recursive: bool,
}

/// What the arguments are that aren't flags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// There may be none.
    None,
    /// Text or names: nothing is printed of what they name.
    Text,
    /// Files whose content is printed.
    Files,
    /// A pattern, then such files.
    PatternThenFiles,
}

use Operands::{Files, None as NoOperands, PatternThenFiles, Text};

struct Spec {
    /// The program, or `git` and a subcommand.
    name: &'static str,
    /// Letters that may stand in a group behind one dash.
    short: &'static str,
    /// Letters that take a value.
    valued: &'static str,
    /// Long flags, blank separated, without dashes; `=` behind those that take a value as the next word too.
    long: &'static str,
    operands: Operands,
}

const fn spec(
    name: &'static str,
    short: &'static str,
    valued: &'static str,
    long: &'static str,
    operands: Operands,
) -> Spec {
    Spec { name, short, valued, long, operands }
}

const DIFF: &str = "stat numstat shortstat name-only name-status cached staged color no-color word-diff color-words summary patch \
    no-patch unified= no-renames find-renames ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines \
    diff-filter= minimal patience histogram exit-code quiet check binary full-index merge-base no-ext-diff no-textconv raw \
    compact-summary dirstat abbrev inter-hunk-context= function-context oneline graph decorate no-decorate all author= \
    since= until= after= before= grep= max-count= skip= format= pretty abbrev-commit follow merges no-merges first-parent \
    reverse date= branches tags remotes left-right topo-order date-order regexp-ignore-case no-walk root simplify-by-decoration";

#[rustfmt::skip]
const SPECS: &[Spec] = &[
    spec("ls", "1aAbBcCdFfgGhHiklLmnNopqQrRsStuUvxXZ", "Iw", "all almost-all human-readable color recursive reverse sort= time= group-directories-first classify directory si size inode full-time format= numeric-uid-gid no-group width=", Text),
    spec("cat", "AbeEnstTuv", "", "number number-nonblank show-all squeeze-blank show-ends show-tabs", Files),
    spec("tac", "", "", "", Files),
    spec("rev", "", "", "", Files),
    spec("nl", "", "bnsvw", "", Files),
    spec("head", "qvz0123456789", "nc", "lines= bytes= quiet verbose", Files),
    spec("tail", "qvz0123456789", "nc", "lines= bytes= quiet verbose", Files),
    spec("wc", "clmwL", "", "lines words chars bytes", Files),
    spec("cut", "sz", "bcdf", "fields= delimiter= characters= bytes= only-delimited complement output-delimiter=", Files),
    spec("paste", "sz", "d", "", Files),
    spec("tr", "cCdst", "", "delete squeeze-repeats complement", Text),
    spec("fold", "bs", "w", "", Files),
    spec("column", "t", "sc", "table separator=", Files),
    spec("comm", "123", "", "", Files),
    spec("cmp", "bls", "n", "silent quiet", Files),
    spec("diff", "abBdeEiNpqrstTuwy", "UC", "unified context color brief recursive side-by-side ignore-all-space ignore-space-change ignore-case ignore-blank-lines new-file report-identical-files suppress-common-lines", Files),
    spec("sort", "bdfghiMnRrVcCmsuz", "kt", "numeric-sort reverse unique key= field-separator= ignore-case version-sort human-numeric-sort general-numeric-sort stable check zero-terminated", Files),
    spec("md5sum", "bt", "", "", Files),
    spec("sha1sum", "bt", "", "", Files),
    spec("sha256sum", "bt", "", "", Files),
    spec("cksum", "", "", "", Files),
    spec("file", "bihLk", "", "brief mime mime-type mime-encoding dereference", Files),
    spec("jq", "rcaesSnCMRj", "", "raw-output compact-output slurp null-input exit-status sort-keys monochrome-output raw-input tab join-output", PatternThenFiles),
    spec("grep", "EFGPivwxclLqsbHhnoaIrRUZyT0123456789", "eABCm", "extended-regexp fixed-strings perl-regexp ignore-case invert-match word-regexp line-regexp count color files-with-matches files-without-match max-count= only-matching quiet no-messages line-number with-filename no-filename recursive include= exclude= exclude-dir= after-context= before-context= context= regexp= text null binary-files=", PatternThenFiles),
    spec("egrep", "ivwxclLqsHhnoaIrR", "eABCm", "ignore-case line-number recursive include= exclude= exclude-dir= color", PatternThenFiles),
    spec("fgrep", "ivwxclLqsHhnoaIrR", "eABCm", "ignore-case line-number recursive include= exclude= exclude-dir= color", PatternThenFiles),
    spec("rg", "icwvnNlFSsUxoPHIq0puL", "egtTABCmjMd", "ignore-case smart-case case-sensitive word-regexp invert-match line-number no-line-number files-with-matches files-without-match fixed-strings multiline only-matching pcre2 heading no-heading with-filename no-filename quiet pretty hidden no-ignore no-ignore-vcs unrestricted follow count count-matches color= colors= glob= iglob= type= type-not= after-context= before-context= context= max-count= max-depth= max-columns= sort= sortr= stats json trim vimgrep type-list column replace= regexp= multiline-dotall null", PatternThenFiles),
    spec("pwd", "LP", "", "", NoOperands),
    spec("whoami", "", "", "", NoOperands),
    spec("id", "gGnru", "", "", Text),
    spec("uname", "amnoprsvi", "", "all", NoOperands),
    spec("nproc", "", "", "all", NoOperands),
    spec("arch", "", "", "", NoOperands),
    spec("basename", "az", "s", "multiple suffix= zero", Text),
    spec("dirname", "z", "", "zero", Text),
    spec("realpath", "emsqzLP", "", "canonicalize-existing canonicalize-missing no-symlinks quiet relative-to= relative-base=", Text),
    spec("readlink", "fenmqsvz", "", "canonicalize canonicalize-existing canonicalize-missing no-newline", Text),
    spec("which", "as", "", "", Text),
    spec("type", "aftpP", "", "", Text),
    spec("stat", "Lft", "c", "dereference file-system format= printf= terse", Text),
    spec("du", "abcDhHklmsSxL0", "d", "all summarize human-readable total max-depth= apparent-size exclude= one-file-system", Text),
    spec("df", "ahHiklTP", "", "human-readable inodes type=", Text),
    spec("tree", "adfpshugDFirtSnCAN", "LIP", "dirsfirst filelimit= gitignore noreport prune", Text),
    spec("seq", "w", "sf", "", Text),
    spec("true", "", "", "", Text),
    spec("false", "", "", "", Text),
    spec("git status", "sbvz", "u", "short branch porcelain untracked-files ignored long show-stash ahead-behind no-renames verbose", Text),
    spec("git diff", "pswbzRaMCu0123456789", "USG", DIFF, Files),
    spec("git log", "pswbzRaMCui0123456789EFP", "USGnL", DIFF, Files),
    spec("git show", "pswbzRaMCu", "USGn", DIFF, Files),
    spec("git rev-list", "0123456789", "n", "count all max-count= since= until= after= before= author= first-parent merges no-merges reverse left-right objects branches tags", Text),
    spec("git shortlog", "sne", "", "summary numbered email", Text),
    spec("git blame", "lstwepfMC", "L", "porcelain line-porcelain show-email show-name date=", Files),
    spec("git branch", "arv", "", "all remotes verbose show-current list sort= format= merged no-merged contains= no-contains= points-at= color no-color column", NoOperands),
    spec("git tag", "l", "", "list sort= format= contains= merged no-merged", NoOperands),
    spec("git remote", "v", "", "verbose", NoOperands),
    spec("git stash list", "p", "", "oneline stat", NoOperands),
    spec("git stash show", "pu", "", "stat patch name-only name-status", Text),
    spec("git worktree list", "v", "", "porcelain verbose", NoOperands),
    spec("git reflog", "0123456789", "n", "oneline all date=", NoOperands),
    spec("git rev-parse", "q", "", "show-toplevel abbrev-ref short verify git-dir git-common-dir is-inside-work-tree is-bare-repository show-prefix show-cdup symbolic-full-name quiet all branches", Text),
    spec("git ls-files", "cdmoikstuz", "x", "cached deleted modified others ignored stage exclude-standard exclude= full-name error-unmatch eol", Text),
    spec("git ls-tree", "rtdlz", "", "name-only full-name long full-tree", Text),
    spec("git describe", "", "", "tags all always dirty long abbrev= match= exact-match contains", Text),
    spec("git merge-base", "a", "", "all is-ancestor fork-point octopus", Text),
    spec("git cat-file", "pts", "", "", Files),
    spec("git name-rev", "", "", "name-only tags always", Text),
    spec("git check-ignore", "vnq", "", "verbose quiet non-matching no-index", Text),
    spec("git grep", "nilwEFGPcIvqLh", "eABC", "line-number ignore-case word-regexp count files-with-matches cached fixed-strings extended-regexp perl-regexp", PatternThenFiles),
    spec("git count-objects", "vH", "", "verbose human-readable", NoOperands),
    spec("git --version", "", "", "", NoOperands),
];

/// Programs that may be asked for their version.
const VERSIONED: &[&str] = &[
    "bun", "cargo", "cc", "clang", "cmake", "deno", "docker", "gcc", "git", "go", "java", "make", "node", "npm",
    "perl", "pip", "pnpm", "python", "python3", "rg", "ruby", "rustc", "rustup", "tsc", "uv", "yarn", "jq", "bash",
];

/// What the command reads, if it is harmless.
pub(super) fn harmless(argv: &[Word]) -> Option<Harmless> {
    let name = argv.first()?.literal()?;
    match name {
        // Nothing that it prints has an effect, and it has no other.
        "echo" | ":" => return Some(Harmless::default()),
        "sed" => {
            let sed = scripts::sed(argv);
            let files = sed.files.iter().map(|&at| argv[at].clone()).collect();
            return sed.dangers.is_empty().then_some(Harmless { reads: files, recursive: false });
        }
        "find" => return find(argv),
        "date" => return argv[1..].iter().all(|word| word.literal().is_some_and(is_date)).then(Harmless::default),
        "command" if argv.get(1)?.literal()? == "-v" => return argv[2..].iter().all(is_plain).then(Harmless::default),
        _ if argv.len() == 2 && argv[1].literal() == Some("--version") && VERSIONED.contains(&name) => {
            return Some(Harmless::default());
        }
        _ => {}
    }
    let argv: Vec<Word> =
        argv.iter().filter(|word| name != "git" || word.literal() != Some("--no-pager")).cloned().collect();
    let matching = |spec: &&Spec| {
        let words: Vec<&str> = spec.name.split(' ').collect();
        words.len() <= argv.len() && words.iter().zip(&argv).all(|(name, word)| word.literal() == Some(name))
    };
    let spec = SPECS.iter().find(matching)?;
    let words = spec.name.split(' ').count();
    spec.read(&argv[words..], name)
}

fn is_date(text: &str) -> bool {
    text.starts_with('+')
        || matches!(text, "-u" | "--utc" | "-I" | "-Is" | "-Iseconds" | "-R" | "--iso-8601" | "--rfc-3339=seconds")
}

fn is_plain(word: &Word) -> bool {
    word.literal().is_some_and(|text| !text.starts_with('-'))
}

impl Spec {
    fn read(&self, args: &[Word], program: &str) -> Option<Harmless> {
        let mut out = Harmless { recursive: program == "rg", ..Harmless::default() };
        let mut operands = Vec::new();
        let mut pattern_given = false;
        let mut flags = true;
        let mut args = args.iter();
        while let Some(word) = args.next() {
            let option = flags && word.prefix().starts_with('-') && word.literal() != Some("-");
            if !option {
                // What could become a flag, or more than one word, isn't known to be harmless.
                if word.literal().is_none() && flags && word.may_be_option() || word.may_split() {
                    return None;
                }
                operands.push(word);
                continue;
            }
            let text = word.literal()?;
            if text == "--" {
                flags = false;
            } else if let Some(long) = text.strip_prefix("--") {
                let (flag, value) = long.split_once('=').map_or((long, None), |(flag, value)| (flag, Some(value)));
                let listed = self.long.split_whitespace().find(|listed| listed.trim_end_matches('=') == flag)?;
                // Formats can make git ask a program for signatures.
                if value.is_some_and(|value| value.contains("%G")) {
                    return None;
                }
                if listed.ends_with('=') && value.is_none() {
                    let value = args.next()?.literal()?;
                    if value.contains("%G") {
                        return None;
                    }
                }
                pattern_given |= flag == "regexp" || flag == "files";
                out.recursive |= flag == "recursive";
            } else {
                let group = &text[1..];
                let valued = group.find(|c| self.valued.contains(c));
                let plain = &group[..valued.unwrap_or(group.len())];
                if !plain.chars().all(|c| self.short.contains(c)) {
                    return None;
                }
                out.recursive |= plain.contains(['r', 'R']) && matches!(program, "grep" | "egrep" | "fgrep" | "diff");
                if let Some(at) = valued {
                    pattern_given |= group[at..].starts_with('e');
                    if at + 1 == group.len() && !(program == "git" && group.ends_with('u')) {
                        args.next()?.literal()?;
                    }
                }
            }
        }
        let skip = usize::from(self.operands == PatternThenFiles && !pattern_given);
        match self.operands {
            NoOperands if !operands.is_empty() => return None,
            Files | PatternThenFiles => out.reads = operands.into_iter().skip(skip).cloned().collect(),
            NoOperands | Text => {}
        }
        Some(out)
    }
}

fn find(argv: &[Word]) -> Option<Harmless> {
    const FLAGS: &[&str] = &[
        "-L",
        "-H",
        "-P",
        "-print",
        "-print0",
        "-empty",
        "-not",
        "!",
        "-a",
        "-o",
        "-and",
        "-or",
        "-prune",
        "-readable",
        "-writable",
        "-executable",
        "-follow",
        "-ls",
        "-quit",
        "-true",
        "-false",
        "-xdev",
        "-mount",
        "-daystart",
        "-depth",
        "(",
        ")",
        ",",
        "-nouser",
        "-nogroup",
    ];
    const VALUED: &[&str] = &[
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-type",
        "-xtype",
        "-maxdepth",
        "-mindepth",
        "-size",
        "-mtime",
        "-mmin",
        "-atime",
        "-amin",
        "-ctime",
        "-cmin",
        "-newer",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-regex",
        "-iregex",
        "-regextype",
        "-printf",
        "-links",
        "-inum",
        "-samefile",
    ];
    let mut rest = argv[1..].iter();
    while let Some(word) = rest.next() {
        match word.literal() {
            Some(text) if VALUED.contains(&text) => {
                let value = rest.next()?;
                if !value.is_known() || matches!(value.pieces.first(), Some(Piece::Glob(_))) {
                    return None;
                }
            }
            Some(text) if FLAGS.contains(&text) || !text.starts_with(['-', '(', ')', '!', ',']) => {}
            None if word.is_known() && !word.may_be_option() => {}
            _ => return None,
        }
    }
    Some(Harmless::default())
}
