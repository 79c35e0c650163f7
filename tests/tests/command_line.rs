//! The program on the command line, against a real server on this machine: output, errors, exit codes.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::path::Path;
use std::process::Stdio;

use offshoot_tests::program::{self, Done};
use offshoot_tests::{Gate, Repository, Scripted, reply};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

/// A project, a data folder and a way to start the program on them.
struct Place {
    repository: Repository,
}

impl Place {
    fn new() -> Self {
        Self { repository: Repository::with(&[("README.md", "hello\n"), ("src/a.txt", "one\n")]) }
    }

    /// The program with nothing of this machine's environment.
    fn offshoot(&self, arguments: &[&str]) -> Command {
        program::on(&self.repository, arguments)
    }

    async fn run(&self, arguments: &[&str]) -> Done {
        Done(self.offshoot(arguments).output().await.unwrap())
    }

    /// `exec` against a server.
    async fn exec(&self, server: &Scripted, arguments: &[&str]) -> Done {
        let url = server.url();
        let base = ["exec", "--provider", "anthropic", "--base-url", &url];
        self.run(&[&base[..], arguments].concat()).await
    }

    fn start(&self, server: &Scripted, arguments: &[&str]) -> Child {
        let url = server.url();
        let base = ["exec", "--provider", "anthropic", "--base-url", &url];
        self.offshoot(&[&base[..], arguments].concat()).spawn().unwrap()
    }

    async fn sessions(&self) -> Vec<Value> {
        serde_json::from_str(&self.run(&["sessions", "--json"]).await.out()).unwrap()
    }
}

#[tokio::test]
async fn the_answer_alone_is_on_standard_output() {
    let place = Place::new();
    let server = Scripted::start([
        reply().text("I look first.").call("Read", json!({"file_path": "README.md"})),
        reply().when_result("hello").text("It says **hello**."),
    ]);
    let done = place.exec(&server, &["What does it say?"]).await;
    done.expect(0);
    assert_eq!(done.out(), "It says **hello**.\n");
    assert!(
        done.err().contains("root: I look first.\n") && done.err().contains("root: Read README.md\n"),
        "{}",
        done.err()
    );
    assert!(!done.err().contains('\u{1b}'), "no colours on a pipe");
    server.finish();
}

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
async fn a_failure_is_no_success() {
    let place = Place::new();
    let server = Scripted::start([reply().status_with(400, "invalid_request_error", "the model is not there")]);
    let done = place.exec(&server, &["Hello"]).await;
    done.expect(1);
    assert_eq!(done.out(), "");
    assert!(done.err().contains("the model is not there"), "{}", done.err());
    server.finish();
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

#[tokio::test]
async fn events_are_one_line_of_json_each() {
    let place = Place::new();
    let server = Scripted::start([reply().text("Hi\nthere.")]);
    let done = place.exec(&server, &["--json", "Hello"]).await;
    done.expect(0);
    let events: Vec<Value> = done.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], at + 1);
        for field in ["at", "session", "type"] {
            assert!(event[field].is_string(), "{event}");
        }
    }
    assert_eq!(events.last().unwrap()["type"], "turn_ended");
    server.finish();
}

#[tokio::test]
async fn the_prompt_can_come_from_standard_input() {
    let place = Place::new();
    let server = Scripted::start([reply().when_told("from a pipe").text("Read.")]);
    let url = server.url();
    let mut command = place.offshoot(&["exec", "--provider", "anthropic", "--base-url", &url, "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"from a pipe\n").await.unwrap();
    Done(child.wait_with_output().await.unwrap()).expect(0);
    server.finish();
}

#[tokio::test]
async fn a_session_goes_on_with_its_transcript() {
    let place = Place::new();
    let server = Scripted::start([reply().when_told("First").text("One.")]);
    place.exec(&server, &["First"]).await.expect(0);
    server.add(reply().when_told("Second").when_mentioned("One.").text("Two."));
    let done = place.exec(&server, &["--continue", "Second"]).await;
    assert_eq!(done.expect(0).out(), "Two.\n");
    let sessions = place.sessions().await;
    let id = sessions[0]["id"].as_str().unwrap();
    server.add(reply().when_told("Third").when_mentioned("Two.").text("Three."));
    let done = place.exec(&server, &["--resume", &id[..id.len() - 2], "Third"]).await;
    assert_eq!(done.expect(0).out(), "Three.\n");
    assert_eq!(place.sessions().await.len(), 1);
    server.finish();
}

#[tokio::test]
async fn mistakes_in_the_arguments_are_usage() {
    let place = Place::new();
    for arguments in [
        &["exec", "--provider", "anthropic"][..],
        &["exec", "--provider", "anthropic", "  "],
        &["exec", "--unknown", "x"],
        &["exec", "-C", "nowhere", "x"],
        &["exec", "-C", "README.md", "x"],
        &["exec", "--resume", "s-none", "x"],
        &["exec", "--continue", "x"],
        &["exec", "--permission-mode", "yolo", "x"],
        &["exec", "--max-turns", "0", "x"],
        &["exec", "--provider", "demo", "--deny", "Bash(rm", "x"],
        &["sessions", "show", "s-none"],
        &["tree", "s-none"],
    ] {
        let done = place.run(arguments).await;
        assert_eq!(done.0.status.code(), Some(2), "{arguments:?}: {}", done.err());
        assert!(done.out().is_empty() && !done.err().is_empty(), "{arguments:?}");
    }
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
async fn without_a_key_nothing_is_tried() {
    let place = Place::new();
    let done = place.run(&["exec", "--provider", "anthropic", "Go"]).await;
    assert!(done.expect(2).err().contains("ANTHROPIC_API_KEY"), "{}", done.err());
}

#[tokio::test]
async fn background_agents_are_waited_for() {
    let place = Place::new();
    let server = Scripted::start([
        reply().when_told("Go").call("Agent", json!({"prompt": "Look at a", "description": "look at a"})),
        reply().when_told("Look at a").text("It is a report."),
        reply().when_result("look at a").text("Started."),
        reply().when_mentioned("It is a report.").text("The fork says: a report."),
    ]);
    let done = place.exec(&server, &["--forks", "always", "Go"]).await;
    done.expect(0);
    assert_eq!(done.out(), "The fork says: a report.\n");
    assert!(done.err().contains("look at a: completed"), "{}", done.err());
}

#[tokio::test]
async fn without_waiting_what_still_ran_is_listed() {
    let place = Place::new();
    let gate = Gate::new();
    let server = Scripted::start([
        reply().when_told("Go").call("Agent", json!({"prompt": "Look at a", "description": "look at a"})),
        reply().when_told("Look at a").gate(&gate).text("Too late."),
        reply().when_result("look at a").text("Started."),
    ]);
    let done = place.exec(&server, &["--forks", "always", "--no-wait", "Go"]).await;
    done.expect(0);
    assert_eq!(done.out(), "Started.\n");
    assert!(done.err().contains("stopped: look at a"), "{}", done.err());
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupted_run_keeps_its_session() {
    let place = Place::new();
    let server = Scripted::start([reply().text("It begins").hang()]);
    let child = place.start(&server, &["Wait"]);
    server.request(1).await;
    let id = child.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().await.unwrap().success());
    let done = Done(child.wait_with_output().await.unwrap());
    done.expect(130);
    assert_eq!(place.sessions().await.len(), 1);
}

#[tokio::test]
async fn a_closed_pipe_is_no_error() {
    let place = Place::new();
    let gate = Gate::new();
    let server = Scripted::start([reply().gate(&gate).text("Nobody reads this.")]);
    let mut child = place.start(&server, &["--json", "Hello"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next_line().await.unwrap().is_some());
    drop(lines);
    gate.open();
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
    server.finish();
}

#[tokio::test]
async fn a_second_program_reads_the_folder_and_says_so_but_does_nothing_there() {
    let place = Place::new();
    let gate = Gate::new();
    let server = Scripted::start([reply().gate(&gate).text("First.")]);
    let child = place.start(&server, &["Hello"]);
    server.request(1).await;
    let done = place.run(&["sessions", "--json"]).await;
    done.expect(0);
    assert!(done.err().contains("another Offshoot is using"), "{}", done.err());
    let listed: Vec<Value> = serde_json::from_str(&done.out()).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    let tree = place.run(&["tree", id, "--json"]).await;
    assert_eq!(
        serde_json::from_str::<Value>(&tree.expect(0).out()).unwrap()["session"]["agents"][0]["state"]["kind"],
        "running"
    );
    for refused in [&["sessions", "delete", id][..], &["exec", "--provider", "demo"], &["worktrees", "repair"]] {
        let done = place.run(refused).await;
        done.expect(1);
        assert!(done.err().to_lowercase().contains("another offshoot is using"), "{refused:?}: {}", done.err());
    }
    gate.open();
    Done(child.wait_with_output().await.unwrap()).expect(0);
    server.finish();
}

#[tokio::test]
async fn sessions_are_listed_shown_drawn_and_deleted() {
    let place = Place::new();
    let server = Scripted::start([
        reply().when_told("Go").call("Agent", json!({"prompt": "Look at a", "description": "look at a"})),
        reply().when_told("Look at a").text("A report."),
        reply().when_result("look at a").text("Started."),
        reply().when_mentioned("A report.").text("Done."),
    ]);
    place.exec(&server, &["--forks", "always", "Go"]).await.expect(0);
    let listed = place.sessions().await;
    let id = listed[0]["id"].as_str().unwrap();
    assert!(place.run(&["sessions"]).await.expect(0).out().contains(id));
    assert!(place.run(&["sessions", "show", id]).await.expect(0).out().contains("Agents 2"));
    let tree = place.run(&["tree", id]).await.expect(0).out();
    assert!(tree.contains("└─ look at a fork completed"), "{tree}");
    let json: Value = serde_json::from_str(&place.run(&["tree", id, "--json"]).await.out()).unwrap();
    let agents = json["session"]["agents"].as_array().unwrap();
    assert!(agents.len() == 2 && agents.iter().all(|agent| tree.contains(agent["id"].as_str().unwrap())), "{tree}");
    place.run(&["sessions", "delete", id]).await.expect(0);
    assert!(place.sessions().await.is_empty());
}

#[tokio::test]
async fn doctor_says_what_is_there_and_what_to_do() {
    let place = Place::new();
    let done = place.run(&["doctor", "--json"]).await;
    let checks: Vec<Value> = serde_json::from_str(&done.out()).unwrap();
    let of = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap();
    assert_eq!(of("git")["state"], "ok");
    assert_eq!(of("model")["state"], "warning");
    assert!(of("model")["advice"].as_str().unwrap().contains("ANTHROPIC_API_KEY"));
    let blocked = place.repository.beside("blocked");
    std::fs::write(&blocked, "").unwrap();
    let folder = blocked.to_string_lossy();
    let done = place.run(&["doctor", "--data-dir", &folder]).await;
    done.expect(1);
    assert!(done.out().contains("problem data folder"), "{}", done.out());
}

#[tokio::test]
async fn a_key_in_the_environment_is_used_and_never_shown() {
    let place = Place::new();
    let server =
        Scripted::start([reply().status_with(401, "authentication_error", "invalid x-api-key sk-secret-1234")]);
    let mut command = place.offshoot(&["exec", "--json", "Hello"]);
    command.env("ANTHROPIC_API_KEY", "sk-secret-1234").env("ANTHROPIC_BASE_URL", server.url());
    let done = Done(command.output().await.unwrap());
    done.expect(1);
    assert!(!done.out().contains("sk-secret") && !done.err().contains("sk-secret"), "{}{}", done.out(), done.err());
    assert_eq!(server.finish()[0].header("x-api-key"), "sk-secret-1234");
    assert!(!holds(&place.repository.beside("data"), b"sk-secret-1234"));
}

/// Whether any file below `folder` holds these bytes.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return holds(&path, bytes);
        }
        std::fs::read(&path).is_ok_and(|content| content.windows(bytes.len()).any(|window| window == bytes))
    })
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

#[tokio::test]
async fn roles_are_listed_shown_and_checked() {
    let place = Place::new();
    place
        .repository
        .write(".offshoot/roles/tidy.md", "---\nname: tidy\ndescription: Tidies up.\ncolour: red\n---\nTidy up.\n");
    let done = place.run(&["roles"]).await;
    assert!(done.expect(0).out().contains("explore  built-in"), "{}", done.out());
    assert!(!done.out().contains("tidy") && done.err().contains("isn't trusted"), "{}", done.err());

    let done = place.run(&["roles", "check"]).await;
    let out = done.expect(1).out();
    assert!(out.contains("tidy.md:4: ") && out.contains("colour"), "{out}");
    let done = place.run(&["roles", "check", ".offshoot/roles/tidy.md", "--json"]).await;
    let warnings: Value = serde_json::from_str(&done.expect(1).out()).unwrap();
    assert_eq!(warnings[0]["line"], 4);
    place.run(&["roles", "check", "nowhere.md"]).await.expect(2);
    place.repository.write(".offshoot/roles/tidy.md", "---\nname: tidy\ndescription: Tidies up.\n---\nTidy up.\n");
    assert_eq!(place.run(&["roles", "check"]).await.expect(0).out(), "");

    let done = place.run(&["roles", "show", "explore", "--json"]).await;
    let role: Value = serde_json::from_str(&done.expect(0).out()).unwrap();
    assert_eq!((&role["source"], &role["tools"][0]), (&json!("built_in"), &json!("Read")));
    let done = place.run(&["roles", "show", "exlore"]).await;
    assert!(done.expect(2).err().contains("did you mean explore?"), "{}", done.err());
}

#[tokio::test]
async fn a_forks_changes_are_shown_merged_and_put_away() {
    let place = Place::new();
    let server = Scripted::start([
        reply()
            .when_told("delegate")
            .call("Agent", json!({"prompt": "do it", "description": "work", "isolation": "worktree"})),
        reply().when_result("async_launched").text("Waiting."),
        reply().when_told("do it").call("Write", json!({"file_path": "new.txt", "content": "new\n"})),
        reply().when_result("new.txt").text("Scope: work\nResult: done"),
        reply().when_told("<task-notification>").text("Noted."),
    ]);
    let arguments = ["--forks", "always", "--permission-mode", "accept-edits", "delegate"];
    place.exec(&server, &arguments).await.expect(0);
    let session = place.sessions().await[0]["id"].as_str().unwrap().to_owned();
    let tree: Value = serde_json::from_str(&place.run(&["tree", &session, "--json"]).await.out()).unwrap();
    let agent = tree["session"]["agents"][1]["id"].as_str().unwrap().to_owned();

    let shown = place.run(&["changes", &agent]).await;
    shown.expect(0);
    assert_eq!(shown.out(), "A new.txt +1 -0\n");
    let hunks = place.run(&["changes", &agent, "--hunks"]).await;
    assert!(hunks.out().ends_with("\n+new\n"), "{}", hunks.out());
    let dry = place.run(&["merge", &agent, "--how", "apply", "--dry-run"]).await;
    dry.expect(0);
    let new = place.repository.path().join("new.txt");
    assert!(dry.out() == "A new.txt +1 -0\n" && !new.exists(), "{}", dry.out());
    let patch = place.run(&["merge", &agent, "--how", "patch"]).await;
    assert!(patch.out().starts_with("diff --git a/new.txt b/new.txt\n"), "{}", patch.out());

    std::fs::write(&new, "mine\n").unwrap();
    let refused = place.run(&["merge", &agent, "--how", "apply"]).await;
    refused.expect(1);
    assert!(refused.out().contains("conflict new.txt") && refused.err().contains("nothing was touched"));
    assert_eq!(place.repository.read("new.txt"), "mine\n");
    let conflicts = place.run(&["conflicts", &session, "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&conflicts.out()).unwrap()[0]["files"], json!(["new.txt"]));
    std::fs::remove_file(&new).unwrap();
    place.run(&["merge", &agent, "--how", "squash", "-m", "Bring it home"]).await.expect(0);
    assert_eq!(place.repository.git(&["log", "-1", "--format=%s"]), "Bring it home");

    let listed = place.run(&["worktrees", "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&listed.out()).unwrap()[0]["standing"], "live");
    place.run(&["worktrees", "archive", &agent]).await.expect(0);
    let archived = place.run(&["worktrees", "--json"]).await;
    let rows: Value = serde_json::from_str(&archived.out()).unwrap();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["standing"]), (1, &json!("archived")));
    place.run(&["worktrees", "restore", &agent]).await.expect(0);
    assert_eq!(place.run(&["changes", &agent]).await.out(), "A new.txt +1 -0\n");
    place.run(&["worktrees", "repair"]).await.expect(0);
    place.run(&["merge", "nobody", "--how", "apply"]).await.expect(2);
    let kept = place.run(&["sessions", "delete", &session]).await;
    assert!(kept.expect(0).err().contains("on branch offshoot/work-"), "{}", kept.err());

    // What a deleted session leaves is still in reach.
    let discarded = place.run(&["worktrees", "discard", &agent]).await;
    assert!(discarded.expect(0).err().contains(" until 20"), "{}", discarded.err());
    let listed = place.run(&["worktrees"]).await;
    assert!(listed.out().contains(&format!("{agent} discarded until 20")), "{}", listed.out());
    let restored = place.run(&["worktrees", "restore", &agent, "--json"]).await;
    let restored: Value = serde_json::from_str(&restored.expect(0).out()).unwrap();
    let there = std::path::Path::new(restored["path"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(there.join("new.txt")).unwrap(), "new\n");
    let repaired = place.run(&["worktrees", "repair"]).await;
    assert!(repaired.expect(0).err().contains("Nothing had to be put right."), "{}", repaired.err());
}
