//! The page can do nothing that the bridge doesn't offer, whatever gets into it.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use offshoot_tests::window::{Desktop, Folders, Query, Scheme, Window};
use serde_json::{Value, json};

/// Runs a script in the page; it may wait.
async fn run(window: &Window, script: &str) -> Value {
    let whole = format!(
        "const done = arguments[0]; (async () => {{ {script} }})().then(done, (error) => done(`refused: ${{error?.message ?? error}}`))"
    );
    window.client().execute_async(&whole, Vec::new()).await.unwrap()
}

#[track_caller]
fn refused(answer: &Value) {
    assert!(answer.as_str().is_some_and(|text| text.starts_with("refused")), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_stays_in_its_place() {
    let Some(desktop) = Desktop::start() else { return };
    let folders = Folders::default();
    let window = desktop.open(&folders, Scheme::Light).await;
    let sample = Query { role: "button", containing: Some("sample"), ..Query::default() };
    window.find_where(&sample).await;
    let page = window.client().current_url().await.unwrap();

    // Commands: those of the bridge, and none of the toolkit's own.
    assert_eq!(run(&window, "return (await window.__TAURI_INTERNALS__.invoke('startup')).demo").await, json!(true));
    for command in [
        "plugin:dialog|open",
        "plugin:window|close",
        "plugin:webview|create_webview_window",
        "plugin:event|emit",
        "plugin:app|version",
        "plugin:path|resolve_directory",
        "read_file",
    ] {
        refused(&run(&window, &format!("return await window.__TAURI_INTERNALS__.invoke('{command}', {{}})")).await);
    }
    let external = "return await window.__TAURI_INTERNALS__.invoke('open_external', {url: 'file:///etc/passwd'}).catch((e) => e.code)";
    assert_eq!(run(&window, external).await, json!("invalid"));

    // Scripts and styles: only the program's own files.
    refused(&run(&window, "return new Function('return 1')()").await);
    let inline =
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.evil = 1'}));
        return window.evil ?? 'absent'";
    assert_eq!(run(&window, inline).await, json!("absent"));
    let style = "const style = document.createElement('style'); style.textContent = 'body { display: none }';
        document.head.append(style); return getComputedStyle(document.body).display === 'none'";
    assert_eq!(run(&window, style).await, json!(false));

    // The network, frames and other windows: none.
    refused(&run(&window, "return (await fetch('http://127.0.0.1:9/')).status").await);
    let image = "return await new Promise((resolve) => {
        document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective), {once: true});
        new Image().src = 'https://example.com/x.png'; })";
    assert_eq!(run(&window, image).await, json!("img-src"));
    assert_eq!(run(&window, "return window.open('https://example.com/') === null").await, json!(true));
    run(&window, "location.href = 'https://example.com/'").await;
    run(&window, "location.href = 'data:text/html,evil'").await;
    window.find_where(&sample).await;
    assert_eq!(window.client().current_url().await.unwrap(), page);
    window.close().await;
}
