//! A workbench on a temporary repository, asking a scripted server: the whole core, with nothing replaced.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use offshoot_agents::clock::{Clock, Ids, SystemClock};
use offshoot_agents::git::GitSettings;
use offshoot_agents::log::Log;
use offshoot_agents::model::anthropic::Anthropic;
use offshoot_agents::model::demo::Demo;
use offshoot_agents::model::{Endpoint, Model, Provider};
use offshoot_agents::policy::Rules;
use offshoot_agents::sandbox::{Limits, Sandbox};
use offshoot_agents::settings::{Forks, Settings};
use offshoot_agents::tool::Environment;
use offshoot_agents::trust::{Trust, TrustFile};
use offshoot_agents::workbench::{Options, Workbench};
use offshoot_protocol::{
    AgentId, AgentView, Answer, Block, Command, Conversation, Event, EventBody, Message, Origin, PermissionRequest,
    Rejected, SessionId, SessionView,
};

use crate::{Repository, Scripted};

/// Longest wait for anything. Reached only by a failing test.
const DEADLINE: Duration = Duration::from_secs(30);

/// See the module.
pub struct World {
    /// The project.
    pub repository: Repository,
    /// The provider.
    pub server: Scripted,
    /// The core.
    pub workbench: Workbench,
    /// The session that the helpers below speak of.
    pub session: SessionId,
    /// Its root agent.
    pub root: AgentId,
    core: Core,
    folder: tempfile::TempDir,
}

/// What the core is opened with, each time.
struct Core {
    model: ProviderModel,
    settings: Settings,
    rules: Rules,
    interactive: bool,
    unconfined: Unconfined,
    model_override: Option<String>,
}

/// Who answers: the provider, the model's id, the client.
pub type ProviderModel = (Provider, String, Arc<dyn Model>);

/// What a world is made with.
pub struct Setup {
    /// The project's files.
    pub files: Vec<(&'static str, &'static str)>,
    /// What is set.
    pub settings: Settings,
    /// Rules beside those of roles.
    pub rules: Rules,
    /// Whether somebody can be asked.
    pub interactive: bool,
    /// Whether the project is a git repository.
    pub git: bool,
    /// How long the provider may be silent.
    pub idle_limit: Duration,
    /// Whether the person trusts the project.
    pub trusted: bool,
    /// Files of the person's settings folder.
    pub config: Vec<(&'static str, String)>,
    /// What decides on commands, which nothing confines here.
    pub unconfined: Unconfined,
    /// A model that every subagent gets.
    pub model_override: Option<String>,
}

/// What becomes of commands that nothing confines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unconfined {
    /// Rules decide.
    Allowed,
    /// Each is asked about.
    Asked,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            files: vec![("README.md", "hello\n"), ("src/a.txt", "one\ntwo\nthree\n")],
            settings: Settings { forks: Forks::Always, ..Settings::default() },
            rules: Rules::default(),
            interactive: true,
            git: true,
            idle_limit: Endpoint::IDLE_LIMIT,
            trusted: true,
            config: Vec::new(),
            unconfined: Unconfined::Allowed,
            model_override: None,
        }
    }
}

impl World {
    /// A world on a small repository, playing `script`.
    pub async fn new(script: impl IntoIterator<Item = crate::Reply>) -> Self {
        Self::with(Setup::default(), script).await
    }

    /// A world made with `setup`, playing `script`.
    pub async fn with(setup: Setup, script: impl IntoIterator<Item = crate::Reply>) -> Self {
        Self::prepared(setup, script, |_| {}).await
    }

    /// The same, with `prepare` done to the project before the session is made.
    pub async fn prepared(
        setup: Setup,
        script: impl IntoIterator<Item = crate::Reply>,
        prepare: impl FnOnce(&Repository),
    ) -> Self {
        let repository = if setup.git { Repository::with(&setup.files) } else { Repository::without_git(&setup.files) };
        prepare(&repository);
        let server = Scripted::start(script);
        let model = scripted_model(&server.url(), setup.idle_limit);
        Self::on(repository, server, model, setup).await
    }

    /// A world on the sample project, in which the demo model answers, without pauses.
    pub async fn demo() -> Self {
        let model: ProviderModel = (Provider::Demo, "demo".to_owned(), Arc::new(Demo::new(Duration::ZERO)));
        Self::on(Repository::sample(), Scripted::start([]), model, Setup::default()).await
    }

    async fn on(repository: Repository, server: Scripted, model: ProviderModel, setup: Setup) -> Self {
        let Setup { settings, rules, interactive, trusted, config, unconfined, model_override, .. } = setup;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let config_dir = folder.path().join("config");
        std::fs::create_dir_all(&config_dir).expect("a settings folder");
        for (name, text) in config {
            std::fs::write(config_dir.join(name), text).expect("a settings file");
        }
        if trusted {
            let set = TrustFile::open(&config_dir).0.set(repository.path(), Trust::Trusted);
            set.expect("the folder can be trusted");
        }
        let core = Core { model, settings, rules, interactive, unconfined, model_override };
        let workbench = core.open(folder.path(), Arc::new(SystemClock));
        let session = workbench.create_session(repository.path()).await.expect("a session");
        let root = workbench.snapshot(&session).await.expect("a snapshot").session.agents[0].id.clone();
        Self { repository, server, workbench, session, root, core, folder }
    }

    /// Ends the core as quitting does, and starts it again on the same data. The server goes on.
    pub async fn restart(self) -> Self {
        self.workbench.shut_down().await;
        self.revive(|_, _| {})
    }

    /// Ends the core, writes facts into the log behind its back, and starts it again.
    pub async fn restart_with(self, facts: Vec<(AgentId, EventBody)>) -> Self {
        self.workbench.shut_down().await;
        self.revive(|folder, session| append(folder, session, facts))
    }

    /// Ends the core, moves its data into the empty folder `place` (another file system, say), and starts it again there.
    pub async fn move_data(self, place: &Path) -> Self {
        self.workbench.shut_down().await;
        let place = place.to_path_buf();
        self.revive(move |data, _| {
            let moved = std::process::Command::new("cp").arg("-a").arg(data.join(".")).arg(&place).status();
            assert!(moved.is_ok_and(|status| status.success()), "the data can be copied");
            std::fs::remove_dir_all(data).expect("it is a folder");
            std::os::unix::fs::symlink(&place, data).expect("the place is free");
        })
    }

    fn revive(self, meanwhile: impl FnOnce(&Path, &SessionId)) -> Self {
        let Self { repository, server, workbench, session, root, core, folder } = self;
        drop(workbench);
        meanwhile(&folder.path().join("data"), &session);
        let workbench = core.open(folder.path(), Arc::new(SystemClock));
        Self { repository, server, workbench, session, root, core, folder }
    }

    /// All facts of the session.
    pub async fn events(&self) -> Vec<Event> {
        let mut subscription = self.workbench.subscribe(&self.session, 0).await.expect("a subscription");
        subscription.next().await.events
    }

    /// The texts of the notifications that an agent was given, in order.
    pub async fn notifications(&self, agent: &AgentId) -> Vec<String> {
        let messages = self.messages(agent).await;
        let blocks = messages.into_iter().flat_map(|message| message.blocks);
        let told = blocks.filter_map(|block| match block {
            Block::Text { text, origin: Origin::Notification } => Some(text),
            _ => None,
        });
        told.collect()
    }

    /// Writes a role file of the person's.
    pub fn write_role(&self, name: &str, text: &str) {
        let folder = self.config().join("roles");
        std::fs::create_dir_all(&folder).expect("a folder for roles");
        std::fs::write(folder.join(format!("{name}.md")), text).expect("a role file");
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The person's settings folder.
    pub fn config(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    /// Carries out a wish that must be met.
    pub async fn wish(&self, command: Command) {
        self.try_wish(command).await.expect("the wish is met");
    }

    /// Carries out a wish.
    pub async fn try_wish(&self, command: Command) -> Result<(), Rejected> {
        self.workbench.command(&self.session, command).await
    }

    /// Says something to the root.
    pub async fn say(&self, text: &str) {
        self.tell(&self.root, text).await;
    }

    /// Says something to an agent.
    pub async fn tell(&self, agent: &AgentId, text: &str) {
        self.wish(Command::SendMessage { agent: agent.clone(), text: text.to_owned() }).await;
    }

    /// The session as of now.
    pub async fn view(&self) -> SessionView {
        self.workbench.snapshot(&self.session).await.expect("a snapshot").session
    }

    /// Waits until the session is as `is_so` wants it.
    ///
    /// # Panics
    /// When it isn't in time; shows what it was instead.
    pub async fn until(&self, what: &str, is_so: impl Fn(&SessionView) -> bool) -> SessionView {
        let cursor = self.workbench.snapshot(&self.session).await.expect("a snapshot").cursor;
        let mut subscription = self.workbench.subscribe(&self.session, cursor).await.expect("a subscription");
        let waiting = async {
            loop {
                let view = self.view().await;
                if is_so(&view) {
                    return view;
                }
                subscription.next().await;
            }
        };
        match tokio::time::timeout(DEADLINE, waiting).await {
            Ok(view) => view,
            Err(tokio::time::error::Elapsed { .. }) => panic!("waited in vain until {what}: {:#?}", self.view().await),
        }
    }

    /// Waits until nothing runs, is queued or waits to be told.
    pub async fn settled(&self) -> SessionView {
        let is_settled = |view: &SessionView| {
            let told = |agent: &AgentView| !offshoot_agents::agent::is_addressed(agent);
            !offshoot_agents::workbench::is_busy(&view.agents) && view.agents.iter().all(told)
        };
        self.until("everything has settled", is_settled).await
    }

    /// Waits for a pending request that fits.
    pub async fn asked(&self, fits: impl Fn(&PermissionRequest) -> bool) -> PermissionRequest {
        let view = self.until("there is a request", |view| view.requests.iter().any(&fits)).await;
        view.requests.into_iter().find(fits).expect("it was just there")
    }

    /// Answers a request.
    pub async fn answer(&self, request: &PermissionRequest, answer: Answer) {
        self.wish(Command::Answer { request: request.id.clone(), answer }).await;
    }

    /// An agent's whole conversation.
    pub async fn conversation(&self, agent: &AgentId) -> Conversation {
        self.workbench.conversation(&self.session, agent, None, u32::MAX).await.expect("a conversation")
    }

    /// An agent's messages.
    pub async fn messages(&self, agent: &AgentId) -> Vec<Message> {
        self.conversation(agent).await.messages
    }

    /// The only agent whose title is this.
    ///
    /// # Panics
    /// When there isn't exactly one.
    pub async fn agent(&self, title: &str) -> AgentView {
        let view = self.view().await;
        let mut found = view.agents.iter().filter(|agent| agent.title == title);
        let agent = found.next().unwrap_or_else(|| panic!("no agent {title:?} in {:#?}", view.agents)).clone();
        assert!(found.next().is_none(), "two agents {title:?}");
        agent
    }
}

/// A client for a scripted server.
pub fn scripted_model(url: &str, idle_limit: Duration) -> ProviderModel {
    let endpoint = Endpoint { idle_limit, ..Endpoint::new(url, None) };
    let client = Anthropic::new(endpoint).expect("a client");
    (Provider::Anthropic, "claude-test".to_owned(), Arc::new(client))
}

/// The core on `folder`, asking the scripted server at `url` and dated by `clock`: for a process of its own.
pub fn open_core(folder: &Path, url: &str, settings: Settings, clock: Arc<dyn Clock>) -> Workbench {
    let model = scripted_model(url, Endpoint::IDLE_LIMIT);
    let unconfined = Unconfined::Allowed;
    Core { model, settings, rules: Rules::default(), interactive: true, unconfined, model_override: None }
        .open(folder, clock)
}

impl Core {
    fn open(&self, folder: &Path, clock: Arc<dyn Clock>) -> Workbench {
        let (provider, model, client) = &self.model;
        let path = std::env::var("PATH").unwrap_or_default();
        let home = folder.join("home");
        std::fs::create_dir_all(&home).expect("a home");
        Workbench::open(Options {
            data_dir: folder.join("data"),
            config_dir: folder.join("config"),
            clock,
            ids: Ids::random(),
            models: HashMap::from([(*provider, client.clone())]),
            default_model: (*provider, model.clone()),
            model_override: self.model_override.clone(),
            tools: offshoot_agents::tool::Options {
                sandbox: Arc::new(Sandbox::not_confined("tests")),
                environment: Environment {
                    path: path.clone(),
                    home: home.display().to_string(),
                    lang: "C.UTF-8".to_owned(),
                    term: "dumb".to_owned(),
                    extra: Vec::new(),
                },
                network: false,
                writable: Vec::new(),
                limits: Limits::default(),
                web: offshoot_agents::tool::Web::default(),
                unconfined_allowed: self.unconfined == Unconfined::Allowed,
            },
            git: GitSettings { program: "git".into(), path: path.into(), home: Some(home), environment: Vec::new() },
            adjust: Arc::new({
                let settings = self.settings.clone();
                move |all| *all = settings.clone()
            }),
            rules: self.rules.clone(),
            interactive: self.interactive,
        })
        .expect("a workbench")
    }
}

/// Appends facts to a session's log, which nobody has open.
fn append(data: &Path, session: &SessionId, facts: Vec<(AgentId, EventBody)>) {
    let log = Log::open(data).expect("nobody has it");
    let last = log.events(session, 0).expect("it can be read").last().map_or(0, |event| event.seq);
    let event = |(at, (agent, body)): (u64, _)| Event {
        seq: last + 1 + at,
        at: SystemClock.now(),
        session: session.clone(),
        agent: Some(agent),
        body,
    };
    let events = (0..).zip(facts).map(event).collect();
    log.append(events, |written| drop(written.expect("it can be written")));
    log.close();
}
