//! The façade: what a window or a command line does with the core.
//!
//! A [`Workbench`] belongs to one data folder. It opens sessions as they are asked for and keeps them until
//! [`Workbench::shut_down`].

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use futures_util::future::join_all;
use offshoot_protocol::{
    AgentId, AgentView, BlobHash, ChangeSummary, Clash, Command, ConflictFile, Conversation, DiffSide, FileDiff,
    MergeDone, MergeHow, MergeId, MergePreview, MergeSelection, PriceList, Rejected, RejectedCode, Resolution,
    SessionId, SessionSummary, Snapshot,
};
use tokio::sync::{Mutex, OnceCell};

use crate::clock::{Clock, Ids};
use crate::git::{Git, GitSettings};
use crate::journal::{Journal, Subscription};
use crate::log::{Log, LogError};
use crate::merge::Merges;
use crate::model::{KnownModels, Model, Provider};
use crate::policy::Rules;
use crate::price;
use crate::sandbox::Confinement;
use crate::settings::{self, Settings};
use crate::tool::{self, Refusal, named_files};
use crate::tree::{Keep, Kit, Means, Tree};
use crate::worktree::Worktrees;

mod moving;
mod project;
mod reading;
mod tools;

pub use tools::tool_names;
use tools::{hook_environment, toolbox};

/// Everything a workbench is given. It looks nothing up by itself.
pub struct Options {
    /// The log, worktrees and files of sessions.
    pub data_dir: PathBuf,
    /// The person's settings and roles.
    pub config_dir: PathBuf,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub ids: Ids,
    /// The clients, by provider.
    pub models: HashMap<Provider, Arc<dyn Model>>,
    /// Which of them new sessions use, and with which model.
    pub default_model: (Provider, String),
    /// A model that every subagent gets, whatever its call and role say.
    pub model_override: Option<String>,
    /// What the standard tools are made with.
    pub tools: tool::Options,
    /// How git is run.
    pub git: GitSettings,
    /// What the command line wants, laid over the settings files of each session's project.
    pub adjust: Arc<dyn Fn(&mut Settings) + Send + Sync>,
    /// Rules of the command line, beside those of the files.
    pub rules: Rules,
    /// Whether somebody can be asked.
    pub interactive: bool,
}

/// See the module.
pub struct Workbench {
    log: Arc<Log>,
    clock: Arc<dyn Clock>,
    data_dir: PathBuf,
    config_dir: PathBuf,
    kit: Arc<Kit>,
    sessions: Mutex<HashMap<SessionId, Arc<Tree>>>,
    /// Set when what a crash left of worktrees is put right.
    repaired: OnceCell<()>,
}

impl Workbench {
    /// Opens the data folder, or says who has it.
    pub fn open(options: Options) -> Result<Self, LogError> {
        let log = Log::open(&options.data_dir)?;
        Ok(Self::on(log, options))
    }

    /// The same, but where another program has the folder, it is opened for looking: nothing is changed, and no wish is
    /// met.
    pub fn open_to_look(options: Options) -> Result<Self, LogError> {
        let log = match Log::open(&options.data_dir) {
            Err(LogError::InUse { .. }) => Log::open_read_only(&options.data_dir),
            opened => opened,
        }?;
        Ok(Self::on(log, options))
    }

    fn on(log: Arc<Log>, options: Options) -> Self {
        let home = PathBuf::from(&options.tools.environment.home);
        let confinement = match options.tools.sandbox.confinement() {
            Confinement::Bubblewrap { .. } => None,
            partly @ Confinement::Landlock { .. } => Some(partly.to_string()),
            Confinement::NotConfined { .. } if options.tools.unconfined_allowed => None,
            not @ Confinement::NotConfined { .. } => Some(not.to_string()),
        };
        let hook_environment = hook_environment(&options.tools.environment);
        let git = Git::new(options.git);
        let ids = Arc::new(options.ids);
        let merges = Merges::new(options.data_dir.join("merges"), git.clone(), ids.clone());
        if !log.is_read_only() {
            finish_merges(&merges);
        }
        let kit = Kit {
            models: options.models,
            default_model: std::sync::Mutex::new(options.default_model),
            known_models: KnownModels::default(),
            model_override: options.model_override,
            commands: tool::Commands::new(options.tools.clone()),
            toolbox: toolbox(options.tools),
            adjust: options.adjust,
            rules: options.rules,
            hook_environment,
            interactive: options.interactive,
            worktrees: Worktrees::new(options.data_dir.join("worktrees"), git, options.clock.clone()),
            merges,
            ids,
            confinement,
            home,
            config_dir: options.config_dir.clone(),
        };
        Self {
            log,
            clock: options.clock,
            data_dir: options.data_dir,
            config_dir: options.config_dir,
            kit: Arc::new(kit),
            sessions: Mutex::default(),
            repaired: OnceCell::new(),
        }
    }

    /// Lets new sessions ask another model. Agents that were started keep theirs.
    pub fn set_default_model(&self, provider: Provider, model: String) {
        *self.kit.default_model.lock().unwrap_or_else(PoisonError::into_inner) = (provider, model);
    }

    /// Remembers which models a provider said it has: a role that asks for another gets its parent's, with a warning. An empty
    /// list means that they aren't known.
    pub fn set_known_models(&self, provider: Provider, models: Vec<String>) {
        self.kit.known_models.set(provider, models);
    }

    /// The person's settings folder.
    pub fn config_dir(&self) -> &Path {
        &self.config_dir
    }

    /// What models cost as of now: the built-in prices, with the person's laid over them. Read anew each time, so that an
    /// edited file counts at once.
    pub fn prices(&self) -> PriceList {
        let file = self.config_dir.join(price::FILE);
        let text = settings::read_text(&file, None);
        price::list(text.as_ref().map(Option::as_deref).map_err(String::as_str), &file.display().to_string())
    }

    /// All sessions, the one with the newest event first.
    pub fn sessions(&self) -> Result<Vec<SessionSummary>, Rejected> {
        self.log.sessions().map_err(|error| storage(&error))
    }

    /// A new session on a project folder, with a root agent at rest.
    pub async fn create_session(&self, project: &Path) -> Result<SessionId, Rejected> {
        let project = project.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
            let message = format!("{} is not a folder that can be opened.", project.display());
            Rejected::new(RejectedCode::NotFound, message, "Choose another one.")
        })?;
        self.check_storage()?;
        self.repair().await;
        let means = self.means(&project).await?;
        let session = SessionId(self.kit.ids.next("s-"));
        let journal = Journal::create(session.clone(), self.clock.clone(), self.log.clone());
        let tree = Tree::new(journal, means, self.session_folder(&session));
        let title = project.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned());
        tree.plant(&project, &title).await.map_err(|error| storage(&error))?;
        self.sessions.lock().await.insert(session.clone(), tree);
        Ok(session)
    }

    /// Removes a session from the log, with its scratch files. Its worktrees and branches stay.
    pub async fn delete_session(&self, session: &SessionId) -> Result<(), Rejected> {
        self.tree(session).await?;
        if let Some(tree) = self.sessions.lock().await.remove(session) {
            tree.close("delete").await;
        }
        self.log.delete_session(session);
        let folder = self.session_folder(session);
        match tokio::fs::remove_dir_all(&folder).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let message = format!("The session is deleted, but {} is not: {error}.", folder.display());
                Err(Rejected::new(RejectedCode::Failed, message, "Remove the folder by hand."))
            }
            _ => Ok(()),
        }
    }

    /// Carries out a wish about a session.
    pub async fn command(&self, session: &SessionId, command: Command) -> Result<(), Rejected> {
        let tree = self.tree(session).await?;
        if !matches!(command, Command::Interrupt { .. } | Command::Stop { .. } | Command::StopShell { .. }) {
            self.check_storage()?;
        }
        match command {
            Command::SendMessage { agent, text } => tree.send(&agent, text).await,
            Command::WithdrawInput { agent, input } => tree.withdraw(&agent, &input).await,
            Command::Interrupt { agent } => tree.interrupt(&agent),
            Command::Stop { agent } => tree.stop(&agent),
            Command::Compact { agent, instructions } => tree.compact(&agent, &instructions).await,
            Command::SetModel { agent, model } => tree.set_model(&agent, &model).await,
            Command::Resume { agent } => tree.resume(&agent).await,
            Command::Fork { agent, directive, isolation, messages } => {
                tree.fork(&agent, &directive, isolation, messages).await.map(|_| ()).map_err(|error| refused(&error))
            }
            Command::StartSubagent { role, brief, isolation } => {
                tree.start_subagent(&role, &brief, isolation).await.map(|_| ()).map_err(|error| refused(&error))
            }
            Command::StopShell { task } => tree.stop_command(&task),
            Command::SendToBackground { agent } => tree.send_to_background(&agent).await,
            Command::Answer { request, answer } => tree.approvals().answer(&request, answer).await,
            Command::SetMode { mode } => tree.set_mode(mode).await,
            Command::Rename { title } => tree.rename(&title).await,
            Command::ArchiveWorktree { agent } => tree.archive(&agent, Keep::Forever).await,
            Command::DiscardWorktree { agent } => tree.archive(&agent, Keep::ForAWhile).await,
            Command::RestoreWorktree { agent } => tree.restore(&agent).await,
            Command::Review { agent, wish } => tree.review(&agent, wish).await,
        }
    }

    /// The session as of now.
    pub async fn snapshot(&self, session: &SessionId) -> Result<Snapshot, Rejected> {
        self.journal(session).await?.snapshot().await.map_err(|error| storage(&error))
    }

    /// Up to `limit` messages of an agent before message `before`; absent: the last ones.
    pub async fn conversation(
        &self,
        session: &SessionId,
        agent: &AgentId,
        before: Option<u32>,
        limit: u32,
    ) -> Result<Conversation, Rejected> {
        let journal = self.journal(session).await?;
        journal.read(|fold| fold.conversation(agent, before, limit)).ok_or_else(no_such_agent)
    }

    /// Everything after `cursor`, and what comes.
    pub async fn subscribe(&self, session: &SessionId, cursor: u64) -> Result<Subscription, Rejected> {
        self.journal(session).await?.subscribe(cursor).map_err(|error| storage(&error))
    }

    /// What differs from the base of an agent's worktree. Rejected when it has none.
    pub async fn changes(&self, session: &SessionId, agent: &AgentId) -> Result<ChangeSummary, Rejected> {
        self.tree(session).await?.changes(agent).await
    }

    /// Files in an agent's directory that a few letters name, best first, for a person to choose from.
    pub async fn files(&self, session: &SessionId, agent: &AgentId, letters: String) -> Result<Vec<String>, Rejected> {
        /// More than can be looked through.
        const MOST: usize = 20;
        let directory = self.tree(session).await?.view(agent, |view| PathBuf::from(&view.directory))?;
        let found = named_files(directory, letters, MOST).await;
        found.map_err(|error| Rejected::new(RejectedCode::Failed, error.message, ""))
    }

    /// From now on what happens in the worktrees that are looked at, and in those of running agents, is told at once.
    pub async fn follow_changes(&self, session: &SessionId) -> Result<(), Rejected> {
        self.tree(session).await?.follow_changes();
        Ok(())
    }

    /// The lines of one changed file; without `whole`, only within the byte budget.
    pub async fn file_diff(
        &self,
        session: &SessionId,
        agent: &AgentId,
        path: &str,
        whole: bool,
    ) -> Result<FileDiff, Rejected> {
        self.tree(session).await?.file_diff(agent, path, whole).await
    }

    /// All of one side of a changed file; nothing when there is no file on that side.
    pub async fn file_content(
        &self,
        session: &SessionId,
        agent: &AgentId,
        path: &str,
        side: DiffSide,
    ) -> Result<Option<Vec<u8>>, Rejected> {
        self.tree(session).await?.file_content(agent, path, side).await
    }

    /// What bringing agents' changes home would do. Nothing changes.
    pub async fn merge_preview(
        &self,
        session: &SessionId,
        agents: &[AgentId],
        selection: MergeSelection,
    ) -> Result<MergePreview, Rejected> {
        self.tree(session).await?.merge_preview(agents, selection).await
    }

    /// Does what a preview said. Files in conflict are left out, or all is refused. The log says so when this returns.
    pub async fn merge_apply(
        &self,
        session: &SessionId,
        merge: &MergeId,
        leave_out: bool,
        how: MergeHow,
    ) -> Result<MergeDone, Rejected> {
        self.check_storage()?;
        self.tree(session).await?.merge_apply(merge, leave_out, how).await
    }

    /// The sides of a conflict that a preview named.
    pub async fn conflict(
        &self,
        session: &SessionId,
        merge: &MergeId,
        agent: &AgentId,
        path: &str,
    ) -> Result<ConflictFile, Rejected> {
        self.tree(session).await?.conflict(merge, agent, path).await
    }

    /// Settles a conflict of a preview. Returns the preview that follows from it.
    pub async fn resolve(
        &self,
        session: &SessionId,
        merge: &MergeId,
        agent: &AgentId,
        path: &str,
        with: Resolution,
    ) -> Result<MergePreview, Rejected> {
        self.tree(session).await?.resolve(merge, agent, path, with).await
    }

    /// Asks the agent to work the checkout's version of a file in conflict into its own.
    pub async fn hand_over_conflict(
        &self,
        session: &SessionId,
        merge: &MergeId,
        agent: &AgentId,
        path: &str,
    ) -> Result<(), Rejected> {
        self.tree(session).await?.hand_over_conflict(merge, agent, path).await
    }

    /// Takes out again what was applied.
    pub async fn merge_undo(&self, session: &SessionId, merge: &MergeId) -> Result<(), Rejected> {
        self.check_storage()?;
        self.tree(session).await?.merge_undo(merge).await
    }

    /// What a preview would change, as a patch.
    pub async fn merge_patch(&self, session: &SessionId, merge: &MergeId) -> Result<Vec<u8>, Rejected> {
        self.tree(session).await?.merge_patch(merge).await
    }

    /// Which worktrees of a session can't come home together.
    pub async fn conflicts(&self, session: &SessionId) -> Result<Vec<Clash>, Rejected> {
        self.tree(session).await?.conflicts().await
    }

    /// All worktrees there are, for looking after them when no agent runs.
    pub fn worktrees(&self) -> &Worktrees {
        &self.kit.worktrees
    }

    /// Content by hash.
    pub fn blob(&self, hash: &BlobHash) -> Result<Vec<u8>, Rejected> {
        let found = self.log.blob(hash).map_err(|error| storage(&error))?;
        found.ok_or_else(|| Rejected::new(RejectedCode::NotFound, "This content is not stored here.", ""))
    }

    /// What holds for a project's sessions that begin now.
    async fn means(&self, project: &Path) -> Result<Arc<Means>, Rejected> {
        let (kit, project) = (self.kit.clone(), project.to_path_buf());
        blocking(move || Arc::new(Means::of(&kit, &project))).await
    }

    /// Ends all agents' tasks and flushes the log. What was running is found as interrupted at the next start.
    pub async fn shut_down(&self) {
        let trees: Vec<Arc<Tree>> = self.sessions.lock().await.drain().map(|(_, tree)| tree).collect();
        join_all(trees.iter().map(|tree| tree.close("exit"))).await;
        self.log.close();
    }

    /// The session's tree, opened from the log when it isn't yet.
    async fn tree(&self, session: &SessionId) -> Result<Arc<Tree>, Rejected> {
        let mut sessions = self.sessions.lock().await;
        if let Some(tree) = sessions.get(session) {
            return Ok(tree.clone());
        }
        self.check_storage()?;
        self.repair().await;
        let journal = self.stored_journal(session)?;
        let project = journal.read(|fold| PathBuf::from(&fold.view.project));
        let tree = Tree::new(journal, self.means(&project).await?, self.session_folder(session));
        tree.recover().await.map_err(|error| storage(&error))?;
        sessions.insert(session.clone(), tree.clone());
        Ok(tree)
    }

    /// Puts right what a crash left of worktrees, before the first agent works.
    async fn repair(&self) {
        let repair = async || {
            match self.kit.worktrees.repair().await {
                Ok(repaired) => {
                    for mended in repaired.done {
                        tracing::warn!(?mended, "a worktree that a crash had left was put right");
                    }
                }
                Err(error) => tracing::error!(%error, "the worktrees could not be put right"),
            }
            match self.kit.worktrees.expire_all().await {
                Ok(expired) => {
                    for reference in expired {
                        tracing::info!(reference, "the archive of a discarded worktree has expired");
                    }
                }
                Err(error) => tracing::error!(%error, "the archives could not be looked at"),
            }
        };
        self.repaired.get_or_init(repair).await;
    }

    fn session_folder(&self, session: &SessionId) -> PathBuf {
        self.data_dir.join("sessions").join(session.as_str())
    }
}

/// Finishes what a crash has left of merges.
fn finish_merges(merges: &Merges) {
    match merges.recover() {
        Ok(recovered) => {
            for step in recovered {
                tracing::warn!(merge = %step.merge, target = %step.target.display(), left_alone = ?step.left_alone,
                    applied = step.applied, "a merge that a crash had interrupted was finished");
            }
        }
        // What can't be finished now is tried again at the next start.
        Err(error) => tracing::error!(%error, "an interrupted merge could not be finished"),
    }
}

/// Whether anything of the session still runs.
pub fn is_busy(agents: &[AgentView]) -> bool {
    agents.iter().any(|agent| crate::agent::is_running(&agent.state))
}

/// Reads or writes files off the threads that drive agents.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Rejected> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Rejected::new(RejectedCode::Failed, error.to_string(), "Nothing was changed."))
}

fn storage(error: &LogError) -> Rejected {
    Rejected::new(RejectedCode::Storage, error.to_string(), "What was confirmed before is safe.")
}

fn no_such_agent() -> Rejected {
    Rejected::new(RejectedCode::NotFound, "There is no such agent in this session.", "")
}

fn refused(error: &tool::ToolError) -> Rejected {
    let code = match (Refusal::of_code(error.code), error.code) {
        (Some(Refusal::IsolationUnavailable), _) => RejectedCode::IsolationUnavailable,
        (Some(Refusal::SubagentLimitReached), _) => RejectedCode::Limit,
        (Some(Refusal::UnknownSubagentType), _) | (_, "not_found") => RejectedCode::NotFound,
        (Some(Refusal::InvalidArguments), _) => RejectedCode::Invalid,
        (_, "storage") => RejectedCode::Storage,
        _ => RejectedCode::NotApplicable,
    };
    Rejected::new(code, error.message.clone(), "")
}
