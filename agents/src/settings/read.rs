//! Reading a settings file's text, safely: it may stand in somebody else's repository.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Largest settings file, in bytes.
pub(crate) const SIZE_LIMIT: u64 = 1 << 20;

/// The text of a file; nothing if there is none. Only regular files are opened, and with `within` only those that lie
/// beneath it once all links are followed. The error says why the file is left out.
pub(crate) fn read_text(path: &Path, within: Option<&Path>) -> Result<Option<String>, String> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(format!("it can't be read: {error}")),
    };
    if let Some(within) = within {
        let within = within.canonicalize().map_err(|error| format!("{} can't be read: {error}", within.display()))?;
        if !real.starts_with(within) {
            return Err("it is a link that leads out of the project".to_owned());
        }
    }
    let file = open(&real).map_err(|error| format!("it can't be read: {error}"))?;
    if !file.metadata().is_ok_and(|meta| meta.is_file()) {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(SIZE_LIMIT + 1).read_to_end(&mut bytes).map_err(|error| format!("it can't be read: {error}"))?;
    if bytes.len() as u64 > SIZE_LIMIT {
        return Err(format!("it has more than {} KiB", SIZE_LIMIT / 1024));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| "it is no UTF-8 text".to_owned())
}

/// Opens without following a link that has just been put there, and without waiting at a pipe.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    options.open(path)
}
