//! `offshoot exec` at real work: the program, a real repository with real tests, a server that speaks the provider's
//! protocol and polices it.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::path::Path;
use std::process::Stdio;

use offshoot_tests::{Reply, Repository, Scripted, program, reply};
use serde_json::{Value, json};
use tokio::process::Command;

const SUM: &str =
    "# Prints the sum of its arguments.\ntotal=0\nfor n in \"$@\"; do total=$((total - n)); done\necho \"$total\"\n";
const TEST: &str = "[ \"$(sh sum.sh 1 2)\" = 3 ] && echo passed || { echo \"failed: $(sh sum.sh 1 2)\"; exit 1; }\n";

fn in_fork(directive: &str) -> Reply {
    let directive = format!("\"text\":\"{directive}");
    reply().when(move |request| String::from_utf8_lossy(&request.raw).contains(&directive))
}

/// Reads, runs the repository's tests, sees them fail, edits, runs them again, then forks twice, each in a worktree.
fn script() -> Vec<Reply> {
    let bash = |command: &str| json!({"command": command});
    let fork = |prompt: &str, name: &str| json!({"prompt": prompt, "description": name, "isolation": "worktree"});
    vec![
        reply()
            .when_told("Fix sum.sh")
            .text("I look first.")
            .call("Read", json!({"file_path": "sum.sh"}))
            .call("Bash", bash("sh test.sh")),
        reply()
            .when_result("failed: -3")
            .call("Edit", json!({"file_path": "sum.sh", "old_string": "total - n", "new_string": "total + n"})),
        reply().when_result("sum.sh").when(|request| !request.mentions("passed")).call("Bash", bash("sh test.sh")),
        reply()
            .when_result("passed")
            .text("Fixed. Two things are left, and they are independent.")
            .call("Agent", fork("Write USAGE.md", "usage"))
            .call("Agent", fork("Write CHANGES.md", "changes")),
        reply().when_result("async_launched").text("Both are at work."),
        in_fork("Write USAGE.md")
            .when_told("Write USAGE.md")
            .call("Write", json!({"file_path": "USAGE.md", "content": "sh sum.sh 1 2\n"})),
        in_fork("Write USAGE.md").text("Scope: usage\nResult: written\nFiles changed: USAGE.md"),
        in_fork("Write CHANGES.md")
            .when_told("Write CHANGES.md")
            .call("Write", json!({"file_path": "CHANGES.md", "content": "Sums are right.\n"})),
        in_fork("Write CHANGES.md").text("Scope: changes\nResult: written\nFiles changed: CHANGES.md"),
        reply().when_told("<task-notification>").repeated().text("All of it is done."),
    ]
}

#[tokio::test]
async fn reads_edits_tests_and_forks_twice() {
    let repository = Repository::with(&[("sum.sh", SUM), ("test.sh", TEST)]);
    let server = Scripted::start(script());
    let url = server.url();
    let home = repository.beside("home");
    std::fs::create_dir_all(&home).unwrap();
    let output = Command::new(program::offshoot())
        .args(["exec", "--json", "--provider", "anthropic", "--base-url", &url, "--forks", "always"])
        .args(["--permission-mode", "accept-edits", "--allow", "Bash(sh test.sh)", "Fix sum.sh"])
        .current_dir(repository.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", &home)
        .env("XDG_DATA_HOME", repository.beside("data"))
        .env("XDG_CONFIG_HOME", repository.beside("config"))
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let events: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(output.status.code(), Some(0), "{}\n{events:#?}", String::from_utf8_lossy(&output.stderr));
    server.finish();

    // The parent's work is in the checkout, the forks' in their worktrees, committed on their branches.
    assert!(repository.read("sum.sh").contains("total + n"));
    assert_eq!(repository.git(&["status", "--porcelain"]).trim(), "M sum.sh");
    let created: Vec<&Value> = events.iter().filter(|event| event["type"] == "worktree_created").collect();
    assert_eq!(created.len(), 2);
    for event in created {
        let path = Path::new(event["worktree"]["path"].as_str().unwrap());
        assert!(std::fs::read_to_string(path.join("sum.sh")).unwrap().contains("total + n"), "the fix was inherited");
        let branch = event["worktree"]["branch"].as_str().unwrap();
        let base = event["worktree"]["base"].as_str().unwrap();
        let changed = repository.git(&["diff", "--name-only", base, branch]);
        assert!(["USAGE.md", "CHANGES.md"].contains(&changed.trim()), "{changed}");
    }
    let reports =
        events.iter().filter(|event| event["type"] == "agent_ended" && event["outcome"]["kind"] == "completed");
    assert_eq!(reports.count(), 2);
}
