//! Who answers: which provider, at which address, with which key and model; and the clients that this makes.
//!
//! What the command line says counts most, then the environment, then the person's own settings, then what is usual. A
//! project's settings have no say: whoever wrote them would be sent the person's key.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use offshoot_agents::model::anthropic::Anthropic;
use offshoot_agents::model::demo::Demo;
use offshoot_agents::model::listing::{self, ListedModel};
use offshoot_agents::model::openai_chat::OpenAiChat;
use offshoot_agents::model::openai_responses::OpenAiResponses;
use offshoot_agents::model::{Endpoint, Model, ModelError, Provider, Replaceable};

use crate::arguments::Misused;
use crate::keys::Account;
use crate::surroundings::Surroundings;
use crate::workplace::Choice;

/// What new sessions ask Anthropic for, unless told otherwise.
const ANTHROPIC_MODEL: &str = "claude-sonnet-4-5";

/// What new sessions ask `OpenAI` for, unless told otherwise.
const OPENAI_MODEL: &str = "gpt-5.1";

/// The demo's name for its model.
const DEMO_MODEL: &str = "demo";

/// Sent to a server whose models aren't known. Those that serve one model answer whatever it is called.
const ANY_MODEL: &str = "default";

/// Where Anthropic's API is.
const ANTHROPIC: &str = "https://api.anthropic.com";

/// Where `OpenAI`'s API is.
const OPENAI: &str = "https://api.openai.com/v1";

/// The demo's pace: it reads like a fast model.
const DEMO_PAUSE: Duration = Duration::from_millis(20);

/// Who answers new sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answers {
    /// The client.
    pub(crate) provider: Provider,
    /// The model's id.
    pub(crate) model: String,
}

/// A provider's name for people.
pub(crate) fn title(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => "Anthropic",
        Provider::Openai => "OpenAI Chat Completions",
        Provider::OpenaiResponses => "OpenAI Responses",
        Provider::Demo => "the demo",
    }
}

/// Who answers: what was chosen, else what is set, else whoever there is a key or an address for, else the demo.
pub(crate) fn answers(surroundings: &Surroundings, choice: &Choice) -> Answers {
    let set = &surroundings.settings.model;
    let provider = choice.provider.or(set.provider).unwrap_or_else(|| usual(surroundings, choice));
    // A model that is set is one of the provider that is set.
    let is_set = choice.provider.is_none_or(|chosen| Some(chosen) == set.provider) && provider != Provider::Demo;
    let named = choice.model.as_ref().or(set.model.as_ref().filter(|_| is_set));
    let model = named.map_or_else(|| usual_model(surroundings, choice, provider), String::as_str);
    Answers { provider, model: model.to_owned() }
}

fn usual(surroundings: &Surroundings, choice: &Choice) -> Provider {
    let (anthropic, openai) = (surroundings.access(Account::Anthropic), surroundings.access(Account::Openai));
    let has_address = choice.base_url.is_some() || surroundings.settings.model.base_url.is_some();
    if anthropic.is_some() || has_address {
        Provider::Anthropic
    } else if openai.base_url.is_some() {
        Provider::Openai
    } else if openai.key.is_some() {
        Provider::OpenaiResponses
    } else {
        Provider::Demo
    }
}

fn usual_model(surroundings: &Surroundings, choice: &Choice, provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => ANTHROPIC_MODEL,
        Provider::Openai | Provider::OpenaiResponses if is_own(address(surroundings, choice, provider)) => OPENAI_MODEL,
        Provider::Openai | Provider::OpenaiResponses => ANY_MODEL,
        Provider::Demo => DEMO_MODEL,
    }
}

/// Whether an address is that of a provider which has every model of its name and takes nobody without a key.
fn is_own(address: &str) -> bool {
    [ANTHROPIC, OPENAI, "https://api.openai.com"].contains(&address.trim_end_matches('/'))
}

/// A provider's address: the command line's, the environment's, what is set for it, or the usual one.
pub(crate) fn address<'a>(surroundings: &'a Surroundings, choice: &'a Choice, provider: Provider) -> &'a str {
    named_address(surroundings, choice, provider).unwrap_or(match provider {
        Provider::Openai | Provider::OpenaiResponses => OPENAI,
        Provider::Anthropic | Provider::Demo => ANTHROPIC,
    })
}

fn named_address<'a>(surroundings: &'a Surroundings, choice: &'a Choice, provider: Provider) -> Option<&'a str> {
    let set = &surroundings.settings.model;
    let is_chosen = |named: Option<Provider>| named.unwrap_or(Provider::Anthropic) == provider;
    let of_line = choice.base_url.as_ref().filter(|_| is_chosen(choice.provider.or(set.provider)));
    let of_environment = Account::of(provider).and_then(|account| surroundings.access(account).base_url.as_ref());
    let of_settings = set.base_url.as_ref().filter(|_| is_chosen(set.provider));
    of_line.or(of_environment).or(of_settings).map(String::as_str)
}

/// Where a provider is reached, and with which key.
pub(crate) fn endpoint(surroundings: &Surroundings, choice: &Choice, provider: Provider) -> Endpoint {
    let key = Account::of(provider).and_then(|account| surroundings.access(account).key.as_ref());
    let address = address(surroundings, choice, provider);
    Endpoint {
        authorities: surroundings.authorities.clone(),
        ..Endpoint::new(address, key.map(|key| key.secret.clone()))
    }
}

/// Refuses to ask a provider that wants a key without one, rather than to be refused there; and to ask at an address that
/// is none.
pub(crate) fn check(surroundings: &Surroundings, choice: &Choice) -> Result<(), Misused> {
    let provider = answers(surroundings, choice).provider;
    client(surroundings, choice, provider).map(drop).map_err(Misused)
}

/// Names the model of a server that has models of its own, where nobody named one: its first.
pub(crate) async fn settle_model(surroundings: &Surroundings, choice: &mut Choice) -> Result<(), Misused> {
    let answers = answers(surroundings, choice);
    if answers.model != ANY_MODEL {
        return Ok(());
    }
    let address = address(surroundings, choice, answers.provider);
    let listed = listing::models(answers.provider, &endpoint(surroundings, choice, answers.provider)).await;
    let first = listed.map(|models| models.into_iter().next());
    let wrong = |why: String| {
        Misused(format!("the server at {address} was asked which models it has, but {why}; name one with --model"))
    };
    match first {
        Ok(Some(ListedModel { id, .. })) => choice.model = Some(id),
        Ok(None) => return Err(wrong("it has none".to_owned())),
        // A server without a list has one model, whatever it is called.
        Err(ModelError::Status { status: 404 | 405 | 501, .. }) => {}
        Err(error) => return Err(wrong(error.to_string())),
    }
    Ok(())
}

/// The client for a provider, or what is missing and what to do.
fn client(surroundings: &Surroundings, choice: &Choice, provider: Provider) -> Result<Arc<dyn Model>, String> {
    let endpoint = endpoint(surroundings, choice, provider);
    if let Some(account) = Account::of(provider)
        && endpoint.key.is_none()
        && is_own(&endpoint.base_url)
    {
        return Err(format!(
            "there is no key for {}; set {}, store one with `offshoot key set {}`, or name a server that needs none with --base-url",
            account.title(),
            account.variable(),
            account.name()
        ));
    }
    make(provider, endpoint).map_err(|error| error.to_string())
}

/// A client for an endpoint. Nothing is sent yet.
pub(crate) fn make(provider: Provider, endpoint: Endpoint) -> Result<Arc<dyn Model>, ModelError> {
    Ok(match provider {
        Provider::Anthropic => Arc::new(Anthropic::new(endpoint)?),
        Provider::Openai => Arc::new(OpenAiChat::new(endpoint)?),
        Provider::OpenaiResponses => Arc::new(OpenAiResponses::new(endpoint)?),
        Provider::Demo => Arc::new(Demo::new(DEMO_PAUSE)),
    })
}

/// One client for each provider, to be exchanged when a key or an address changes. Clones are the same clients.
#[derive(Clone)]
pub(crate) struct Clients(Arc<[(Provider, Arc<Replaceable>)]>);

impl Default for Clients {
    fn default() -> Self {
        let all = [Provider::Anthropic, Provider::Openai, Provider::OpenaiResponses, Provider::Demo];
        Self(all.map(|provider| (provider, Arc::new(Replaceable::missing("the model isn't set up yet")))).into())
    }
}

impl Clients {
    /// Lets all clients ask where, and with what, they are to ask from now on.
    pub(crate) fn set_up(&self, surroundings: &Surroundings, choice: &Choice) {
        for (provider, slot) in &*self.0 {
            slot.set(client(surroundings, choice, *provider));
        }
    }

    /// For the core.
    pub(crate) fn by_provider(&self) -> HashMap<Provider, Arc<dyn Model>> {
        self.0.iter().map(|(provider, slot)| (*provider, slot.clone() as Arc<dyn Model>)).collect()
    }
}

#[cfg(test)]
mod tests;
