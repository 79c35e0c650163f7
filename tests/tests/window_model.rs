//! Setting up a model in the window: the first start, a try that fails, one that works, and a session that asks it.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use fantoccini::elements::Element;
use offshoot_tests::window::{Desktop, Folders, Query, Scheme, Window};
use offshoot_tests::{Scripted, reply};
use serde_json::Value;

const SAID: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hello from the server."},"finish_reason":"stop"}]}"#;

fn inside<'a>(role: &'a str, name: &'a str) -> Query<'a> {
    Query { role, name: Some(name), within: Some("Settings"), ..Query::default() }
}

/// Puts a text in the place of what a field holds.
async fn fill(window: &Window, name: &str, text: &str) {
    let field: Element = window.find_where(&inside("textbox", name)).await;
    field.clear().await.unwrap();
    field.send_keys(text).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_set_up_tried_and_asked() {
    let Some(desktop) = Desktop::start() else { return };
    let server = Scripted::start([
        reply()
            .models(&["served-model", "other-model"])
            .when(|request| request.header("authorization").is_empty())
            .repeated(),
        reply().models(&["served-model"]).repeated(),
        reply().status_with(401, "authentication_error", "this key is unknown: sk-wrong"),
        reply().chunks([SAID, "[DONE]"]).repeated(),
    ]);
    let folders = Folders::default();
    let window = desktop.open(&folders, Scheme::Light).await;
    window.press("Set up a model…").await;
    let provider = window.find_where(&inside("combobox", "Provider")).await;
    provider.select_by_value("openai").await.unwrap();
    fill(&window, "Address", &format!("{}/v1", server.url())).await;
    fill(&window, "Model", "served-model").await;
    window.picture("model-settings-light").await;

    let key = window.client().find(fantoccini::Locator::Css("#model-key")).await.unwrap();
    key.send_keys("sk-wrong").await.unwrap();
    window.press_where(&inside("button", "Test")).await;
    let alert = Query { role: "alert", within: Some("Settings"), ..Query::default() };
    window.wait_for_text(&alert, "The provider answered 401: this key is unknown: [key].").await;
    window.picture("model-test-failed-light").await;
    key.clear().await.unwrap();
    key.send_keys("sk-right").await.unwrap();
    window.press_where(&inside("button", "Test")).await;
    let status = Query { role: "status", within: Some("Settings"), ..Query::default() };
    window.wait_for_text(&status, "served-model answers. It said “Hello from the server.”").await;
    let place = window.find_where(&inside("combobox", "Keep it in")).await;
    place.select_by_value("file").await.unwrap();
    window.press_where(&inside("button", "Save")).await;
    window.wait_for_text(&status, "Saved.").await;
    window.picture("model-saved-light").await;

    let settings = std::fs::read_to_string(folders.path().join("config/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    assert_eq!((&settings["provider"], &settings["model"]), (&"openai".into(), &"served-model".into()));
    assert!(!settings.to_string().contains("sk-right"));
    let keys = std::fs::read_to_string(folders.path().join("config/credentials.json")).unwrap();
    assert!(keys.contains("sk-right"));
    window.close().await;

    // The next start finds it all, and a new session asks there.
    let window = desktop.open(&folders, Scheme::Dark).await;
    let sample = Query { role: "button", containing: Some("sample"), ..Query::default() };
    window.find_where(&sample).await;
    let page = window.client().find(fantoccini::Locator::Css("main")).await.unwrap();
    let text = page.text().await.unwrap();
    assert!(text.contains("served-model") && text.contains("on a server on this computer"), "{text}");
    window.picture("first-start-with-model-dark").await;
    window.press_where(&sample).await;
    let message = window.find("textbox", "Message").await;
    message.send_keys("Hi\u{e007}").await.unwrap();
    let conversation = Query { role: "region", name: Some("Conversation"), ..Query::default() };
    window.wait_for_text(&conversation, "Hello from the server.").await;
    window.close().await;
    let asked = server.requests();
    let last = asked.iter().rfind(|request| request.path == "/v1/chat/completions").unwrap();
    assert_eq!(last.header("authorization"), "Bearer sk-right");
}
