//! Commands of the role studio. Each is one call of the core.

use std::path::Path;

use offshoot_agents::role::studio::Studio;
use offshoot_protocol::{
    Rejected, RoleBoard, RoleChange, RoleCopy, RoleFile, RolePreview, RoleRule, RoleSave, RoleSource, RoleTrashId,
    RoleUse,
};
use tauri::State;

use super::Bridge;
use crate::workplace;

async fn studio(bridge: &Bridge, project: &str) -> Result<Studio, Rejected> {
    let folder = workplace::folder(Path::new(project))?;
    Ok(bridge.workbench().await?.studio(&folder))
}

/// All role files, and what a role can be made of.
#[tauri::command]
pub(super) async fn role_board(bridge: State<'_, Bridge>, project: String) -> Result<RoleBoard, Rejected> {
    Ok(studio(&bridge, &project).await?.board())
}

/// One role file.
#[tauri::command]
pub(super) async fn role_file(bridge: State<'_, Bridge>, project: String, path: String) -> Result<RoleFile, Rejected> {
    studio(&bridge, &project).await?.read(&path)
}

/// What a change would make of a file with the text `base`, or of a new one.
#[tauri::command]
pub(super) async fn role_preview(
    bridge: State<'_, Bridge>,
    project: String,
    base: Option<String>,
    change: RoleChange,
) -> Result<RolePreview, Rejected> {
    studio(&bridge, &project).await?.preview(base.as_deref(), &change)
}

/// Writes a file that still has that fingerprint.
#[tauri::command]
pub(super) async fn role_save(
    bridge: State<'_, Bridge>,
    project: String,
    path: String,
    fingerprint: String,
    text: String,
) -> Result<RoleSave, Rejected> {
    studio(&bridge, &project).await?.save(&path, &fingerprint, &text)
}

/// Writes a new file.
#[tauri::command]
pub(super) async fn role_create(
    bridge: State<'_, Bridge>,
    project: String,
    to: RoleSource,
    text: String,
) -> Result<RoleFile, Rejected> {
    studio(&bridge, &project).await?.create(to, &text)
}

/// Copies a file to another source's folder, or moves it there.
#[tauri::command]
pub(super) async fn role_copy(
    bridge: State<'_, Bridge>,
    project: String,
    path: String,
    to: RoleSource,
    moves: bool,
) -> Result<RoleCopy, Rejected> {
    studio(&bridge, &project).await?.copy(&path, to, moves)
}

/// Deletes a file. Answers with what brings it back.
#[tauri::command]
pub(super) async fn role_delete(
    bridge: State<'_, Bridge>,
    project: String,
    path: String,
) -> Result<RoleTrashId, Rejected> {
    studio(&bridge, &project).await?.delete(&path)
}

/// Brings a deleted file back. Answers with its path.
#[tauri::command]
pub(super) async fn role_restore(
    bridge: State<'_, Bridge>,
    project: String,
    trashed: RoleTrashId,
) -> Result<String, Rejected> {
    studio(&bridge, &project).await?.restore(&trashed)
}

/// What one entry of a list of tools comes to.
#[tauri::command]
pub(super) async fn role_rule(bridge: State<'_, Bridge>, project: String, entry: String) -> Result<RoleRule, Rejected> {
    Ok(studio(&bridge, &project).await?.rule(&entry))
}

/// The agents that had a role.
#[tauri::command]
pub(super) async fn role_uses(
    bridge: State<'_, Bridge>,
    project: String,
    role: String,
) -> Result<Vec<RoleUse>, Rejected> {
    let folder = workplace::folder(Path::new(&project))?;
    bridge.workbench().await?.role_uses(&folder, &role).await
}
