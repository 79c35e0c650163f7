//! Delegated work in the window: who waits for whom, the hand-over, warnings, stop, resume, a message to a child, its report.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use offshoot_tests::window::{Desktop, Folders, Query, Scheme, Window};
use offshoot_tests::{Gate, Reply, Scripted, in_child, in_root};
use serde_json::json;

const ENTER: char = '\u{e007}';
const ROOT: &str = "Root: ";
const SURVEY: &str = "Subagent: Survey";
const CHECK: &str = "Subagent: Check";

fn conversation() -> Query<'static> {
    Query { role: "region", name: Some("Conversation"), ..Query::default() }
}

fn inspector() -> Query<'static> {
    Query { role: "region", name: Some("Inspector"), ..Query::default() }
}

fn agent(title: &str) -> Query<'_> {
    Query { role: "treeitem", containing: Some(title), within: Some("Agents"), ..Query::default() }
}

fn button(name: &str) -> Query<'_> {
    Query { role: "button", name: Some(name), within: Some("Inspector"), ..Query::default() }
}

async fn say(window: &Window, text: &str) {
    let message = window.find("textbox", "Message").await;
    message.send_keys(&format!("{text}{ENTER}")).await.unwrap();
}

/// Chooses something from the menu of the agent that is looked at.
async fn act(window: &Window, action: &str) {
    window.press("Agent actions").await;
    window.press_where(&Query { role: "menuitem", containing: Some(action), ..Query::default() }).await;
}

fn script(survey: &Gate, check: &Gate) -> Vec<Reply> {
    let brief = |what: &str| json!({"prompt": format!("{what} the storage"), "description": what, "subagent_type": "general-purpose"});
    let mut odd = brief("Check");
    odd["model"] = "no such model!".into();
    let report =
        "Scope: survey\nResult: three files keep the items\nKey files: lib/store.sh\nFiles changed: none\nIssues: none";
    vec![
        in_root().when_told("Split it").text("I ask two.").call("Agent", brief("Survey")).call("Agent", odd),
        in_child("Survey").when_told("and the tests?").text("Scope: tests\nResult: there is one"),
        in_child("Survey").gate(survey).text(report),
        in_child("Check").gate(check).text("never heard"),
        in_child("Check").text("Scope: check\nResult: all is well"),
        in_root().when_result("async_launched").text("Both go on without me."),
        in_root().when_told("<status>stopped</status>").text("One was stopped."),
        in_root().when_told("all is well").text("It is well."),
        in_root().when_told("three files").text("Three files, then."),
        in_root().when_told("there is one").text("One test."),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_hands_over_stops_resumes_and_speaks_to_children() {
    let Some(desktop) = Desktop::start() else { return };
    let (survey, check) = (Gate::new(), Gate::new());
    let server = Scripted::start(script(&survey, &check));
    let folders = Folders::default();
    let config = folders.path().join("config");
    std::fs::create_dir_all(&config).unwrap();
    let settings = json!({"provider": "anthropic", "baseUrl": server.url(), "model": "claude-test"});
    std::fs::write(config.join("settings.json"), settings.to_string()).unwrap();
    let window = desktop.open(&folders, Scheme::Light).await;
    window.press_where(&Query { role: "button", containing: Some("sample"), ..Query::default() }).await;
    say(&window, "Split it").await;

    // The root waits for both.
    window.wait_for_text(&agent(SURVEY), "Running").await;
    window.wait_for_text(&agent(CHECK), "Running").await;
    window.press_where(&agent(ROOT)).await;
    window.press_where(&Query { role: "tab", containing: Some("Tasks"), ..Query::default() }).await;
    window.find_where(&button("Send all 2 to background")).await;
    window.picture("hand-over-light").await;
    window.press_where(&button("Send to background: Survey")).await;
    // What stands below has moved up when this is said.
    let moved =
        Query { role: "button", containing: Some("in the background"), within: Some("Inspector"), ..Query::default() };
    window.find_where(&moved).await;
    window.press_where(&button("Send to background: Check")).await;
    window.wait_for_text(&conversation(), "Both go on without me.").await;

    // What isn't as it was asked for is told on the agent itself.
    window.press_where(&agent(CHECK)).await;
    window.wait_for_text(&inspector(), "no such model!").await;
    act(&window, "Stop").await;
    window.wait_for_text(&agent(CHECK), "Stopped").await;
    window.press_where(&agent(ROOT)).await;
    window.wait_for_text(&conversation(), "One was stopped.").await;
    window.press_where(&agent(CHECK)).await;
    act(&window, "Resume").await;
    window.wait_for_text(&agent(CHECK), "Done").await;

    // The other one reports, and is asked for more when it is done.
    survey.open();
    window.wait_for_text(&agent(SURVEY), "Done").await;
    window.press_where(&agent(SURVEY)).await;
    window.wait_for_text(&inspector(), "three files keep the items").await;
    say(&window, "and the tests?").await;
    window.press_where(&agent(ROOT)).await;
    window.wait_for_text(&conversation(), "One test.").await;
    window.press_where(&button("Report of Survey")).await;
    window.wait_for_text(&inspector(), "there is one").await;
    window.picture("delegated-light").await;
    window.close().await;

    let asked = server.finish().into_iter().filter(|request| !request.is_list());
    let of_survey = asked.filter(|request| {
        request.messages().first().is_some_and(|first| first.to_string().contains("Survey the storage"))
    });
    assert_eq!(of_survey.count(), 2, "moving it asked nothing again");
}
