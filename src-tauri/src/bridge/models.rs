//! Commands about the model: what is set, what could be, a try, and keys.

use std::path::PathBuf;
use std::time::Instant;

use futures_util::StreamExt;
use offshoot_agents::model::listing::{self, ListedModel};
use offshoot_agents::model::local::{self, LocalServer, USUAL_PORTS};
use offshoot_agents::model::{Endpoint, ModelEvent, Provider, Request, RequestHead, Secret};
use offshoot_agents::settings;
use offshoot_agents::transcript::Transcript;
use offshoot_protocol::{Message, Origin, Rejected, RejectedCode};
use serde::{Deserialize, Serialize};
use tauri::State;

use super::{Bridge, Startup, commands};
use crate::access;
use crate::keys::{Account, Place};
use crate::models;
use crate::surroundings::Surroundings;
use crate::workplace::Choice;

/// Most tokens of a try's answer; some providers refuse a lower limit.
const TRY_TOKENS: u32 = 64;

/// What is set, and what could be.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelSetup {
    /// Who answers new sessions.
    provider: Provider,
    model: String,
    /// The address; absent: the provider's usual one.
    base_url: Option<String>,
    /// Variables of the environment that count more than what is set here.
    overriding: Vec<&'static str>,
    /// Where each account's key is.
    keys: Vec<KeyFound>,
    /// The file that is written.
    settings_file: String,
    /// The file for keys, where there is no keychain.
    key_file: String,
    /// Why the keychain can't be used; absent when it can.
    keychain_problem: Option<String>,
    /// Model servers that listen on this machine.
    local: Vec<LocalServer>,
}

#[derive(Debug, Serialize)]
pub(super) struct KeyFound {
    account: &'static str,
    place: Option<Place>,
}

/// What the person wants to ask.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelWish {
    provider: Provider,
    /// Absent or blank: the provider's usual address.
    base_url: Option<String>,
    /// Absent or blank: the usual model.
    model: Option<String>,
    /// A key that was just typed; absent: the one that there is.
    key: Option<String>,
}

/// A try's answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelTried {
    model: String,
    /// What it said.
    text: String,
    /// How long the whole answer took.
    milliseconds: u64,
}

impl ModelWish {
    fn base_url(&self) -> Option<String> {
        self.base_url.as_deref().map(str::trim).filter(|url| !url.is_empty()).map(str::to_owned)
    }

    fn model(&self) -> Option<String> {
        self.model.as_deref().map(str::trim).filter(|model| !model.is_empty()).map(str::to_owned)
    }

    fn key(&self) -> Option<String> {
        self.key.as_deref().map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned)
    }

    fn choice(&self) -> Choice {
        let (base_url, model) = (self.base_url(), self.model());
        Choice { provider: Some(self.provider), base_url, model, ..Choice::default() }
    }

    /// Where that is, with the typed key before the one that there is.
    fn endpoint(&self, found: &Surroundings) -> Endpoint {
        let endpoint = access::endpoint(found, &self.choice(), self.provider);
        match self.key() {
            Some(key) => Endpoint { key: Some(Secret::new(&key)), ..endpoint },
            None => endpoint,
        }
    }
}

/// What is set, and what could be.
#[tauri::command]
pub(super) async fn model_setup(bridge: State<'_, Bridge>) -> Result<ModelSetup, Rejected> {
    bridge.workbench().await?;
    let found = bridge.surroundings();
    let (local, keychain) = tokio::join!(local::find(&USUAL_PORTS), found.keys.check_keychain());
    let answers = access::answers(&found, &Choice::default());
    let account = Account::of(answers.provider).filter(|account| found.access(*account).base_url.is_some());
    let overriding = account.map(Account::address_variable).into_iter().collect();
    Ok(ModelSetup {
        base_url: found.settings.model.base_url.clone(),
        provider: answers.provider,
        model: answers.model,
        overriding,
        keys: Account::ALL
            .map(|account| KeyFound {
                account: account.name(),
                place: found.access(account).key.as_ref().map(|key| key.place),
            })
            .into(),
        settings_file: settings_file(&found).display().to_string(),
        key_file: found.keys.path().display().to_string(),
        keychain_problem: keychain.err().map(|error| error.to_string()),
        local,
    })
}

fn settings_file(found: &Surroundings) -> PathBuf {
    found.config_dir.join("settings.json")
}

/// The models that a server says it has.
#[tauri::command]
pub(super) async fn model_list(bridge: State<'_, Bridge>, wish: ModelWish) -> Result<Vec<ListedModel>, Rejected> {
    let found = bridge.surroundings();
    let mut endpoint = wish.endpoint(&found);
    // The list is asked for as soon as an address is there, without anybody's word: a stored key goes only where it goes
    // anyway.
    let choice = Choice::default();
    let usual = access::address(&found, &choice, wish.provider);
    if wish.key().is_none() && !models::same(&endpoint.base_url, usual) {
        endpoint.key = None;
    }
    listing::models(wish.provider, &endpoint).await.map_err(|error| failed(&error.to_string()))
}

/// Really asks for a word.
#[tauri::command]
pub(super) async fn model_test(bridge: State<'_, Bridge>, wish: ModelWish) -> Result<ModelTried, Rejected> {
    let found = bridge.surroundings();
    let mut choice = wish.choice();
    if wish.key().is_none() {
        access::check(&found, &choice).map_err(|misused| failed(&misused.0))?;
    }
    access::settle_model(&found, &mut choice).await.map_err(|misused| failed(&misused.0))?;
    let model = access::answers(&found, &choice).model;
    let client = access::make(wish.provider, wish.endpoint(&found)).map_err(|error| failed(&error.to_string()))?;
    let mut transcript = Transcript::default();
    transcript.push(Message::user("Answer with the single word OK.", Origin::User));
    let head = RequestHead {
        provider: wish.provider,
        model: model.clone(),
        system: String::new(),
        tools: Vec::new(),
        max_tokens: TRY_TOKENS,
        thinking_budget: None,
    };
    let (session, agent) = ("try".into(), "try".into());
    let request = Request { head: head.into(), transcript, fork_point: None, session, agent };
    let begun = Instant::now();
    let mut answer = client.stream(request);
    let mut text = String::new();
    while let Some(event) = answer.next().await {
        match event.map_err(|error| failed(&error.to_string()))? {
            ModelEvent::TextDelta { text: more, .. } => text.push_str(&more),
            ModelEvent::Ended { .. } => break,
            _ => {}
        }
    }
    let milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(ModelTried { model, text: text.trim().chars().take(200).collect(), milliseconds })
}

/// Writes the settings and the key, and lets everything ask there from now on. Answers as `startup` does.
#[tauri::command]
pub(super) async fn model_save(bridge: State<'_, Bridge>, wish: ModelWish, place: Place) -> Result<Startup, Rejected> {
    bridge.workbench().await?;
    let found = bridge.surroundings();
    if let (Some(account), Some(key)) = (Account::of(wish.provider), wish.key()) {
        found.keys.set(account, key, place).await.map_err(|error| failed(&error.to_string()))?;
    }
    let provider = serde_json::to_value(wish.provider).map_err(|error| failed(&error.to_string()))?;
    let values = [
        ("provider", Some(provider)),
        ("baseUrl", wish.base_url().map(Into::into)),
        ("model", wish.model().map(Into::into)),
    ];
    let file = settings_file(&found);
    let written = tokio::task::spawn_blocking(move || settings::set_values(&file, &values)).await;
    written.map_err(|error| failed(&error.to_string()))?.map_err(|error| failed(&error.to_string()))?;
    read_anew(&bridge, &found).await?;
    commands::startup(bridge).await
}

/// Forgets a stored key. Answers as `startup` does.
#[tauri::command]
pub(super) async fn key_delete(bridge: State<'_, Bridge>, provider: Provider) -> Result<Startup, Rejected> {
    let found = bridge.surroundings();
    if let Some(account) = Account::of(provider) {
        found.keys.delete(account).await.map_err(|error| failed(&error.to_string()))?;
    }
    read_anew(&bridge, &found).await?;
    commands::startup(bridge).await
}

async fn read_anew(bridge: &Bridge, found: &Surroundings) -> Result<(), Rejected> {
    let folders = found.folders();
    let anew = tokio::task::spawn_blocking(move || Surroundings::read(&folders)).await;
    let anew = anew.map_err(|error| failed(&error.to_string()))?.map_err(|error| failed(&format!("{error:#}")))?;
    bridge.take_over(anew.with_stored_keys().await).await
}

fn failed(message: &str) -> Rejected {
    let message = message.trim_end_matches('.');
    let mut first = message.chars();
    let message = first.next().map(|c| c.to_uppercase().collect::<String>() + first.as_str()).unwrap_or_default();
    Rejected::new(RejectedCode::Failed, format!("{message}."), "Nothing was changed. Correct it and try again.")
}
