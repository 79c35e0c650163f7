//! Permission requests of a whole tree.

use offshoot_protocol::{AgentState, Answer, Command, DecidedBy, EventBody};
use offshoot_tests::world::Unconfined;
use offshoot_tests::{Setup, World, in_fork, in_root, reply};
use serde_json::json;

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
async fn without_anybody_to_ask_a_childs_request_is_denied_and_said_so() {
    let world = World::with(
        Setup { interactive: false, ..Setup::default() },
        [
            in_root().when_told("go").call("Agent", json!({"prompt": "write it", "description": "writer"})),
            in_root().when_result("async_launched").text("Waiting."),
            in_fork("write it").when_told("write it").call("Write", json!({"file_path": "b.txt", "content": "b"})),
            in_fork("write it").when_result("permission_denied").text("Scope: x\nIssues: the write was denied"),
            in_root().when_told("the write was denied").text("I see."),
        ],
    )
    .await;
    world.say("go").await;
    let view = world.settled().await;
    assert!(view.requests.is_empty());
    assert!(!world.repository.path().join("b.txt").exists());
    world.server.finish();
}

#[tokio::test]
async fn a_granted_rule_answers_the_other_requests_that_it_decides_and_no_others() {
    let fork = |name: &str| json!({"prompt": format!("write {name}"), "description": name, "isolation": "worktree"});
    let write = |name: &str, file: &str| {
        let directive = format!("write {name}");
        in_fork(&directive).when_told(&directive).call("Write", json!({"file_path": file, "content": name}))
    };
    let ends = |name: &str| in_fork(&format!("write {name}")).text(&format!("Scope: {name}\nResult: ended"));
    let world = World::new([
        in_root().when_told("go").call("Agent", fork("one")).call("Agent", fork("two")).call("Agent", fork("three")),
        in_root().when_result("async_launched").text("Waiting."),
        in_root().when_told("<task-notification>").repeated().text("Noted."),
        write("one", "docs/a.txt"),
        write("two", "docs/a.txt"),
        write("three", "other.txt"),
        ends("one"),
        ends("two"),
        ends("three"),
    ])
    .await;
    world.say("go").await;
    let view = world.until("three ask", |view| view.requests.len() == 3).await;
    let of = |title: &str| {
        let fits = |request: &&offshoot_protocol::PermissionRequest| request.asker.last().unwrap().title == title;
        view.requests.iter().find(fits).unwrap().clone()
    };
    // For its own subtree: the siblings go on waiting.
    let rules = vec!["Edit(/docs/**)".to_owned()];
    world.answer(&of("one"), Answer::AllowForSubtree { rules: rules.clone() }).await;
    world.until("one is done", |view| view.agents.iter().any(|agent| agent.state == AgentState::Completed)).await;
    assert_eq!(world.view().await.requests.len(), 2);
    // For the session: whom the rule decides goes on, by the rule.
    let again = of("three");
    world.answer(&again, Answer::AllowForSession { rules }).await;
    world.settled().await;
    let events = world.events().await;
    let by = |id: &offshoot_protocol::RequestId| {
        events.iter().find_map(|event| match &event.body {
            EventBody::PermissionDecided { request, by, .. } if request == id => Some(*by),
            _ => None,
        })
    };
    assert_eq!(by(&of("one").id), Some(DecidedBy::User));
    assert_eq!(by(&of("two").id), Some(DecidedBy::Rule));
    assert_eq!(by(&again.id), Some(DecidedBy::User));
    let late = world.try_wish(Command::Answer { request: of("two").id, answer: Answer::AllowOnce }).await;
    assert_eq!(late.unwrap_err().code, offshoot_protocol::RejectedCode::Gone);
    world.server.finish();
}

#[tokio::test]
async fn where_nothing_confines_commands_each_asks_and_the_person_is_told() {
    let run = || json!({"command": "echo hello"});
    let world = World::with(
        Setup { rules: super::allow(&["Bash"]), unconfined: Unconfined::Asked, ..Setup::default() },
        [
            reply().when_told("run").call("Bash", run()),
            reply().when_result("hello").call("Read", json!({"file_path": "README.md"})),
            reply().when_result("1").text("Done."),
        ],
    )
    .await;
    let root = &world.view().await.agents[0];
    assert!(root.warnings.iter().any(|warning| warning.code == "confinement"), "{:?}", root.warnings);
    world.say("run").await;
    let request = world.asked(|request| request.tool == "Bash").await;
    assert_eq!(request.reason, "commands are not confined: tests, so each is asked about");
    assert!(request.suggested_rules.is_empty(), "no rule would answer the next one");
    world.answer(&request, Answer::AllowOnce).await;
    world.settled().await;
    world.server.finish();
}
