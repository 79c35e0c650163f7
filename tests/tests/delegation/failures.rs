//! A failure is a failure: never a report.

use std::time::Duration;

use offshoot_protocol::{AgentOutcome, AgentState, FailureCode};
use offshoot_tests::{Setup, World, in_fork, in_root, reply, result_of};
use serde_json::json;

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
        assert!(!content.contains("README.md"), "the last output is no conclusion: {content}");
    }
    let outcome = world.agent("endless").await.outcome.unwrap();
    assert!(matches!(outcome, AgentOutcome::Failed { code: FailureCode::TurnLimit, .. }));
    world.server.finish();
}

/// A root that starts one fork with the directive `dig`, and notes what it is told.
fn digging() -> Vec<offshoot_tests::Reply> {
    vec![
        in_root().when_told("go").call("Agent", json!({"prompt": "dig", "description": "digger"})),
        in_root().when_result("async_launched").text("Waiting."),
        in_root().when_told("<task-notification>").text("Noted."),
    ]
}

#[tokio::test]
async fn a_silent_and_an_overloaded_provider_are_asked_again() {
    let mut script = digging();
    script.push(in_fork("dig").text("Half").hang());
    script.extend((0..3).map(|_| in_fork("dig").status(529).header("retry-after", "0")));
    script.push(in_fork("dig").text("Scope: dig\nResult: dug"));
    let world = World::with(Setup { idle_limit: Duration::from_millis(300), ..Setup::default() }, script).await;
    world.say("go").await;
    world
        .until("it waits visibly", |view| {
            view.agents.get(1).is_some_and(|fork| matches!(fork.state, AgentState::WaitingForApi { .. }))
        })
        .await;
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
    let digger = world.agent("digger").await;
    assert_eq!(digger.outcome, Some(AgentOutcome::Completed { report: "Scope: dig\nResult: dug".into() }));
    assert_eq!(digger.steps, 1, "what broke off left nothing behind");
    world.server.finish();
}

#[tokio::test]
async fn a_provider_that_stays_overloaded_is_a_failure_with_what_was_written_before() {
    let mut script = digging();
    script.push(in_fork("dig").when_told("dig").text("So far: sand.").call("Read", json!({"file_path": "README.md"})));
    script.push(in_fork("dig").when_result("hello").status(529).header("retry-after", "0").repeated());
    let world = World::with(Setup::default(), script).await;
    world.say("go").await;
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
    let Some(AgentOutcome::Failed { code, partial, message }) = world.agent("digger").await.outcome else { panic!() };
    assert_eq!((code, partial.as_deref()), (FailureCode::Model, Some("So far: sand.")));
    assert!(message.contains("529"), "{message}");
    let told = world.notifications(&world.root).await.remove(0);
    assert!(told.contains("<status>failed</status>") && told.contains("So far: sand."), "{told}");
    world.server.finish();
}

#[tokio::test]
async fn a_stream_that_fails_for_good_keeps_the_text_that_arrived() {
    let mut script = digging();
    script.push(in_fork("dig").text("Sand, then").error_event("invalid_request_error", "no such thing"));
    let world = World::with(Setup::default(), script).await;
    world.say("go").await;
    world.until("it was told", |view| view.agents[0].activity == "Noted.").await;
    let Some(AgentOutcome::Failed { partial, .. }) = world.agent("digger").await.outcome else { panic!() };
    assert_eq!(partial.as_deref(), Some("Sand, then"));
    // The transcript has it, too, and the agent can go on from there.
    let digger = world.agent("digger").await.id;
    assert_eq!(world.messages(&digger).await.last().unwrap().text(), "Sand, then");
    world.server.finish();
}
