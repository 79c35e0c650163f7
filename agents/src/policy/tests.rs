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
        rules.iter().for_each(|(kind, rule)| scenario.rules.add(*kind, RuleSource::User, [rule]));
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
    let mut wrong = String::new();
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
                    wrong += &format!("\nline {}: {call}\n  is {got}, not {right}: {}", number + 1, decision.reason);
                }
            }
            other => panic!("line {}: {other}", number + 1),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(cases > 400, "only {cases} cases were read");
}
