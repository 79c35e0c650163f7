//! Providers' keys: the system's keychain, or a file that only its owner can read.
//!
//! A key in the environment counts more than a stored one. Which of the two stores is used is the person's choice; a key
//! that is set in one is taken out of the other. Nothing here prints a key, and no error repeats one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use offshoot_agents::model::{Provider, Secret};

mod file;
mod keychain;

use file::KeyFile;
use keychain::Keychain;

/// How long the keychain may take. It may ask the person to unlock it, but nothing waits for that for long.
const LIMIT: Duration = Duration::from_secs(5);

/// Whom a key is for. Both formats of `OpenAI` share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    Anthropic,
    Openai,
}

impl Account {
    pub(crate) const ALL: [Self; 2] = [Self::Anthropic, Self::Openai];

    /// The account that a provider needs.
    pub(crate) fn of(provider: Provider) -> Option<Self> {
        match provider {
            Provider::Anthropic => Some(Self::Anthropic),
            Provider::Openai | Provider::OpenaiResponses => Some(Self::Openai),
            Provider::Demo => None,
        }
    }

    /// Its name in stores.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
        }
    }

    /// Its name for people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::Openai => "OpenAI",
        }
    }

    /// The variable of the environment that holds its key.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Openai => "OPENAI_API_KEY",
        }
    }

    /// The variable of the environment that holds the address of its server.
    pub(crate) fn address_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_BASE_URL",
            Self::Openai => "OPENAI_BASE_URL",
        }
    }
}

/// Where a key is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Place {
    /// A variable of the environment: it is read there and never written.
    Environment,
    /// The system's keychain.
    Keychain,
    /// A file in the settings folder that only its owner can read.
    File,
}

impl Place {
    /// For people, behind "a key from".
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Environment => "the environment",
            Self::Keychain => "the keychain",
            Self::File => "the file of keys",
        }
    }
}

/// A key, and where it is from.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) secret: Secret,
    pub(crate) place: Place,
}

/// Why a store can't be used. Shown to people; says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct KeyError(pub(crate) String);

/// Keeps keys. Blocks; the texts of its errors are free of keys.
pub(crate) trait KeyStore: Send + Sync {
    /// The key; none when there is none.
    fn read(&self, account: Account) -> Result<Option<String>, KeyError>;
    /// Keeps a key in the place of the one before.
    fn write(&self, account: Account, key: &str) -> Result<(), KeyError>;
    /// Forgets a key. Returns whether there was one.
    fn delete(&self, account: Account) -> Result<bool, KeyError>;
}

/// The two stores.
#[derive(Clone)]
pub(crate) struct Keys {
    keychain: Arc<dyn KeyStore>,
    file: Arc<dyn KeyStore>,
    path: PathBuf,
}

impl Keys {
    /// The stores of a person with this settings folder.
    pub(crate) fn new(config_dir: &Path) -> Self {
        let path = config_dir.join(file::NAME);
        Self { keychain: Arc::new(Keychain), file: Arc::new(KeyFile::new(path.clone())), path }
    }

    /// The file, whether it is there or not.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The stored key, and what went wrong on the way to it.
    pub(crate) async fn stored(&self, account: Account) -> (Option<Key>, Option<KeyError>) {
        let mut problem = None;
        // The file is asked first: that costs nothing, and whoever has it chose it.
        for (place, store) in [(Place::File, &self.file), (Place::Keychain, &self.keychain)] {
            match bounded(store, move |store| store.read(account)).await {
                Ok(Some(text)) if !text.trim().is_empty() => {
                    return (Some(Key { secret: Secret::new(&text), place }), problem);
                }
                Ok(_) => {}
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        (None, problem)
    }

    /// Whether the keychain can be used.
    pub(crate) async fn check_keychain(&self) -> Result<(), KeyError> {
        bounded(&self.keychain, |store| store.read(Account::Anthropic).map(drop)).await
    }

    /// Keeps a key, in one place alone.
    pub(crate) async fn set(&self, account: Account, key: String, place: Place) -> Result<(), KeyError> {
        let key = key.trim().to_owned();
        if key.is_empty() {
            return Err(KeyError("The key is empty; nothing was changed.".to_owned()));
        }
        if key.len() > 4096 || key.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(KeyError(
                "This is no key: it holds spaces or line ends, or is very long; nothing was changed.".to_owned(),
            ));
        }
        let (store, other) = match place {
            Place::Keychain => (&self.keychain, &self.file),
            Place::File => (&self.file, &self.keychain),
            Place::Environment => {
                let variable = account.variable();
                return Err(KeyError(format!("A key in the environment is set there: {variable}.")));
            }
        };
        bounded(store, move |store| store.write(account, &key)).await?;
        // The other place may not be usable at all, which is why this one was chosen.
        let _ = bounded(other, move |store| store.delete(account)).await;
        Ok(())
    }

    /// Forgets a key, wherever it is. Returns whether there was one.
    pub(crate) async fn delete(&self, account: Account) -> Result<bool, KeyError> {
        let in_file = bounded(&self.file, move |store| store.delete(account)).await?;
        match bounded(&self.keychain, move |store| store.delete(account)).await {
            Ok(in_keychain) => Ok(in_file || in_keychain),
            Err(_) if in_file => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// Does something with a store on a thread that may block, for a limited time.
async fn bounded<T: Send + 'static>(
    store: &Arc<dyn KeyStore>,
    work: impl FnOnce(&dyn KeyStore) -> Result<T, KeyError> + Send + 'static,
) -> Result<T, KeyError> {
    let store = store.clone();
    let work = tokio::task::spawn_blocking(move || work(&*store));
    match tokio::time::timeout(LIMIT, work).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Err(KeyError("The keychain could not be asked.".to_owned())),
        Err(_) => Err(KeyError(format!(
            "The keychain didn't answer within {} s; it may be waiting to be unlocked.",
            LIMIT.as_secs()
        ))),
    }
}

#[cfg(test)]
mod tests;
