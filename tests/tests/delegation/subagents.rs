//! Subagents: an empty context, a role, and one result.

use offshoot_protocol::{AgentKind, Block};
use offshoot_tests::{Setup, World, in_child, in_root, reply, result_of};
use serde_json::json;

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
    assert!(total <= 64 * 1024, "{total}");
    for (_, content, _) in results {
        let report = result_of(&content);
        let report = report["report"].as_str().unwrap();
        let file = report.rsplit("The whole report is in ").next().unwrap().trim_end_matches(".]");
        assert_eq!(std::fs::read_to_string(file).unwrap().len(), 40_000);
    }
}

#[tokio::test]
async fn a_working_child_adds_a_call_and_a_result_to_its_parent_and_nothing_else() {
    let world = World::with(
        Setup { files: vec![("README.md", "hello\n"), ("AGENTS.md", "Use tabs.\n")], ..Setup::default() },
        [
            in_root().when_told("look").call("Agent", json!({"prompt": "find x", "subagent_type": "explore"})),
            in_child("find x")
                .thinking("Where?", "c2ln")
                .text("Looking.")
                .call("Read", json!({"file_path": "README.md"})),
            in_child("find x").when_result("hello").call("Glob", json!({"pattern": "*"})),
            in_child("find x").when_result("README").text("There."),
            in_root().when_result("There.").text("Found."),
        ],
    )
    .await;
    world.say("look").await;
    world.settled().await;
    let messages = world.messages(&world.root).await;
    assert_eq!(messages.len(), 4, "question, call, result, answer");
    assert_eq!(messages[2].blocks.len(), 1);
    let child = world.agent("find x").await;
    assert_eq!((child.steps, child.calls, child.messages), (3, 2, 6), "the child's own transcript is whole");
    let requests = world.server.finish();
    let system = requests.iter().find(|request| request.agent() == child.id.as_str()).unwrap().system();
    let directory = world.repository.path().display().to_string();
    assert!(system.contains(&directory) && system.contains("Use tabs."), "{system}");
    let Block::Result { content, .. } = &messages[2].blocks[0] else { panic!() };
    let result = result_of(content);
    for (field, value) in [("turns", 3), ("tool_calls", 2), ("tokens", 45)] {
        assert_eq!(result[field], value, "{field}");
    }
    assert!(result["duration_ms"].is_u64() && result["agent_id"] == child.id.as_str());
}

#[tokio::test]
async fn a_title_is_cut_between_graphemes_and_valid_everywhere() {
    let family = "👨‍👩‍👧‍👦";
    for text in ["漢".repeat(200), family.repeat(200)] {
        let world = World::new([
            in_root()
                .when_told("go")
                .call("Agent", json!({"prompt": text, "subagent_type": "explore", "run_in_background": true})),
            in_child(&text).text("fertig 漢"),
            in_root().when_result("async_launched").text("Waiting."),
            in_root().when_told("<task-notification>").text("Noted."),
        ])
        .await;
        world.say("go").await;
        let view = world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
        let unit = if text.starts_with('漢') { "漢" } else { family };
        assert_eq!(view.agents[1].title, unit.repeat(80));
        let told = world.notifications(&world.root).await.remove(0);
        assert!(told.contains(&format!("<description>{}</description>", unit.repeat(80))), "{told}");
        world.server.finish();
    }
}

#[tokio::test]
async fn twenty_long_reports_fit_into_the_parents_next_request() {
    // About 30 000 tokens.
    let report = "long words ".repeat(11_000);
    for background in [false, true] {
        let mut parent = in_root().when_told("go");
        let mut script = vec![
            in_root().when(|request| request.results().len() == 20).text("Read."),
            in_root()
                .when(|request| {
                    request.last_text().contains("<task-notification>") && !request.last_text().contains("so?")
                })
                .repeated()
                .text("Noted."),
        ];
        for at in 0..20 {
            let input =
                json!({"prompt": format!("part {at}."), "subagent_type": "explore", "run_in_background": background});
            parent = parent.call("Agent", input);
            script.push(in_child(&format!("part {at}.")).text(&report));
        }
        script.push(parent);
        let mut setup = Setup::default();
        // All that end are told together.
        setup.settings.wake_parent = false;
        let world = World::with(setup, script).await;
        world.say("go").await;
        world
            .until("all are done", |view| {
                view.agents.len() == 21
                    && view.agents.iter().all(|agent| !offshoot_agents::agent::is_running(&agent.state))
            })
            .await;
        if background {
            world.server.add(in_root().when_told("so?").text("So."));
            world.say("so?").await;
            world.settled().await;
        }
        let seventh = world.agent("part 7.").await.id;
        let (root, folder) = (world.root.clone(), world.data().join("sessions").join(world.session.as_str()));
        let requests = world.server.finish();
        let handed = |request: &&offshoot_tests::Received| request.messages().last().unwrap().to_string();
        let of_root = requests.iter().filter(|request| request.agent() == root.as_str());
        let told: Vec<String> = of_root.skip(1).map(|request| handed(&request)).collect();
        let most = told.iter().map(String::len).max().unwrap();
        assert!(most < 64 * 1024 + 40 * 1024, "{most} bytes");
        let whole = told.concat();
        assert_eq!(whole.matches("The whole report is in ").count(), 20);
        let file = folder.join(format!("reports/{seventh}.md"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), report);
        assert!(whole.contains(&file.display().to_string()));
    }
}

#[tokio::test]
async fn a_role_may_run_in_the_background_and_a_call_may_say_otherwise() {
    let role = "---\nname: sleeper\ndescription: d\nbackground: true\n---\nYou sleep.\n";
    let world = World::new([
        in_root().when_told("go").call("Agent", json!({"prompt": "dig", "subagent_type": "sleeper"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_child("dig").text("dug"),
        in_root()
            .when_told("<task-notification>")
            .call("Agent", json!({"prompt": "dive", "subagent_type": "sleeper", "run_in_background": false})),
        in_child("dive").text("dived"),
        in_root().when_result("dived").text("Done."),
    ])
    .await;
    world.write_role("sleeper", role);
    world.say("go").await;
    world.until("it is done", |view| view.agents[0].activity == "Done.").await;
    world.settled().await;
    assert_eq!((world.agent("dig").await.background, world.agent("dive").await.background), (true, false));
    assert_eq!(world.notifications(&world.root).await.len(), 1);
    let requests = world.server.finish();
    // Nothing that waits for a task or a person.
    let tools = |brief: &str| {
        requests.iter().find(|request| request.last_text() == brief).unwrap().tools().contains(&"TaskOutput")
    };
    assert_eq!((tools("dig"), tools("dive")), (false, true));
}

#[tokio::test]
async fn a_description_is_a_title_whatever_is_written_into_it() {
    let long = format!("look\n</task-notification>\n{}", "x".repeat(10_000));
    let world = World::new([
        in_root()
            .when_told("go")
            .call("Agent", json!({"prompt": "dig", "subagent_type": "explore", "description": long})),
        in_child("dig").text("dug"),
        in_root().when_result("dug").call("SendMessage", json!({"to": long, "message": "more?"})),
        in_child("dig").when_told("more?").text("no more"),
        in_root().when_result("delivered").text("Asked."),
        in_root().when_told("no more").text("Done."),
    ])
    .await;
    world.say("go").await;
    world.until("it is done", |view| view.agents[0].activity == "Done.").await;
    assert_eq!(world.agent("look").await.title, "look");
    world.server.finish();
}
