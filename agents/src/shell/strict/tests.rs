use std::time::Instant;

use super::super::Piece;
use super::*;

fn shown(text: &str) -> String {
    let word = |word: &Word| -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Glob(c) => format!("‹{c}›"),
            Piece::Home => "‹~›".to_owned(),
            Piece::Variable { name, quoted } => format!("‹{}{name}›", if *quoted { "\"" } else { "" }),
            Piece::Unknown { quoted } => if *quoted { "‹\"…›" } else { "‹…›" }.to_owned(),
        };
        format!("[{}]", word.pieces.iter().map(piece).collect::<String>())
    };
    let command = |command: &SimpleCommand| {
        let mut out = String::new();
        for assignment in &command.assignments {
            out += &[&assignment.name, "=", &word(&assignment.value), " "].concat();
        }
        out += &command.argv.iter().map(word).collect::<String>();
        for redirection in &command.redirections {
            let sign = if redirection.kind == RedirectionKind::Read { " <" } else { " >" };
            out += &[sign, &word(&redirection.target)].concat();
        }
        out.trim_end().to_owned()
    };
    match parse(text) {
        Ok(parsed) => parsed.parts.iter().map(command).collect::<Vec<_>>().join(" ; "),
        Err(reason) => format!("- {reason}"),
    }
}

#[test]
fn what_is_understood() {
    for (text, right) in [
        ("ls -la 5", "[ls][-la][5]"),
        ("a && b || c; d & e", "[a] ; [b] ; [c] ; [d] ; [e]"),
        ("a | b |& c", "[a] ; [b] ; [c]"),
        ("a\n\nb\n", "[a] ; [b]"),
        ("# first\na # then\nb", "[a] ; [b]"),
        ("FOO=1 B='x y' ls 2>&1 >out <in", "FOO=[1] B=[x y] [ls] >[out] <[in]"),
        (">out ls", "[ls] >[out]"),
        ("X=1 Y=", "X=[1] Y=[]"),
        ("(cd a; git push)", "[cd][a] ; [git][push]"),
        ("{ a; b; } > out", "[a] >[out] ; [b] >[out]"),
        ("! a | b", "[a] ; [b]"),
        ("if a; then b; elif c; then d; else e; fi", "[a] ; [b] ; [c] ; [d] ; [e]"),
        ("while a; do b; done", "[a] ; [b]"),
        ("for f in *.rs b; do wc \"$f\"; done", "f=[‹*›.rs] f=[b] ; [wc][‹\"f›]"),
        ("echo a'b'\"c d\"$e", "[echo][abc d‹e›]"),
        ("echo \"a $(rm x) ${Y} \\\" \\n\"", "[rm][x] ; [echo][a ‹\"…› ‹\"Y› \" \\n]"),
        ("ls <(rm x) $(a)", "[rm][x] ; [a] ; [ls][‹\"…›][‹…›]"),
        ("echo \"multi\n  line\"", "[echo][multi\n  line]"),
        ("ls ~/a ~ HEAD~1 HEAD^ ''~", "[ls][‹~›/a][‹~›][HEAD~1][HEAD^][~]"),
        ("cat <<< foo", "[cat]"),
        ("a && b > x", "[a] ; [b] >[x]"),
        ("a | b > x", "[a] ; [b] >[x]"),
        ("ls &> x", "[ls] >[x]"),
        ("ls >& x", "[ls] >[x]"),
        ("echo if then", "[echo][if][then]"),
        ("a |\n b &&\n c", "[a] ; [b] ; [c]"),
    ] {
        assert_eq!(shown(text), right, "{text}");
    }
}

#[test]
fn what_is_not_understood() {
    for text in [
        "",
        "# only",
        "if",
        "then ls",
        "ls ; ; a",
        "ls $((1))",
        "ls ${x:-y}",
        "ls `rm x`",
        "cat <<EOF\nx\nEOF",
        "f() { ls; }",
        "[ -f x ]",
        "[[ a ]]",
        "case x in a) b;; esac",
        "((a))",
        "a=(b)",
        "a[0]=b",
        "a+=b",
        "export A=b",
        "unset x",
        "time ls",
        "coproc ls",
        "$x y",
        "ls \\; rm",
        "ls \\\nrm",
        "ls\trm",
        "ls {a,b}",
        "ls [a]",
        "ls !",
        "echo $'a'",
        "echo $\"a\"",
        "echo a$",
        "ls > *",
        "ls > $x",
        "ls > a b",
        "a > /dev/tcp/h/1",
        "a <> b",
        "ls x=~/y",
        "ls ~root",
        "'a b' c",
        "'' c",
        "ls $(<f)",
        "echo @(a|b)",
        "for i; do a; done",
        "select i in a; do b; done",
        "for ((;;)); do a; done",
        "ls\u{200b}",
        "a 2>&-",
        "{ls;}",
        "a &&\\\n b",
        "echo größer",
        "ls ~'a'",
        "a | ! b",
    ] {
        assert!(shown(text).starts_with("- "), "{text}: {}", shown(text));
    }
}

#[test]
fn hostile_texts_are_refused_fast() {
    for (at, text) in [
        "(".repeat(26),
        "[[ ( ".repeat(400_000),
        "[[ ( ".repeat(3_000),
        "$(".repeat(8_000),
        "a=(".repeat(5_000),
        "((".repeat(20),
        "{ ".repeat(26),
        "if ".repeat(5_000),
        "<<a ".repeat(4_000),
        "a|".repeat(8_000),
        "a|".repeat(200),
        "a |& b || ".repeat(66),
        "a\n".repeat(8_000) + "(",
        "a;".repeat(8_000) + "(",
        "a&".repeat(8_000) + "(",
        "a b=".repeat(4_000) + "(",
        "'' ".repeat(5_400) + "(",
        "a>b ".repeat(4_000) + "(",
        "a=b ".repeat(4_000) + "(",
        "`".repeat(16_000),
        "\"$x".repeat(5_000),
        "$".repeat(16_000),
        "! ".repeat(8_000),
        "while if for case ".repeat(900),
    ]
    .iter()
    .enumerate()
    {
        let start = Instant::now();
        assert!(parse(text).is_err(), "{at}: {}", &text[..20]);
        // Each takes less than 40 ms; the margin is for a busy machine.
        assert!(start.elapsed().as_millis() < 2_000, "{at}: {:?}", start.elapsed());
    }
}

#[test]
fn long_but_ordinary_texts_are_understood() {
    let text = "git add src/file.rs && ".repeat(600) + "true";
    assert_eq!(parse(&text).unwrap().parts.len(), 601);
}
