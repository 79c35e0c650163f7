//! Sessions to and from files that the person chooses. The page names no paths.

use std::path::Path;

use offshoot_protocol::{Rejected, RejectedCode, SessionId};
use tauri::{AppHandle, Manager, State};
use tauri_plugin_dialog::{DialogExt, FileDialogBuilder, FilePath};

use super::Bridge;
use crate::workplace;

/// The ending that exported sessions have.
const ENDING: &str = "jsonl";

/// Writes a session to a file that the person names. Answers with its path, or nothing when they changed their mind.
#[tauri::command]
pub(super) async fn export_session(
    app: AppHandle,
    bridge: State<'_, Bridge>,
    session: SessionId,
) -> Result<Option<String>, Rejected> {
    let (send, receive) = tokio::sync::oneshot::channel();
    let dialog = dialog(&app, "Export the session").set_file_name(format!("offshoot-{session}.{ENDING}"));
    dialog.save_file(move |chosen| {
        let _ = send.send(chosen);
    });
    let Some(path) = path(receive.await.ok().flatten())? else { return Ok(None) };
    bridge.workbench().await?.export_file(&session, &path).await?;
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// Stores a session from a file that the person chooses, as one of the project's. Answers with its id, or nothing when
/// they changed their mind.
#[tauri::command]
pub(super) async fn import_session(
    app: AppHandle,
    bridge: State<'_, Bridge>,
    project: String,
) -> Result<Option<SessionId>, Rejected> {
    let project = workplace::folder(Path::new(&project))?;
    let (send, receive) = tokio::sync::oneshot::channel();
    dialog(&app, "Import a session").pick_file(move |chosen| {
        let _ = send.send(chosen);
    });
    let Some(path) = path(receive.await.ok().flatten())? else { return Ok(None) };
    bridge.workbench().await?.import_file(&path, Some(&project)).await.map(Some)
}

fn dialog(app: &AppHandle, title: &str) -> FileDialogBuilder<tauri::Wry> {
    let dialog = app.dialog().file().set_title(title).add_filter("Offshoot sessions", &[ENDING]);
    match app.get_webview_window("main") {
        Some(window) => dialog.set_parent(&window),
        None => dialog,
    }
}

fn path(chosen: Option<FilePath>) -> Result<Option<std::path::PathBuf>, Rejected> {
    let path = chosen.map(FilePath::into_path).transpose();
    path.map_err(|error| Rejected::new(RejectedCode::Invalid, format!("This is no file: {error}."), "Choose another."))
}
