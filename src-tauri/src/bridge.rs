//! The bridge: the commands that the page may call. Each is one call of the core, or one of the few things only a desktop
//! program can do. No decisions here, and nothing that the page couldn't learn from events.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offshoot_agents::agent::is_running;
use offshoot_agents::model::listing;
use offshoot_agents::workbench::Workbench;
use offshoot_protocol::{Rejected, RejectedCode, RoleSummary, RoleWarning, SessionId};
use serde::Serialize;
use tauri::ipc::Invoke;
use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tokio::task::{AbortHandle, JoinSet};

use crate::access::{self, Clients};
use crate::surroundings::Surroundings;
use crate::workplace::{self, Choice};

mod attention;
mod commands;
mod desktop;
mod models;
mod notification;
mod moving;
mod roles;

/// The core as the window holds it. Clones are the same bridge.
#[derive(Clone)]
pub(crate) struct Bridge(Arc<Inner>);

struct Inner {
    /// What is set and found. Another one once the person has set another model or key.
    surroundings: Mutex<Arc<Surroundings>>,
    /// The clients that agents ask.
    clients: Clients,
    /// Opened beside the window, so that neither waits for the other. Gone when quitting: the
    /// toolkit may keep this bridge for longer.
    workbench: Mutex<Option<Arc<Opening>>>,
    project: Mutex<Option<PathBuf>>,
    runtime: Handle,
    tasks: Mutex<Tasks>,
}

type Opening = OnceCell<Arc<Workbench>>;

/// Everything that runs beside the commands. Dropped with the bridge, and everything ends.
#[derive(Default)]
struct Tasks {
    running: JoinSet<()>,
    /// What the page listens to: one session at a time.
    subscription: Option<AbortHandle>,
    /// Sessions that may have agents at work.
    opened: HashSet<SessionId>,
}

/// What the page is told first.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Startup {
    /// The program's version.
    version: &'static str,
    /// Absolute path of the project to show; absent at the first start.
    project: Option<String>,
    /// Whether the demo model answers: neither key nor server was found.
    demo: bool,
    /// The model that new sessions start with.
    model: String,
    /// Who answers.
    provider: offshoot_agents::model::Provider,
    /// Where the key is from; absent when there is none.
    key: Option<crate::keys::Place>,
    /// Whether a server on this machine answers.
    local: bool,
    /// Where sessions are stored.
    data_dir: String,
}

/// A project's roles.
#[derive(Debug, Serialize)]
struct Roles {
    /// All of them, shadowed ones too.
    roles: Vec<RoleSummary>,
    /// What is wrong with their files.
    warnings: Vec<RoleWarning>,
}

/// All commands of the bridge. `build.rs` names them too: what isn't there can't be called.
pub(crate) fn commands() -> impl Fn(Invoke) -> bool + Send + Sync + 'static {
    tauri::generate_handler![
        commands::startup,
        commands::open_project,
        commands::open_demo,
        commands::prices,
        commands::sessions,
        commands::create_session,
        commands::delete_session,
        commands::snapshot,
        commands::conversation,
        commands::subscribe,
        commands::command,
        commands::changes,
        commands::file_diff,
        commands::merge_preview,
        commands::merge_apply,
        commands::merge_undo,
        commands::conflicts,
        commands::files,
        commands::blob,
        commands::roles,
        roles::role_board,
        roles::role_file,
        roles::role_preview,
        roles::role_save,
        roles::role_create,
        roles::role_copy,
        roles::role_delete,
        roles::role_restore,
        roles::role_rule,
        roles::role_uses,
        models::model_setup,
        models::model_list,
        models::model_test,
        models::model_save,
        models::key_delete,
        commands::trust,
        commands::set_trust,
        moving::export_session,
        moving::import_session,
        desktop::pick_folder,
        desktop::open_external,
    ]
}

impl Bridge {
    /// A bridge on `project`; the core isn't opened yet.
    pub(crate) fn new(surroundings: Surroundings, project: Option<PathBuf>, runtime: Handle) -> Self {
        Self(Arc::new(Inner {
            surroundings: Mutex::new(Arc::new(surroundings)),
            clients: Clients::default(),
            workbench: Mutex::new(Some(Arc::default())),
            project: Mutex::new(project),
            runtime,
            tasks: Mutex::default(),
        }))
    }

    /// Whether the person wants to be called back to the window.
    fn notifies(&self) -> bool {
        self.surroundings().settings.notifications.unwrap_or(true)
    }

    /// Opens the core without waiting for it.
    pub(crate) fn begin(&self) {
        let bridge = self.clone();
        // A failure is told to the page, by the first command that needs the core.
        self.spawn(async move { drop(bridge.workbench().await) });
    }

    /// The core. When it can't be opened (another program may be quitting still), the next command tries again.
    async fn workbench(&self) -> Result<Arc<Workbench>, Rejected> {
        let quitting = || Rejected::new(RejectedCode::NotApplicable, "Offshoot is quitting.", "");
        let opening = lock(&self.0.workbench).clone().ok_or_else(quitting)?;
        let mut choice = Choice { interactive: true, acts: true, ..Choice::default() };
        let open = async || {
            // The keychain is asked beside the window's own start.
            let mut found = Surroundings::clone(&self.surroundings()).with_stored_keys().await;
            settle(&mut found, &mut choice).await;
            let workbench = workplace::open_with(&found, choice, &self.0.clients).await?;
            *lock(&self.0.surroundings) = Arc::new(found);
            let workbench = Arc::new(workbench);
            self.learn_models(workbench.clone());
            Ok(workbench)
        };
        opening.get_or_try_init(open).await.cloned()
    }

    /// What is set and found.
    fn surroundings(&self) -> Arc<Surroundings> {
        lock(&self.0.surroundings).clone()
    }

    /// Lets new sessions, and the next requests of old ones, ask with what is set and found now.
    async fn take_over(&self, mut found: Surroundings) -> Result<(), Rejected> {
        let workbench = self.workbench().await?;
        let mut choice = Choice::default();
        settle(&mut found, &mut choice).await;
        let answers = access::answers(&found, &choice);
        self.0.clients.set_up(&found, &choice);
        workbench.set_default_model(answers.provider, answers.model);
        *lock(&self.0.surroundings) = Arc::new(found);
        self.learn_models(workbench);
        Ok(())
    }

    /// Asks who answers which models it has, beside everything else. A server that doesn't say is left alone.
    fn learn_models(&self, workbench: Arc<Workbench>) {
        let (found, choice) = (self.surroundings(), Choice::default());
        let provider = access::answers(&found, &choice).provider;
        self.spawn(async move {
            if access::check(&found, &choice).is_err() {
                return;
            }
            let listed = listing::models(provider, &access::endpoint(&found, &choice, provider)).await;
            let ids = listed.unwrap_or_default().into_iter().map(|model| model.id).collect();
            workbench.set_known_models(provider, ids);
        });
    }

    /// The core, if it is open.
    fn opened(&self) -> Option<Arc<Workbench>> {
        lock(&self.0.workbench).as_ref()?.get().cloned()
    }

    /// Runs something beside the commands, until it ends or the bridge does.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut tasks = lock(&self.0.tasks);
        while tasks.running.try_join_next().is_some() {}
        tasks.running.spawn_on(task, &self.0.runtime)
    }

    /// Sends a session's batches until the next subscription, or until the page begins anew.
    fn keep_subscription(&self, session: SessionId, task: impl Future<Output = ()> + Send + 'static) {
        let handle = self.spawn(task);
        let mut tasks = lock(&self.0.tasks);
        tasks.opened.insert(session);
        if let Some(before) = tasks.subscription.replace(handle) {
            before.abort();
        }
    }

    /// Ends the subscription: its reader is gone.
    pub(crate) fn end_subscription(&self) {
        let mut tasks = lock(&self.0.tasks);
        if let Some(handle) = tasks.subscription.take() {
            handle.abort();
        }
    }

    /// How many agents quitting would stop.
    pub(crate) async fn busy_agents(&self) -> usize {
        let Some(workbench) = self.opened() else { return 0 };
        let mut busy = 0;
        let sessions: Vec<_> = {
            let tasks = lock(&self.0.tasks);
            tasks.opened.iter().cloned().collect()
        };
        for session in sessions {
            if let Ok(snapshot) = workbench.snapshot(&session).await {
                busy += snapshot.session.agents.iter().filter(|agent| is_running(&agent.state)).count();
            }
        }
        busy
    }

    /// Ends everything in order: what runs beside the commands, agents, their processes, the log.
    pub(crate) async fn shut_down(&self) {
        // Tasks hold the bridge that holds them: taken out here, both can go.
        let tasks = std::mem::take(&mut *lock(&self.0.tasks));
        drop(tasks);
        if let Some(workbench) = self.opened() {
            workbench.shut_down().await;
        }
        lock(&self.0.workbench).take();
    }
}

/// Names the model of a server that nobody named one for, and remembers it. One that isn't known yet is no reason not to
/// open: asking it tells what is wrong.
async fn settle(found: &mut Surroundings, choice: &mut Choice) {
    if access::settle_model(found, choice).await.is_ok() && choice.model.is_some() {
        found.settings.model.model.clone_from(&choice.model);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn every_command_is_declared_and_granted() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
        let handler = read("src-tauri/src/bridge.rs");
        let build = read("src-tauri/build.rs");
        let capability: serde_json::Value = serde_json::from_str(&read("src-tauri/capabilities/main.json")).unwrap();
        let granted: Vec<_> =
            capability["permissions"].as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
        let lines = handler.lines().map(str::trim);
        let commands = lines.filter_map(|line| {
            let (module, command) = line.strip_suffix(',')?.split_once("::")?;
            ["commands", "desktop", "models", "moving", "roles"].contains(&module).then_some(command)
        });
        let mut count = 0;
        for command in commands {
            assert!(build.contains(&format!("\"{command}\"")), "build.rs doesn't name {command}");
            let permission = format!("allow-{}", command.replace('_', "-"));
            assert!(granted.contains(&permission.as_str()), "{permission} isn't granted");
            count += 1;
        }
        assert_eq!(count, granted.len(), "more is granted than there are commands");
    }
}
