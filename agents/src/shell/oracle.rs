//! The oracle: what the strict reading finds in generated commands, against what real bash starts.
//!
//! Every accepted command is run in bash with programs that only write down how they were called. What was started has to
//! be among what was found; what was found has to be started, unless the command decides by itself whether to.

#![cfg(unix)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::{Piece, Word, parse};

const COMMANDS: usize = 5_000;
/// Commands run by one bash.
const BATCH: usize = 250;
const NAMES: &[&str] = &["s0", "s1", "s2", "git", "ls", "rm", "s-3", "s.4"];

struct Generator(fastrand::Rng);

impl Generator {
    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.0.usize(..choices.len())]
    }

    fn chance(&mut self, of: usize) -> bool {
        self.0.usize(..of) == 0
    }

    fn line(&mut self, depth: usize) -> String {
        let mut out = self.pipeline(depth);
        while self.chance(2) {
            let joint = self
                .pick(&["; ", " && ", " || ", "\n", ";", "&&", " & ", "&", " # why\n", "\n\n", " &&\n", ";\n", " \n "]);
            out += joint;
            out += &self.pipeline(depth);
        }
        if self.chance(8) {
            out += self.pick(&[";", " ", "\n", "&", " #x", " ; ", ";;"]);
        }
        out
    }

    fn pipeline(&mut self, depth: usize) -> String {
        let mut out = if self.chance(12) { "! ".to_owned() } else { String::new() };
        out += &self.statement(depth);
        while self.chance(4) {
            out += self.pick(&[" | ", "|", " |& ", " |\n "]);
            out += &self.statement(depth);
        }
        out
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 || self.chance(2) || self.chance(2) {
            return self.simple(depth);
        }
        let inner = self.line(depth - 1);
        match self.0.u8(..9) {
            0 => format!("({inner})"),
            1 => format!("{{ {inner}; }}"),
            2 => format!("if {inner}; then {}; fi", self.line(depth - 1)),
            3 => format!("if {inner}\nthen {}\nelse {}\nfi", self.line(depth - 1), self.line(depth - 1)),
            4 => format!("for v in {} {}; do {inner}; done", self.word(0), self.word(0)),
            5 => format!("( {inner} ) >{}", self.word(0)),
            6 => format!("while false; do {inner}; done"),
            7 => format!("{{ {inner}\n}} 2>&1"),
            _ => format!("{{{inner};}}"),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut words = Vec::new();
        if self.chance(10) {
            let variable = self.pick(&["A", "B_1", "LC_ALL", "v"]);
            words.push(format!("{variable}={}", self.word(depth)));
            if self.chance(4) {
                return words.join(" ");
            }
        }
        words.push(match self.0.u8(..24) {
            0 => "\"s0\"".to_owned(),
            1 => "s'1'".to_owned(),
            2 => self
                .pick(&["if", "then", "time", "!", "{", "}", "$v", "s0=a", "case", "[", "coproc", "function"])
                .to_owned(),
            _ => self.pick(NAMES).to_owned(),
        });
        for _ in 0..self.0.usize(..4) {
            words.push(self.word(depth));
            if self.chance(10) {
                words.push(self.redirection());
            }
        }
        let blank = if self.chance(30) { self.pick(&["\\\n ", "\t"]) } else { self.pick(&[" ", " ", "  "]) };
        words.join(blank)
    }

    fn redirection(&mut self) -> String {
        let operator = self.pick(&[">", ">>", "2>", "<", "&>", ">|", "> ", "<<< ", ">&", "2>&1", "<&0", ">&2"]);
        if self.chance(20) {
            return "<<E\nx $v\nE\n".to_owned();
        }
        if operator.ends_with(['0', '1', '2', '\n']) {
            return operator.to_owned();
        }
        format!("{operator}{}", self.pick(&["in", "out", "/dev/null", "'in'", "\"in\"", "i\"n\""]))
    }

    fn word(&mut self, depth: usize) -> String {
        let mut out = String::new();
        for _ in 0..=self.0.usize(..2) {
            out += &self.piece(depth);
        }
        out
    }

    fn piece(&mut self, depth: usize) -> String {
        // Most of what is beyond the strict reading is rare, so that enough commands are accepted.
        if self.chance(50) {
            let odd = [
                "{a,b}", "[ab]", "$((1))", "${v:-x}", "`s0`", "\\;", "\\ ", "$'a'", "~x", "$", "!", "{}", "#", "é",
                "x=~/y", "\"`s0`\"", "\"$\"",
            ];
            return self.pick(&odd).to_owned();
        }
        let text = self.pick(&[
            "a", "b c", "-x", "--long=v", "1", "*", "~", "=", ":", "]", "", "%", "é", "#", ";", "|", "(", "{", "\n",
            "&",
        ]);
        match self.0.u8(..16) {
            0 => format!("'{text}{}'", self.pick(&["", "$v", "\"", "\\", "`"])),
            1 | 2 => format!(
                "\"{text} {}\"",
                self.pick(&["", "x", "\\\\", "\\\"", "\\$", "\\n", "'", "!", "$v", "${v} ", " $v"])
            ),
            3 if depth > 0 => format!("$({})", self.line(depth - 1)),
            4 if depth > 0 => format!("\"{text} $({})\"", self.line(depth - 1)),
            5 if depth > 0 => format!("<({})", self.line(depth - 1)),
            6 => self.pick(&["?", "~/x", "~", "$v", "${v}", "a*", "*"]).to_owned(),
            7 => self
                .pick(&["--", "-", ".", "..", "/", "a/b", "HEAD~1", "@", "a#b", "+", "a:~", "^", "a=b", "%"])
                .to_owned(),
            _ => self.pick(&["a", "b", "-n", "--v=1", "5", "x.y", "c,d", "if", "do", "s0"]).to_owned(),
        }
    }
}

/// How one program was called: its name and arguments.
type Started = Vec<String>;

/// Programs that write down how they were called, with a unit separator behind each word and a newline at the end. Written
/// in the shell's own language, so that starting one costs one process.
fn write_stubs(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let text = "#!/bin/sh\nout=${0##*/}\nfor word do out=\"$out\u{1f}$word\"; done\nprintf '%s\u{1e}' \"$out\" >>\"$ORACLE_LOG\"\nexit \"$ORACLE_STATUS\"\n";
    for name in NAMES {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Runs the commands, each in a shell of its own within one bash, and returns what each started, and what bash said.
fn run(root: &Path, commands: &[&str], status: u8) -> Vec<(Vec<Started>, String)> {
    // A folder of its own: what a command left running in the background may write late.
    let logs = tempfile::tempdir_in(root).unwrap().keep();
    let mut script = String::new();
    for (at, command) in commands.iter().enumerate() {
        let log = logs.join(at.to_string());
        let log = log.display();
        // `eval` in a subshell reads the text as `bash -c` does, syntax errors included.
        let text = command.replace('\'', r"'\''");
        writeln!(script, "(export ORACLE_LOG={log}.log; eval '{text}'; wait) >/dev/null 2>{log}.err </dev/null")
            .unwrap();
    }
    let work = root.join("work");
    let ran = Command::new("/bin/bash")
        .args(["--noprofile", "--norc", "-c", &script])
        .current_dir(&work)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", root.join("bin").display()))
        .env("HOME", "/home/oracle")
        .env("LC_ALL", "C.UTF-8")
        .env("ORACLE_STATUS", status.to_string())
        .output()
        .unwrap();
    assert!(ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
    (0..commands.len())
        .map(|at| {
            let log = std::fs::read_to_string(logs.join(format!("{at}.log"))).unwrap_or_default();
            let started = log.split_terminator('\u{1e}').map(|call| call.split('\u{1f}').map(str::to_owned).collect());
            let said = std::fs::read_to_string(logs.join(format!("{at}.err"))).unwrap_or_default();
            (started.collect(), said)
        })
        .collect()
}

/// Whether the call can have come from the command that was found.
fn explains(argv: &[Word], call: &[String]) -> bool {
    let Some((word, rest)) = argv.split_first() else { return call.is_empty() };
    if word.may_split() || word.has_glob() {
        // It becomes any number of words.
        return (0..=call.len()).any(|at| explains(rest, &call[at..]));
    }
    let Some((first, others)) = call.split_first() else { return false };
    matches(&word.pieces, first) && explains(rest, others)
}

fn matches(pieces: &[Piece], text: &str) -> bool {
    match pieces.split_first() {
        None => text.is_empty(),
        Some((Piece::Text(known), rest)) => text.strip_prefix(known.as_str()).is_some_and(|text| matches(rest, text)),
        Some((Piece::Home, rest)) => text.strip_prefix("/home/oracle").is_some_and(|text| matches(rest, text)),
        Some((_, rest)) => {
            text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| matches(rest, &text[at..]))
        }
    }
}

fn chooses(text: &str) -> bool {
    ["||", "if ", "!"].iter().any(|word| text.contains(word))
}

#[test]
fn bash_starts_what_was_found() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    for folder in ["bin", "work"] {
        std::fs::create_dir(root.join(folder)).unwrap();
    }
    write_stubs(&root.join("bin"));
    let mut generator = Generator(fastrand::Rng::with_seed(20_240_601));
    let texts: Vec<String> = (0..COMMANDS).map(|_| generator.line(2)).collect();
    let accepted: Vec<_> = texts.iter().filter_map(|text| Some((text.as_str(), parse(text).ok()?))).collect();
    assert!(accepted.len() > COMMANDS / 5, "only {} of {COMMANDS} were understood", accepted.len());
    let mut wrong = Vec::new();
    for batch in accepted.chunks(BATCH) {
        // Files that redirections may name, as they were.
        for name in ["in", "out"] {
            std::fs::write(root.join("work").join(name), "").unwrap();
        }
        let commands: Vec<&str> = batch.iter().map(|(text, _)| *text).collect();
        let succeeding = run(root, &commands, 0);
        // What a failure leads to that success doesn't.
        let choosing: Vec<&str> = commands.iter().copied().filter(|text| chooses(text)).collect();
        let mut failing = run(root, &choosing, 1).into_iter();
        for (at, (text, parsed)) in batch.iter().enumerate() {
            let mut found: HashMap<usize, bool> = HashMap::new();
            let failing = if chooses(text) { failing.next() } else { None };
            for (started, said) in [Some(&succeeding[at]), failing.as_ref()].into_iter().flatten() {
                if said.contains("syntax error") {
                    wrong.push(format!("bash doesn't understand {text:?}: {said}"));
                }
                for call in started {
                    let mut by =
                        (0..parsed.parts.len()).filter(|&part| explains(&parsed.parts[part].argv, call)).peekable();
                    if by.peek().is_none() {
                        wrong.push(format!("{text:?} started {call:?}, which wasn't found"));
                    }
                    found.extend(by.map(|part| (part, true)));
                }
            }
            // Every command is started when all succeed, unless it stands behind a choice.
            let waited_for = !text.replace("&&", "").contains('&') && !text.contains("<(");
            if waited_for && !chooses(text) && !text.contains("while ") && succeeding[at].1.is_empty() {
                for (part, command) in parsed.parts.iter().enumerate() {
                    let is_stub =
                        command.argv.first().and_then(Word::literal).is_some_and(|name| NAMES.contains(&name));
                    if is_stub && !found.contains_key(&part) {
                        wrong.push(format!("{text:?} didn't start {:?}", command.text));
                    }
                }
            }
        }
    }
    println!("{} of {COMMANDS} were understood", accepted.len());
    assert!(wrong.is_empty(), "{} mismatches:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}
