//! From an order to an agent: what it inherits, its head, its directory, its first message.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use offshoot_protocol::{
    AgentCreated, AgentId, AgentKind, AgentView, Block, CallId, Inherited, Message, MessageRole, Origin,
    PermissionMode, Warning,
};

use super::Tree;
use super::seed::Seed;
use crate::model::{Provider, RequestHead};
use crate::policy::child_mode;
use crate::prompt;
use crate::role::Role;
use crate::role::model_alias::ModelWishes;
use crate::role::narrow::effective_tools;
use crate::tool::{Refusal, ToolError};
use crate::turn::Worker;

/// What the next worker gets: the whole conversation, or a role.
pub(super) enum Route {
    /// The first messages of the parent's transcript; absent: all.
    Fork { messages: Option<u32> },
    /// Nothing but the brief.
    Role(Arc<Role>),
}

/// An agent to be started: everything that was decided about it.
pub(super) struct Order {
    /// The agent's id to be.
    pub(super) id: AgentId,
    pub(super) parent: AgentId,
    /// The parent's call that asks for it; absent when a person does.
    pub(super) call: Option<CallId>,
    pub(super) route: Route,
    /// The directive or brief.
    pub(super) prompt: String,
    pub(super) title: String,
    /// The model that the call asks for.
    pub(super) model: Option<String>,
    pub(super) background: bool,
    pub(super) isolated: bool,
}

impl Tree {
    /// Starts the agent. What can't be is found out before anything is made on disk; its worktree is made behind.
    pub(super) async fn start(self: &Arc<Self>, order: Order, seat: Seat) -> Result<AgentId, ToolError> {
        let id = order.id.clone();
        let parent = self.journal.read(|fold| fold.agent(&order.parent).cloned());
        let (parent, boss) = parent
            .zip(self.worker(&order.parent))
            .ok_or_else(|| ToolError::new("not_found", "There is no such agent."))?;
        let beginning = match &order.route {
            Route::Fork { messages } => Ready::Fork { messages: *messages },
            Route::Role(role) => Ready::Subagent(self.subagent(role, &order, &parent, boss.speaker().head.provider)?),
        };
        let home = PathBuf::from(&parent.directory);
        let plan = if order.isolated { Some(self.plan_place(&id, &home, &order.title).await?) } else { None };
        let directory = plan.as_ref().map_or_else(|| home.clone(), |plan| plan.directory.clone());
        let notice = plan.as_ref().map(|plan| prompt::worktree_notice(&directory, &home, &plan.branch));
        let own_branch = plan.as_ref().map(|plan| plan.branch.clone());
        let task = format!("{}{}", order.prompt, notice.unwrap_or_default());
        let mut warnings = Vec::new();

        let beginning = match beginning {
            Ready::Subagent(subagent) => {
                warnings.extend(subagent.warnings.iter().cloned());
                self.begin_subagent(subagent, task, &boss, (&directory, own_branch))
            }
            Ready::Fork { messages } => {
                warnings.extend(order.model.as_ref().map(|_| only_the_parents_model(&parent.model)));
                self.begin_fork(&parent, messages, task, order.call.is_none(), &boss)
            }
        };
        let Beginning { kind, role, head, mode, max_turns, rules: (allow, deny), inherited, first } = beginning;
        let created = AgentCreated {
            kind,
            parent: Some(order.parent),
            call: order.call,
            role: role.as_ref().map(|role| role.name.clone()),
            title: order.title,
            color: role.as_ref().and_then(|role| role.color.clone()),
            directory: directory.display().to_string(),
            model: head.model.clone(),
            head: self.put_head(&head),
            background: order.background,
            mode,
            max_turns: Some(max_turns),
            allow,
            deny,
            inherited,
        };
        let seed = Seed { id: id.clone(), created, head, first, plan, warnings };
        self.sow(seed, seat).await.map_err(|error| ToolError::new("storage", error.to_string()))?;
        Ok(id)
    }

    fn begin_fork(
        &self,
        parent: &AgentView,
        messages: Option<u32>,
        directive: String,
        by_person: bool,
        boss: &Worker,
    ) -> Beginning {
        let (inherited, first) = self.fork_start(&parent.id, messages, directive, by_person);
        Beginning {
            kind: AgentKind::Fork,
            role: None,
            head: boss.speaker().head.clone(),
            mode: parent.mode,
            max_turns: self.means.settings.fork_max_turns,
            rules: (Vec::new(), Vec::new()),
            inherited: Some(inherited),
            first,
        }
    }

    fn begin_subagent(
        &self,
        subagent: Subagent,
        brief: String,
        boss: &Worker,
        (directory, own_branch): (&Path, Option<String>),
    ) -> Beginning {
        let Subagent { role, model, mode, tools, rules, .. } = subagent;
        let instructions =
            if role.without_instructions { Vec::new() } else { self.means.instructions(&self.project()) };
        let boss = boss.speaker().head.clone();
        let head = RequestHead {
            provider: boss.provider,
            model,
            system: prompt::role_system(&role.body, &self.surroundings(directory, &instructions, own_branch)),
            tools: boss.tools.iter().filter(|tool| tools.contains(&tool.name)).cloned().collect(),
            max_tokens: boss.max_tokens,
            thinking_budget: boss.thinking_budget,
        };
        let blocks = vec![Block::Text { text: brief, origin: Origin::Brief }];
        Beginning {
            kind: AgentKind::Subagent,
            head: Arc::new(head),
            mode,
            max_turns: role.max_turns.unwrap_or(self.means.settings.subagent_max_turns),
            role: Some(role),
            rules,
            inherited: None,
            first: Message { role: MessageRole::User, blocks },
        }
    }

    /// Makes a role ready: its tools, model and mode under this parent.
    fn subagent(
        &self,
        role: &Arc<Role>,
        order: &Order,
        parent: &AgentView,
        provider: Provider,
    ) -> Result<Subagent, ToolError> {
        let all: Vec<&str> = self.means.kit.toolbox.names().collect();
        let tools = effective_tools(&all, role, order.background)
            .map_err(|error| Refusal::SubagentConfigurationError.because(error.to_string()))?;
        let wishes = ModelWishes {
            override_env: self.means.kit.model_override.as_deref(),
            call: order.model.as_deref(),
            role: role.model.as_deref(),
        };
        let known = self.means.kit.known_models.of(provider);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let resolved = self.means.aliases.resolve(wishes, &parent.model, &known);
        let warn = |code: &str, message: String| Warning { code: code.to_owned(), message };
        let mut warnings: Vec<Warning> =
            resolved.warning.map(|message| warn(Refusal::UnknownModel.code(), message)).into_iter().collect();
        let (mode, narrowed) = child_mode(parent.mode, role.permission);
        warnings.extend(narrowed.map(|message| warn("mode_narrowed", message)));
        Ok(Subagent {
            role: role.clone(),
            model: resolved.model,
            tools: tools.tools,
            rules: (tools.allow_rules, tools.deny_rules),
            mode,
            warnings,
        })
    }
}

/// A fork shares its parent's request, the model included.
fn only_the_parents_model(model: &str) -> Warning {
    let message = format!("a fork has its parent's model, `{model}`; the `model` that the call asks for was left out");
    Warning { code: "model_ignored".to_owned(), message }
}

/// One of the session's agents to be: counted from the decision to start it until it is recorded or given up.
pub(super) struct Seat(Arc<AtomicUsize>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Tree {
    /// Takes one of the agents that the session may start.
    pub(super) fn take_seat(&self) -> Result<Seat, ToolError> {
        let limit = self.means.settings.agent_limit;
        // Seats become agents under the same lock: none is counted twice or not at all. The root doesn't count.
        self.journal.read(|fold| {
            let started = fold.view.agents.len() - 1 + self.seats.load(Ordering::Relaxed);
            if started >= limit {
                let message =
                    format!("This session has started its {limit} agents. Don't try again: do the work yourself.");
                return Err(Refusal::SubagentLimitReached.because(message));
            }
            self.seats.fetch_add(1, Ordering::Relaxed);
            Ok(Seat(self.seats.clone()))
        })
    }
}

/// What was found to be possible.
enum Ready {
    Fork { messages: Option<u32> },
    Subagent(Subagent),
}

/// A role made ready for one call.
struct Subagent {
    role: Arc<Role>,
    model: String,
    tools: Vec<String>,
    /// Allowed and denied.
    rules: (Vec<String>, Vec<String>),
    mode: PermissionMode,
    warnings: Vec<Warning>,
}

/// What a child starts with, whichever kind it is.
struct Beginning {
    kind: AgentKind,
    role: Option<Arc<Role>>,
    head: Arc<RequestHead>,
    mode: PermissionMode,
    max_turns: u32,
    /// Allowed and denied.
    rules: (Vec<String>, Vec<String>),
    inherited: Option<Inherited>,
    first: Message,
}
