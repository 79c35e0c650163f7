//! What a person in front of the window lives through: the page is reloaded or dies in the middle of a turn, the model
//! can't be reached for a while.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::time::{Duration, Instant};

use offshoot_tests::window::{DEADLINE, Desktop, Folders, Query, Scheme, Screen, Window};
use offshoot_tests::{Gate, Scripted, reply};
use serde_json::json;

const ENTER: char = '\u{e007}';

fn conversation() -> Query<'static> {
    Query { role: "region", name: Some("Conversation"), ..Query::default() }
}

/// A piece of an answer, as Chat Completions sends it.
fn piece(text: &str) -> String {
    json!({"choices": [{"index": 0, "delta": {"content": text}}]}).to_string()
}

const END: [&str; 2] = [r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#, "[DONE]"];

/// Folders whose settings name the server as the model's.
fn set_up(server: &Scripted) -> Folders {
    let folders = Folders::default();
    let config = folders.path().join("config");
    std::fs::create_dir_all(&config).unwrap();
    let settings = json!({"provider": "openai", "baseUrl": format!("{}/v1", server.url()), "model": "m"});
    std::fs::write(config.join("settings.json"), settings.to_string()).unwrap();
    folders
}

/// Opens the sample repository and says something to its root.
async fn say(window: &Window, text: &str) {
    let message = window.find("textbox", "Message").await;
    message.send_keys(&format!("{text}{ENTER}")).await.unwrap();
}

async fn open_sample(window: &Window) {
    window.press_where(&Query { role: "button", containing: Some("sample"), ..Query::default() }).await;
}

/// Waits until the display is as wanted.
async fn until_screen(desktop: &Desktop, what: &str, is_so: impl Fn(&Screen) -> bool) {
    let end = Instant::now() + DEADLINE;
    while !is_so(&desktop.screen()) {
        assert!(Instant::now() < end, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The text once and no more: neither lost nor drawn twice.
async fn once(window: &Window, text: &str) {
    window.wait_for_text(&conversation(), text).await;
    let region = window.find_where(&conversation()).await.text().await.unwrap();
    assert_eq!(region.matches(text).count(), 1, "{region}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_goes_on_while_the_page_is_reloaded_or_dies() {
    let Some(desktop) = Desktop::start() else { return };
    let (rest, end) = (Gate::new(), Gate::new());
    let answer = reply()
        .when(|request| !request.is_list())
        .chunks([piece("The first part, ").as_str()])
        .gate(&rest)
        .chunks([piece("the second part, ").as_str()])
        .gate(&end)
        .chunks([piece("and the end.").as_str()])
        .chunks(END);
    let server = Scripted::start([answer]);
    let folders = set_up(&server);
    let window = desktop.open(&folders, Scheme::Light).await;
    open_sample(&window).await;
    say(&window, "Tell me everything").await;
    window.wait_for_text(&conversation(), "The first part,").await;
    let message = window.find("textbox", "Message").await;
    message.send_keys("a draft").await.unwrap();

    window.client().refresh().await.unwrap();
    once(&window, "Tell me everything").await;
    rest.open();
    once(&window, "the second part,").await;
    let draft = window.find("textbox", "Message").await.prop("value").await.unwrap();
    assert_eq!(draft.as_deref(), Some("a draft"), "what was typed is kept, too");

    let before = desktop.screen();
    window.kill_page().await;
    // The same again, but for the time that runs on.
    until_screen(&desktop, "it shows the same again", |screen| screen.differs_from(&before) < 0.01).await;
    end.open();
    // The answer's end is written, and what was at work isn't any more.
    until_screen(&desktop, "it went on", |screen| screen.differs_from(&before) > 0.002).await;
    window.abandon().await;

    let window = desktop.open(&folders, Scheme::Light).await;
    let root = "Root: Tell me everything";
    window.find_where(&Query { role: "treeitem", containing: Some(root), ..Query::default() }).await;
    once(&window, "The first part, the second part, and the end.").await;
    window.close().await;
    let asked = server.requests().into_iter().filter(|request| !request.is_list()).count();
    assert_eq!(asked, 1, "one turn asked once");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_while_the_model_cant_be_reached_waits_in_sight_and_is_sent_once() {
    let Some(desktop) = Desktop::start() else { return };
    let busy =
        || reply().when(|request| !request.is_list()).status_with(503, "overloaded", "busy").header("retry-after", "4");
    let server = Scripted::start([
        busy(),
        reply().when_mentioned("and the other thing").chunks([piece("Both heard.").as_str()]).chunks(END),
        reply().when(|request| !request.is_list()).chunks([piece("One moment.").as_str()]).chunks(END),
    ]);
    let window = desktop.open(&set_up(&server), Scheme::Light).await;
    open_sample(&window).await;
    say(&window, "Do the one thing").await;
    window.wait_for_text(&conversation(), "Waiting for API").await;
    say(&window, "and the other thing").await;
    window.wait_for_text(&conversation(), "Queued").await;
    window.picture("queued-light").await;
    window.wait_for_text(&conversation(), "Both heard.").await;
    once(&window, "and the other thing").await;
    window.close().await;
    let last = server.requests().into_iter().rfind(|request| !request.is_list()).unwrap();
    assert_eq!(last.body.to_string().matches("and the other thing").count(), 1, "sent once");
}
