//! The table, and what doesn't fit into one.

use std::path::Path;

use serde_json::{Value, json};

use super::*;

/// A file system that is a list of links.
#[derive(Default)]
struct Links {
    links: Vec<(String, String)>,
    folds_case: bool,
}

impl Paths for Links {
    fn resolve(&self, path: &Path) -> PathBuf {
        let mut done = PathBuf::from("/");
        for part in path.components().skip(1) {
            match part {
                std::path::Component::ParentDir => {
                    done.pop();
                }
                part => done.push(part),
            }
            if let Some((_, target)) = self.links.iter().find(|(link, _)| Path::new(link) == done) {
                done = PathBuf::from(target);
            }
        }
        done
    }

    fn folds_case(&self) -> bool {
        self.folds_case
    }
}

struct Scenario {
    rules: Rules,
    mode: PermissionMode,
    paths: Links,
    directory: PathBuf,
}

impl Default for Scenario {
    fn default() -> Self {
        let (rules, paths) = (Rules::default(), Links::default());
        Self { rules, mode: PermissionMode::Default, paths, directory: PathBuf::from("/p") }
    }
}

impl Scenario {
    fn new(rules: &[(RuleKind, &str)]) -> Self {
        let mut scenario = Self::default();
        for (kind, rule) in rules {
            scenario.rules.add(*kind, RuleSource::User, [rule]);
        }
        scenario
    }

    fn decide(&self, tool: &str, input: &str) -> Decision {
        let input = match tool {
            "Bash" => json!({"command": input}),
            "WebFetch" => json!({"url": input}),
            "Agent" => json!({"subagent_type": input, "prompt": "x"}),
            "Grep" | "Glob" => json!({"path": input, "pattern": "x"}),
            _ => json!({"file_path": input}),
        };
        let access = access_of(tool, &input, &self.directory).unwrap();
        self.with_call(tool, &access, &input, |call| decide(call, &self.rules, self.mode))
    }

    fn with_call<T>(&self, tool: &str, access: &Access, input: &Value, ask: impl FnOnce(&Call<'_>) -> T) -> T {
        ask(&Call {
            tool,
            access,
            input,
            directory: &self.directory,
            home: Path::new("/home/u"),
            project: Path::new("/p"),
            settings: &[PathBuf::from("/home/u/.config/offshoot")],
            paths: &self.paths,
        })
    }

    fn bash(&self, command: &str) -> Decision {
        self.decide("Bash", command)
    }
}

/// `⟦200B⟧` → U+200B, `␤` → newline.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('⟦') {
        let (code, after) = behind.split_once('⟧').unwrap();
        out += before;
        out.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        rest = after;
    }
    (out + rest).replace('␤', "\n")
}

#[test]
fn the_table_holds() {
    let mut scenario = Scenario::default();
    let mut wrong = Vec::new();
    let mut cases = 0;
    for (number, line) in include_str!("table.txt").lines().enumerate() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut add = |kind| scenario.rules.add(kind, RuleSource::User, [rest]);
        match word {
            "" => scenario = Scenario::default(),
            "#" => {}
            "allow" => add(RuleKind::Allow),
            "ask" => add(RuleKind::Ask),
            "deny" => add(RuleKind::Deny),
            "mode" => scenario.mode = serde_json::from_value(json!(rest)).unwrap(),
            "in" => scenario.directory = PathBuf::from(rest),
            "link" => {
                let (link, target) = rest.split_once(" -> ").unwrap();
                scenario.paths.links.push((link.to_owned(), target.to_owned()));
            }
            "=" => {
                let (right, call) = rest.split_once(' ').unwrap();
                let (tool, input) = call.split_once(' ').unwrap_or((call, ""));
                let decision = scenario.decide(tool, &unescaped(input));
                let got = json!(decision.verdict);
                cases += 1;
                if got != right {
                    let line = number + 1;
                    wrong.push(format!("line {line}: {call}\n  is {got}, not {right}: {}", decision.reason));
                }
            }
            other => panic!("line {}: {other}", number + 1),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(cases > 400, "only {cases} cases were read");
}

#[test]
fn a_malformed_rule_is_reported_and_the_others_hold() {
    let mut rules = Rules::default();
    let texts = [
        "Bash(ls *)",
        "Bash(rm *",
        "",
        "(x)",
        "Bash()",
        "WebFetch(trusted.example)",
        "WebFetch(domain:a/b)",
        "Read(~x/y)",
        "mcp__a__b(c)",
        "Bsh(ls)",
        "Edit(a/../b)",
    ];
    rules.add(RuleKind::Allow, RuleSource::Project, texts);
    assert_eq!(rules.len(), 1);
    let told: Vec<String> = rules.problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), texts.len() - 1);
    assert!(rules.problems.iter().all(|problem| problem.left_out));
    assert_eq!(
        told[0],
        "project settings: allow rule `Bash(rm *`: it has no closing bracket at its end. The rule was left out, the others hold"
    );
    assert!(told[8].contains("there is no tool `Bsh`; did you mean `Bash`?"), "{}", told[8]);
}

#[test]
fn a_rule_that_can_never_match_is_warned_about() {
    let mut rules = Rules::default();
    rules.add(RuleKind::Ask, RuleSource::User, ["Bash(git :* push)", "Bash(a && b)", "Raed"]);
    assert_eq!(rules.len(), 3);
    let told: Vec<&str> = rules.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(told[0], "`:*` has its meaning only at the end; write `git * push`");
    assert!(told[1].starts_with("commands are taken apart at `&&`"));
    assert_eq!(told[2], "there is no tool `Raed`; did you mean `Read`?");
    assert!(rules.problems.iter().all(|problem| !problem.left_out));
    // It isn't inert where it protects, and allows nothing where it doesn't.
    assert_eq!(Scenario::new(&[(RuleKind::Deny, "Bash(git :* push)")]).bash("git -v push").verdict, Verdict::Deny);
    assert_eq!(Scenario::new(&[(RuleKind::Allow, "Bash(git :* push)")]).bash("git x push").verdict, Verdict::Ask);
}

#[test]
fn rules_of_an_untrusted_project_only_forbid() {
    let mut scenario = Scenario::default();
    scenario.rules.add_project(RuleKind::Allow, RuleSource::Project, ["Bash(*)"], false);
    scenario.rules.add_project(RuleKind::Deny, RuleSource::Project, ["Bash(curl *)"], false);
    assert_eq!(scenario.bash("make").verdict, Verdict::Ask);
    assert_eq!(scenario.bash("curl h").verdict, Verdict::Deny);
    scenario.rules.add_project(RuleKind::Allow, RuleSource::Project, ["Bash(*)"], true);
    assert_eq!(scenario.bash("make").verdict, Verdict::Allow);
}

#[test]
fn denials_of_role_and_session_both_hold() {
    let mut scenario = Scenario::new(&[(RuleKind::Deny, "Bash(curl *)"), (RuleKind::Allow, "Bash(*)")]);
    scenario.rules = scenario.rules.with_role_denials(["Bash(git push *)", "Edit"]);
    assert_eq!(scenario.bash("curl h").verdict, Verdict::Deny);
    let decision = scenario.bash("git push");
    assert_eq!(decision.reason, "the rule `Bash(git push *)` (the role) forbids it");
    assert_eq!(scenario.decide("Write", "x").verdict, Verdict::Deny);
}

#[test]
fn parts_and_suggestions_are_exact() {
    let scenario = Scenario::new(&[(RuleKind::Allow, "Bash(npm test *)")]);
    let decision = scenario.bash("npm test && git commit -m 'fix * it' && rm -r ./a*b > log/out");
    assert_eq!(decision.verdict, Verdict::Ask);
    let parts: Vec<_> = decision.parts.iter().map(|part| (part.text.as_str(), part.verdict)).collect();
    assert_eq!(
        parts,
        [
            ("npm test", Verdict::Allow),
            ("git commit -m 'fix * it'", Verdict::Ask),
            ("rm -r ./a*b > log/out", Verdict::Ask),
            ("> log/out", Verdict::Ask)
        ]
    );
    assert_eq!(decision.suggested_rules, ["Bash(git commit -m 'fix \\* it')", "Bash(rm -r ./a\\*b)", "Edit(/log/out)"]);
}

#[test]
fn a_saved_suggestion_allows_the_same_call_and_little_else() {
    for (tool, input) in [
        ("Bash", "make"),
        ("Bash", "git commit -m 'it''s \"quoted\"'"),
        ("Bash", "echo a > out && make -j4 2>&1 | tee log"),
        ("Bash", "rm *.o"),
        ("Bash", "grep -r 'a*b?' ~/x; prog '' \"a  b\" c:*"),
        ("Bash", "sed -i 's/(a)/\\1/' f"),
        ("Bash", "find . -name x -exec chmod a+x '{}' ';'"),
        ("Bash", "sudo -u root systemctl restart x"),
        ("Bash", "echo größer | prog 日本"),
        ("Bash", "prog ending\\\\"),
        ("Write", "a b/[x]*?.rs"),
        ("Write", "/elsewhere/x"),
        ("Read", ".env"),
        ("Read", "/home/u/.ssh/id_rsa"),
        ("WebFetch", "https://Docs.example/x"),
        ("mcp__a__b", ""),
    ] {
        let mut scenario = Scenario::default();
        let before = scenario.decide(tool, input);
        if tool == "Bash" && before.suggested_rules.is_empty() {
            // Not offered is fine; offered and not enough is not.
            assert!(shell_refuses(input), "{input}: {before:?}");
            continue;
        }
        assert_eq!(before.verdict, Verdict::Ask, "{input}");
        scenario.rules.add(RuleKind::Allow, RuleSource::Local, &before.suggested_rules);
        assert!(scenario.rules.problems.is_empty(), "{:?}", scenario.rules.problems);
        let after = scenario.decide(tool, input);
        assert_eq!(after.verdict, Verdict::Allow, "{input}: {:?}: {}", before.suggested_rules, after.reason);
        if matches!(tool, "Bash" | "Write") {
            assert_eq!(scenario.decide(tool, &format!("{input}x")).verdict, Verdict::Ask, "{input}");
        }
    }
}

fn shell_refuses(command: &str) -> bool {
    crate::shell::parse(command).is_err()
}

#[test]
fn nothing_is_offered_for_what_a_reader_may_misread() {
    for command in [
        "cat <<EOF\nx\nEOF",
        "make\nrm x",
        "make\trm",
        "make \u{200b}x",
        "make \u{202e}x",
        &format!("make{}; rm x", " ".repeat(300)),
        "make \u{1b}[2K",
        "make (",
        "make $TARGET",
        "make $(cat x)",
        "PATH=. make",
        "git commit -m 'a\nb'",
        "rm -rf ~",
    ] {
        let decision = Scenario::default().bash(command);
        assert_eq!((decision.verdict, decision.suggested_rules), (Verdict::Ask, Vec::new()), "{command:?}");
    }
}

#[test]
fn file_systems_that_fold_case_are_folded() {
    let mut scenario = Scenario::new(&[(RuleKind::Deny, "Read(/Private/*.TXT)")]);
    assert_eq!(scenario.decide("Read", "private/a.txt").verdict, Verdict::Allow);
    scenario.paths.folds_case = true;
    assert_eq!(scenario.decide("Read", "private/a.txt").verdict, Verdict::Deny);
}

#[test]
fn compositions_of_unicode_are_the_same_name() {
    let scenario = Scenario::new(&[(RuleKind::Deny, "Read(/gr\u{f6}\u{df}e/**)")]);
    assert_eq!(scenario.decide("Read", "gro\u{308}\u{df}e/a").verdict, Verdict::Deny);
}

#[test]
fn searches_leave_out_what_may_not_be_read() {
    let scenario = Scenario::new(&[(RuleKind::Deny, "Read(./private/**)")]);
    let access = Access::Read { path: "/p".to_owned() };
    scenario.with_call("Grep", &access, &Value::Null, |call| {
        let leaves_out = read_filter(call.tool, call.directory, call.home, call.project, scenario.rules.clone());
        assert!(leaves_out(Path::new("/p/private/a")));
        assert!(leaves_out(Path::new("/p/.env")));
        assert!(leaves_out(Path::new("/p/b/../private/a")));
        assert!(!leaves_out(Path::new("/p/src/a.rs")));
        assert!(is_read_denied(Path::new("/p/private/a"), call, &scenario.rules));
    });
}

#[test]
fn real_links_are_followed() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    std::fs::write(root.join("a/.env"), "x").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a/b", root.join("link")).unwrap();
        std::os::unix::fs::symlink("missing/x", root.join("dangling")).unwrap();
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
        assert_eq!(DiskPaths.resolve(&root.join("link/new")), root.join("a/b/new"));
        // The kernel goes up from where the link leads.
        assert_eq!(DiskPaths.resolve(&root.join("link/../.env")), root.join("a/.env"));
        assert_eq!(DiskPaths.resolve(&root.join("dangling/y")), root.join("missing/x/y"));
        assert_eq!(DiskPaths.resolve(&root.join("loop/y")), root.join("loop/y"));
    }
    assert_eq!(DiskPaths.resolve(&root.join("a/../a/.env")), root.join("a/.env"));
}

#[test]
fn an_explanation_has_its_fields() {
    let from = Surroundings {
        project: PathBuf::from("/p"),
        home: PathBuf::from("/home/u"),
        settings: Vec::new(),
        rules: Scenario::new(&[(RuleKind::Allow, "Bash(git status *)")]).rules,
        paths: &TextualPaths,
    };
    let answer = |line: &str| -> Value { serde_json::from_str(&batch_line(line, &from)).unwrap() };
    assert_eq!(
        answer(r#"{"tool":"Bash","input":"git status && rm x"}"#),
        json!({
            "verdict": "ask", "reason": "no rule allows `rm x`", "rule": null,
            "parts": [
                {"text": "git status", "verdict": "allow", "rule": null},
                {"text": "rm x", "verdict": "ask", "rule": null},
            ],
        })
    );
    let line = r#"{"tool":"Bash","input":{"command":"rm x"},"mode":"dont-ask","cwd":"sub","deny":["Bash(rm *)"],"allow":[],"ask":[]}"#;
    assert_eq!(answer(line)["rule"], "Bash(rm *)");
    assert_eq!(answer(line)["parts"], json!([{"text": "rm x", "verdict": "deny", "rule": "Bash(rm *)"}]));
    for line in [
        "",
        "nonsense",
        "[]",
        r#"{"tool":"Bash"}"#,
        r#"{"tool":"Read","input":{}}"#,
        r#"{"tool":"Bash","input":"a","deny":["Bash("]}"#,
    ] {
        let answer = answer(line);
        assert_eq!((&answer["verdict"], &answer["error"]), (&json!("deny"), &json!(true)), "{line}");
    }
    assert!(!batch_line("x\ny", &from).contains('\n'));
}

#[test]
fn thousands_of_rules_cost_little() {
    let mut scenario = Scenario::default();
    for at in 0..1_700 {
        let rules =
            [format!("Bash(tool{at} sub *)"), format!("Edit(/src/generated/{at}/**)"), format!("Read(secret{at}.txt)")];
        scenario.rules.add(if at % 2 == 0 { RuleKind::Deny } else { RuleKind::Allow }, RuleSource::Project, rules);
    }
    assert!(scenario.rules.len() >= 5_000);
    let texts = [
        "tool7 sub x && tool9 y | tool11 sub > src/generated/3/x",
        "cat a b c d e > f; bash -c 'tool1 sub'; find . -name x | xargs grep y",
        &"true;".repeat(60),
        &"(".repeat(26),
        &"[[ ( ".repeat(400_000),
    ];
    let start = std::time::Instant::now();
    for at in 0..300 {
        scenario.bash(texts[at % texts.len()]);
        scenario.decide("Write", &format!("src/generated/{at}/x"));
    }
    // Each call takes less than a tenth of the 50 ms; the margin is for a busy machine and an unoptimised build.
    assert!(start.elapsed().as_millis() < 300 * 50, "{:?}", start.elapsed());
    println!("{:?} a call", start.elapsed() / 600);
}

#[test]
fn hostile_commands_end_soon() {
    let scenario = Scenario::new(&[
        (RuleKind::Deny, "Bash(git push *)"),
        (RuleKind::Deny, "Bash(*x*y*z*)"),
        (RuleKind::Deny, "Read(./.env)"),
        (RuleKind::Deny, "Edit(**/a/**/b/**)"),
    ]);
    let mut slowest = std::time::Duration::ZERO;
    for unit in [
        "xargs ",
        "$(",
        "`",
        "bash -c '",
        "eval ",
        "a ",
        "sudo a ",
        "<<a ",
        "{a,",
        "{a,b}",
        "$x ",
        "X=a ",
        "cat a*b ",
        "a;",
        "a|",
        "\\",
        "\"",
        "'",
        "((",
        "[[ ",
        "* ",
        "> a ",
        "cd ..;",
        "for x in a;",
        "env -S 'a ",
        "$'\\x41",
        "${x:-",
        "~/a ",
        "git -C a ",
        "é",
        "[a",
        "../",
    ] {
        let longest = if matches!(unit, "xargs " | "$(" | "<<a " | "a;" | "git -C a ") { 120_000 } else { 15_000 };
        for length in [300, longest] {
            let text = unit.repeat(length / unit.len());
            let start = std::time::Instant::now();
            scenario.bash(&text);
            let took = start.elapsed();
            if took > slowest {
                slowest = took;
                println!("{unit:?} × {length}: {took:?}");
            }
            assert!(took.as_secs() < 20, "{unit:?} × {length}: {took:?}");
        }
    }
}
