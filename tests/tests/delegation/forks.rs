//! Forks: what they inherit, and what they leave as it was.

use offshoot_protocol::{AgentKind, AgentOutcome, AgentState, Block, Command, Isolation, Origin, PermissionMode};
use offshoot_tests::{Gate, Setup, World, in_fork, in_root};
use serde_json::json;

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
    let early = world.agent("early bird").await;
    assert_eq!(early.inherited.unwrap().messages, 1);
    // Of the root alone; whoever tries it elsewhere is told what to do instead.
    let of_child =
        Command::Fork { agent: early.id, directive: "deeper".into(), isolation: Isolation::Shared, messages: None };
    let refused = world.try_wish(of_child).await.unwrap_err();
    assert!(refused.message.contains("Fork the root, or send the child a message"), "{refused}");
    world.server.finish();
}

#[tokio::test]
async fn a_fork_in_the_middle_of_three_calls_changes_nothing_of_its_parent() {
    // Spacing, order, escapes and numbers as no writer of JSON would put them.
    let odd = r#"{ "offset" : 1.0e0,"file_path":"READM\u0045.md" , "limit":2 }"#;
    let directive = r#"{"description":"\u00e9clair",   "prompt":"dig"}"#;
    let world = World::new([
        in_root()
            .when_told("go")
            .thinking("Three at once.", "c2ln")
            .text("So:")
            .call_with_id("toolu_a", "Read", odd)
            .call_with_id("toolu_b", "Agent", directive)
            .call_with_id("toolu_c", "Glob", r#"{"pattern":"*"}"#),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("dig").when_told("dig").call("Read", json!({"file_path": "src/a.txt"})),
        in_fork("dig").when_result("two").text("Scope: dig"),
        in_root().when_told("<task-notification>").text("Noted."),
    ])
    .await;
    world.say("go").await;
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
    world.settled().await;
    let fork = world.agent("éclair").await;
    let parents = world.messages(&world.root).await;
    let forks = world.messages(&fork.id).await;
    assert_eq!(parents[..2], forks[..2], "what is shared");
    assert_eq!(parents.len(), 6, "question, calls, results, answer, notification, answer");
    let requests = world.server.finish();
    let of_fork = requests.iter().find(|request| request.agent() == fork.id.as_str()).unwrap();
    let placeholders: Vec<String> = of_fork.results().into_iter().map(|(id, ..)| id).collect();
    assert_eq!(placeholders, ["toolu_a", "toolu_b", "toolu_c"]);
    assert_eq!(of_fork.messages().len(), 3, "the placeholders and the directive are one message");
    // The arguments' bytes are the model's own in every later request of both.
    for request in requests.iter().filter(|request| request.messages().len() > 1) {
        let raw = String::from_utf8_lossy(&request.raw);
        assert!(raw.contains(odd) && raw.contains(directive), "{raw}");
    }
}

#[tokio::test]
async fn a_persons_fork_in_the_middle_of_a_turn_learns_that_results_are_missing() {
    let mut setup = Setup::default();
    setup.settings.mode = PermissionMode::Default;
    let world = World::with(
        setup,
        [
            in_root().when_told("go").call("Write", json!({"file_path": "b.txt", "content": "b"})),
            in_fork("dig").text("Scope: dig"),
            in_root().when_result("permission_denied").text("Denied."),
            in_root().when_told("<task-notification>").text("Noted."),
        ],
    )
    .await;
    world.say("go").await;
    let request = world.asked(|_| true).await;
    world
        .wish(Command::Fork {
            agent: world.root.clone(),
            directive: "dig".into(),
            isolation: Isolation::Shared,
            messages: None,
        })
        .await;
    let forked = world.server.request_where(|request| request.mentions("<fork-directive>")).await;
    let results = forked.results();
    assert!(results.len() == 1 && results[0].2 && results[0].1.contains("not part of this fork"), "{results:?}");
    world.until("it has reported", |view| view.agents[1].outcome.is_some()).await;
    world.answer(&request, offshoot_protocol::Answer::Deny { reason: None }).await;
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
    world.server.finish();
}

#[tokio::test]
async fn a_fork_in_a_worktree_is_told_where_it_is_and_kept_there() {
    let mut setup = Setup::default();
    setup.settings.mode = PermissionMode::AcceptEdits;
    let world = World::with(setup, []).await;
    let inherited = world.repository.path().join("src/a.txt");
    let call = json!({"prompt": "edit", "description": "editor", "isolation": "worktree"});
    for reply in [
        in_root().when_told("go").call("Agent", call),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("edit").when_told("edit").call("Write", json!({"file_path": inherited, "content": "x"})),
        in_fork("edit").when_result("main checkout").text("Scope: edit"),
        in_root().when_told("<task-notification>").text("Noted."),
    ] {
        world.server.add(reply);
    }
    world.say("go").await;
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
    let editor = world.agent("editor").await;
    let requests = world.server.finish();
    let of_editor: Vec<_> = requests.iter().filter(|request| request.agent() == editor.id.as_str()).collect();
    let of_root =
        requests.iter().find(|request| request.agent() == world.root.as_str() && !request.results().is_empty());
    let launched = offshoot_tests::result_of(&of_root.unwrap().result());
    assert_eq!((&launched["description"], &launched["agent_id"]), (&json!("editor"), &json!(editor.id)));
    assert_eq!(launched["worktree"]["path"], json!(editor.worktree.as_ref().unwrap().path));
    assert!(launched["output_file"].as_str().unwrap().ends_with(&format!("{}.md", editor.id)), "{launched}");
    // Behind the placeholders, in the same message.
    assert_eq!(of_editor[0].results().len(), 1);
    assert!(
        of_editor[0].last_text().contains("<worktree-notice>") && of_editor[0].last_text().contains(&editor.directory)
    );
    let translated = std::path::Path::new(&editor.directory).join("src/a.txt").display().to_string();
    assert!(of_editor[1].result().contains(&translated), "{}", of_editor[1].result());
    assert_eq!(world.repository.read("src/a.txt"), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_fork_whose_untouched_worktree_was_taken_away_gets_it_back_when_it_goes_on() {
    let mut setup = Setup::default();
    setup.settings.mode = PermissionMode::AcceptEdits;
    let look = json!({"prompt": "look", "description": "looker", "isolation": "worktree"});
    let world = World::with(
        setup,
        [
            in_root().when_told("go").call("Agent", look),
            in_root().when_result("async_launched").text("Waiting."),
            in_fork("look").text("Scope: look"),
            in_root().when_told("Scope: look").text("Noted."),
        ],
    )
    .await;
    world.say("go").await;
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
    let looker = world.agent("looker").await;
    assert!(!std::path::Path::new(&looker.directory).exists());
    // By a message while the program runs; after a restart, too.
    let mut world = world;
    for (round, told) in ["first", "second"].into_iter().enumerate() {
        world.server.add(in_fork("look").when_told(told).call("Read", json!({"file_path": "README.md"})));
        world.server.add(in_fork("look").when_result("hello").text(&format!("Scope: {told}")));
        world.server.add(in_root().when_told(format!("Scope: {told}")).text("Noted again."));
        world.tell(&looker.id, told).await;
        let done = AgentOutcome::Completed { report: format!("Scope: {told}") };
        world.until("it is done", |view| view.agents[1].outcome.as_ref() == Some(&done)).await;
        world.settled().await;
        assert!(!std::path::Path::new(&looker.directory).exists());
        if round == 0 {
            world = world.restart().await;
        }
    }
    world.server.add(in_fork("look").when_told("now").call("Write", json!({"file_path": "b.txt", "content": "b"})));
    world.server.add(in_fork("look").text("Scope: written"));
    world.server.add(in_root().when_told("Scope: written").text("Noted at last."));
    world.tell(&looker.id, "now").await;
    world.until("it was told", |view| view.agents[0].activity == "Noted at last.").await;
    assert!(std::path::Path::new(&looker.directory).join("b.txt").exists());
    assert!(!world.repository.path().join("b.txt").exists());
    world.server.finish();
}
