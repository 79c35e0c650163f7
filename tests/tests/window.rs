//! The program as a person meets it.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use offshoot_tests::window::{Desktop, Folders, Query, Scheme, Window};

// As their names in the tree begin; an agent's activity may mention another's title.
const ROOT: &str = "Root: ";
const TICK: &str = "Fork: Tick marks,";
const DIM: &str = "Fork: Dim finished items,";
const AGENTS: [&str; 4] = [TICK, DIM, "Fork: Statistics,", "Subagent: Survey the storage,"];

fn agent(title: &str) -> Query<'_> {
    Query { role: "treeitem", containing: Some(title), within: Some("Agents"), ..Query::default() }
}

fn region(name: &str) -> Query<'_> {
    Query { role: "region", name: Some(name), ..Query::default() }
}

/// The first start, the demo, a request, its changes; then the program is closed and started again.
#[tokio::test(flavor = "multi_thread")]
async fn the_demo_from_the_first_start_to_the_second() {
    let Some(desktop) = Desktop::start() else { return };
    let folders = Folders::default();

    let window = desktop.open(&folders, Scheme::Light).await;
    let sample = Query { role: "button", containing: Some("sample"), ..Query::default() };
    window.find_where(&sample).await;
    window.picture("first-start").await;
    window.press_where(&sample).await;
    window.press_where(&Query { role: "button", containing: Some("Show me around"), ..Query::default() }).await;
    for title in AGENTS {
        window.find_where(&agent(title)).await;
    }
    let request = Query { role: "group", containing: Some("Request from"), ..Query::default() };
    window.press_where(&Query { role: "tab", containing: Some("Requests"), ..Query::default() }).await;
    window.find_where(&Query { within: Some("Permission requests"), ..request }).await;
    window.picture("request-light").await;
    answer_all(&window, "Everybody has reported").await;
    window.wait_for_text(&agent(ROOT), "Idle").await;
    window.picture("done-light").await;
    review(&window, TICK, "lib/show.sh").await;
    window.picture("changes-light").await;
    window.close().await;

    let window = desktop.open(&folders, Scheme::Dark).await;
    for title in AGENTS {
        window.find_where(&agent(title)).await;
    }
    review(&window, DIM, "lib/show.sh").await;
    window.picture("changes-dark").await;
    window.press_where(&agent(ROOT)).await;
    window.wait_for_text(&region("Conversation"), "Everybody has reported").await;
    window.picture("second-start-dark").await;
    compact(&window).await;
    window.close().await;
}

/// Lets the conversation go on behind a summary, and opens that.
async fn compact(window: &Window) {
    let message = window.find("textbox", "Message").await;
    message.send_keys("/compact keep the branches\u{e007}").await.unwrap();
    let divider =
        Query { role: "button", containing: Some("→ summary"), within: Some("Conversation"), ..Query::default() };
    window.press_where(&divider).await;
    window.wait_for_text(&region("Conversation"), "The demo model sums up").await;
    window.picture("compacted-dark").await;
}

/// Answers every request with *Allow once* until the conversation says `end`.
async fn answer_all(window: &Window, end: &str) {
    let allow = Query {
        role: "button",
        name: Some("Allow once"),
        within: Some("Permission requests"),
        enabled: true,
        ..Query::default()
    };
    let conversation = region("Conversation");
    let mut answered = 0;
    loop {
        let is_over = window
            .wait(&format!("a request, or “{end}”"), async || {
                let button = window.look(&allow).await.into_iter().next();
                if let Some(button) = button
                    && button.click().await.is_ok()
                {
                    return Some(false);
                }
                to_the_end(window).await;
                let shown = window.look(&conversation).await.into_iter().next()?;
                shown.text().await.is_ok_and(|text| text.contains(end)).then_some(true)
            })
            .await;
        if is_over {
            break;
        }
        answered += 1;
    }
    assert!(answered > 0, "nothing was asked");
}

/// Only what is near the visible part of a conversation is on the page.
async fn to_the_end(window: &Window) {
    let button = Query { role: "button", name: Some("To the end"), ..Query::default() };
    if let Some(button) = window.look(&button).await.into_iter().next() {
        // It goes away by itself when the end is reached.
        let _ = button.click().await;
    }
}

/// Selects an agent and waits until its changes name `path`.
async fn review(window: &Window, title: &str, path: &str) {
    window.press_where(&agent(title)).await;
    window.press_where(&Query { role: "tab", containing: Some("Review"), ..Query::default() }).await;
    window.wait_for_text(&region("Changes"), path).await;
}
