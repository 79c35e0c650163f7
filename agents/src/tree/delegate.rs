//! The `Agent` call: routes it in a fixed order, starts the agent, waits for it in the foreground.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use offshoot_protocol::{Access, AgentId, AgentKind, Block, CallId, Isolation, Origin, RawJson};
use serde_json::Value;

use super::Tree;
use super::start::{Order, Route, Seat};
use super::title::title_of;
use super::wait::{StopOnDrop, Waited};
use crate::prompt;
use crate::settings::Forks;
use crate::tool::{AgentCall, Delegate, Refusal, ToolError, ToolOutput, agent};
use crate::turn::call::permit;

/// The role that a call without one gets where forks are off.
const FALLBACK_ROLE: &str = "general-purpose";

/// The tree, as calls know it.
pub(super) struct TreeDelegate(pub(super) Weak<Tree>);

#[async_trait]
impl Delegate for TreeDelegate {
    async fn delegate(&self, agent: &AgentId, call: &CallId, wish: AgentCall) -> Result<ToolOutput, ToolError> {
        self.tree()?.delegate(agent, call, wish).await
    }

    fn revoke(&self, agent: &AgentId, calls: &[CallId]) {
        if let Ok(tree) = self.tree() {
            tree.revoke(agent, calls);
        }
    }
}

impl TreeDelegate {
    pub(super) fn tree(&self) -> Result<Arc<Tree>, ToolError> {
        self.0.upgrade().ok_or_else(|| Refusal::SubagentFailed.because("The session is closing."))
    }
}

impl Tree {
    async fn delegate(
        self: &Arc<Self>,
        caller: &AgentId,
        call: &CallId,
        wish: AgentCall,
    ) -> Result<ToolOutput, ToolError> {
        self.refuse_nesting(caller, &wish)?;
        if wish.team_name.is_some() {
            let message = "Teams aren't available yet: leave `team_name` out.";
            return Err(ToolError::invalid(message));
        }
        let route = self.route(&wish)?;
        let background = self.background(&route, &wish)?;
        let seat = self.take_seat()?;
        self.check_rules(caller, call, &route).await?;
        let isolated = wish.isolated || isolates(&route);
        let title = title_of(wish.description.as_deref().unwrap_or(&wish.prompt));
        let id = AgentId(self.means.kit.ids.next("a-"));
        let order = Order {
            id: id.clone(),
            parent: caller.clone(),
            call: Some(call.clone()),
            route,
            prompt: wish.prompt,
            title: title.clone(),
            model: wish.model,
            background,
            isolated,
        };
        let waiting = (!background).then(|| StopOnDrop::new(self, &id));
        self.start(order, seat).await?;
        if let Some(waiting) = waiting
            && let Waited::Ended(outcome) = self.wait_for(&id, waiting).await
        {
            return self.handed_back(&id, outcome);
        }
        self.task_created(caller, id.as_str(), &title).await;
        Ok(self.launched(&id, &title))
    }

    /// Starts a fork for a person. Between turns and in the middle of one.
    pub async fn fork(
        self: &Arc<Self>,
        parent: &AgentId,
        directive: &str,
        isolation: Isolation,
        messages: Option<u32>,
    ) -> Result<AgentId, ToolError> {
        let wish = wish_of_person(directive, "directive")?;
        self.refuse_nesting(parent, &wish)?;
        if !self.means.settings.background {
            return Err(background_disabled());
        }
        let seat = self.take_seat()?;
        let order = self.by_person(parent.clone(), Route::Fork { messages }, wish.prompt, isolation);
        self.start_for_person(order, seat).await
    }

    /// Starts a subagent for a person, below the root.
    pub async fn start_subagent(
        self: &Arc<Self>,
        role: &str,
        brief: &str,
        isolation: Isolation,
    ) -> Result<AgentId, ToolError> {
        let mut wish = wish_of_person(brief, "brief")?;
        wish.subagent_type = Some(role.trim().to_owned()).filter(|role| !role.is_empty());
        let root = self.journal.read(|fold| fold.root().map(|root| root.id.clone()));
        let root = root.ok_or_else(|| ToolError::new("not_found", "The session has no root agent."))?;
        let route = self.route(&wish)?;
        if !self.means.settings.background {
            return Err(background_disabled());
        }
        let seat = self.take_seat()?;
        self.start_for_person(self.by_person(root, route, wish.prompt, isolation), seat).await
    }

    async fn start_for_person(self: &Arc<Self>, order: Order, seat: Seat) -> Result<AgentId, ToolError> {
        let (parent, title) = (order.parent.clone(), order.title.clone());
        let id = self.start(order, seat).await?;
        self.task_created(&parent, id.as_str(), &title).await;
        Ok(id)
    }

    /// Children don't delegate. Guarded by the agent's kind, which compaction can't wash away, and by the tag of a fork's
    /// frame in the transcript.
    fn refuse_nesting(&self, caller: &AgentId, wish: &AgentCall) -> Result<(), ToolError> {
        let (kind, transcript) =
            self.journal.read(|fold| (fold.agent(caller).map(|agent| agent.kind), fold.transcript(caller)));
        let kind = kind.ok_or_else(|| ToolError::new("not_found", "There is no such agent."))?;
        let is_framed = |block: &Block| matches!(block, Block::Text { text, origin: Origin::Reminder } if text.starts_with(prompt::FORK_TAG));
        let kind = match kind {
            AgentKind::Root
                if transcript.messages().iter().any(|stored| stored.message.blocks.iter().any(is_framed)) =>
            {
                AgentKind::Fork
            }
            AgentKind::Root => return Ok(()),
            other => other,
        };
        let word = prompt::kind_word(kind);
        let message = format!("A {word} can't start agents. Do the work yourself with your own tools.");
        let refusal = match wish.team_name {
            Some(_) => Refusal::NestedTeamMemberForbidden,
            None => Refusal::NestedAgentForbidden,
        };
        Err(refusal.because(message))
    }

    fn route(&self, wish: &AgentCall) -> Result<Route, ToolError> {
        let forks = match self.means.settings.forks {
            Forks::Interactive => self.means.kit.interactive,
            Forks::Always => true,
            Forks::Never => false,
        };
        let name = match &wish.subagent_type {
            None if forks => return Ok(Route::Fork { messages: None }),
            None => FALLBACK_ROLE,
            Some(name) => name,
        };
        let catalog = self.means.catalog(&self.project());
        if let Some(role) = catalog.get(name) {
            return Ok(Route::Role(role.clone()));
        }
        let closest = catalog.closest(name);
        let meant = if closest.is_empty() { String::new() } else { format!(" Did you mean {}?", closest.join(", ")) };
        let all = catalog.names().join(", ");
        let message = format!("There is no role {name:?}.{meant} There are: {all}.");
        Err(Refusal::UnknownSubagentType.because(message))
    }

    fn background(&self, route: &Route, wish: &AgentCall) -> Result<bool, ToolError> {
        let wanted = match route {
            Route::Fork { .. } => true,
            Route::Role(role) => wish.run_in_background.unwrap_or(role.background),
        };
        if wanted && !self.means.settings.background {
            return Err(background_disabled());
        }
        Ok(wanted)
    }

    async fn check_rules(&self, caller: &AgentId, call: &CallId, route: &Route) -> Result<(), ToolError> {
        let Some(worker) = self.worker(caller) else { return Ok(()) };
        let role = match route {
            Route::Fork { .. } => "fork".to_owned(),
            Route::Role(role) => role.name.clone(),
        };
        let raw = worker.input_of(call).unwrap_or(RawJson("{}".to_owned()));
        let value: Value = serde_json::from_str(&raw.0).unwrap_or_default();
        permit(&worker, call, agent::NAME, &value, &raw, Access::Delegate { role }, None).await
    }

    fn by_person(&self, parent: AgentId, route: Route, prompt: String, isolation: Isolation) -> Order {
        let id = AgentId(self.means.kit.ids.next("a-"));
        let isolated = isolation == Isolation::Worktree || isolates(&route);
        let title = title_of(&prompt);
        Order { id, parent, call: None, route, prompt, title, model: None, background: true, isolated }
    }
}

/// Whether the role asks for a worktree of its own.
fn isolates(route: &Route) -> bool {
    matches!(route, Route::Role(role) if role.isolation == Isolation::Worktree)
}

pub(super) fn background_disabled() -> ToolError {
    let message = "Background agents are turned off: use a role in the foreground, or do the work yourself.";
    Refusal::BackgroundDisabled.because(message)
}

fn wish_of_person(prompt: &str, what: &str) -> Result<AgentCall, ToolError> {
    let prompt = prompt.trim().to_owned();
    if prompt.is_empty() {
        return Err(ToolError::invalid(format!("The {what} is empty: say what the agent shall do.")));
    }
    Ok(AgentCall { prompt, ..AgentCall::default() })
}
