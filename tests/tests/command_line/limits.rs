//! What runs without a person: rules, settings, trust, limits.

use std::process::Stdio;

use offshoot_tests::program::Done;
use offshoot_tests::{Scripted, reply};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::Place;

#[tokio::test]
async fn what_nobody_can_be_asked_is_denied_and_named() {
    let place = Place::new();
    let server = Scripted::start([
        reply().call("Bash", json!({"command": "touch new"})),
        reply().when_result("permission_denied").text("I was not allowed to."),
    ]);
    let done = place.exec(&server, &["Make a file"]).await;
    done.expect(3);
    assert_eq!(done.out(), "I was not allowed to.\n");
    assert!(done.err().contains("denied: root: Bash touch new\n"), "{}", done.err());
    assert!(!place.repository.path().join("new").exists());
    server.finish();
}

#[tokio::test]
async fn a_rule_of_the_command_line_allows() {
    let place = Place::new();
    let server = Scripted::start([reply().call("Bash", json!({"command": "touch new"})), reply().text("Done.")]);
    place.exec(&server, &["--allow", "Bash(touch *)", "Make a file"]).await.expect(0);
    assert!(place.repository.path().join("new").exists());
    server.finish();
}

#[tokio::test]
async fn a_rule_of_the_command_line_denies_also_in_bypass() {
    let place = Place::new();
    let server = Scripted::start([
        reply().call("Bash", json!({"command": "touch new"})),
        reply().when_result("permission_denied").text("Refused."),
    ]);
    let arguments = ["--permission-mode", "bypass", "--deny", "Bash(touch *)", "Make a file"];
    place.exec(&server, &arguments).await.expect(3);
    assert!(!place.repository.path().join("new").exists());
    server.finish();
}

#[tokio::test]
async fn the_persons_settings_hold() {
    let place = Place::new();
    let config = place.repository.beside("config/offshoot");
    std::fs::create_dir_all(&config).unwrap();
    let server = Scripted::start([
        reply().call("Bash", json!({"command": "touch new"})),
        reply().when_result("permission_denied").text("Refused."),
    ]);
    let url = server.url();
    let settings = json!({"baseUrl": url, "model": "claude-set", "agentLimit": "many", "permissions": {"deny": ["Bash(touch *)"]}});
    std::fs::write(config.join("settings.json"), settings.to_string()).unwrap();
    let done = place.run(&["exec", "--permission-mode", "bypass", "Make a file"]).await;
    done.expect(3);
    assert_eq!(done.err().matches("agentLimit").count(), 1, "told once: {}", done.err());
    assert!(done.err().contains("root: settings: "), "{}", done.err());
    assert_eq!(server.finish()[0].body["model"], "claude-set");
}

#[tokio::test]
async fn settings_that_cannot_be_read_let_nothing_start() {
    let place = Place::new();
    let config = place.repository.beside("config").join("offshoot");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("settings.json"), "{\"permissions\": {\"deny\": [\"Bash\"]}, ").unwrap();
    let server = Scripted::start([]);
    let done = place.exec(&server, &["Go"]).await;
    assert!(done.expect(2).err().contains("settings.json"), "{}", done.err());
    // Nor does a rule that was to forbid something and can't be understood.
    std::fs::write(config.join("settings.json"), "{\"permissions\": {\"deny\": [\"Bash(rm\"]}}").unwrap();
    let done = place.exec(&server, &["Go"]).await;
    assert!(
        done.expect(2).err().contains("the deny rule `Bash(rm` (user settings) can't be understood"),
        "{}",
        done.err()
    );
    assert!(server.finish().is_empty());
}

#[tokio::test]
async fn a_limit_has_its_own_exit_code() {
    let place = Place::new();
    let server = Scripted::start([
        reply().text("Hi."),
        reply().call("Read", json!({"file_path": "README.md"})),
        reply().call("Read", json!({"file_path": "README.md"})),
    ]);
    place.exec(&server, &["--max-turns", "2", "Hello"]).await.expect(0);
    // The limit is one of a turn: what the session did before doesn't count.
    let done = place.exec(&server, &["--max-turns", "2", "--continue", "Read it"]).await;
    done.expect(4);
    assert_eq!(done.out(), "");
    server.finish();
}

/// What a repository asks for that nobody has trusted.
const HOOK: &str = r#"{"permissions": {"allow": ["Bash(touch *)"]}}"#;

#[tokio::test]
async fn exec_says_what_an_untrusted_folder_is_refused_and_trusts_it_when_told() {
    let place = Place::new();
    place.repository.write(".offshoot/settings.json", HOOK);
    let server = Scripted::start([
        reply().call("Bash", json!({"command": "touch new"})),
        reply().when_result("permission_denied").text("No."),
        reply().call("Bash", json!({"command": "touch new"})),
        reply().when_result("").text("Done."),
        reply().text("Hello."),
    ]);
    let done = place.exec(&server, &["Make a file"]).await;
    done.expect(3);
    let ignored: Vec<_> =
        done.err().lines().filter(|line| line.contains("isn't trusted yet")).map(str::to_owned).collect();
    assert!(
        ignored.len() == 1 && ignored[0].contains("Bash(touch *)") && ignored[0].contains("--trust"),
        "{ignored:?}"
    );
    let done = place.exec(&server, &["--trust", "Make a file"]).await;
    done.expect(0);
    assert!(done.err().contains("is trusted from now on"), "{}", done.err());
    assert!(place.repository.path().join("new").exists());
    let done = place.exec(&server, &["Hello"]).await;
    assert!(!done.expect(0).err().contains("trusted"), "{}", done.err());
    server.finish();
}

#[tokio::test]
async fn permissions_are_explained_part_by_part() {
    let place = Place::new();
    place.repository.write(".offshoot/settings.json", r#"{"permissions": {"deny": ["Bash(rm *)"]}}"#);
    let explain = ["permissions", "explain"];
    let run = async |more: &[&str]| place.run(&[&explain[..], more].concat()).await;

    let done = run(&["--json", "--allow", "Bash(npm *)", "Bash", "npm test && rm -rf build"]).await;
    let answer: Value = serde_json::from_str(&done.expect(0).out()).unwrap();
    assert_eq!((&answer["verdict"], &answer["rule"]), (&json!("deny"), &json!("Bash(rm *)")));
    let parts: Vec<_> = answer["parts"].as_array().unwrap().iter().map(|part| &part["verdict"]).collect();
    assert_eq!(parts, ["allow", "deny"]);

    let done = run(&["--mode", "accept-edits", "Edit", r#"{"file_path": "src/a.txt"}"#]).await;
    assert!(done.expect(0).out().starts_with("allow"), "{}", done.out());
    let done = run(&["Bash", "touch x"]).await;
    assert!(done.expect(0).out().contains("would be allowed by  Bash(touch x)"), "{}", done.out());
    assert!(run(&["Edit", "src/a.txt"]).await.expect(2).err().contains("JSON object"));
    run(&["--allow", "Bash(npm", "Bash", "npm"]).await.expect(2);
    assert!(run(&["Frob", "{}"]).await.expect(2).err().contains("there is no tool Frob"));

    let mut child = place.offshoot(&[&explain[..], &["--batch"]].concat()).stdin(Stdio::piped()).spawn().unwrap();
    let lines = "{\"tool\":\"Bash\",\"input\":\"ls\"}\n\nnonsense\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).await.unwrap();
    let done = Done(child.wait_with_output().await.unwrap());
    let answers: Vec<Value> = done.expect(0).out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&answers[0]["verdict"], &answers[1]["error"]), (&json!("allow"), &json!(true)));
}
