//! How an agent comes into being, and back after a restart.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use offshoot_protocol::{
    AgentCreated, AgentId, AgentKind, Block, CallId, EventBody, Inherited, Input, InputId, Message, MessageRole,
    Origin, Seller, Warning,
};

use super::ending::{TreeEnding, has_end};
use super::isolation::Verified;
use super::making::Place;
use super::start::Seat;
use super::{Tree, delegate::TreeDelegate};
use crate::agent::Conduct;
use crate::boundary;
use crate::log::LogError;
use crate::model::{Model, ModelError, ModelEvent, Provider, Request, RequestHead};
use crate::policy::{RuleKind, RuleSource};
use crate::prompt;
use crate::turn::{Isolated, Law, NoPlace, Powers, Speaker, Upkeep, Worker};
use crate::worktree::Plan;

/// Everything that is decided about a child before it exists.
pub(super) struct Seed {
    pub(super) id: AgentId,
    pub(super) created: AgentCreated,
    pub(super) head: Arc<RequestHead>,
    /// Its first message.
    pub(super) first: Message,
    /// The worktree that is to be made for it.
    pub(super) plan: Option<Plan>,
    pub(super) warnings: Vec<Warning>,
}

impl Tree {
    /// Records the session and its root agent.
    pub async fn plant(self: &Arc<Self>, project: &Path, title: &str) -> Result<AgentId, LogError> {
        let id = AgentId(self.means.kit.ids.next("a-"));
        let (provider, model) = self.means.kit.default_model.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let settings = &self.means.settings;
        let head = Arc::new(RequestHead {
            provider,
            model: self.means.aliases.get(&model).map_or(model.clone(), str::to_owned),
            system: prompt::root_system(&self.surroundings(project, &self.means.instructions(project), None)),
            tools: self.means.kit.toolbox.definitions(),
            max_tokens: settings.max_tokens,
            thinking_budget: settings.thinking_budget,
        });
        let created = AgentCreated {
            kind: AgentKind::Root,
            parent: None,
            call: None,
            role: None,
            title: title.to_owned(),
            color: None,
            directory: project.display().to_string(),
            model: head.model.clone(),
            head: self.put_head(&head),
            background: true,
            mode: settings.mode,
            max_turns: None,
            allow: Vec::new(),
            deny: Vec::new(),
            inherited: None,
        };
        let announcement = Input {
            id: InputId(self.means.kit.ids.next("i-")),
            text: self.means.catalog(project).announcement(),
            origin: Origin::Reminder,
            source: None,
        };
        let project = project.display().to_string();
        let (seq, ()) = self.journal.decide(|_| {
            let session = EventBody::SessionCreated { project, title: title.to_owned(), mode: settings.mode };
            let about = |body| (Some(id.clone()), body);
            let root = EventBody::AgentCreated(Box::new(created));
            (vec![(None, session), about(root), about(EventBody::InputReceived { input: announcement })], ())
        });
        self.journal.stored_soon(seq).await?;
        self.bring_back(&id)?;
        self.watch_roles();
        self.tell_warnings();
        Ok(id)
    }

    /// Tells the root's person what is wrong in the settings, unless they were told before.
    pub(super) fn tell_warnings(&self) {
        self.journal.decide(|fold| {
            let Some(root) = fold.root() else { return (Vec::new(), ()) };
            let new = self.means.warnings.iter().filter(|warning| !root.warnings.contains(warning));
            let facts = new.map(|warning| (Some(root.id.clone()), EventBody::Warned { warning: warning.clone() }));
            (facts.collect(), ())
        });
    }

    /// Records a child and its first message, and puts it to work. Whatever becomes of the future, a child that is
    /// recorded is at work. Its worktree is made meanwhile; this returns when the parent may change its files again.
    pub(super) async fn sow(self: &Arc<Self>, seed: Seed, seat: Seat) -> Result<(), LogError> {
        let Seed { id, created, head, first, plan, warnings } = seed;
        let index = created.inherited.as_ref().map_or(0, |inherited| inherited.messages);
        let (seq, ()) = self.journal.decide(|_| {
            let mut bodies = vec![EventBody::AgentCreated(Box::new(created.clone()))];
            bodies.extend(plan.as_ref().map(|plan| EventBody::WorktreePlanned { worktree: plan.view() }));
            bodies.extend(warnings.into_iter().map(|warning| EventBody::Warned { warning }));
            bodies.push(EventBody::MessageAppended { index, message: first, inputs: Vec::new() });
            drop(seat);
            (bodies.into_iter().map(|body| (Some(id.clone()), body)).collect(), ())
        });
        let place = plan.map(|plan| self.make_place(&id, plan));
        let worker = self.make_worker(&id, &created, head);
        self.enlist(worker, self.conduct(&created), true);
        let making = place.map(|(making, work)| {
            super::lock(&self.tasks).spawn(work);
            making
        });
        let stored = self.journal.stored(seq).await;
        if let Some(making) = making {
            making.recorded().await;
        }
        stored
    }

    /// Puts an agent that the log knows back into its place, at rest.
    pub(super) fn bring_back(self: &Arc<Self>, id: &AgentId) -> Result<(), LogError> {
        let created = self.journal.read(|fold| fold.created(id).cloned());
        let created = created.expect("the fold holds every agent it names");
        let bytes = self.journal.log().blob(&created.head)?;
        let head = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or_else(|| LogError::Storage {
            path: PathBuf::from("offshoot.sqlite"),
            reason: format!("the request head of agent {id} is missing or damaged"),
        })?;
        let worker = self.make_worker(id, &created, Arc::new(head));
        self.enlist(worker, self.conduct(&created), false);
        Ok(())
    }

    fn conduct(&self, created: &AgentCreated) -> Conduct {
        if !has_end(created.kind) {
            return Conduct::Root { max_steps: self.means.settings.root_max_turns };
        }
        Conduct::Child {
            permits: self.permits.clone(),
            max_steps: created.max_turns.unwrap_or(self.means.settings.subagent_max_turns),
            ending: Arc::new(TreeEnding(self.me.clone())),
        }
    }

    fn make_worker(&self, id: &AgentId, created: &AgentCreated, head: Arc<RequestHead>) -> Arc<Worker> {
        let isolation = self.isolation(id);
        let mut rules = self.means.rules.clone();
        rules.add(RuleKind::Allow, RuleSource::Role, &created.allow);
        rules.add(RuleKind::Deny, RuleSource::Role, &created.deny);
        let scratch = self.folder.join("scratch");
        if let Err(error) = std::fs::create_dir_all(&scratch) {
            tracing::warn!(folder = %scratch.display(), %error, "the scratch folder could not be made");
        }
        let powers = Powers {
            toolbox: self.means.kit.toolbox.clone(),
            place: boundary::Place {
                directory: PathBuf::from(&created.directory),
                main_checkout: isolation.is_some().then(|| self.project()),
                scratch,
            },
            isolation,
            law: Arc::new(Law {
                rules,
                home: self.means.kit.home.clone(),
                project: self.project(),
                settings: vec![self.means.kit.config_dir.clone()],
            }),
            hooks: self.means.hooks.clone(),
            files: Arc::default(),
            approvals: self.approvals.clone(),
            delegate: Arc::new(TreeDelegate(self.me.clone())),
        };
        let upkeep = Upkeep {
            outputs: self.folder.join("outputs"),
            instructions: self.means.trusted.then(|| self.project()),
            compaction: self.means.settings.compaction,
        };
        Arc::new(Worker {
            id: id.clone(),
            speaker: std::sync::RwLock::new(Arc::new(self.speaker(head))),
            // The first message of a fork holds the placeholders: the siblings' common end.
            fork_point: created.inherited.as_ref().map(|inherited| inherited.messages + 1),
            journal: self.journal.clone(),
            fan_out: self.fan_out.clone(),
            ids: self.means.kit.ids.clone(),
            powers,
            upkeep,
            partial: std::sync::Mutex::default(),
            remarks: std::sync::Mutex::default(),
        })
    }

    /// Who speaks for agents with this head.
    pub(super) fn speaker(&self, head: Arc<RequestHead>) -> Speaker {
        let model = self.means.kit.models.get(&head.provider).cloned();
        Speaker { model: model.unwrap_or_else(|| Arc::new(NotConfigured(head.provider))), head }
    }

    /// The check of an isolated agent's calls. An agent whose worktree is lost or removed is refused every call rather than
    /// let into another directory.
    fn isolation(&self, id: &AgentId) -> Option<Arc<dyn Isolated>> {
        let had_one = self.journal.read(|fold| fold.agent(id).is_some_and(|agent| agent.worktree.is_some()));
        match super::lock(&self.places).get(id) {
            Some(Place::Making(making)) => Some(Arc::new(making.clone())),
            Some(Place::Made(worktree)) => Some(Arc::new(Verified(worktree.clone()))),
            None if had_one => Some(Arc::new(Gone)),
            None => None,
        }
    }

    /// What a fork of `parent` inherits, and the message that its own transcript starts with: a placeholder for every call
    /// that is open at that point, the frame, the directive. Where a person forks, the calls are work under way rather than
    /// the delegation itself, so that their placeholders are errors.
    pub(super) fn fork_start(
        &self,
        parent: &AgentId,
        messages: Option<u32>,
        directive: String,
        by_person: bool,
    ) -> (Inherited, Message) {
        let transcript = self.journal.read(|fold| fold.transcript(parent));
        let transcript = transcript.prefix(messages.unwrap_or(u32::MAX));
        let placeholder = |(id, ..): (&CallId, &str, &offshoot_protocol::RawJson)| Block::Result {
            id: id.clone(),
            content: prompt::FORK_PLACEHOLDER.to_owned(),
            is_error: by_person,
        };
        let mut blocks: Vec<Block> =
            transcript.last().map(|last| last.calls().map(placeholder).collect()).unwrap_or_default();
        blocks.push(Block::Text { text: prompt::FORK_FRAME.to_owned(), origin: Origin::Reminder });
        blocks.push(Block::Text { text: directive, origin: Origin::Directive });
        let inherited = Inherited { from: parent.clone(), messages: transcript.len() };
        (inherited, Message { role: MessageRole::User, blocks })
    }

    pub(super) fn put_head(&self, head: &RequestHead) -> offshoot_protocol::BlobHash {
        let bytes = serde_json::to_vec(head).expect("a head is plain data");
        self.journal.log().put_blob(bytes)
    }

    /// The session's project folder.
    pub(super) fn project(&self) -> PathBuf {
        PathBuf::from(self.journal.read(|fold| fold.view.project.clone()))
    }
}

/// Stands in for a worktree that isn't there any more.
struct Gone;

#[async_trait]
impl Isolated for Gone {
    async fn verify(&self) -> Result<(), NoPlace> {
        Err(NoPlace::missing("The agent's worktree is not there any more. Nothing was run in another directory."))
    }
}

/// Stands in for a client that isn't set up (any more).
struct NotConfigured(Provider);

impl Model for NotConfigured {
    fn stream(&self, _request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let reason = format!(
            "This agent was started with the provider {:?}, which is not set up now. Set it up and send the message again.",
            self.0
        );
        stream::once(async { Err(ModelError::NotConfigured { reason }) }).boxed()
    }

    fn seller(&self) -> Seller {
        Seller::Provider
    }
}
