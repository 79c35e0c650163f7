//! A workbench on a temporary repository, asking a scripted server: the whole core, with nothing replaced.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use offshoot_agents::clock::{Ids, SystemClock};
use offshoot_agents::git::GitSettings;
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
    AgentId, AgentView, Answer, Command, Conversation, Message, PermissionRequest, Rejected, SessionId, SessionView,
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
    model: ProviderModel,
    settings: Settings,
    rules: Rules,
    interactive: bool,
    folder: tempfile::TempDir,
}

/// Who answers: the provider, the model's id, the client.
type ProviderModel = (Provider, String, Arc<dyn Model>);

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
    /// Whether the person trusts the project.
    pub trusted: bool,
    /// Files of the person's settings folder.
    pub config: Vec<(&'static str, String)>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            files: vec![("README.md", "hello\n"), ("src/a.txt", "one\ntwo\nthree\n")],
            settings: Settings { forks: Forks::Always, ..Settings::default() },
            rules: Rules::default(),
            interactive: true,
            trusted: true,
            config: Vec::new(),
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
        let repository = Repository::with(&setup.files);
        let server = Scripted::start(script);
        let client = Anthropic::new(Endpoint::new(server.url(), None)).expect("a client");
        let model: ProviderModel = (Provider::Anthropic, "claude-test".to_owned(), Arc::new(client));
        Self::on(repository, server, model, setup).await
    }

    /// A world on the sample project, in which the demo model answers, without pauses.
    pub async fn demo() -> Self {
        let model: ProviderModel = (Provider::Demo, "demo".to_owned(), Arc::new(Demo::new(Duration::ZERO)));
        Self::on(Repository::sample(), Scripted::start([]), model, Setup::default()).await
    }

    async fn on(repository: Repository, server: Scripted, model: ProviderModel, setup: Setup) -> Self {
        let Setup { settings, rules, interactive, trusted, config, .. } = setup;
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
        let workbench = open(&folder, &model, &settings, &rules, interactive);
        let session = workbench.create_session(repository.path()).await.expect("a session");
        let root = workbench.snapshot(&session).await.expect("a snapshot").session.agents[0].id.clone();
        Self { repository, server, workbench, session, root, model, settings, rules, interactive, folder }
    }

    /// Ends the core as quitting does, and starts it again on the same data. The server goes on.
    pub async fn restart(self) -> Self {
        self.workbench.shut_down().await;
        let Self { repository, server, workbench, session, root, model, settings, rules, interactive, folder } = self;
        drop(workbench);
        let workbench = open(&folder, &model, &settings, &rules, interactive);
        Self { repository, server, workbench, session, root, model, settings, rules, interactive, folder }
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
            let told = |agent: &AgentView| agent.queue.iter().all(|input| input.text.contains("<reminder>"));
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

fn open(
    folder: &tempfile::TempDir,
    (provider, model, client): &ProviderModel,
    settings: &Settings,
    rules: &Rules,
    interactive: bool,
) -> Workbench {
    let path = std::env::var("PATH").unwrap_or_default();
    let home = folder.path().join("home");
    std::fs::create_dir_all(&home).expect("a home");
    Workbench::open(Options {
        data_dir: folder.path().join("data"),
        config_dir: folder.path().join("config"),
        clock: Arc::new(SystemClock),
        ids: Ids::random(),
        models: HashMap::from([(*provider, client.clone())]),
        default_model: (*provider, model.clone()),
        model_override: None,
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
        },
        git: GitSettings { program: "git".into(), path: path.into(), home: Some(home), environment: Vec::new() },
        adjust: Arc::new({
            let settings = settings.clone();
            move |all| *all = settings.clone()
        }),
        rules: rules.clone(),
        interactive,
    })
    .expect("a workbench")
}
