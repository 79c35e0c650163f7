#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use super::super::testing::Bench;
use super::*;

fn environment() -> Environment {
    Environment {
        path: "/usr/local/bin:/usr/bin:/bin".to_owned(),
        home: "/nowhere".to_owned(),
        lang: "C.UTF-8".to_owned(),
        term: "dumb".to_owned(),
        extra: vec![("WORD".to_owned(), "a b".to_owned())],
    }
}

fn bash(sandbox: Sandbox) -> Bash {
    Bash {
        sandbox: Arc::new(sandbox),
        environment: environment(),
        network: false,
        writable: Vec::new(),
        limits: Limits::default(),
        unconfined_allowed: false,
    }
}

/// With the sandbox where there is one, and without.
fn both() -> impl Iterator<Item = Bash> {
    Sandbox::installed(Vec::new()).into_iter().chain([Sandbox::not_confined("a test")]).map(bash)
}

async fn run(bench: &Bench, bash: &Bash, command: &str) -> Result<ToolOutput, ToolError> {
    bench.run(bash, json!({"command": command})).await
}

#[tokio::test]
async fn both_streams_come_in_order_and_are_streamed() {
    for bash in both() {
        let bench = Bench::for_commands();
        let output = run(&bench, &bash, "echo 1; echo 2 >&2; echo 3; pwd; echo \"$WORD $PWD $0 $#\"").await.unwrap();
        let directory = bench.place.directory.display();
        assert_eq!(output.content, format!("1\n2\n3\n{directory}\na b {directory} /bin/bash 0\n"));
        assert_eq!(*bench.output.lock().unwrap(), output.content);
        let Some(ResultDetail::Ran { exit: Some(0), confinement }) = output.detail else { panic!("{output:?}") };
        assert_eq!(confinement, bash.sandbox.label(false));
        assert_eq!(run(&bench, &bash, "true").await.unwrap().content, "(no output)");
    }
}

#[tokio::test]
async fn a_failure_is_an_error_with_its_output() {
    for bash in both() {
        let bench = Bench::for_commands();
        let error = run(&bench, &bash, "echo \"it's\"; exit 3").await.unwrap_err();
        assert_eq!(error.content(), "{\"code\":\"command_failed\",\"message\":\"exit status 3\"}\nit's\n");
        assert!(matches!(error.detail.as_deref(), Some(ResultDetail::Ran { exit: Some(3), .. })));
        let error = run(&bench, &bash, "kill -KILL $$").await.unwrap_err();
        assert!(error.code == "command_failed" && error.message.contains("signal"), "{error}");
        let error = run(&bench, &bash, "if").await.unwrap_err();
        assert!(error.output.contains("syntax error"), "{}", error.output);
    }
}

#[tokio::test]
async fn questions_are_answered_by_the_end_of_input() {
    for bash in both() {
        let bench = Bench::for_commands();
        for command in ["read -r line", "read -rs password </dev/tty", "cat > /dev/tty"] {
            assert_eq!(run(&bench, &bash, command).await.unwrap_err().code, "command_failed", "{command}");
        }
        assert_eq!(run(&bench, &bash, "cat").await.unwrap().content, "(no output)");
    }
}

#[tokio::test]
async fn time_and_output_are_limited() {
    for bash in both() {
        let bench = Bench::for_commands();
        let input = json!({"command": "echo begun; sleep 1000", "timeout_ms": 300});
        let error = bench.run(&bash, input).await.unwrap_err();
        assert_eq!((error.code, error.output.as_str()), ("command_timed_out", "begun\n"));
        let error = run(&bench, &bash, "yes").await.unwrap_err();
        assert_eq!(error.code, "command_output_limit");
        assert!(error.output.len() < 600 * 1024 && error.output.contains("bytes of output are not kept"));
        let error = run(&bench, &bash, "head -c 2000000000 /dev/zero | tr '\\0' x").await.unwrap_err();
        assert_eq!(error.code, "command_output_limit");
        let output = run(&bench, &bash, "printf 'a\\377b\\303'").await.unwrap();
        assert_eq!(output.content, "a\u{fffd}b\u{fffd}");
    }
}

#[tokio::test]
async fn what_stays_in_the_background_is_not_waited_for() {
    for bash in both() {
        let bench = Bench::for_commands();
        let output = run(&bench, &bash, "sleep 1000 & echo done").await.unwrap();
        assert_eq!(output.content, "done\n");
        let output = run(&bench, &bash, "exec >&- 2>&-; true").await.unwrap();
        assert_eq!(output.content, "(no output)");
    }
}

#[test]
fn wrong_inputs_are_named() {
    let message = |input: Value| parse(&input).unwrap_err().message;
    assert!(message(json!({"command": " "})).contains("`command` is empty"));
    assert!(message(json!({"command": "a\0b"})).contains("NUL"));
    assert!(message(json!({"command": "a", "timeout_ms": 0})).contains("`timeout_ms`"));
    assert!(message(json!({"command": "a", "timeout_ms": 600_001})).contains("`timeout_ms`"));
    assert!(message(json!({"command": "a", "timeout": 1})).contains("unknown field `timeout`"));
    assert!(message(json!({"command": "a".repeat(MAX_COMMAND + 1)})).contains("100 KiB"));
    let access = bash(Sandbox::not_confined("a test")).access(&json!({"command": "ls | wc"}), &Bench::new().place);
    assert_eq!(access.unwrap(), Access::Command { command: "ls | wc".to_owned() });
}

/// Runs git as a user would, outside every wall.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", environment().path)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// An isolated agent's worktree of a repository with one commit.
fn repository() -> Bench {
    let bench = Bench::for_commands();
    let main = bench.place.main_checkout.clone().unwrap();
    git(&main, &["init", "--quiet"]);
    std::fs::write(main.join("a.txt"), "one\n").unwrap();
    git(&main, &["add", "."]);
    git(&main, &["commit", "--quiet", "--message=one"]);
    std::fs::remove_dir(&bench.place.directory).unwrap();
    git(&main, &["worktree", "add", "--quiet", bench.place.directory.to_str().unwrap()]);
    bench
}

/// Everything of a repository that a command must leave alone: names, times apart, and content.
fn state(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.push((path.display().to_string(), Vec::new()));
            all.extend(state(&path));
        } else {
            all.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[tokio::test]
async fn the_main_checkout_and_its_repository_cannot_be_changed() {
    let Some(sandbox) = Sandbox::installed(Vec::new()) else { return };
    let bash = bash(sandbox);
    let bench = repository();
    let main = bench.place.main_checkout.clone().unwrap();
    let before = state(&main);
    let main = main.display();
    bench.file("a.txt", "two\n");
    bench.file("script", format!("cd {main} && git commit --allow-empty --message=x"));
    let user = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a;";
    for command in [
        &format!("cd {main} && git commit --allow-empty --message=x"),
        &format!("git -C {main} commit --allow-empty --message=x"),
        &format!("GIT_DIR={main}/.git git commit --allow-empty --message=x"),
        &format!(
            "git --git-dir={main}/.git update-ref refs/heads/main HEAD~0 0000000000000000000000000000000000000000"
        ),
        "bash script",
        "git commit --all --message=x",
        "git add a.txt",
        "git config core.hooksPath .",
        "git branch other",
        "git stash",
        &format!("echo evil > {main}/.git/hooks/pre-commit"),
        "echo evil > \"$(git rev-parse --git-path hooks)/pre-commit\"",
        "echo /tmp > \"$(git rev-parse --git-dir)/commondir\"",
        &format!("rm -r {main}/.git/objects/*"),
        &format!("chmod 777 {main}/a.txt"),
        &format!("echo evil > {main}/a.txt"),
        &format!("rm {main}/a.txt"),
        &format!("ln -f a.txt {main}/b.txt"),
        "rm .git",
        "mv .git away && mkdir .git",
        "echo 'gitdir: /tmp' > .git",
    ] {
        let error = run(&bench, &bash, &format!("{user} {command}")).await.unwrap_err();
        assert_eq!(error.code, "command_failed", "{command}: {error}");
    }
    assert_eq!(state(Path::new(&main.to_string())), before);
    for (command, words) in [("git status --short", "M a.txt"), ("git diff", "+two"), ("git log --oneline", "one")] {
        let output = run(&bench, &bash, command).await.unwrap().content;
        assert!(output.contains(words), "{command}: {output}");
    }
    let error = run(&bench, &bash, "git add a.txt").await.unwrap_err();
    assert!(error.message.contains("call the tool Commit"), "{error}");
    let error = run(&bench, &bash, &format!("echo a > {main}/a.txt")).await.unwrap_err();
    assert!(error.message.contains("it may write only in your directory"), "{error}");
}

#[tokio::test]
async fn what_offshoot_takes_orders_from_cannot_be_written_or_made() {
    let Some(sandbox) = Sandbox::installed(Vec::new()) else { return };
    let bash = bash(sandbox);
    let bench = Bench::for_commands();
    bench.file(".claude/agents/role.md", "role");
    bench.file("a.txt", "");
    for command in [
        "mkdir -p .offshoot/roles && echo x > .offshoot/settings.json",
        "echo x > .claude/agents/role.md",
        "echo x > .claude/agents/new.md",
        "mv .claude elsewhere",
        "git init && echo x > .git/config",
    ] {
        let error = run(&bench, &bash, command).await.unwrap_err();
        assert_eq!(error.code, "command_failed", "{command}");
    }
    assert!(run(&bench, &bash, "echo x > .claude/settings && echo y > \"$OFFSHOOT_SCRATCH/y\"").await.is_ok());
    assert_eq!(bench.bytes(".claude/agents/role.md"), b"role");
    std::fs::remove_dir(bench.place.directory.join(".git")).ok();
    std::os::unix::fs::symlink("elsewhere", bench.place.directory.join(".git")).unwrap();
    assert_eq!(run(&bench, &bash, "true").await.unwrap_err().code, "sandbox_failed");
}

#[tokio::test]
async fn without_network_the_failure_says_why() {
    let Some(sandbox) = Sandbox::installed(Vec::new()) else { return };
    let bench = Bench::for_commands();
    let mut bash = bash(sandbox);
    let error = run(&bench, &bash, "echo 'curl: (6) Could not resolve host: example.org'; exit 6").await.unwrap_err();
    assert_eq!(error.message, "exit status 6. The command is confined: it has no network.");
    bash.network = true;
    let error = run(&bench, &bash, "echo 'curl: (6) Could not resolve host: example.org'; exit 6").await.unwrap_err();
    assert_eq!(error.message, "exit status 6");
}

#[test]
fn what_cannot_be_confined_is_asked_about_unless_the_person_settled_that() {
    let open = bash(Sandbox::not_confined("a test"));
    assert_eq!(open.caution().as_deref(), Some("commands are not confined: a test, so each is asked about"));
    let settled = Bash { unconfined_allowed: true, ..bash(Sandbox::not_confined("a test")) };
    assert_eq!(settled.caution(), None);
    if let Some(sandbox) = Sandbox::installed(Vec::new()) {
        assert_eq!(bash(sandbox).caution(), None);
    }
}
