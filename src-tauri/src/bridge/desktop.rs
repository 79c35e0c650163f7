//! Commands that only a desktop program can do.

use std::process::Stdio;

use offshoot_protocol::{MergeId, Rejected, RejectedCode, SessionId};
use tauri::{AppHandle, Manager, State};
use tauri_plugin_dialog::DialogExt;

use super::Bridge;

/// Lets the person choose a folder. Answers with its path, or nothing when they changed their mind.
#[tauri::command]
pub(super) async fn pick_folder(app: AppHandle) -> Result<Option<String>, Rejected> {
    let (send, receive) = tokio::sync::oneshot::channel();
    let mut dialog = app.dialog().file().set_title("Open a project");
    if let Some(window) = app.get_webview_window("main") {
        dialog = dialog.set_parent(&window);
    }
    dialog.pick_folder(move |chosen| {
        let _ = send.send(chosen);
    });
    let chosen = receive.await.ok().flatten();
    Ok(chosen.and_then(|folder| folder.into_path().ok()).map(|folder| folder.to_string_lossy().into_owned()))
}

/// Asks for a file and writes there what a merge preview would change, as a patch. Answers with its path, or nothing when the
/// person changed their mind.
#[tauri::command]
pub(super) async fn merge_patch(
    app: AppHandle,
    bridge: State<'_, Bridge>,
    session: SessionId,
    merge: MergeId,
) -> Result<Option<String>, Rejected> {
    let patch = bridge.workbench().await?.merge_patch(&session, &merge).await?;
    let (send, receive) = tokio::sync::oneshot::channel();
    let mut dialog = app.dialog().file().set_title("Save the patch").set_file_name("changes.patch");
    if let Some(window) = app.get_webview_window("main") {
        dialog = dialog.set_parent(&window);
    }
    dialog.save_file(move |chosen| {
        let _ = send.send(chosen);
    });
    let Some(target) = receive.await.ok().flatten().and_then(|file| file.into_path().ok()) else { return Ok(None) };
    tokio::fs::write(&target, patch).await.map_err(|error| {
        let message = format!("{} could not be written: {error}.", target.display());
        Rejected::new(RejectedCode::Failed, message, "Choose another place.")
    })?;
    Ok(Some(target.to_string_lossy().into_owned()))
}

/// Opens a link in the person's browser or mail program. The page has asked them.
#[tauri::command]
pub(super) async fn open_external(url: String) -> Result<(), Rejected> {
    let address = link(&url)?;
    let mut command = opener();
    command.arg(address.as_str()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The browser lives on; the runtime takes in its exit status when it comes.
    command.spawn().map(drop).map_err(|error| {
        Rejected::new(RejectedCode::Failed, format!("{url} could not be opened: {error}."), "Copy the link instead.")
    })
}

/// A link that may leave the program. Only kinds that a browser or mail program shows; never a file or a program.
fn link(text: &str) -> Result<tauri::Url, Rejected> {
    let parsed = tauri::Url::parse(text).ok();
    parsed.filter(|address| matches!(address.scheme(), "https" | "http" | "mailto")).ok_or_else(|| {
        let message = format!("“{text}” is not opened: only web and mail addresses are.");
        Rejected::new(RejectedCode::Invalid, message, "")
    })
}

#[cfg(not(any(windows, target_os = "macos")))]
fn opener() -> tokio::process::Command {
    tokio::process::Command::new("xdg-open")
}

#[cfg(target_os = "macos")]
fn opener() -> tokio::process::Command {
    tokio::process::Command::new("/usr/bin/open")
}

#[cfg(windows)]
fn opener() -> tokio::process::Command {
    let mut command = tokio::process::Command::new("rundll32");
    command.arg("url.dll,FileProtocolHandler");
    command
}

#[cfg(test)]
mod tests {
    use super::link;

    #[test]
    fn only_web_and_mail_leave_the_program() {
        for good in ["https://example.com/a?b#c", "http://localhost:8080", "mailto:a@example.com"] {
            assert!(link(good).is_ok(), "{good}");
        }
        for bad in
            ["file:///etc/passwd", "javascript:alert(1)", "smb://x/y", "--help", "", "ssh://x", "data:text/html,x"]
        {
            assert!(link(bad).is_err(), "{bad}");
        }
    }
}
