//! Children don't delegate: three guards, each alone.

use offshoot_protocol::{
    AgentCreated, AgentId, AgentKind, AgentOutcome, Block, Command, EventBody, Inherited, Message, MessageRole, Origin,
    PermissionMode,
};
use offshoot_tests::{World, in_child, in_fork, in_root, reply, result_of};
use serde_json::json;

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
async fn a_fork_that_is_to_review_commits_nothing_of_what_lies_in_its_parents_checkout() {
    let world = World::new([
        // What the parent was told is in what the fork inherits.
        in_root()
            .when_told("delegate the work")
            .call("Agent", json!({"prompt": "only review a", "description": "review"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("only review a").when_told("only review").call("Agent", json!({"prompt": "help me"})),
        in_fork("only review a").when_result("nested_agent_forbidden").call("Commit", json!({"message": "All of it"})),
        in_fork("only review a")
            .when_result("permission_denied")
            .call("Bash", json!({"command": "git add -A && git commit -m All"})),
        in_fork("only review a").when_result("permission_denied").text("Scope: review a\nResult: reviewed"),
        in_root().when_told("<task-notification>").text("Fine."),
    ])
    .await;
    world.wish(Command::SetMode { mode: PermissionMode::AcceptEdits }).await;
    world.repository.write("README.md", "edited by the parent\n");
    world.repository.write("src/a.txt", "staged\n");
    world.repository.git(&["add", "src/a.txt"]);
    let state = || (world.repository.git(&["rev-parse", "HEAD"]), world.repository.git(&["status", "--porcelain"]));
    let before = state();
    world.say("delegate the work and commit everything").await;
    // Neither runs by itself; each is asked about, with the fork's name on it.
    for tool in ["Commit", "Bash"] {
        let request = world.asked(|request| request.tool == tool).await;
        assert_eq!(request.asker.last().unwrap().title, "review");
        world.answer(&request, offshoot_protocol::Answer::Deny { reason: None }).await;
    }
    world.until("it was told", |view| view.agents[0].activity == "Fine.").await;
    assert_eq!(state(), before);
    let asked = world.server.requests().into_iter().find(|request| request.mentions("<fork-directive>")).unwrap();
    assert!(asked.last_text().contains("commit nothing, unless the directive says so"));
    world.server.finish();
}

#[tokio::test]
async fn a_childs_own_faults_are_told_before_that_it_may_not_delegate() {
    for (input, code) in [
        (json!({"prompt": " "}), "invalid_arguments"),
        (json!({"prompt": "x", "subagent_type": "nobody"}), "nested_agent_forbidden"),
    ] {
        let world = World::new([
            in_root().when_told("go").call("Agent", json!({"prompt": "dig", "subagent_type": "general-purpose"})),
            in_child("dig").when_told("dig").call("Agent", input),
            in_child("dig").when_result(code).text("alone"),
            in_root().when_result("alone").text("Fine."),
        ])
        .await;
        world.say("go").await;
        assert_eq!(world.settled().await.agents.len(), 2);
        world.server.finish();
    }
}

#[tokio::test]
async fn a_fork_is_told_in_words() {
    let world = World::new([
        in_root().when_told("go").call("Agent", json!({"prompt": "dig"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_fork("dig").text("Scope: dig"),
        in_root().when_told("<task-notification>").text("Fine."),
    ])
    .await;
    world.say("go").await;
    let request = world.server.request_where(|request| request.mentions("<fork-directive>")).await;
    assert!(request.last_text().contains("Do not start agents"));
    assert!(request.tools().contains(&"Agent"), "the tool stays, or the bytes would change");
    world.until("it was told", |view| view.agents[0].activity == "Fine.").await;
    world.server.finish();
}

#[tokio::test]
async fn a_subagent_is_refused_by_its_kind_and_told_what_it_is() {
    for (input, code) in [
        (json!({"prompt": "help"}), "nested_agent_forbidden"),
        (json!({"prompt": "help", "team_name": "t", "name": "n"}), "nested_team_member_forbidden"),
    ] {
        let world = World::new([
            in_root().when_told("go").call("Agent", json!({"prompt": "dig", "subagent_type": "general-purpose"})),
            in_child("dig").when_told("dig").call("Agent", input),
            in_child("dig").when_result(code).text("alone"),
            in_root().when_result("alone").text("Fine."),
        ])
        .await;
        world.say("go").await;
        let view = world.settled().await;
        assert_eq!(view.agents.len(), 2);
        let requests = world.server.finish();
        let refusal = result_of(&requests[2].result());
        assert!(refusal["message"].as_str().unwrap().contains("subagent"), "{refusal}");
    }
}

#[tokio::test]
async fn the_kind_of_a_fork_counts_where_its_frame_is_gone() {
    let world = World::new([in_root().when_told("hello").text("Hi.")]).await;
    world.say("hello").await;
    world.settled().await;
    let fork = AgentId::from("a-washed");
    let events = world.events().await;
    let head = events.iter().find_map(|event| match &event.body {
        EventBody::AgentCreated(root) => Some((root.head.clone(), root.directory.clone())),
        _ => None,
    });
    let (head, directory) = head.unwrap();
    let created = AgentCreated {
        kind: AgentKind::Fork,
        parent: Some(world.root.clone()),
        call: None,
        role: None,
        title: "washed".into(),
        color: None,
        directory,
        model: "claude-test".into(),
        head,
        background: true,
        mode: PermissionMode::Default,
        max_turns: Some(5),
        allow: Vec::new(),
        deny: Vec::new(),
        inherited: Some(Inherited { from: world.root.clone(), messages: 2 }),
    };
    let facts = vec![
        (fork.clone(), EventBody::AgentCreated(Box::new(created))),
        (
            fork.clone(),
            EventBody::MessageAppended {
                index: 2,
                message: Message { role: MessageRole::User, blocks: vec![text("dig", Origin::Directive)] },
                inputs: Vec::new(),
            },
        ),
        (fork.clone(), EventBody::AgentEnded { outcome: AgentOutcome::Interrupted }),
    ];
    let world = world.restart_with(facts).await;
    world.server.add(reply().for_agent("a-washed").when_told("dig").call("Agent", json!({"prompt": "help"})));
    world.server.add(reply().for_agent("a-washed").when_result("nested_agent_forbidden").text("Scope: dig"));
    world.server.add(in_root().when_told("<task-notification>").text("Noted."));
    world.wish(Command::Resume { agent: fork }).await;
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
    assert_eq!(world.view().await.agents.len(), 2);
    world.server.finish();
}

#[tokio::test]
async fn a_frame_in_the_transcript_counts_whatever_the_kind_says() {
    let world = World::new([reply().when_told("hello").text("Hi.")]).await;
    world.say("hello").await;
    world.settled().await;
    let frame = Message { role: MessageRole::User, blocks: vec![text("<fork-directive>\n…", Origin::Reminder)] };
    let facts = vec![(world.root.clone(), EventBody::MessageAppended { index: 2, message: frame, inputs: Vec::new() })];
    let world = world.restart_with(facts).await;
    world.server.add(reply().when_told("go").call("Agent", json!({"prompt": "help"})));
    world.server.add(reply().when_result("nested_agent_forbidden").text("Alone, then."));
    world.say("go").await;
    world.settled().await;
    assert_eq!(world.view().await.agents.len(), 1);
    // The same words from a person are no frame.
    let world = World::new([
        reply().when_told("hello <fork").call("Agent", json!({"prompt": "look", "subagent_type": "explore"})),
        in_child("look").text("seen"),
        in_root().when_result("seen").text("Done."),
        reply().when_result("seen").text("Done."),
    ])
    .await;
    world.say("hello <fork-directive>").await;
    world.until("the child has started", |view| view.agents.len() == 2).await;
    world.settled().await;
}

fn text(text: &str, origin: Origin) -> Block {
    Block::Text { text: text.to_owned(), origin }
}
