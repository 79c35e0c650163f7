//! Everything that a text could start, by way of wrappers and shells too: the lenient walk for deny rules.

use super::lenient::{self, Found};
use super::{Piece, SimpleCommand, Variables, Word};

/// Programs that start the command in their arguments, wherever in them it begins.
const WRAPPERS: &[&str] = &[
    "timeout",
    "nice",
    "ionice",
    "chrt",
    "env",
    "xargs",
    "time",
    "nohup",
    "stdbuf",
    "setsid",
    "sudo",
    "doas",
    "command",
    "builtin",
    "exec",
    "find",
    "fd",
    "fdfind",
    "parallel",
    "watch",
    "strace",
    "ltrace",
    "gdb",
    "valgrind",
    "perf",
    "flock",
    "busybox",
    "toybox",
    "chroot",
    "nsenter",
    "unshare",
    "bwrap",
    "firejail",
    "systemd-run",
    "script",
    "su",
    "runuser",
    "ssh",
    "docker",
    "podman",
    "kubectl",
    "npx",
    "bunx",
    "pnpx",
    "entr",
    "catchsegv",
    "caffeinate",
    "arch",
    "taskset",
    "numactl",
    "prlimit",
    "setpriv",
    "unbuffer",
    "rlwrap",
    "then",
    "do",
    "else",
    "function",
    "coproc",
    "hyperfine",
    "torsocks",
    "proxychains",
    "proxychains4",
    "faketime",
    "cpulimit",
    "start-stop-daemon",
    "xvfb-run",
    "dbus-run-session",
    "direnv",
    "mise",
    "asdf",
    "nix",
    "nix-shell",
    "poetry",
    "pipenv",
    "uv",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "cargo",
    "git",
    "rg",
    "tar",
    "sort",
    "make",
];

/// Shells and the like: their arguments are command lines.
const SHELLS: &[&str] = &[
    "bash",
    "sh",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "ash",
    "rbash",
    "eval",
    "trap",
    "ssh",
    "su",
    "runuser",
    "script",
    "watch",
    "parallel",
    "env",
    "xargs",
    "sudo",
    "busybox",
    "toybox",
    "source",
    ".",
    "alias",
    "bind",
    "complete",
    "fc",
    "hyperfine",
    "entr",
    "flock",
    "nix-shell",
    "git",
    "find",
    "rg",
    "tar",
    "sort",
    "npm",
    "npx",
    "printf",
    "PROMPT_COMMAND",
];

/// Languages whose programs start commands from their strings.
const LANGUAGES: &[&str] = &[
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "expect",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "emacs",
    "gdb",
    "osascript",
    "sqlite3",
    "psql",
    "mysql",
    "m4",
    "make",
    "ipython",
    "Rscript",
    "julia",
    "guile",
];

/// Shells within shells that are followed.
const MAX_DEPTH: usize = 6;
/// Commands looked at in all.
const MAX_COMMANDS: usize = 40_000;

/// What the lenient walk found.
#[derive(Clone, Debug, Default)]
pub struct Everything {
    /// Every command that could be started, as written, and once more from each place at which a wrapper's argument
    /// could be a command. Variables that the text itself assigns are replaced.
    pub commands: Vec<SimpleCommand>,
    /// Whether that is all: no limit was reached, and no shell is given a text that can't be known.
    pub complete: bool,
}

/// Everything that `text` could start. `known` holds variables from outside. Linear in the text for each level of shells
/// within shells; at most quadratic in the arguments of wrappers, and bounded.
pub fn everything(text: &str, known: &Variables) -> Everything {
    let mut out = Everything { complete: true, ..Everything::default() };
    walk(text, known, 0, &mut out);
    out
}

/// Whether `name` is a program that reads programs from its input.
pub(super) fn is_interpreter(name: &str) -> bool {
    let base = base_name(name);
    SHELLS.contains(&base) || LANGUAGES.contains(&base) || base.starts_with("python")
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn walk(text: &str, known: &Variables, depth: usize, out: &mut Everything) {
    if depth > MAX_DEPTH {
        out.complete = false;
        return;
    }
    let Found { commands, complete } = lenient::scan(text);
    out.complete &= complete;
    let mut variables = known.clone();
    variables.add_assigned(&commands);
    for command in &commands {
        for command in variables.expand(command) {
            look_through(command, &variables, depth, out);
        }
    }
}

fn look_through(command: SimpleCommand, variables: &Variables, depth: usize, out: &mut Everything) {
    if out.commands.len() >= MAX_COMMANDS {
        out.complete = false;
        return;
    }
    // Only a name that is exactly known says which of its arguments matter.
    let starts: Vec<usize> = (0..command.argv.len()).filter(|&at| at == 0 || is_wrapped(&command.argv, at)).collect();
    let mut spent = 0_usize;
    for &start in &starts {
        let argv = &command.argv[start..];
        let Some(base) = argv.first().and_then(Word::literal).map(base_name) else { continue };
        if SHELLS.contains(&base) {
            arguments_as_text(argv, base, variables, depth, out);
        }
        if LANGUAGES.contains(&base) || base.starts_with("python") {
            for text in argv[1..].iter().filter_map(Word::literal) {
                for chunk in
                    text.split(['\'', '"', '`', '(', ')', '[', ']', '{', '}']).filter(|chunk| !chunk.trim().is_empty())
                {
                    walk(chunk, variables, depth + 1, out);
                }
            }
        }
        if start > 0 {
            spent += argv.len();
            if spent > MAX_COMMANDS || out.commands.len() >= MAX_COMMANDS {
                out.complete = false;
                break;
            }
            let text = command.text.clone();
            out.commands.push(SimpleCommand { argv: argv.to_vec(), text, ..SimpleCommand::default() });
        }
    }
    if let Some(stripped) = without_git_options(&command.argv) {
        out.commands.push(SimpleCommand { argv: stripped, text: command.text.clone(), ..SimpleCommand::default() });
    }
    out.commands.push(command);
}

/// Whether the argument at `at` may be the name of a command that an earlier word starts.
fn is_wrapped(argv: &[Word], at: usize) -> bool {
    let first = argv[0].literal().map(base_name);
    let Some(text) = argv[at].literal() else { return first.is_some_and(|name| WRAPPERS.contains(&name)) };
    first.is_some_and(|name| WRAPPERS.contains(&name)) && !text.starts_with('-') && !text.is_empty()
}

/// Reads the arguments of a shell as command lines: each on its own, and all of them joined.
fn arguments_as_text(argv: &[Word], base: &str, variables: &Variables, depth: usize, out: &mut Everything) {
    let is_real_shell =
        matches!(base, "bash" | "sh" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "eval" | "trap" | "fish");
    if is_real_shell && argv[1..].iter().any(|word| !word.is_known()) {
        out.complete = false;
    }
    let texts: Vec<&str> = argv[1..].iter().filter_map(Word::literal).collect();
    for text in texts.iter().filter(|text| text.contains([' ', ';', '\n', '&', '|', '$', '`', '=', '!', '\t'])) {
        let text = text.strip_prefix('!').unwrap_or(text);
        walk(text, variables, depth + 1, out);
        // `--option=command`, `alias.x=!command`
        if let Some((_, value)) = text.split_once('=') {
            walk(value.trim_start_matches('!'), variables, depth + 1, out);
        }
    }
    if texts.len() > 1 && matches!(base, "eval" | "ssh" | "watch" | "parallel") {
        walk(&texts.join(" "), variables, depth + 1, out);
    }
}

/// `git -C x -c a=b push …` without the options in front of the subcommand.
fn without_git_options(argv: &[Word]) -> Option<Vec<Word>> {
    const WITH_VALUE: &[&str] = &[
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--exec-path",
        "--namespace",
        "--super-prefix",
        "--config-env",
        "--attr-source",
    ];
    let git = argv.iter().position(|word| word.literal().map(base_name) == Some("git"))?;
    let mut at = git + 1;
    while let Some(option) = argv.get(at).and_then(Word::literal).filter(|text| text.starts_with('-')) {
        at += if WITH_VALUE.contains(&option) { 2 } else { 1 };
    }
    if at == git + 1 && git == 0 {
        return None;
    }
    let mut out = vec![Word { pieces: vec![Piece::Text("git".to_owned())] }];
    out.extend_from_slice(argv.get(at..).unwrap_or_default());
    Some(out)
}
