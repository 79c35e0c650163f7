//! Real hooks, real processes.

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;

use super::*;

struct Ground {
    folder: tempfile::TempDir,
    entries: Vec<HookEntry>,
}

impl Ground {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), entries: Vec::new() }
    }

    fn hook(self, command: &str) -> Self {
        self.hook_for("", command)
    }

    fn hook_for(mut self, matcher: &str, command: &str) -> Self {
        self.entries.push(HookEntry {
            event: HookEvent::PreToolUse,
            matcher: HookMatcher::new(matcher).unwrap(),
            command: command.to_owned(),
            timeout: DEFAULT_TIMEOUT,
            path: "/settings.json".into(),
        });
        self
    }

    fn hooks(&self) -> Hooks {
        let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        Hooks::new(self.entries.clone(), environment, self.folder.path())
    }

    async fn run(&self) -> Outcome {
        self.hooks().run(HookEvent::PreToolUse, &input::sample(self.folder.path()), "Bash").await
    }
}

#[tokio::test]
async fn a_hook_reads_its_input_in_the_agents_directory_and_an_environment_of_its_own() {
    let ground = Ground::new().hook("cat > input; pwd > place; export > variables");
    let outcome = ground.run().await;
    assert_eq!((outcome.ran[0].exit, &outcome.ran[0].warning), (Some(0), &None));
    let read = |name: &str| std::fs::read_to_string(ground.folder.path().join(name)).unwrap();
    let input: serde_json::Value = serde_json::from_str(&read("input")).unwrap();
    assert_eq!(input["hook_event_name"], "PreToolUse");
    assert_eq!((&input["agent_id"], &input["agent_kind"]), (&"a-2".into(), &"subagent".into()));
    assert_eq!(input["tool_input"]["command"], "ls");
    assert_eq!(read("place").trim(), ground.folder.path().canonicalize().unwrap().to_str().unwrap());
    let variables = read("variables");
    assert!(variables.contains("OFFSHOOT_PROJECT_DIR=") && variables.contains("CLAUDE_PROJECT_DIR="), "{variables}");
    let strange = ["HOME", "CARGO", "USER", "TMPDIR"];
    assert!(!strange.iter().any(|name| variables.contains(&format!(" {name}="))), "{variables}");
}

#[tokio::test]
async fn only_matching_hooks_run_and_the_same_command_once() {
    let mut ground = Ground::new()
        .hook_for("Bash", "echo a >> log")
        .hook_for("Ba.*", "echo a >> log")
        .hook_for("Edit|Write", "echo b >> log");
    let other = HookEntry { event: HookEvent::Stop, command: "echo c >> log".into(), ..ground.entries[0].clone() };
    ground.entries.push(other);
    assert_eq!(ground.run().await.ran.len(), 1);
    assert_eq!(std::fs::read_to_string(ground.folder.path().join("log")).unwrap(), "a\n");
    let hooks = ground.hooks();
    assert!(hooks.is_silent(HookEvent::PreToolUse, "Read") && !hooks.is_silent(HookEvent::PreToolUse, "Edit"));
    // There is nothing to hold a matcher against: it is ignored, not inert.
    assert!(!hooks.is_silent(HookEvent::Stop, ""));
    assert_eq!(Hooks::none().run(HookEvent::Stop, &input::sample(Path::new("/")), "").await, Outcome::default());
}

#[tokio::test]
async fn one_objection_beats_all_approval() {
    let approve = r#"echo '{"decision":"approve"}'"#;
    let ask = r#"echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"look"}}'"#;
    let ground = Ground::new().hook(approve).hook("echo no >&2; exit 2").hook(ask).hook("echo never >&2; exit 2");
    let outcome = ground.hook("exit 3").run().await;
    assert_eq!(outcome.blocked.as_deref(), Some("no\nnever"));
    assert_eq!(outcome.ask.as_deref(), Some("look"));
    let exits: Vec<_> = outcome.ran.iter().map(|run| run.exit.unwrap()).collect();
    assert_eq!(exits, [0, 2, 0, 2, 3]);
    assert_eq!(outcome.ran[4].warning.as_deref(), Some("exit status 3"));
}

#[tokio::test]
async fn hooks_run_beside_each_other() {
    // Each waits for the other through a pair of pipes.
    let ground = Ground::new().hook("echo > a; read -r x < b").hook("read -r x < a; echo > b");
    for name in ["a", "b"] {
        rustix::fs::mkfifoat(rustix::fs::CWD, ground.folder.path().join(name), 0o600.into()).unwrap();
    }
    let outcome = ground.run().await;
    assert!(outcome.ran.iter().all(|run| run.exit == Some(0)), "{outcome:?}");
}

/// The reading end of a named pipe `witness`, which reads as ended when the last process that writes to it is gone.
fn witness(ground: &Ground) -> Receiver {
    let path = ground.folder.path().join("witness");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).unwrap();
    tokio::net::unix::pipe::OpenOptions::new().open_receiver(path).unwrap()
}

/// Waits until a hook has said `begun` there.
async fn has_begun(witness: &mut Receiver) {
    let mut said = [0; 6];
    witness.readable().await.unwrap();
    witness.read_exact(&mut said).await.unwrap();
    assert_eq!(&said, b"begun\n");
}

/// Waits until the last process that holds it is gone.
async fn is_gone(mut witness: Receiver) {
    assert_eq!(witness.read_to_end(&mut Vec::new()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_hook_that_hangs_is_ended_with_all_it_started() {
    let ground = Ground::new().hook("trap '' TERM; exec > witness; echo begun; sleep 1000 & read -r x < <(sleep 1000)");
    let mut witness = witness(&ground);
    let run = ground.run();
    tokio::pin!(run);
    tokio::select! {
        _ = &mut run => panic!("it ended by itself"),
        () = has_begun(&mut witness) => {}
    }
    // From here on the minute passes at once.
    tokio::time::pause();
    let outcome = run.await;
    assert_eq!(outcome.ran[0].exit, None);
    assert_eq!(outcome.ran[0].warning.as_deref(), Some("it was ended after 60 s"));
    assert!(outcome.ask.is_some() && outcome.blocked.is_none());
    is_gone(witness).await;
}

#[tokio::test]
async fn a_hook_dies_when_nobody_waits_for_it_any_more() {
    let ground = Ground::new().hook("exec > witness; echo begun; sleep 1000 & sleep 1000");
    let mut witness = witness(&ground);
    tokio::select! {
        _ = ground.run() => panic!("it ended by itself"),
        () = has_begun(&mut witness) => {}
    }
    is_gone(witness).await;
}

#[tokio::test]
async fn what_a_hook_leaves_in_the_background_ends_with_it() {
    // The sleeper holds the hook's standard output: it is waited for only for a moment.
    let ground =
        Ground::new().hook("exec 3> witness; echo begun >&3; echo '{\"continue\":false}'; sleep 1000 & exit 0");
    let mut witness = witness(&ground);
    let (outcome, ()) = tokio::join!(ground.run(), has_begun(&mut witness));
    assert_eq!((outcome.ran[0].exit, outcome.stop.is_some()), (Some(0), true), "{outcome:?}");
    is_gone(witness).await;
}

#[tokio::test]
async fn endless_output_is_bounded_and_unread_input_is_no_failure() {
    let ground = Ground::new().hook("yes").hook("exec <&-; exit 0");
    let mut input = input::sample(ground.folder.path());
    if let HookDetail::Tool { tool_input, .. } = &mut input.detail {
        *tool_input = "x".repeat(1 << 20).into();
    }
    let outcome = ground.hooks().run(HookEvent::PreToolUse, &input, "Bash").await;
    assert_eq!(outcome.ran[0].warning.as_deref(), Some("it was ended because it printed too much"));
    assert_eq!((outcome.ran[1].exit, &outcome.ran[1].warning), (Some(0), &None));
}

#[tokio::test]
async fn a_directory_that_is_gone_is_replaced_by_the_project() {
    let ground = Ground::new().hook("pwd > place");
    let input = input::sample(&ground.folder.path().join("gone"));
    assert_eq!(ground.hooks().run(HookEvent::PreToolUse, &input, "Bash").await.ran[0].exit, Some(0));
    assert!(ground.folder.path().join("place").exists());
}
