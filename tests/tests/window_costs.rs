//! What a session cost, as a person reads it: in the terminal, and then in the window.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use offshoot_tests::window::{Desktop, Folders, Query, Scheme};
use offshoot_tests::{Mismatch, Repository, Scripted, in_fork, in_root, program};
use serde_json::{Value, json};

fn offshoot(folders: &Folders, repository: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program::offshoot());
    command.args(arguments).args(folders.arguments()).current_dir(repository).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", folders.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A session of a root and three forks that missed the cache once, at list prices.
fn session(folders: &Folders, repository: &Path) -> String {
    let call =
        |what: &str| json!({"prompt": format!("{what} the harbour"), "description": format!("{what} the harbour")});
    let server = Scripted::start([
        in_root()
            .when_told("tides")
            .text("Three pieces that don't depend on each other.")
            .call("Agent", call("Dredge"))
            .call("Agent", call("Chart"))
            .call("Agent", call("Light")),
        in_root().when_result("async_launched").text("I wait for them."),
        in_root().when_told("<task-notification>").repeated().text("All three have reported."),
        in_root().when_told("again").text("It is all done."),
        in_fork("Dredge").call("Read", json!({"file_path": "README.md"})),
        in_fork("Dredge").text("Scope: dredge"),
        in_fork("Chart").text("Scope: chart"),
        in_fork("Light").text("Scope: light"),
    ]);
    server.simulate_cache(Mismatch::Refuse);
    let url = server.url();
    let exec =
        ["exec", "--provider", "anthropic", "--base-url", &url, "--model", "claude-sonnet-4-5", "--forks", "always"];
    let first = offshoot(folders, repository, &[&exec[..], &["tides"]].concat());
    let told = String::from_utf8(first.stderr).unwrap();
    assert!(told.lines().last().unwrap().contains(" % cached), ") && told.contains(" out, $0.0"), "{told}");
    server.advance(Duration::from_secs(301));
    offshoot(folders, repository, &[&exec[..], &["--continue", "again"]].concat());
    let sessions = offshoot(folders, repository, &["sessions", "--json"]);
    let sessions: Value = serde_json::from_slice(&sessions.stdout).unwrap();
    sessions[0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn costs_and_misses_are_told_in_the_terminal_and_in_the_window() {
    let (folders, repository) = (Folders::default(), Repository::with(&[("README.md", "hello\n")]));
    let id = session(&folders, repository.path());

    let tree = String::from_utf8(offshoot(&folders, repository.path(), &["tree", &id]).stdout).unwrap();
    let missed = tree.lines().filter(|line| line.contains("the provider did not keep it")).count();
    assert!(missed == 1 && tree.lines().last().unwrap().starts_with("together "), "{tree}");
    let tree = offshoot(&folders, repository.path(), &["tree", &id, "--json"]);
    let tree: Value = serde_json::from_slice(&tree.stdout).unwrap();
    let root = tree["session"]["agents"][0]["id"].as_str().unwrap();
    let (own, all) = (&tree["costs"][root]["own"], &tree["costs"][root]["with_all_below"]);
    let below = tree["session"]["agents"].as_array().unwrap()[1..].iter();
    let below: u64 =
        below.map(|fork| tree["costs"][fork["id"].as_str().unwrap()]["own"]["picodollars"].as_u64().unwrap()).sum();
    assert_eq!(own["picodollars"].as_u64().unwrap() + below, all["picodollars"].as_u64().unwrap());

    // The person's own price, whatever is listed.
    let config = folders.path().join("config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("prices.json"), r#"{"claude-sonnet-4-5": {"input": 1000, "output": 1000}}"#).unwrap();
    let tree = String::from_utf8(offshoot(&folders, repository.path(), &["tree", &id]).stdout).unwrap();
    assert!(tree.lines().last().unwrap().contains(", $"), "{tree}");
    std::fs::remove_file(config.join("prices.json")).unwrap();

    let Some(desktop) = Desktop::start() else { return };
    for (scheme, name) in [(Scheme::Light, "costs-light"), (Scheme::Dark, "costs-dark")] {
        let window = desktop.open(&folders, scheme).await;
        // The window remembers who was looked at.
        let root = Query { role: "treeitem", containing: Some("Root: "), within: Some("Agents"), ..Query::default() };
        window.press_where(&root).await;
        window.press_where(&Query { role: "button", containing: Some("Costs: $"), ..Query::default() }).await;
        let inspector = Query { role: "region", name: Some("Inspector"), ..Query::default() };
        window.wait_for_text(&inspector, "The provider did not keep it").await;
        window.wait_for_text(&inspector, "Who ran when").await;
        window.wait_for_text(&inspector, "By model").await;
        window.picture(name).await;
        // A strip leads to its agent.
        let strip = Query {
            role: "button",
            containing: Some("Chart the harbour"),
            within: Some("Inspector"),
            ..Query::default()
        };
        window.press_where(&strip).await;
        let path = Query { role: "region", name: Some("Conversation"), ..Query::default() };
        window.wait_for_text(&path, "Scope: chart").await;
        window.close().await;
    }
}
