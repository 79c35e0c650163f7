//! The log: every session's events and large contents, in one `SQLite` file with one writer.
//!
//! [`Log::append`] never blocks: a writer thread takes what is waiting into one transaction and tells each batch's
//! `committed` callback when it is on disk. Nothing is shown before that. Readers have a connection of their own.
//!
//! Schema (version 1): `event(session, seq, agent, at, body)`, `blob(hash, bytes)`, `session(id, …)` for the list,
//! `meta(key, value)`. A newer version is refused; the file belongs to one program at a time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use offshoot_protocol::{BlobHash, Event, SessionId, SessionSummary};
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

mod writer;

/// Version of the schema that this program writes.
const SCHEMA_VERSION: i64 = 1;

/// How long another program may take to let go of the folder.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two looks at whether it has.
const PACE: Duration = Duration::from_millis(10);

/// The store of all sessions of one data folder.
pub struct Log {
    path: PathBuf,
    reader: Mutex<Connection>,
    to_writer: Mutex<Option<mpsc::Sender<writer::Job>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    // Held for its lock; the operating system frees it when the program dies.
    folder_lock: File,
}

/// Why the log can't be opened, read or written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LogError {
    /// Another program has the data folder.
    #[error("another Offshoot is using {}; close it, or choose another folder with --data-dir", .folder.display())]
    InUse {
        /// The data folder.
        folder: PathBuf,
    },
    /// The file was written by a newer program.
    #[error("{} was written by a newer Offshoot (format {found}, this one knows {known}); nothing was changed", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// This program's version.
        known: i64,
    },
    /// `SQLite` or the file system failed.
    #[error("{path}: {reason}", path = .path.display())]
    Storage {
        /// The file or folder.
        path: PathBuf,
        /// What failed.
        reason: String,
    },
}

impl Log {
    /// Opens, or creates, the log in `folder`.
    pub fn open(folder: &Path) -> Result<Arc<Self>, LogError> {
        std::fs::create_dir_all(folder).map_err(|error| storage(folder, &error))?;
        let lock_path = folder.join("lock");
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_path)
            .map_err(|error| storage(&lock_path, &error))?;
        take(&lock).map_err(|error| match error {
            std::fs::TryLockError::WouldBlock => LogError::InUse { folder: folder.to_path_buf() },
            std::fs::TryLockError::Error(error) => storage(&lock_path, &error),
        })?;

        let path = folder.join("offshoot.sqlite");
        let connection = connect(&path)?;
        prepare(&connection, &path)?;
        let reader = connect(&path)?;
        let (to_writer, jobs) = mpsc::channel();
        let writer = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || writer::run(connection, &jobs))
            .map_err(|error| storage(&path, &error))?;
        Ok(Arc::new(Self {
            path,
            reader: Mutex::new(reader),
            to_writer: Mutex::new(Some(to_writer)),
            writer: Mutex::new(Some(writer)),
            folder_lock: lock,
        }))
    }

    /// Hands events of one session to the writer, in order. `committed` is called on the writer's thread once they are
    /// durable, or with the reason why they are not; calls for one session come in the order of `append`.
    pub fn append(&self, events: Vec<Event>, committed: impl FnOnce(Result<Vec<Event>, LogError>) + Send + 'static) {
        self.send(writer::Job::Events { events, committed: Box::new(committed) });
    }

    /// Hands content to the writer, before whatever is appended later. Returns the hash it will be found under.
    pub fn put_blob(&self, bytes: Vec<u8>) -> BlobHash {
        let hash = hash(&bytes);
        self.send(writer::Job::Blob { hash: hash.clone(), bytes });
        hash
    }

    /// Content by hash. Sees what was committed.
    pub fn blob(&self, hash: &BlobHash) -> Result<Option<Vec<u8>>, LogError> {
        self.read(|reader| {
            reader.query_row("SELECT bytes FROM blob WHERE hash = ?1", [hash.as_str()], |row| row.get(0)).optional()
        })
    }

    /// A session's events after `cursor`, in order.
    pub fn events(&self, session: &SessionId, cursor: u64) -> Result<Vec<Event>, LogError> {
        let bodies: Vec<String> = self.read(|reader| {
            let mut query =
                reader.prepare_cached("SELECT body FROM event WHERE session = ?1 AND seq > ?2 ORDER BY seq")?;
            let rows = query.query_map(params![session.as_str(), cursor.cast_signed()], |row| row.get(0))?;
            rows.collect()
        })?;
        bodies.iter().map(|body| serde_json::from_str(body).map_err(|error| storage(&self.path, &error))).collect()
    }

    /// All sessions, the one with the newest event first.
    pub fn sessions(&self) -> Result<Vec<SessionSummary>, LogError> {
        let rows: Vec<[String; 5]> = self.read(|reader| {
            let mut query = reader.prepare_cached(
                "SELECT id, title, project, created_at, updated_at FROM session ORDER BY updated_at DESC, id",
            )?;
            let rows =
                query.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?]))?;
            rows.collect()
        })?;
        let time = |text: &str| text.parse().map_err(|error: jiff::Error| storage(&self.path, &error));
        rows.iter()
            .map(|[id, title, project, created_at, updated_at]| {
                Ok(SessionSummary {
                    id: SessionId::from(id.as_str()),
                    title: title.clone(),
                    project: project.clone(),
                    created_at: time(created_at)?,
                    updated_at: time(updated_at)?,
                })
            })
            .collect()
    }

    /// Removes a session's events. Content that other sessions may share stays.
    pub fn delete_session(&self, session: &SessionId) {
        self.send(writer::Job::Delete { session: session.clone() });
    }

    /// Waits until everything handed over so far is on disk, and ends the writer. Later appends fail.
    pub fn close(&self) {
        lock(&self.to_writer).take();
        if let Some(writer) = lock(&self.writer).take()
            && writer.join().is_err()
        {
            tracing::error!("the log's writer panicked");
        }
        // By hand: a process that is being started at this moment may hold a copy of the file a little longer.
        if let Err(error) = self.folder_lock.unlock() {
            tracing::warn!(%error, "the data folder could not be released");
        }
    }

    fn send(&self, job: writer::Job) {
        let sender = lock(&self.to_writer);
        let refused = match sender.as_ref() {
            Some(sender) => sender.send(job).err().map(|error| error.0),
            None => Some(job),
        };
        if let Some(writer::Job::Events { committed, .. }) = refused {
            committed(Err(storage(&self.path, &"the log is closed")));
        }
    }

    fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, LogError> {
        query(&lock(&self.reader)).map_err(|error| storage(&self.path, &error))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.close();
    }
}

/// Takes the lock, waiting for a moment: a program that was killed lets go of it only when the process that it was just
/// starting has become another program.
fn take(lock: &File) -> Result<(), std::fs::TryLockError> {
    let end = Instant::now() + PATIENCE;
    loop {
        match lock.try_lock() {
            Err(std::fs::TryLockError::WouldBlock) if Instant::now() < end => std::thread::sleep(PACE),
            taken => return taken,
        }
    }
}

/// SHA-256 of content, in hexadecimal.
pub fn hash(bytes: &[u8]) -> BlobHash {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("writing to a string can't fail");
    }
    BlobHash(text)
}

fn connect(path: &Path) -> Result<Connection, LogError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // Every commit reaches the disk: people's money and work hang on these facts. The writer batches.
        connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(connection)
    };
    open().map_err(|error| storage(path, &error))
}

fn prepare(connection: &Connection, path: &Path) -> Result<(), LogError> {
    let version = || connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
    let found = version().map_err(|error| storage(path, &error))?;
    if found > SCHEMA_VERSION {
        return Err(LogError::Newer { path: path.to_path_buf(), found, known: SCHEMA_VERSION });
    }
    let create = format!(
        "BEGIN;
         CREATE TABLE IF NOT EXISTS event (
             session TEXT NOT NULL, seq INTEGER NOT NULL, agent TEXT, at TEXT NOT NULL, body TEXT NOT NULL,
             PRIMARY KEY (session, seq)) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS blob (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS session (
             id TEXT PRIMARY KEY, title TEXT NOT NULL, project TEXT NOT NULL,
             created_at TEXT NOT NULL, updated_at TEXT NOT NULL) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
         PRAGMA user_version = {SCHEMA_VERSION};
         COMMIT;"
    );
    connection.execute_batch(&create).map_err(|error| storage(path, &error))
}

fn storage(path: &Path, reason: &dyn std::fmt::Display) -> LogError {
    LogError::Storage { path: path.to_path_buf(), reason: reason.to_string() }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
