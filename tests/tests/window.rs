//! The program as a person meets it.

use offshoot_tests::window::{Desktop, Folders, Scheme};

#[tokio::test(flavor = "multi_thread")]
async fn the_window_opens() {
    let Some(desktop) = Desktop::start() else { return };
    let folders = Folders::default();
    let arguments = folders.arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let window = desktop.open(&arguments, Scheme::Light).await;
    window.find("heading", "Offshoot").await;
    window.press("Press").await;
    window.picture("trivial").await;
    window.close().await;
}
