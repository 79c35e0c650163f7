//! `offshoot models` and `offshoot key`: which models there are, and the keys for them.

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;

use anyhow::Context;
use futures_util::future::join_all;
use offshoot_agents::model::Provider;
use offshoot_agents::model::listing::{self, ListedModel};
use offshoot_agents::model::local::{self, LocalServer, USUAL_PORTS};
use serde::Serialize;
use serde_json::json;

use crate::access;
use crate::arguments::{FolderArguments, KeyArguments, KeyWish, Misused, ModelsArguments};
use crate::console::{Console, Painted, Tone};
use crate::keys::{Account, Place};
use crate::surroundings::Surroundings;
use crate::workplace::Choice;

/// Longest key that is read, in bytes.
const KEY_LIMIT: u64 = 16 * 1024;

/// The models of one server, or why they aren't known.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    /// What `--provider` calls its client.
    provider: Provider,
    /// For people.
    name: String,
    base_url: String,
    models: Vec<ListedModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl From<LocalServer> for Listed {
    fn from(server: LocalServer) -> Self {
        let LocalServer { name, base_url, models } = server;
        let name = format!("{name} on this machine");
        Self { provider: Provider::Openai, name, base_url, models, problem: None }
    }
}

/// Lists models.
pub(crate) async fn run(
    arguments: &ModelsArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let surroundings = Surroundings::read(folders)?.with_stored_keys().await;
    let provider = arguments.provider.map(Into::into);
    let choice = Choice { provider, base_url: arguments.base_url.clone(), ..Choice::default() };
    let lists = if let Some(provider) = provider {
        access::check(&surroundings, &choice)?;
        vec![of(&surroundings, &choice, provider).await]
    } else {
        let named = known(&surroundings);
        let asked = join_all(named.iter().map(|provider| of(&surroundings, &choice, *provider)));
        let (mut lists, found) = tokio::join!(asked, local::find(&USUAL_PORTS));
        let is_new = |server: &LocalServer| !lists.iter().any(|list| same(&list.base_url, &server.base_url));
        let new: Vec<Listed> = found.into_iter().filter(is_new).map(Into::into).collect();
        lists.extend(new);
        lists
    };
    show(&lists, arguments.json, console)?;
    let is_good = lists.iter().any(|list| list.problem.is_none());
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether two addresses are the same server's.
pub(crate) fn same(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        let text = text.trim_end_matches('/').replace("://localhost", "://127.0.0.1");
        text.strip_suffix("/v1").unwrap_or(&text).to_owned()
    };
    plain(one) == plain(other)
}

/// The providers that there is a key or an address for.
fn known(surroundings: &Surroundings) -> Vec<Provider> {
    let choice = Choice::default();
    let usual = access::answers(surroundings, &choice).provider;
    let candidates = [Provider::Anthropic, Provider::Openai];
    let is_known = |provider: &Provider| {
        let account = Account::of(*provider);
        account.is_some_and(|account| surroundings.access(account).is_some()) || account == Account::of(usual)
    };
    candidates.into_iter().filter(is_known).collect()
}

async fn of(surroundings: &Surroundings, choice: &Choice, provider: Provider) -> Listed {
    let endpoint = access::endpoint(surroundings, choice, provider);
    let listed = listing::models(provider, &endpoint).await;
    let (models, problem) = match listed {
        Ok(models) => (models, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    Listed { provider, name: access::title(provider).to_owned(), base_url: endpoint.base_url, models, problem }
}

fn show(lists: &[Listed], as_json: bool, console: &mut Console) -> anyhow::Result<()> {
    if as_json {
        let text = serde_json::to_string_pretty(lists).context("the lists could not be written as JSON")?;
        return console.print(&text).context("standard output could not be written");
    }
    if lists.is_empty() {
        console.note(
            "offshoot: there is no key, no address and no model server on this machine. See `offshoot key --help`; the \
             demo needs nothing: `offshoot exec --provider demo`.",
        );
    }
    for list in lists {
        let name = console.painted(&list.name, Tone::Strong);
        console.print_pieces(&[name, Painted::drawn(" at "), Painted::plain(&list.base_url)])?;
        if let Some(problem) = &list.problem {
            console.print_pieces(&[Painted::drawn("  "), console.painted(problem, Tone::Bad)])?;
        }
        for model in &list.models {
            let name = model.name.as_ref().map(|name| format!("({name})")).unwrap_or_default();
            let gap = if name.is_empty() { "" } else { "  " };
            let pieces = [Painted::drawn("  "), Painted::plain(&model.id), Painted::drawn(gap), Painted::plain(&name)];
            console.print_pieces(&pieces)?;
        }
    }
    Ok(())
}

/// Lists, stores and deletes keys.
pub(crate) async fn key(
    arguments: &KeyArguments,
    folders: &FolderArguments,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let surroundings = Surroundings::read(folders)?;
    match arguments.wish {
        None => list_keys(surroundings, false, console).await?,
        Some(KeyWish::List { json }) => list_keys(surroundings, json, console).await?,
        Some(KeyWish::Set { account, file }) => {
            let account = Account::from(account);
            let key = read_key(account, console).await?;
            let place = if file { Place::File } else { Place::Keychain };
            let kept = surroundings.keys.set(account, key, place).await;
            let advice = if file { "" } else { " Set the environment's variable instead, or choose the file: --file." };
            kept.map_err(|error| anyhow::anyhow!("{error}{advice}"))?;
            console.note(&format!("offshoot: the key for {} is in {} now.", account.title(), place.words()));
            if surroundings.access(account).key.is_some() {
                let variable = account.variable();
                console.note(&format!("offshoot: {variable} is set in the environment and counts more than it."));
            }
        }
        Some(KeyWish::Delete { account }) => {
            let account = Account::from(account);
            if !surroundings.keys.delete(account).await? {
                return Err(Misused(format!("there is no stored key for {}", account.title())).into());
            }
            console.note(&format!("offshoot: the key for {} is deleted.", account.title()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list_keys(surroundings: Surroundings, as_json: bool, console: &mut Console) -> anyhow::Result<()> {
    let surroundings = surroundings.with_stored_keys().await;
    let place = |account: Account| surroundings.access(account).key.as_ref().map(|key| key.place);
    if as_json {
        let all = Account::ALL.map(|account| json!({"account": account.name(), "place": place(account)}));
        return console.print(&json!(all).to_string()).context("standard output could not be written");
    }
    for account in Account::ALL {
        let place = place(account).map_or("none", Place::words);
        console.print(&format!("{:<10} {place}", account.name())).context("standard output could not be written")?;
    }
    if let Some(problem) = &surroundings.key_problem {
        console.note(&format!("offshoot: {problem}"));
    }
    Ok(())
}

async fn read_key(account: Account, console: &mut Console) -> anyhow::Result<String> {
    if std::io::stdin().is_terminal() {
        console.note(&format!("offshoot: type or paste the key for {} and end with a new line:", account.title()));
    }
    let read = || {
        let mut text = String::new();
        let stdin = std::io::stdin().lock();
        if stdin.is_terminal() {
            std::io::BufRead::read_line(&mut stdin.take(KEY_LIMIT), &mut text).map(|_| text)
        } else {
            stdin.take(KEY_LIMIT).read_to_string(&mut text).map(|_| text)
        }
    };
    let text = tokio::task::spawn_blocking(read).await?.context("standard input could not be read as text")?;
    if text.trim().is_empty() {
        return Err(Misused("there is no key on standard input".to_owned()).into());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn addresses_of_one_server_are_recognised() {
        assert!(same("http://localhost:11434", "http://127.0.0.1:11434/v1"));
        assert!(!same("http://127.0.0.1:11434/v1", "http://127.0.0.1:1234/v1"));
    }
}
