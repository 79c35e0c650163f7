//! The system's keychain: the Secret Service on Linux, Keychain on macOS, the Credential Manager on Windows.

use keyring::{Entry, Error};

use super::{Account, KeyError, KeyStore};

/// Under which name keys are kept.
const SERVICE: &str = "offshoot";

/// What is usually the matter where there is none.
#[cfg(target_os = "linux")]
const MISSING: &str = "no Secret Service (GNOME Keyring, KWallet, KeePassXC) answers here";
#[cfg(not(target_os = "linux"))]
const MISSING: &str = "the system refused";

/// See the module.
pub(super) struct Keychain;

impl KeyStore for Keychain {
    fn read(&self, account: Account) -> Result<Option<String>, KeyError> {
        match entry(account)?.get_password() {
            Ok(key) => Ok(Some(key)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(failed("read", &error)),
        }
    }

    fn write(&self, account: Account, key: &str) -> Result<(), KeyError> {
        entry(account)?.set_password(key).map_err(|error| failed("written", &error))
    }

    fn delete(&self, account: Account) -> Result<bool, KeyError> {
        match entry(account)?.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(failed("changed", &error)),
        }
    }
}

fn entry(account: Account) -> Result<Entry, KeyError> {
    if let Err(error) = Entry::store_status() {
        tracing::info!(%error, "there is no keychain");
        return Err(KeyError(format!("The system's keychain can't be reached: {MISSING}.")));
    }
    Entry::new(SERVICE, account.name()).map_err(|error| failed("reached", &error))
}

/// The library's errors may carry what was stored; only their kind is told.
fn failed(what: &str, error: &Error) -> KeyError {
    let why = match error {
        Error::NoStorageAccess(cause) => format!("it is locked, or its service doesn't run ({cause})"),
        Error::PlatformFailure(cause) => cause.to_string(),
        Error::NoDefaultStore => "there is none here".to_owned(),
        Error::BadEncoding(_) => "what is stored is no text".to_owned(),
        Error::Ambiguous(_) => "it has several entries for the same key: delete them there".to_owned(),
        _ => "its service refused".to_owned(),
    };
    KeyError(format!("The system's keychain can't be {what}: {why}."))
}
