//! A file of keys that only its owner can read, for machines without a keychain.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use super::{Account, KeyError, KeyStore};

/// Its name in the settings folder.
pub(super) const NAME: &str = "credentials.json";

/// Largest file that is read, in bytes.
const MAX_SIZE: u64 = 64 * 1024;

/// See the module.
pub(super) struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    fn load(&self) -> Result<BTreeMap<String, String>, KeyError> {
        let wrong = |why: &str| KeyError(format!("{} {why}", self.path.display()));
        let meta = match fs::symlink_metadata(&self.path) {
            Ok(meta) => meta,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(BTreeMap::new());
            }
            Err(error) => return Err(wrong(&format!("can't be read: {error}."))),
        };
        if !meta.is_file() || meta.len() > MAX_SIZE {
            return Err(wrong("is not read: it is no regular file, or too large."));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            if meta.permissions().mode() & 0o077 != 0 {
                return Err(wrong("is not read: others can read it, too. Change its keys, then `chmod 600` it."));
            }
        }
        let text = fs::read_to_string(&self.path).map_err(|error| wrong(&format!("can't be read: {error}.")))?;
        // The parser's own words may quote the file.
        serde_json::from_str(&text).map_err(|_| wrong("is not read: it is no JSON object of names and keys."))
    }

    fn save(&self, keys: &BTreeMap<String, String>) -> Result<(), KeyError> {
        let failed = |error: std::io::Error| KeyError(format!("{} was not changed: {error}.", self.path.display()));
        let folder = self.path.parent().unwrap_or(std::path::Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        // Temporary files are their owner's alone from the beginning.
        let mut file = tempfile::Builder::new().prefix(".credentials-").tempfile_in(folder).map_err(failed)?;
        let text = serde_json::to_string_pretty(keys).map_err(|error| failed(error.into()))?;
        file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

impl KeyStore for KeyFile {
    fn read(&self, account: Account) -> Result<Option<String>, KeyError> {
        Ok(self.load()?.remove(account.name()))
    }

    fn write(&self, account: Account, key: &str) -> Result<(), KeyError> {
        let mut keys = self.load()?;
        keys.insert(account.name().to_owned(), key.to_owned());
        self.save(&keys)
    }

    fn delete(&self, account: Account) -> Result<bool, KeyError> {
        let mut keys = self.load()?;
        if keys.remove(account.name()).is_none() {
            return Ok(false);
        }
        if keys.is_empty() {
            let failed = |error| KeyError(format!("{} was not deleted: {error}.", self.path.display()));
            return fs::remove_file(&self.path).map(|()| true).map_err(failed);
        }
        self.save(&keys).map(|()| true)
    }
}
