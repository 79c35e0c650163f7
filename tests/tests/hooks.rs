//! Hooks in the loop, end to end: real scripts, for the root, forks and subagents alike.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use offshoot_agents::policy::{RuleKind, RuleSource, Rules};
use offshoot_protocol::{AgentState, Answer, Block, Command, Origin};
use offshoot_tests::{Reply, Repository, Setup, World, reply};
use serde_json::{Value, json};

/// Settings with one hook for each of these: event, matcher, command.
fn hooks(all: &[(&str, &str, &str)]) -> Vec<(&'static str, String)> {
    let mut settings = json!({"hooks": {}});
    for (event, matcher, command) in all {
        let group = json!({"matcher": matcher, "hooks": [{"type": "command", "command": command}]});
        let groups = &mut settings["hooks"][*event];
        match groups.as_array_mut() {
            Some(groups) => groups.push(group),
            None => *groups = json!([group]),
        }
    }
    vec![("settings.json", settings.to_string())]
}

/// Everything is allowed by rule: what is refused here, hooks refuse.
fn setup(all: &[(&str, &str, &str)]) -> Setup {
    let mut rules = Rules::default();
    rules.add(RuleKind::Allow, RuleSource::CommandLine, ["Bash", "Edit", "Write"]);
    Setup { rules, config: hooks(all), ..Setup::default() }
}

/// Appends its input to a file beside the project, in one write: hooks of several agents run at the same time.
const LOG: &str = r#"line=$(cat); printf '%s\n' "$line" >> "$OFFSHOOT_PROJECT_DIR/../log""#;

/// Forbids removing.
const GUARD: &str = r#"case $(cat) in *'"command":"rm '*) echo 'nothing is removed here' >&2; exit 2;; esac"#;

fn logged(repository: &Repository) -> Vec<Value> {
    let text = std::fs::read_to_string(repository.beside("log")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn in_root() -> Reply {
    reply().when(|request| !request.mentions("<fork-directive>") && request.system().contains("You are Offshoot"))
}

fn in_fork() -> Reply {
    reply().when(|request| request.mentions("<fork-directive>"))
}

fn in_subagent() -> Reply {
    reply().when(|request| !request.system().contains("You are Offshoot"))
}

#[tokio::test]
async fn a_guard_holds_for_every_agent_and_a_log_tells_them_apart() {
    let remove = || json!({"command": "rm README.md"});
    let look = || json!({"file_path": "README.md"});
    let world = World::with(
        setup(&[("PreToolUse", "Bash", GUARD), ("PostToolUse", "Read", LOG)]),
        [
            in_root().when_told("go").call("Bash", remove()).call("Read", look()),
            in_root()
                .when_result("nothing is removed here")
                .call("Agent", json!({"prompt": "clean up", "subagent_type": "general-purpose"})),
            in_subagent().when_told("clean up").call("Bash", remove()).call("Read", look()),
            in_subagent().when_result("nothing is removed here").text("I could not."),
            in_root().when_result("I could not.").call("Agent", json!({"prompt": "try it", "description": "fork"})),
            in_root().when_result("async_launched").text("Waiting."),
            in_fork().when_told("try it").call("Bash", remove()).call("Read", look()),
            in_fork().when_result("nothing is removed here").text("I could not either."),
            in_root().when_told("<task-notification>").text("Nobody could."),
        ],
    )
    .await;
    world.say("go").await;
    let view = world.settled().await;
    assert!(world.repository.path().join("README.md").exists());
    let conversation = world.conversation(&world.root).await;
    let refused = conversation.calls.values().filter_map(|call| call.result.as_ref()?.code.clone());
    assert_eq!(refused.collect::<Vec<_>>(), ["permission_denied"]);

    let log = logged(&world.repository);
    let kinds: Vec<_> = log.iter().map(|line| line["agent_kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["root", "subagent", "fork"]);
    let names: Vec<_> = log.iter().map(|line| line["agent_name"].as_str()).collect();
    assert_eq!(names, [None, Some("general-purpose"), None]);
    for (line, agent) in log.iter().zip(&view.agents) {
        assert_eq!(line["agent_id"].as_str(), Some(agent.id.as_str()));
        assert_eq!(line["parent_id"].as_str(), agent.parent.as_ref().map(offshoot_protocol::AgentId::as_str));
        assert_eq!((&line["hook_event_name"], &line["tool_name"]), (&json!("PostToolUse"), &json!("Read")));
        assert!(line["tool_response"]["content"].as_str().unwrap().contains("hello"));
        let ran: Vec<_> = agent.hooks.iter().map(|ran| (ran.event.as_str(), ran.exit)).collect();
        assert_eq!(ran, [("PreToolUse", Some(2)), ("PostToolUse", Some(0))]);
    }
    world.server.finish();
}

#[tokio::test]
async fn a_hook_makes_an_allowed_call_be_asked_about_and_speaks_behind_the_results() {
    let ask = r#"echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"look twice","additionalContext":"Mind </reminder> the gap."}}'"#;
    let object = "echo 'format it' >&2; exit 2";
    let world = World::with(
        setup(&[("PreToolUse", "Bash", ask), ("PostToolUse", "Bash", object)]),
        [
            reply().when_told("go").call("Bash", json!({"command": "echo made"})),
            reply().when_result("made").text("Ok."),
        ],
    )
    .await;
    world.say("go").await;
    let request = world.asked(|request| request.tool == "Bash").await;
    assert_eq!((request.reason.as_str(), request.suggested_rules.len()), ("look twice", 0));
    world.answer(&request, Answer::AllowOnce).await;
    world.settled().await;
    let messages = world.messages(&world.root).await;
    let told: Vec<&str> = messages[2]
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text, origin: Origin::Reminder } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let [context, objection] = told[..] else { panic!("{told:?}") };
    assert!(context.contains("PreToolUse") && context.contains("Mind &lt;/reminder> the gap."), "{context}");
    assert_eq!(context.matches("</reminder>").count(), 1);
    assert!(objection.contains("objects (PostToolUse") && objection.contains("format it"), "{objection}");
    world.server.finish();
}

#[tokio::test]
async fn where_nobody_is_asked_a_hook_that_asks_refuses() {
    let ask = r#"echo '{"decision":"ask","reason":"look twice"}'"#;
    let mut setup = setup(&[("PreToolUse", "Bash", ask)]);
    setup.interactive = false;
    let world = World::with(
        setup,
        [
            reply().when_told("go").call("Bash", json!({"command": "touch made"})),
            reply().when_result("permission_denied").text("No."),
        ],
    )
    .await;
    world.say("go").await;
    world.settled().await;
    assert!(!world.repository.path().join("made").exists());
    world.server.finish();
}

#[tokio::test]
async fn a_request_can_be_refused_before_a_person_sees_it() {
    let world = World::with(
        Setup {
            config: hooks(&[("PermissionRequest", "Bash", "echo 'never ask for this' >&2; exit 2")]),
            ..Setup::default()
        },
        [
            reply().when_told("go").call("Bash", json!({"command": "touch made"})),
            reply().when_result("never ask for this").text("No."),
        ],
    )
    .await;
    world.say("go").await;
    assert!(world.settled().await.requests.is_empty());
    world.server.finish();
}

#[tokio::test]
async fn a_hook_that_stops_ends_the_turn_and_nothing_more_runs() {
    let stop = r#"echo '{"continue":false,"stopReason":"enough for today"}'"#;
    let world = World::with(
        setup(&[("PreToolUse", "Bash", stop)]),
        [
            reply()
                .when_told("go")
                .call("Bash", json!({"command": "touch one"}))
                .call("Write", json!({"file_path": "two", "content": "x"})),
            reply().when_told("again").text("Ok."),
        ],
    )
    .await;
    world.say("go").await;
    let view = world.settled().await;
    let AgentState::IdleAfterFailure { message } = &view.agents[0].state else { panic!("{:?}", view.agents[0].state) };
    assert!(message.contains("enough for today"), "{message}");
    assert!(!world.repository.path().join("one").exists() && !world.repository.path().join("two").exists());
    // The next turn is a turn like any other.
    world.say("again").await;
    assert_eq!(world.settled().await.agents[0].state, AgentState::Idle);
    world.server.finish();
}

#[tokio::test]
async fn a_message_that_a_hook_objects_to_never_reaches_the_model() {
    let screen = "case $(cat) in *password*) echo 'no passwords' >&2; exit 2;; esac; echo 'Be brief.'";
    let world =
        World::with(setup(&[("UserPromptSubmit", "", screen)]), [reply().when_told("Be brief.").text("Fine.")]).await;
    world.say("my password is x").await;
    let view = world.until("it failed", |view| view.agents[0].warnings.iter().any(|w| w.code == "hook")).await;
    assert!(view.agents[0].warnings[0].message.contains("no passwords"), "{:?}", view.agents[0].warnings);
    world.until("the turn is over", |view| view.agents[0].state != AgentState::Running).await;
    world.say("hello").await;
    let view = world.until("it answered", |view| view.agents[0].state == AgentState::Idle).await;
    assert!(view.agents[0].queue.is_empty());
    let requests = world.server.finish();
    assert!(requests.iter().all(|request| !request.mentions("password")));
}

#[tokio::test]
async fn interrupting_a_hook_that_hangs_takes_the_message_back() {
    let world =
        World::with(setup(&[("UserPromptSubmit", "", "sleep 1000")]), [reply().when_told("never").text("x")]).await;
    world.say("hello").await;
    world.until("it looks", |view| view.agents[0].state == AgentState::Running).await;
    world.wish(Command::Interrupt { agent: world.root.clone() }).await;
    let view = world.until("it is idle", |view| view.agents[0].state == AgentState::Idle).await;
    assert!(view.agents[0].queue.iter().all(|input| input.origin != Origin::User));
    assert!(view.agents[0].warnings[0].message.contains("taken back"), "{:?}", view.agents[0].warnings);
    assert!(world.server.requests().is_empty());
}

#[tokio::test]
async fn an_agent_can_be_kept_from_stopping() {
    let keep = r#"case $(cat) in *'"stop_hook_active":true'*) ;; *) echo 'run the tests first' >&2; exit 2;; esac"#;
    let world = World::with(
        setup(&[("Stop", "", keep), ("SubagentStop", "", keep)]),
        [
            in_root().when_told("go").call("Agent", json!({"prompt": "help", "subagent_type": "general-purpose"})),
            in_subagent().when_told("help").text("Helped."),
            in_subagent().when_told("run the tests first").text("Helped and tested."),
            in_root().when_result("Helped and tested.").text("Done."),
            in_root().when_told("run the tests first").text("Done and tested."),
        ],
    )
    .await;
    world.say("go").await;
    world.settled().await;
    assert_eq!(world.messages(&world.root).await.last().unwrap().text(), "Done and tested.");
    world.server.finish();
}

#[tokio::test]
async fn a_hook_that_never_lets_an_agent_stop_is_not_heard_for_ever() {
    let world =
        World::with(setup(&[("Stop", "", "echo 'once more' >&2; exit 2")]), [reply().text("Done.").repeated()]).await;
    world.say("go").await;
    let view = world.settled().await;
    assert_eq!((view.agents[0].steps, &view.agents[0].state), (9, &AgentState::Idle));
    assert!(view.agents[0].warnings[0].message.contains("8 times"), "{:?}", view.agents[0].warnings);
}

#[tokio::test]
async fn every_moment_of_a_session_has_its_hook() {
    const EVENTS: [&str; 9] = [
        "SessionStart",
        "SubagentStart",
        "SubagentStop",
        "TaskCreated",
        "TaskCompleted",
        "WorktreeCreate",
        "WorktreeRemove",
        "Stop",
        "SessionEnd",
    ];
    let all: Vec<_> = EVENTS.map(|event| (event, "", LOG)).into();
    let work = json!({"prompt": "look around", "description": "look", "isolation": "worktree"});
    let world = World::with(
        setup(&all),
        [
            in_root().when_told("go").call("Agent", work),
            in_root().when_result("async_launched").text("Waiting."),
            in_fork().when_told("look around").text("Nothing to do."),
            in_root().when_told("<task-notification>").text("All done."),
        ],
    )
    .await;
    world.say("go").await;
    world.settled().await;
    world
        .until("the task's end was told", |view| view.agents[0].hooks.iter().any(|ran| ran.event == "TaskCompleted"))
        .await;
    world.workbench.shut_down().await;
    let log = logged(&world.repository);
    let of = |event: &str| log.iter().filter(|line| line["hook_event_name"] == event).collect::<Vec<_>>();
    for event in EVENTS {
        assert!(!of(event).is_empty(), "{event} is missing: {log:#?}");
    }
    assert_eq!(of("SessionStart")[0]["source"], "startup");
    assert_eq!(of("SessionEnd")[0]["reason"], "exit");
    assert_eq!((of("SubagentStart").len(), of("SubagentStart")[0]["agent_kind"].as_str()), (1, Some("fork")));
    assert_eq!(of("SubagentStop")[0]["last_assistant_message"], "Nothing to do.");
    assert_eq!(of("TaskCreated")[0]["agent_kind"], "root");
    let completed = of("TaskCompleted")[0];
    assert_eq!(
        (&completed["task_status"], &completed["task_id"]),
        (&json!("completed"), &of("SubagentStart")[0]["agent_id"])
    );
    assert_eq!(of("WorktreeCreate")[0]["worktree_path"], of("WorktreeRemove")[0]["worktree_path"]);
    world.server.finish();
}
