//! Providers on the command line: who is asked, with which key, and where that key must not turn up.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::path::{Path, PathBuf};
use std::process::Stdio;

use offshoot_agents::model::local;
use offshoot_tests::program::{self, Done};
use offshoot_tests::{Repository, Scripted, reply};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

const SAID: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}"#;
const ITEM: &str = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"Hello."}]}}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"usage":{"input_tokens":9,"output_tokens":2}}}"#;

struct Place {
    repository: Repository,
}

impl Place {
    fn new() -> Self {
        Self { repository: Repository::with(&[("README.md", "hello\n")]) }
    }

    fn config(&self) -> PathBuf {
        self.repository.beside("config/offshoot")
    }

    fn settings(&self, settings: &Value) {
        std::fs::create_dir_all(self.config()).unwrap();
        std::fs::write(self.config().join("settings.json"), settings.to_string()).unwrap();
    }

    /// The program with these variables and nothing else of this machine's environment: no keychain either.
    fn offshoot(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
        let mut command = program::on(&self.repository, arguments);
        command.env("XDG_RUNTIME_DIR", self.repository.beside("home"));
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");
        command.envs(variables.iter().copied());
        command
    }

    async fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Done {
        Done(self.offshoot(variables, arguments).output().await.unwrap())
    }

    async fn run_with_input(&self, arguments: &[&str], input: &str) -> Done {
        let mut child = self.offshoot(&[], arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
        Done(child.wait_with_output().await.unwrap())
    }
}

#[tokio::test]
async fn a_compatible_server_needs_no_key_and_its_first_model_is_asked() {
    let place = Place::new();
    let server = Scripted::start([reply().models(&["small", "large"]), reply().chunks([SAID, "[DONE]"])]);
    let url = format!("{}/v1", server.url());
    let done = place.run(&[], &["exec", "--provider", "openai", "--base-url", &url, "Hi"]).await;
    assert_eq!(done.expect(0).out(), "Hello.\n");
    let received = server.finish();
    assert_eq!(received[1].path, "/v1/chat/completions");
    assert_eq!(received[1].body["model"], "small");
    assert_eq!(received[1].header("authorization"), "");
}

#[tokio::test]
async fn the_environments_key_and_address_are_used() {
    let place = Place::new();
    let server = Scripted::start([reply().chunks([ITEM, COMPLETED])]);
    let variables = [("OPENAI_API_KEY", "k-env"), ("OPENAI_BASE_URL", &*server.url())];
    let done = place.run(&variables, &["exec", "--provider", "openai-responses", "--model", "m", "Hi"]).await;
    assert_eq!(done.expect(0).out(), "Hello.\n");
    let received = server.finish();
    assert_eq!((received[0].path.as_str(), received[0].header("authorization")), ("/v1/responses", "Bearer k-env"));
    assert_eq!(received[0].body["model"], "m");
}

#[tokio::test]
async fn settings_name_the_server_and_a_stored_key_is_sent_there() {
    let place = Place::new();
    let server = Scripted::start([reply().chunks([SAID, "[DONE]"])]);
    place.settings(&json!({"provider": "openai", "baseUrl": server.url(), "model": "m"}));
    let stored = place.run_with_input(&["key", "set", "openai", "--file"], "k-stored\n").await;
    assert!(!stored.expect(0).err().contains("k-stored"));
    assert!(place.run(&[], &["key"]).await.expect(0).out().contains("openai     the file of keys"));
    place.run(&[], &["exec", "Hi"]).await.expect(0);
    assert_eq!(server.finish()[0].header("authorization"), "Bearer k-stored");
    place.run(&[], &["key", "delete", "openai"]).await.expect(0);
    place.run(&[], &["key", "delete", "openai"]).await.expect(1);
    assert!(!place.config().join("credentials.json").exists());
}

#[tokio::test]
async fn without_a_keychain_the_file_is_offered_and_nothing_is_stored() {
    let place = Place::new();
    let done = place.run_with_input(&["key", "set", "anthropic"], "sk-lost\n").await;
    let err = done.expect(1).err();
    assert!(err.contains("keychain can't be") && err.contains("--file"), "{err}");
    assert!(!err.contains("sk-lost"));
    assert!(!place.config().join("credentials.json").exists());
    place.run_with_input(&["key", "set", "anthropic"], "").await.expect(2);
}

#[tokio::test]
async fn a_project_changes_neither_the_address_nor_the_key() {
    for trust in [&[][..], &["--trust"]] {
        let place = Place::new();
        let (own, foreign) = (Scripted::start([reply().text("Hello.")]), Scripted::start([]));
        let folder = place.repository.path().join(".offshoot");
        std::fs::create_dir_all(&folder).unwrap();
        let settings = json!({"provider": "openai", "baseUrl": foreign.url(), "model": "theirs"}).to_string();
        for name in ["settings.json", "settings.local.json"] {
            std::fs::write(folder.join(name), &settings).unwrap();
        }
        let variables = [("ANTHROPIC_API_KEY", "k-own"), ("ANTHROPIC_BASE_URL", &*own.url())];
        let done = place.run(&variables, &[&["exec"], trust, &["Hi"]].concat()).await;
        done.expect(0);
        assert_eq!(own.finish()[0].header("x-api-key"), "k-own");
        assert!(foreign.finish().is_empty());
    }
}

#[tokio::test]
async fn a_provider_without_a_key_is_not_asked() {
    let place = Place::new();
    for (provider, variable) in
        [("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY"), ("openai-responses", "OPENAI_API_KEY")]
    {
        let done = place.run(&[], &["exec", "--provider", provider, "Hi"]).await;
        let err = done.expect(2).err();
        assert!(err.contains(variable) && err.contains("offshoot key set"), "{err}");
    }
}

#[tokio::test]
async fn models_are_listed_from_the_server() {
    let place = Place::new();
    let server = Scripted::start([
        reply().models(&["b", "a"]),
        reply().when(|request| request.path == "/v1/models").answer(404, "text/plain", "no such page"),
        reply().when(|request| request.path == "/api/tags").answer(
            200,
            "application/json",
            r#"{"models":[{"name":"qwen3:4b"}]}"#,
        ),
        reply().when(|request| request.path == "/v1/models").answer(401, "application/json", r#"{"error":"bad k-1"}"#),
    ]);
    let url = server.url();
    let arguments = ["models", "--provider", "openai", "--base-url", &url];
    let done = place.run(&[], &arguments).await;
    assert_eq!(done.expect(0).out(), format!("OpenAI Chat Completions at {url}\n  b\n  a\n"));
    let done = place.run(&[], &[&arguments[..], &["--json"]].concat()).await;
    let lists: Value = serde_json::from_str(&done.expect(0).out()).unwrap();
    assert_eq!(lists[0]["models"], json!([{"id": "qwen3:4b"}]));
    let done = place.run(&[("OPENAI_API_KEY", "k-1")], &arguments).await;
    assert!(done.expect(1).out().contains("answered 401: bad [key]"), "{}", done.out());
    server.finish();
}

#[tokio::test]
async fn servers_on_this_machine_are_found_and_other_programs_are_not_taken_for_one() {
    let server = Scripted::start([reply().models(&["m"])]);
    let other = Scripted::start([reply().when(|_| true).answer(200, "text/html", "<h1>Hello</h1>")]);
    let none = Scripted::start([reply().models(&[])]);
    let port = |server: &Scripted| server.url().rsplit(':').next().unwrap().parse::<u16>().unwrap();
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let ports = [
        ("One", port(&server)),
        ("Other", port(&other)),
        ("None", port(&none)),
        ("Closed", closed),
        ("Silent", silent.local_addr().unwrap().port()),
    ];
    let found = local::find(&ports).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].name.as_str(), found[0].base_url.clone()), ("One", format!("{}/v1", server.url())));
    assert_eq!(found[0].models[0].id, "m");
    for server in [server, other, none] {
        server.finish();
    }
}

/// Everything that a file or a stream could hold of it.
fn holds(bytes: &[u8], marker: &str) -> bool {
    bytes.windows(marker.len()).any(|window| window == marker.as_bytes())
}

fn files_with(folder: &Path, marker: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            files_with(&path, marker, found);
        } else if std::fs::read(&path).is_ok_and(|bytes| holds(&bytes, marker)) {
            found.push(path);
        }
    }
}

#[tokio::test]
async fn keys_turn_up_nowhere_but_where_they_are_kept_and_sent() {
    const ENVIRONMENT: &str = "marker-key-of-the-environment";
    const STORED: &str = "marker-key-of-the-file";
    let place = Place::new();
    place.run_with_input(&["key", "set", "openai", "--file"], STORED).await.expect(0);
    // A hook and a command that write down all that they can see, and a server that quotes what it was sent.
    let seen = place.repository.beside("seen");
    std::fs::create_dir_all(&seen).unwrap();
    let hook = format!("env > {0}/hook-env; cat > {0}/hook-input", seen.display());
    place.settings(&json!({
        "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": hook}]}]},
        "permissions": {"allow": ["Bash(*)"]}
    }));
    let quote = format!("you sent {ENVIRONMENT} and the other one");
    let command = "env; cat /proc/self/environ; cat ../config/offshoot/credentials.json";
    let server = Scripted::start([
        reply().call("Bash", json!({"command": command})),
        reply().call("Read", json!({"file_path": place.config().join("credentials.json")})),
        reply().status_with(401, "authentication_error", &quote),
        reply().models(&["m"]),
    ]);
    let variables = [("ANTHROPIC_API_KEY", ENVIRONMENT), ("ANTHROPIC_BASE_URL", &*server.url())];
    let done = place.run(&variables, &["exec", "--json", "--permission-mode", "bypass", "Look around"]).await;
    let sent = server.requests();
    assert_eq!(sent.len(), 3, "{}", done.err());
    let mut outputs = vec![("out", done.0.stdout.clone()), ("err", done.0.stderr.clone())];
    outputs.extend(sent.iter().map(|request| ("request", request.raw.clone())));
    for arguments in
        [&["doctor", "--json"][..], &["sessions", "--json"], &["models", "--json"], &["key", "list", "--json"]]
    {
        let done = place.run(&variables, arguments).await;
        outputs.extend([("out", done.0.stdout), ("err", done.0.stderr)]);
    }
    for (what, bytes) in &outputs {
        for marker in [ENVIRONMENT, STORED] {
            assert!(!holds(bytes, marker), "{what}: {}", String::from_utf8_lossy(bytes));
        }
    }
    assert!(done.err().contains("[key]"), "{}", done.err());
    assert!(seen.join("hook-env").exists(), "the hook ran");
    let mut found = Vec::new();
    for marker in [ENVIRONMENT, STORED] {
        files_with(place.repository.path().parent().unwrap(), marker, &mut found);
    }
    assert_eq!(found, [place.config().join("credentials.json")]);
    server.finish();
}
