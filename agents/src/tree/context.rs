//! What an agent's requests are made of, on a person's wish: a shorter conversation, another model.

use std::sync::Arc;

use offshoot_protocol::{AgentId, AgentKind, CompactionWish, EventBody, HeadChanged, Rejected, RejectedCode};

use super::{Tree, no_such_agent, not_stored};
use crate::agent::{Wish, is_running};
use crate::model::RequestHead;
use crate::role::model_alias::ModelWishes;

/// Most models that a hint names.
const MODELS_SHOWN: usize = 12;

impl Tree {
    /// Lets an agent's conversation be summed up: at its next step, at once when it is the root at rest.
    pub async fn compact(&self, agent: &AgentId, instructions: &str) -> Result<(), Rejected> {
        let wish = CompactionWish { instructions: instructions.trim().to_owned() };
        let (seq, allowed) = self.journal.decide(|fold| {
            let Some(view) = fold.agent(agent) else { return (Vec::new(), Err(no_such_agent())) };
            let not_now = |message: &str, hint: &str| {
                (Vec::new(), Err(Rejected::new(RejectedCode::NotApplicable, message, hint)))
            };
            if view.kind != AgentKind::Root && !is_running(&view.state) {
                return not_now("The agent is at rest.", "It compacts by itself when it goes on and is nearly full.");
            }
            if view.steps == 0 {
                return not_now("There is nothing to sum up yet.", "Say something to the agent first.");
            }
            (vec![(Some(agent.clone()), EventBody::CompactionRequested(wish))], Ok(()))
        });
        allowed?;
        self.journal.stored(seq).await.map_err(|error| not_stored(&error))?;
        self.tell(agent, Wish::Wake);
        Ok(())
    }

    /// Lets another model of the same provider answer an agent that is at rest.
    pub async fn set_model(&self, agent: &AgentId, name: &str) -> Result<(), Rejected> {
        let worker = self.worker(agent).ok_or_else(no_such_agent)?;
        let before = worker.speaker().head.clone();
        let wishes = ModelWishes { call: Some(name), ..ModelWishes::default() };
        let known = self.means.kit.known_models.of(before.provider);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let resolved = self.means.aliases.resolve(wishes, &before.model, &known);
        if name.trim().is_empty() || resolved.warning.is_some() {
            let (message, hint) = if known.is_empty() {
                (format!("{name:?} is no model's id or alias."), "Write it as the provider does.".to_owned())
            } else {
                (format!("The provider has no model {name:?}."), format!("It has: {}.", listed(&known)))
            };
            return Err(Rejected::new(RejectedCode::Invalid, message, hint));
        }
        if resolved.model == before.model {
            let message = format!("The model is {} already.", before.model);
            return Err(Rejected::new(RejectedCode::NotApplicable, message, ""));
        }
        let head = Arc::new(RequestHead { model: resolved.model, ..(*before).clone() });
        let changed = HeadChanged { model: head.model.clone(), head: self.put_head(&head) };
        let (seq, allowed) = self.journal.decide(|fold| match fold.agent(agent) {
            // Between a call and its result a model may insist on the reasoning that led to the call.
            Some(view) if is_running(&view.state) => {
                let hint = "Interrupt it, or wait until it is done.";
                (Vec::new(), Err(Rejected::new(RejectedCode::NotApplicable, "The agent is working.", hint)))
            }
            Some(_) => (vec![(Some(agent.clone()), EventBody::HeadChanged(changed))], Ok(())),
            None => (Vec::new(), Err(no_such_agent())),
        });
        allowed?;
        worker.set_speaker(self.speaker(head));
        self.journal.stored(seq).await.map_err(|error| not_stored(&error))
    }
}

/// Some of the models, and how many there are beside them.
fn listed(models: &[&str]) -> String {
    let shown = models.iter().take(MODELS_SHOWN).copied().collect::<Vec<_>>().join(", ");
    match models.len().checked_sub(MODELS_SHOWN) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}
