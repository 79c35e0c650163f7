//! Everything that a text could start, by way of wrappers and shells too: the lenient walk for deny rules.

use std::borrow::Cow;

use super::lenient::{self, Found};
use super::{SimpleCommand, Variables, Word};

/// Programs that start the command in their arguments, wherever in them it begins.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "timeout", "nice", "ionice", "chrt", "env", "xargs", "time", "nohup", "stdbuf", "setsid", "sudo", "doas", "command",
    "builtin", "exec", "find", "fd", "fdfind", "parallel", "watch", "strace", "ltrace", "gdb", "valgrind", "perf", "flock",
    "busybox", "toybox", "chroot", "nsenter", "unshare", "bwrap", "firejail", "systemd-run", "script", "su", "runuser", "ssh",
    "docker", "podman", "kubectl", "npx", "bunx", "pnpx", "entr", "catchsegv", "caffeinate", "arch", "taskset", "numactl",
    "prlimit", "setpriv", "unbuffer", "rlwrap", "function", "coproc", "hyperfine", "torsocks", "proxychains", "proxychains4",
    "faketime", "cpulimit", "start-stop-daemon", "xvfb-run", "dbus-run-session", "direnv", "mise", "asdf", "nix", "nix-shell",
    "poetry", "pipenv", "uv", "uvx", "yarn", "if", "while", "until", "then", "do", "else", "elif",
];

/// Programs that do so only behind one of these words.
const SOMETIMES: &[(&str, &[&str])] = &[
    ("git", &["run", "foreach", "filter-branch", "for-each-repo"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("bun", &["x", "run"]),
    ("cargo", &["watch"]),
];

/// Shells and the like: their arguments are command lines.
#[rustfmt::skip]
const SHELLS: &[&str] = &[
    "bash", "sh", "dash", "zsh", "ksh", "mksh", "fish", "ash", "rbash", "eval", "trap", "ssh", "su", "runuser", "script",
    "watch", "parallel", "env", "xargs", "sudo", "busybox", "toybox", "source", ".", "alias", "bind", "complete", "fc",
    "hyperfine", "entr", "flock", "nix-shell",
];

/// Options whose values are command lines.
#[rustfmt::skip]
const RUNNING_OPTIONS: &[(&str, &[&str])] = &[
    ("git", &["-c", "--config", "-x", "--exec", "--upload-pack", "--receive-pack", "--extcmd", "-u", "--tree-filter",
        "--index-filter", "--msg-filter", "--env-filter", "foreach", "config"]),
    ("rg", &["--pre"]),
    ("tar", &["--to-command", "--checkpoint-action", "-I", "--use-compress-program", "-F", "--info-script", "--rsh-command"]),
    ("sort", &["--compress-program"]),
    ("ssh", &["-o"]),
    ("scp", &["-o", "-S"]),
    ("man", &["-P", "--pager"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("find", &["-exec"]),
    ("npm", &["-c", "--call"]),
];

/// Languages whose programs start commands from their strings.
#[rustfmt::skip]
const LANGUAGES: &[&str] = &[
    "python", "python2", "python3", "pypy", "pypy3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit",
    "tclsh", "expect", "awk", "gawk", "mawk", "nawk", "sed", "ed", "ex", "vi", "vim", "nvim", "emacs", "gdb", "osascript",
    "sqlite3", "psql", "mysql", "m4", "make", "ipython", "Rscript", "julia", "guile",
];

/// Shells within shells that are followed.
const MAX_DEPTH: usize = 6;
/// Commands found in all.
const MAX_COMMANDS: usize = 10_000;
/// Words looked at in all: a wrapper's arguments count once for each place at which a command may begin in them.
const MAX_WORDS: usize = 40_000;

/// What the lenient walk found.
#[derive(Clone, Debug, Default)]
pub struct Everything {
    /// Every command that could be started, as written, and once more (without `text`) from each place at which a wrapper's
    /// argument could be a command. Variables that the text itself assigns are replaced.
    pub commands: Vec<SimpleCommand>,
    /// Whether that is all: no limit was reached, and no shell is given a text that can't be known.
    pub complete: bool,
}

/// Everything that `text` could start. `known` holds variables from outside. Linear in the text for each level of shells
/// within shells; at most quadratic in the arguments of wrappers, and bounded.
pub fn everything(text: &str, known: &Variables) -> Everything {
    let mut search = Search { found: Everything { complete: true, ..Everything::default() }, words: 0 };
    search.walk(text, known, 0);
    search.found
}

/// Whether `name` is a program that reads programs from its input.
pub(super) fn is_interpreter(name: &str) -> bool {
    let base = base_name(name);
    SHELLS.contains(&base) || LANGUAGES.contains(&base) || base.starts_with("python")
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

struct Search {
    found: Everything,
    words: usize,
}

impl Search {
    fn walk(&mut self, text: &str, known: &Variables, depth: usize) {
        if depth > MAX_DEPTH {
            self.found.complete = false;
            return;
        }
        let Found { commands, complete } = lenient::scan(text);
        self.found.complete &= complete;
        let mut variables = Cow::Borrowed(known);
        if commands.iter().any(|command| !command.assignments.is_empty()) {
            variables.to_mut().add_assigned(&commands);
        }
        for command in &commands {
            for command in variables.expand(command) {
                self.look_through(command, &variables, depth);
            }
        }
    }

    fn look_through(&mut self, command: SimpleCommand, variables: &Variables, depth: usize) {
        if self.found.commands.len() >= MAX_COMMANDS {
            self.found.complete = false;
            return;
        }
        for start in starts(&command.argv) {
            let argv = &command.argv[start..];
            if let Some(base) = argv.first().and_then(Word::literal).map(base_name) {
                self.texts_in_arguments(argv, base, variables, depth);
                if let Some(argv) = without_git_options(argv, base) {
                    self.found.commands.push(SimpleCommand { argv, ..SimpleCommand::default() });
                }
            }
            if start > 0 {
                self.words += argv.len();
                if self.words > MAX_WORDS || self.found.commands.len() >= MAX_COMMANDS {
                    self.found.complete = false;
                    break;
                }
                self.found.commands.push(SimpleCommand { argv: argv.to_vec(), ..SimpleCommand::default() });
            }
        }
        self.found.commands.push(command);
    }

    /// Follows command lines in the arguments of shells, in strings of other languages, in values of options.
    fn texts_in_arguments(&mut self, argv: &[Word], base: &str, variables: &Variables, depth: usize) {
        if SHELLS.contains(&base) {
            self.arguments_as_text(argv, base, variables, depth);
        }
        if LANGUAGES.contains(&base) || base.starts_with("python") {
            let strings = |c: char| matches!(c, '\'' | '"' | '`' | '(' | ')' | '[' | ']' | '{' | '}');
            for text in argv[1..].iter().filter_map(Word::literal) {
                for chunk in text.split(strings).filter(|chunk| !chunk.trim().is_empty()) {
                    self.walk(chunk, variables, depth + 1);
                }
            }
        }
        let Some((_, options)) = RUNNING_OPTIONS.iter().find(|(program, _)| *program == base) else { return };
        let mut behind = false;
        for text in argv[1..].iter().filter_map(Word::literal) {
            let own = options
                .iter()
                .any(|option| text.strip_prefix(option).is_some_and(|rest| option.len() == 2 || rest.starts_with('=')));
            if behind || own {
                self.walk(text.rsplit('=').next().unwrap_or(text).trim_start_matches('!'), variables, depth + 1);
            }
            behind =
                options.contains(&text) || behind && base == "git" && !text.starts_with('-') && !text.contains(' ');
        }
    }

    /// Reads the arguments of a shell as command lines: each on its own, and all of them joined.
    fn arguments_as_text(&mut self, argv: &[Word], base: &str, variables: &Variables, depth: usize) {
        let is_real_shell =
            matches!(base, "bash" | "sh" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "eval" | "trap" | "fish");
        if is_real_shell && argv[1..].iter().any(|word| !word.is_known()) {
            self.found.complete = false;
        }
        let texts: Vec<&str> = argv[1..].iter().filter_map(Word::literal).collect();
        for text in texts.iter().filter(|text| text.contains([' ', ';', '\n', '&', '|', '$', '`', '=', '!', '\t'])) {
            let text = text.strip_prefix('!').unwrap_or(text);
            self.walk(text, variables, depth + 1);
            // `--option=command`, `alias.x=!command`
            if let Some((_, value)) = text.split_once('=') {
                self.walk(value.trim_start_matches('!'), variables, depth + 1);
            }
        }
        if texts.len() > 1 && matches!(base, "eval" | "ssh" | "watch" | "parallel") {
            self.walk(&texts.join(" "), variables, depth + 1);
        }
    }
}

/// Where commands may begin in a command: at its name, and wherever a wrapper's argument may be one.
fn starts(argv: &[Word]) -> Vec<usize> {
    // Only a name that is exactly known says whether its arguments are a command.
    let Some(name) = argv.first().and_then(Word::literal).map(base_name) else { return vec![0] };
    let sometimes = SOMETIMES.iter().find(|(program, _)| *program == name);
    let trigger =
        |word: &Word| sometimes.is_some_and(|(_, words)| word.literal().is_some_and(|text| words.contains(&text)));
    let from = if WRAPPERS.contains(&name) { Some(0) } else { argv.iter().position(trigger) };
    let may_begin = |at: &usize| argv[*at].literal().is_none_or(|text| !text.starts_with('-') && !text.is_empty());
    let behind = from.map_or(argv.len(), |from| from + 1);
    std::iter::once(0).chain((behind..argv.len()).filter(may_begin)).collect()
}

/// `git -C x -c a=b push …` without the options in front of the subcommand.
fn without_git_options(argv: &[Word], base: &str) -> Option<Vec<Word>> {
    #[rustfmt::skip]
    const WITH_VALUE: &[&str] =
        &["-C", "-c", "--git-dir", "--work-tree", "--exec-path", "--namespace", "--super-prefix", "--config-env", "--attr-source"];
    if base != "git" {
        return None;
    }
    let mut at = 1;
    while let Some(option) = argv.get(at).and_then(Word::literal).filter(|text| text.starts_with('-')) {
        at += if WITH_VALUE.contains(&option) { 2 } else { 1 };
    }
    if at == 1 {
        return None;
    }
    let mut out = vec![argv[0].clone()];
    out.extend_from_slice(argv.get(at..).unwrap_or_default());
    Some(out)
}
