//! Delegation, end to end: the real loop, log, git and HTTP client against a scripted server.

use offshoot_protocol::{
    AgentKind, AgentOutcome, AgentState, Answer, Block, Command, FailureCode, Isolation, MessageRole, Origin,
};
use offshoot_tests::{Gate, Reply, Setup, World, reply};
use serde_json::{Value, json};

/// A reply for the fork with this directive, at whatever step.
fn in_fork(directive: &str) -> Reply {
    let tag = format!("\"text\":\"{directive}");
    reply().when(move |request| String::from_utf8_lossy(&request.raw).contains(&tag))
}

/// A reply for the root only: no directive, no brief.
fn in_root() -> Reply {
    reply().when(|request| !request.mentions("<fork-directive>") && request.system().contains("You are Offshoot"))
}

fn result_of(content: &str) -> Value {
    serde_json::from_str(content).unwrap_or_else(|_| panic!("not JSON: {content}"))
}

#[tokio::test]
async fn a_turn_reads_and_answers() {
    let world = World::new([
        reply().text("Let me look.").call("Read", json!({"file_path": "src/a.txt"})),
        reply().when_result("two").text("It has three lines."),
    ])
    .await;
    world.say("What is in a.txt?").await;
    let view = world.settled().await;
    let root = &view.agents[0];
    assert_eq!((root.steps, root.calls, &root.state), (2, 1, &AgentState::Idle));
    let messages = world.messages(&world.root).await;
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[3].text(), "It has three lines.");
    world.server.finish();
}

#[tokio::test]
async fn a_fork_inherits_everything_and_reports_once() {
    let gate = Gate::new();
    let world = World::new([
        in_root()
            .when_told("split it")
            .text("I split it.")
            .call("Read", json!({"file_path": "README.md"}))
            .call("Agent", json!({"prompt": "do the left", "description": "left"}))
            .call("Read", json!({"file_path": "src/a.txt"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("do the left").gate(&gate).text("Scope: left\nResult: done"),
        in_root().when_told("<task-notification>").text("All done."),
    ])
    .await;
    world.say("split it").await;
    let fork_request = world.server.request_where(|request| request.mentions("<fork-directive>")).await;
    gate.open();
    let view = world.settled().await;

    let fork = world.agent("left").await;
    assert_eq!((fork.kind, fork.background), (AgentKind::Fork, true));
    assert_eq!(fork.outcome, Some(AgentOutcome::Completed { report: "Scope: left\nResult: done".into() }));
    // The fork's request: the parent's bytes, then one message with a placeholder for every call, in order.
    let results = fork_request.results();
    assert_eq!(results.len(), 3, "{results:?}");
    assert!(results.iter().all(|(_, content, is_error)| content.contains("not part of this fork") && !is_error));
    let parent_first = world.server.requests().into_iter().find(|request| request.mentions("split it")).unwrap();
    let shared = parent_first.without_marks();
    let shared = shared.trim_end_matches("]}]}");
    assert!(fork_request.without_marks().starts_with(shared), "the fork's prefix is the parent's");

    let messages = world.messages(&world.root).await;
    let told: Vec<&Block> = messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter(|block| matches!(block, Block::Text { origin: Origin::Notification, .. }))
        .collect();
    assert_eq!(told.len(), 1);
    assert_eq!(messages.last().unwrap().text(), "All done.");
    assert_eq!(view.agents.len(), 2);
    let requests = world.server.finish();
    // The parent is told that the work is delegated.
    assert!(requests.iter().any(|request| request.mentions("do not wait for it by polling")));
}

#[tokio::test]
async fn a_subagent_starts_empty_and_its_report_is_the_result() {
    let world = World::new([
        in_root().when_told("look").call("Agent", json!({"prompt": "find x", "subagent_type": "explore"})),
        reply().when(|request| !request.system().contains("You are Offshoot")).text("x is in a.txt"),
        in_root().when_result("x is in a.txt").text("Found."),
    ])
    .await;
    world.say("look").await;
    world.settled().await;
    let child = world.agent("find x").await;
    assert_eq!((child.kind, child.role.as_deref(), child.background), (AgentKind::Subagent, Some("explore"), false));
    // Question, call, result, answer: nothing else of the child enters the parent's transcript.
    let messages = world.messages(&world.root).await;
    assert_eq!(messages.len(), 4);
    let Block::Result { content, is_error, .. } = &messages[2].blocks[0] else { panic!("{:?}", messages[2]) };
    let result = result_of(content);
    assert!(!is_error);
    assert_eq!((result["status"].as_str(), result["turns"].as_u64()), (Some("completed"), Some(1)));
    let requests = world.server.finish();
    let child_request = requests.iter().find(|request| request.agent() == child.id.as_str()).unwrap();
    assert_eq!(child_request.messages().len(), 1);
    assert!(!child_request.tools().contains(&"Agent") && !child_request.tools().contains(&"Write"));
}

#[tokio::test]
async fn every_refusal_has_its_code_and_starts_nothing() {
    for (input, code, says) in [
        (json!({"prompt": "  "}), "invalid_arguments", "prompt"),
        (json!({"prompt": "x", "isolation": "vm"}), "invalid_arguments", "isolation"),
        (json!({"prompt": "x", "team_name": "t", "name": "n"}), "invalid_arguments", "Teams"),
        (json!({"prompt": "x", "subagent_type": "Explorer"}), "unknown_subagent_type", "explore"),
    ] {
        let world = World::new([
            reply().when_told("go").call("Agent", input.clone()),
            reply().when_result(code).text("Understood."),
        ])
        .await;
        world.say("go").await;
        let view = world.settled().await;
        assert_eq!(view.agents.len(), 1, "{input}");
        let requests = world.server.finish();
        assert_eq!(requests.len(), 2);
        let (_, content, is_error) = requests[1].results().remove(0);
        assert!(is_error && content.contains(says), "{input} → {content}");
    }
}

#[tokio::test]
async fn a_fork_cannot_delegate() {
    let world = World::new([
        in_root().when_told("go").call("Agent", json!({"prompt": "only review", "description": "review"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("only review").when_told("only review").call("Agent", json!({"prompt": "help me"})),
        in_fork("only review").when_result("nested_agent_forbidden").text("Scope: review\nResult: alone"),
        in_root().when_told("<task-notification>").text("Fine."),
    ])
    .await;
    world.say("go").await;
    let view = world.settled().await;
    assert_eq!(view.agents.len(), 2);
    world.server.finish();
}

#[tokio::test]
async fn forks_in_worktrees_leave_the_parents_directory_alone() {
    let script = [
        in_root()
            .when_told("both")
            .call("Agent", json!({"prompt": "one", "description": "one", "isolation": "worktree"}))
            .call("Agent", json!({"prompt": "two", "description": "two", "isolation": "worktree"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("one").when_told("one").call("Read", json!({"file_path": "src/a.txt"})),
        in_fork("one")
            .when_result("two")
            .call("Edit", json!({"file_path": "src/a.txt", "old_string": "two", "new_string": "TWO"})),
        in_fork("one").repeated().text("Scope: one\nResult: edited"),
        in_fork("two").when_told("two").call("Write", json!({"file_path": "new.txt", "content": "new\n"})),
        in_fork("two").repeated().text("Scope: two\nResult: added"),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
    ];
    let mut setup = Setup::default();
    setup.settings.mode = offshoot_protocol::PermissionMode::AcceptEdits;
    let world = World::with(setup, script).await;
    world.repository.write("README.md", "edited, not committed\n");
    let before = world.repository.git(&["status", "--porcelain"]);
    world.say("both").await;
    world.settled().await;

    assert_eq!(world.repository.git(&["status", "--porcelain"]), before);
    assert_eq!(world.repository.read("src/a.txt"), "one\ntwo\nthree\n");
    let one = world.agent("one").await;
    let worktree = one.worktree.clone().unwrap();
    assert!(worktree.base_is_snapshot, "the fork starts from the uncommitted edit");
    let path = std::path::Path::new(&worktree.path);
    assert_eq!(std::fs::read_to_string(path.join("README.md")).unwrap(), "edited, not committed\n");
    assert_eq!(std::fs::read_to_string(path.join("src/a.txt")).unwrap(), "one\nTWO\nthree\n");
    let changes = world.workbench.changes(&world.session, &one.id).await.unwrap();
    let files: Vec<(&str, u32, u32)> =
        changes.files.iter().map(|file| (file.path.as_str(), file.added, file.removed)).collect();
    assert_eq!(files, [("src/a.txt", 1, 1)]);
    assert_eq!(one.changes.map(|count| (count.files, count.added)), Some((1, 1)));
    let two = world.agent("two").await;
    let diff = world.workbench.file_diff(&world.session, &two.id, "new.txt", false).await.unwrap();
    assert_eq!(diff.hunks[0].lines[0].text, "new");
    world.server.finish();
}

#[tokio::test]
async fn a_request_suspends_the_call_until_it_is_answered() {
    let world = World::new([
        reply().when_told("write").call("Write", json!({"file_path": "b.txt", "content": "b"})),
        reply().when_result("").when(|request| request.results()[0].2).text("Not allowed, then."),
        reply().when_told("again").call("Write", json!({"file_path": "b.txt", "content": "b"})),
        reply().when(|request| request.results().len() == 1).text("Written."),
    ])
    .await;
    world.say("write").await;
    let request = world.asked(|request| request.tool == "Write").await;
    assert_eq!(world.view().await.agents[0].state, AgentState::WaitingForPermission);
    assert_eq!(request.asker.len(), 1);
    world.answer(&request, Answer::Deny { reason: Some("not yet".into()) }).await;
    world.settled().await;
    assert!(!world.repository.path().join("b.txt").exists());
    // The second answer to the same request is told that it came too late.
    let late = world.try_wish(Command::Answer { request: request.id, answer: Answer::AllowOnce }).await;
    assert_eq!(late.unwrap_err().code, offshoot_protocol::RejectedCode::Gone);

    world.say("again").await;
    let request = world.asked(|_| true).await;
    world.answer(&request, Answer::AllowOnce).await;
    world.settled().await;
    assert_eq!(world.repository.read("b.txt"), "b");
    let requests = world.server.finish();
    assert!(requests[1].mentions("not yet"));
}

#[tokio::test]
async fn seven_children_ask_at_once_and_each_answer_reaches_the_right_one() {
    let names = ["c1", "c2", "c3", "c4", "c5", "c6", "c7"];
    let mut parent = in_root().when_told("seven");
    let mut script = Vec::new();
    for name in names {
        let directive = format!("task {name}");
        parent = parent.call("Agent", json!({"prompt": directive, "description": name, "isolation": "worktree"}));
        let file = format!("{name}.txt");
        script
            .push(in_fork(&directive).when_told(&directive).call("Write", json!({"file_path": file, "content": name})));
        script.push(in_fork(&directive).text(&format!("Scope: {name}\nResult: ended")));
    }
    script.push(parent);
    script.push(in_root().when_result("async_launched").text("Waiting."));
    script.push(in_root().when_told("<task-notification>").repeated().text("Noted."));
    let world = World::new(script).await;
    world.say("seven").await;
    let view = world.until("seven ask", |view| view.requests.len() == 7).await;
    // In reverse order, every second one allowed.
    for (at, request) in view.requests.iter().enumerate().rev() {
        let asker = request.asker.last().unwrap();
        assert_eq!(request.asker.len(), 2);
        assert!(request.isolated);
        assert!(request.input.0.contains(&format!("{}.txt", asker.title)), "labelled with who asks: {request:?}");
        let answer = if at % 2 == 0 { Answer::AllowOnce } else { Answer::Deny { reason: None } };
        world.answer(request, answer).await;
    }
    world.settled().await;
    for (at, request) in view.requests.iter().enumerate() {
        let asker = request.asker.last().unwrap();
        let written = std::path::Path::new(&request.directory).join(format!("{}.txt", asker.title)).exists();
        assert_eq!(written, at % 2 == 0, "{}", asker.title);
    }
    world.server.finish();
}

#[tokio::test]
async fn stopping_a_child_withdraws_its_request() {
    let world = World::new([
        in_root().when_told("go").call("Agent", json!({"prompt": "write it", "description": "writer"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("write it").when_told("write it").call("Write", json!({"file_path": "b.txt", "content": "b"})),
        in_root().when_told("<status>stopped</status>").text("Stopped, I see."),
        in_fork("write it").when_result("interrupted").text("Scope: x\nResult: resumed"),
        in_root().when_told("resumed").text("Good."),
    ])
    .await;
    world.say("go").await;
    let request = world.asked(|_| true).await;
    let writer = world.agent("writer").await.id;
    world.wish(Command::Stop { agent: writer.clone() }).await;
    let view = world.until("it is stopped", |view| view.agents[1].state == AgentState::Stopped).await;
    assert!(view.requests.is_empty());
    let late = world.try_wish(Command::Answer { request: request.id, answer: Answer::AllowOnce }).await;
    assert_eq!(late.unwrap_err().code, offshoot_protocol::RejectedCode::Gone);
    assert!(!world.repository.path().join("b.txt").exists());
    // A stopped agent takes no messages until it is resumed.
    let refused = world.try_wish(Command::SendMessage { agent: writer.clone(), text: "hello".into() }).await;
    assert_eq!(refused.unwrap_err().code, offshoot_protocol::RejectedCode::NotApplicable);
    world.settled().await;
    world.wish(Command::Resume { agent: writer }).await;
    world.until("it reports", |view| view.agents[1].state == AgentState::Completed).await;
    world.settled().await;
    world.server.finish();
}

#[tokio::test]
async fn a_foreground_child_moves_to_the_background_without_a_restart() {
    let gate = Gate::new();
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "dig", "description": "digger", "subagent_type": "general-purpose"})),
        reply().when(|request| request.mentions("dig") && request.messages().len() == 1).gate(&gate).text("dug"),
        in_root().when_result("async_launched").text("Going on."),
        in_root().when_told("<task-notification>").text("Done."),
    ])
    .await;
    world.say("go").await;
    world.server.request(2).await;
    let digger = world.agent("digger").await;
    assert!(!digger.background);
    world.wish(Command::SendToBackground { agent: digger.id.clone() }).await;
    world.until("the root goes on", |view| view.agents[0].state == AgentState::Idle).await;
    gate.open();
    world.settled().await;
    let requests = world.server.finish();
    let asked = requests.iter().filter(|request| request.agent() == digger.id.as_str()).count();
    assert_eq!(asked, 1, "the same run went on");
}

#[tokio::test]
async fn an_empty_report_a_turn_limit_and_a_refused_request_are_failures() {
    let brief = |text: &str| {
        let text = text.to_owned();
        reply().when(move |request| request.messages().len() == 1 && request.last_text().starts_with(&text))
    };
    let start = |prompt: &str| json!({"prompt": prompt, "description": prompt, "subagent_type": "explore"});
    let mut script = vec![
        in_root()
            .when_told("go")
            .call("Agent", start("silent"))
            .call("Agent", start("endless"))
            .call("Agent", start("refused")),
        brief("silent").thinking("hm", "sig"),
        brief("refused").status_with(400, "invalid_request_error", "no such thing"),
        in_root().when(|request| request.results().len() == 3).text("All failed."),
    ];
    script.push(
        reply()
            .when(|request| !request.system().contains("You are Offshoot") && request.mentions("endless"))
            .repeated()
            .call("Glob", json!({"pattern": "*"})),
    );
    let world = World::new(script).await;
    world.say("go").await;
    world.settled().await;
    let requests = world.server.requests();
    let results = requests.iter().find(|request| request.results().len() == 3).unwrap().results();
    for ((_, content, is_error), (code, says)) in results.iter().zip([
        ("subagent_failed", "without a report"),
        ("subagent_turn_limit", "8 turns"),
        ("subagent_failed", "no such thing"),
    ]) {
        assert!(is_error);
        let result = result_of(content);
        assert_eq!(result["code"], code);
        assert!(result["message"].as_str().unwrap().contains(says), "{content}");
    }
    let outcome = world.agent("endless").await.outcome.unwrap();
    assert!(matches!(outcome, AgentOutcome::Failed { code: FailureCode::TurnLimit, .. }));
    world.server.finish();
}

#[tokio::test]
async fn an_interrupted_turn_keeps_what_arrived_and_the_next_request_is_valid() {
    let gate = Gate::new();
    let world = World::new([
        reply().when_told("go").text("Half an answer").gate(&gate).text("never"),
        reply().when_told("go on").text("Whole."),
    ])
    .await;
    world.say("go").await;
    world.until("text streams", |view| view.agents[0].state == AgentState::Running).await;
    world.server.request(1).await;
    world.wish(Command::Interrupt { agent: world.root.clone() }).await;
    world.until("it is idle", |view| view.agents[0].state == AgentState::Idle).await;
    world.say("go on").await;
    world.settled().await;
    let messages = world.messages(&world.root).await;
    assert_eq!(messages.last().unwrap().text(), "Whole.");
    world.server.finish();
}

#[tokio::test]
async fn a_message_during_a_turn_reaches_the_agent_with_the_results() {
    let gate = Gate::new();
    let world = World::new([
        reply().when_told("go").gate(&gate).call("Read", json!({"file_path": "README.md"})),
        reply().when_told("and this").text("Both."),
    ])
    .await;
    world.say("go").await;
    world.server.request(1).await;
    world.say("and this").await;
    assert_eq!(world.view().await.agents[0].queue.iter().filter(|input| input.origin == Origin::User).count(), 1);
    gate.open();
    world.settled().await;
    let requests = world.server.finish();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].results().len(), 1, "results first, then the message, in one");
}

#[tokio::test]
async fn a_restart_shows_the_same_session_and_interrupts_what_ran() {
    let gate = Gate::new();
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "slow work", "description": "fork", "isolation": "worktree"}))
            .call("Agent", json!({"prompt": "deep", "description": "child", "subagent_type": "explore"})),
        in_fork("slow work").gate(&gate).text("never heard"),
        reply()
            .when(|request| request.messages().len() == 1 && request.last_text().starts_with("deep"))
            .gate(&gate)
            .text("x"),
    ])
    .await;
    world.say("go").await;
    world.server.request(3).await;
    let before = world.view().await;
    let world = world.restart().await;
    let after = world.view().await;
    assert_eq!(after.agents.len(), 3);
    assert_eq!(after.title, before.title);
    for title in ["fork", "child"] {
        assert_eq!(world.agent(title).await.state, AgentState::Interrupted, "{title}");
    }
    assert_eq!(after.agents[0].state, AgentState::Idle);
    // One notice each: the fork's as a notification that waits, the foreground child's as the call's result.
    let fork = world.agent("fork").await;
    let child = world.agent("child").await;
    let queued: Vec<_> = after.agents[0].queue.iter().filter(|input| input.origin == Origin::Notification).collect();
    assert_eq!(queued.len(), 1);
    assert!(queued[0].text.contains(fork.id.as_str()));
    let messages = world.messages(&world.root).await;
    let last = messages.last().unwrap();
    assert_eq!(last.role, MessageRole::User);
    let results: Vec<String> = last.blocks.iter().map(|block| format!("{block:?}")).collect();
    assert!(results[1].contains(child.id.as_str()), "{results:?}");
    assert!(std::path::Path::new(&fork.worktree.unwrap().path).is_dir());

    // Both can be resumed; nothing ran by itself.
    assert_eq!(world.server.requests().len(), 3);
    for (title, said) in [("fork", "Scope: fork\nResult: after all"), ("child", "after all")] {
        let id = world.agent(title).await.id;
        world.server.add(reply().for_agent(id.as_str()).text(said));
        world.server.add(in_root().when_told("<task-notification>").text("Noted."));
        world.wish(Command::Resume { agent: id.clone() }).await;
        world
            .until("it is done", |view| {
                view.agents.iter().any(|agent| agent.id == id && agent.state == AgentState::Completed)
            })
            .await;
        world.settled().await;
    }
    drop(gate);
    world.server.finish();
}

#[tokio::test]
async fn a_person_forks_at_any_time() {
    let gate = Gate::new();
    let world = World::new([
        in_root().when_told("hello").text("Hi."),
        in_fork("look around").text("Scope: look\nResult: seen"),
        in_root().when_told("<task-notification>").gate(&gate).text("Noted."),
        in_fork("early bird").text("Scope: early\nResult: yes"),
        in_root().when_told("early").text("Noted too."),
    ])
    .await;
    world.say("hello").await;
    world.settled().await;
    let fork = |directive: &str, messages| Command::Fork {
        agent: world.root.clone(),
        directive: directive.into(),
        isolation: Isolation::Shared,
        messages,
    };
    world.wish(fork("look around", None)).await;
    // While the root is in the middle of a turn, from its first message.
    world
        .server
        .request_where(|request| request.last_text().contains("look around") && !request.mentions("<fork-directive>"))
        .await;
    world.wish(fork("early bird", Some(1))).await;
    world
        .until("it reports", |view| {
            view.agents.iter().any(|agent| agent.title == "early bird" && agent.state == AgentState::Completed)
        })
        .await;
    gate.open();
    world.settled().await;
    assert_eq!(world.agent("early bird").await.inherited.unwrap().messages, 1);
    world.server.finish();
}

#[tokio::test]
async fn a_command_in_the_background_is_a_task() {
    let mut setup = Setup::default();
    setup.settings.mode = offshoot_protocol::PermissionMode::Bypass;
    let world = World::with(
        setup,
        [
            reply()
                .when_told("serve")
                .call("Bash", json!({"command": "echo ready; cat /dev/zero > /dev/null", "run_in_background": true})),
            reply().when_result("async_launched").call(
                "Bash",
                json!({
                    "command": "echo short; exit 3", "run_in_background": true
                }),
            ),
            reply().when_result("async_launched").text("Both run."),
            reply().when_told("exit status 3").call("TaskList", json!({})),
            reply().when_result("\"status\":\"running\"").text("One is left."),
        ],
    )
    .await;
    world.say("serve").await;
    let view = world
        .until("one has failed, one runs", |view| {
            view.shells.len() == 2 && view.shells[1].outcome.is_some() && view.shells[0].outcome.is_none()
        })
        .await;
    let [server, short] = view.shells.as_slice() else { panic!("{:?}", view.shells) };
    world.until("the root was told", |view| view.agents[0].activity.contains("One is left")).await;
    assert_eq!(std::fs::read_to_string(&short.output_file).unwrap(), "short\n");

    world.server.add(reply().when_told("read it").call("TaskOutput", json!({"task_id": server.id})));
    world.server.add(reply().when_result("ready").call("TaskStop", json!({"task_id": server.id})));
    world.server.add(reply().when_result("stopped").text("Stopped it."));
    world.say("read it").await;
    let view = world.until("it is stopped", |view| view.agents[0].activity.contains("Stopped it")).await;
    assert_eq!(view.shells[0].outcome, Some(offshoot_protocol::ShellOutcome::Stopped));
    // It asked for that itself: no notice.
    assert!(view.agents[0].queue.is_empty());
    world.server.finish();
}

#[tokio::test]
async fn a_finished_agent_goes_on_when_its_parent_writes_to_it() {
    let world = World::new([
        in_root().when_told("go").call("Agent", json!({"prompt": "count", "description": "counter"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("count").when_told("count").text("Scope: count\nResult: one"),
        in_root().when_told("Result: one").call("SendMessage", json!({"to": "counter", "message": "and then?"})),
        in_root().when_result("delivered").text("Asked."),
        in_fork("count").when_told("and then?").text("Scope: count\nResult: two"),
        in_root().when_told("Result: two").call("SendMessage", json!({"to": "nobody", "message": "?"})),
        in_root().when_result("unknown_task").text("Done."),
    ])
    .await;
    world.say("go").await;
    world.until("it is done", |view| view.agents[0].activity == "Done.").await;
    let view = world.settled().await;
    assert_eq!(view.agents[1].outcome, Some(AgentOutcome::Completed { report: "Scope: count\nResult: two".into() }));
    world.server.finish();
}

#[tokio::test]
async fn reports_of_one_step_stay_in_bounds_together() {
    let report = "x".repeat(40_000);
    let mut parent = in_root().when_told("go");
    let mut script = Vec::new();
    for name in ["p", "q", "r", "s", "t", "u"] {
        parent = parent.call("Agent", json!({"prompt": name, "description": name, "subagent_type": "explore"}));
        script.push(
            reply().when(move |request| request.messages().len() == 1 && request.last_text() == name).text(&report),
        );
    }
    script.push(parent);
    script.push(in_root().when(|request| request.results().len() == 6).text("Read."));
    let world = World::new(script).await;
    world.say("go").await;
    world.settled().await;
    let requests = world.server.finish();
    let results = requests.iter().find(|request| request.results().len() == 6).unwrap().results();
    let total: usize = results.iter().map(|(_, content, _)| content.len()).sum();
    assert!(total < 64 * 1024 + 6 * 1024, "{total}");
    for (_, content, _) in results {
        let report = result_of(&content);
        let report = report["report"].as_str().unwrap();
        let file = report.rsplit("The whole report is in ").next().unwrap().trim_end_matches(".]");
        assert_eq!(std::fs::read_to_string(file).unwrap().len(), 40_000);
    }
}
