//! Commands about files of a review: whole contents, and merges that conflict.

use offshoot_protocol::{AgentId, ConflictFile, DiffSide, MergeId, MergePreview, Rejected, Resolution, SessionId};
use tauri::State;
use tauri::ipc::Response;

use super::Bridge;

/// All of one side of a changed file, as bytes; none when there is no file on that side.
#[tauri::command]
pub(super) async fn file_content(
    bridge: State<'_, Bridge>,
    session: SessionId,
    agent: AgentId,
    path: String,
    side: DiffSide,
) -> Result<Response, Rejected> {
    let content = bridge.workbench().await?.file_content(&session, &agent, &path, side).await?;
    Ok(Response::new(content.unwrap_or_default()))
}

/// The sides of a file in conflict.
#[tauri::command]
pub(super) async fn conflict(
    bridge: State<'_, Bridge>,
    session: SessionId,
    merge: MergeId,
    agent: AgentId,
    path: String,
) -> Result<ConflictFile, Rejected> {
    bridge.workbench().await?.conflict(&session, &merge, &agent, &path).await
}

/// Settles a conflict. Answers with the preview that follows; nothing has changed on disk.
#[tauri::command]
pub(super) async fn resolve(
    bridge: State<'_, Bridge>,
    session: SessionId,
    merge: MergeId,
    agent: AgentId,
    path: String,
    how: Resolution,
) -> Result<MergePreview, Rejected> {
    bridge.workbench().await?.resolve(&session, &merge, &agent, &path, how).await
}

/// Asks the agent to work the checkout's version of a file into its own.
#[tauri::command]
pub(super) async fn hand_over_conflict(
    bridge: State<'_, Bridge>,
    session: SessionId,
    merge: MergeId,
    agent: AgentId,
    path: String,
) -> Result<(), Rejected> {
    bridge.workbench().await?.hand_over_conflict(&session, &merge, &agent, &path).await
}
