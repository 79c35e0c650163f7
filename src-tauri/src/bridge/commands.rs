//! Commands that are one call of the core.

use std::path::Path;

use offshoot_protocol::{
    AgentId, Batch, BlobHash, ChangeSummary, Clash, Command, Conversation, FileDiff, MergeDone, MergeId, MergePreview,
    MergeSelection, PriceList, Rejected, SessionId, SessionSummary, Snapshot, TrustQuestion,
};
use tauri::ipc::Channel;
use tauri::{AppHandle, State};

use super::attention::Attention;
use super::notification::Around;
use super::{Bridge, Roles, Startup};
use crate::access;
use crate::keys::Account;
use crate::workplace::{self, Choice};

/// What the page needs before it draws anything.
#[tauri::command]
pub(super) async fn startup(bridge: State<'_, Bridge>) -> Result<Startup, Rejected> {
    let workbench = bridge.workbench().await?;
    let chosen = super::lock(&bridge.0.project).clone();
    let project = if let Some(project) = chosen {
        Some(project.to_string_lossy().into_owned())
    } else {
        // Where the person left off: sessions come newest first.
        let newest = workbench.sessions()?.into_iter().next();
        newest.map(|session| session.project).filter(|project| Path::new(project).is_dir())
    };
    let surroundings = bridge.surroundings();
    let choice = Choice::default();
    let chosen = access::answers(&surroundings, &choice);
    let account = Account::of(chosen.provider);
    let address = access::address(&surroundings, &choice, chosen.provider);
    Ok(Startup {
        key: account.and_then(|account| surroundings.access(account).key.as_ref()).map(|key| key.place),
        local: account.is_some() && ["//127.0.0.1", "//localhost", "//[::1]"].iter().any(|host| address.contains(host)),
        version: env!("CARGO_PKG_VERSION"),
        project,
        demo: chosen.provider == offshoot_agents::model::Provider::Demo,
        model: chosen.model,
        provider: chosen.provider,
        data_dir: surroundings.data_dir.to_string_lossy().into_owned(),
    })
}

/// Makes a folder the window's project. Answers with its absolute path.
#[tauri::command]
pub(super) async fn open_project(bridge: State<'_, Bridge>, path: String) -> Result<String, Rejected> {
    let folder = workplace::folder(Path::new(&path))?;
    let shown = folder.to_string_lossy().into_owned();
    *super::lock(&bridge.0.project) = Some(folder);
    Ok(shown)
}

/// Makes the demo's sample project, if it isn't there yet, and opens it. Answers with its absolute path.
#[tauri::command]
pub(super) async fn open_demo(bridge: State<'_, Bridge>) -> Result<String, Rejected> {
    // Whoever has the data folder makes what is in it.
    bridge.workbench().await?;
    let folder = workplace::demo_project(&bridge.surroundings()).await?;
    open_project(bridge, folder.to_string_lossy().into_owned()).await
}

/// What models cost.
#[tauri::command]
pub(super) async fn prices(bridge: State<'_, Bridge>) -> Result<PriceList, Rejected> {
    Ok(bridge.workbench().await?.prices())
}

/// All sessions.
#[tauri::command]
pub(super) async fn sessions(bridge: State<'_, Bridge>) -> Result<Vec<SessionSummary>, Rejected> {
    bridge.workbench().await?.sessions()
}

/// Begins a session on a project.
#[tauri::command]
pub(super) async fn create_session(bridge: State<'_, Bridge>, project: String) -> Result<SessionId, Rejected> {
    let folder = workplace::folder(Path::new(&project))?;
    bridge.workbench().await?.create_session(&folder).await
}

/// Deletes a session.
#[tauri::command]
pub(super) async fn delete_session(bridge: State<'_, Bridge>, session: SessionId) -> Result<(), Rejected> {
    bridge.workbench().await?.delete_session(&session).await
}

/// A session as of now.
#[tauri::command]
pub(super) async fn snapshot(bridge: State<'_, Bridge>, session: SessionId) -> Result<Snapshot, Rejected> {
    bridge.workbench().await?.snapshot(&session).await
}

/// A stretch of an agent's transcript: at most `limit` messages that end before `before`.
#[tauri::command]
pub(super) async fn conversation(
    bridge: State<'_, Bridge>,
    session: SessionId,
    agent: AgentId,
    before: Option<u32>,
    limit: u32,
) -> Result<Conversation, Rejected> {
    bridge.workbench().await?.conversation(&session, &agent, before, limit).await
}

/// Sends everything behind `cursor` through `on_batch`, until the page subscribes again: it shows one session at a time.
#[tauri::command]
pub(super) async fn subscribe(
    app: AppHandle,
    bridge: State<'_, Bridge>,
    session: SessionId,
    cursor: u64,
    on_batch: Channel<Batch>,
) -> Result<(), Rejected> {
    let workbench = bridge.workbench().await?;
    let mut subscription = workbench.subscribe(&session, cursor).await?;
    workbench.follow_changes(&session).await?;
    let now = workbench.snapshot(&session).await?;
    let mut attention = Attention::new(Around::new(app), bridge.notifies(), &now.session.requests, now.cursor);
    let follow = async move {
        loop {
            let batch = subscription.next().await;
            attention.take(&batch);
            if on_batch.send(batch).is_err() {
                break;
            }
        }
    };
    bridge.keep_subscription(session, follow);
    Ok(())
}

/// A wish about a session.
#[tauri::command]
pub(super) async fn command(bridge: State<'_, Bridge>, session: SessionId, command: Command) -> Result<(), Rejected> {
    bridge.workbench().await?.command(&session, command).await
}

/// What an agent changed, without the lines.
#[tauri::command]
pub(super) async fn changes(
    bridge: State<'_, Bridge>,
    session: SessionId,
    agent: AgentId,
) -> Result<ChangeSummary, Rejected> {
    bridge.workbench().await?.changes(&session, &agent).await
}

/// The lines of one changed file; with `whole`, however large it is.
#[tauri::command]
pub(super) async fn file_diff(
    bridge: State<'_, Bridge>,
    session: SessionId,
    agent: AgentId,
    path: String,
    whole: bool,
) -> Result<FileDiff, Rejected> {
    bridge.workbench().await?.file_diff(&session, &agent, &path, whole).await
}

/// What bringing agents' changes home would do.
#[tauri::command]
pub(super) async fn merge_preview(
    bridge: State<'_, Bridge>,
    session: SessionId,
    agents: Vec<AgentId>,
    selection: MergeSelection,
) -> Result<MergePreview, Rejected> {
    bridge.workbench().await?.merge_preview(&session, &agents, selection).await
}

/// Does what a preview said, in the checkout's files.
#[tauri::command]
pub(super) async fn merge_apply(
    bridge: State<'_, Bridge>,
    session: SessionId,
    merge: MergeId,
    leave_out: bool,
) -> Result<MergeDone, Rejected> {
    bridge.workbench().await?.merge_apply(&session, &merge, leave_out, None).await
}

/// Takes out again what was applied.
#[tauri::command]
pub(super) async fn merge_undo(bridge: State<'_, Bridge>, session: SessionId, merge: MergeId) -> Result<(), Rejected> {
    bridge.workbench().await?.merge_undo(&session, &merge).await
}

/// Files of an agent that a few letters name.
#[tauri::command]
pub(super) async fn files(
    bridge: State<'_, Bridge>,
    session: SessionId,
    agent: AgentId,
    letters: String,
) -> Result<Vec<String>, Rejected> {
    bridge.workbench().await?.files(&session, &agent, letters).await
}

/// Which worktrees can't come home together.
#[tauri::command]
pub(super) async fn conflicts(bridge: State<'_, Bridge>, session: SessionId) -> Result<Vec<Clash>, Rejected> {
    bridge.workbench().await?.conflicts(&session).await
}

/// Stored content, as text: what isn't UTF-8 in it is replaced.
#[tauri::command]
pub(super) async fn blob(bridge: State<'_, Bridge>, hash: BlobHash) -> Result<String, Rejected> {
    let content = bridge.workbench().await?.blob(&hash)?;
    Ok(String::from_utf8(content).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The roles that a project's agents can have.
#[tauri::command]
pub(super) async fn roles(bridge: State<'_, Bridge>, project: String) -> Result<Roles, Rejected> {
    let folder = workplace::folder(Path::new(&project))?;
    let (roles, warnings) = bridge.workbench().await?.roles(&folder);
    Ok(Roles { roles, warnings })
}

/// Whether a folder's own files count, and what they would ask for.
#[tauri::command]
pub(super) async fn trust(bridge: State<'_, Bridge>, project: String) -> Result<TrustQuestion, Rejected> {
    let folder = workplace::folder(Path::new(&project))?;
    bridge.workbench().await?.trust(&folder).await
}

/// Remembers whether they count. Open sessions stay as they are.
#[tauri::command]
pub(super) async fn set_trust(bridge: State<'_, Bridge>, project: String, trusted: bool) -> Result<(), Rejected> {
    let folder = workplace::folder(Path::new(&project))?;
    bridge.workbench().await?.set_trust(&folder, trusted).await
}
