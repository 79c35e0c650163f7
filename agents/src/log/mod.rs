//! The log: every session's events and large contents, in one `SQLite` file with one writer.
//!
//! [`Log::append`] never blocks: a writer thread takes what is waiting into one transaction and tells each batch's
//! `committed` callback when it is on disk. Nothing is shown before that. Readers have a connection of their own.
//!
//! When the disk is full, or fails, the writer keeps what waits, in order, says so ([`Log::health`]) and tries again: facts
//! are confirmed late rather than lost, and whoever hangs on one waits.
//!
//! The file belongs to one program at a time; a second one can read ([`Log::open_read_only`]).

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use offshoot_protocol::{AgentId, BlobHash, Event, SessionId, SessionSummary, Storage};
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

mod schema;
mod writer;

/// The file's name in the data folder.
const FILE: &str = "offshoot.sqlite";

/// Every file that the log may have in `folder`, the copies of older versions among them: what no command of an agent may
/// see.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let path = folder.join(FILE);
    let beside = ["", "-wal", "-shm"].map(|ending| folder.join(format!("{FILE}{ending}")));
    beside.into_iter().chain((1..schema::VERSION).map(|version| schema::copy_of(&path, version))).collect()
}

/// How long another program may take to let go of the folder.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two looks at whether it has.
const PACE: Duration = Duration::from_millis(10);

/// The store of all sessions of one data folder.
pub struct Log {
    path: PathBuf,
    reader: Mutex<Connection>,
    /// Absent once closed, and when it is only read.
    writing: Mutex<Option<Writing>>,
    is_read_only: bool,
    health: watch::Sender<Storage>,
}

/// What it takes to write.
struct Writing {
    jobs: mpsc::Sender<writer::Job>,
    thread: JoinHandle<()>,
    // Held for its lock; the operating system frees it when the program dies.
    folder_lock: File,
}

/// Why the log can't be opened, read or written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LogError {
    /// The disk is full, or fails; what was handed over is tried again.
    #[error("{message}")]
    Waiting {
        /// What is wrong, and where.
        message: String,
    },
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

        let path = folder.join(FILE);
        let mut connection = schema::connect(&path)?;
        schema::prepare(&mut connection, &path)?;
        let reader = schema::connect(&path)?;
        let health = watch::Sender::default();
        let (jobs, to_do) = mpsc::channel();
        let writer = writer::Writer { connection, jobs: to_do, health: health.clone() };
        let thread = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| storage(&path, &error))?;
        let writing = Writing { jobs, thread, folder_lock: lock };
        Ok(Arc::new(Self {
            path,
            reader: Mutex::new(reader),
            writing: Mutex::new(Some(writing)),
            is_read_only: false,
            health,
        }))
    }

    /// Opens the log in `folder` for reading, beside a program that may be writing it.
    pub fn open_read_only(folder: &Path) -> Result<Arc<Self>, LogError> {
        let path = folder.join(FILE);
        let reader = schema::connect_read_only(&path)?;
        Ok(Arc::new(Self {
            path,
            reader: Mutex::new(reader),
            writing: Mutex::new(None),
            is_read_only: true,
            health: watch::Sender::default(),
        }))
    }

    /// Whether nothing can be written, because another program does.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Whether what is appended gets to the disk; changes are told.
    pub fn health(&self) -> watch::Receiver<Storage> {
        self.health.subscribe()
    }

    /// Looks at the whole file for damage. Takes its time.
    pub fn check(&self) -> Result<(), LogError> {
        let found: String = self.read(|reader| reader.query_row("PRAGMA integrity_check", [], |row| row.get(0)))?;
        if found == "ok" { Ok(()) } else { Err(storage(&self.path, &found)) }
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
        let mut events = Vec::new();
        self.each_event(session, cursor, |event| events.push(event))?;
        Ok(events)
    }

    /// Hands on a session's events after `cursor`, in order, one at a time: a long session is never held twice. Nothing
    /// else can be read meanwhile.
    pub fn each_event(&self, session: &SessionId, cursor: u64, mut take: impl FnMut(Event)) -> Result<(), LogError> {
        let unreadable = self.read(|reader| {
            let mut query = reader.prepare_cached(
                "SELECT seq, at, agent, body FROM event WHERE session = ?1 AND seq > ?2 ORDER BY seq",
            )?;
            let mut rows = query.query(params![session.as_str(), cursor.cast_signed()])?;
            while let Some(row) = rows.next()? {
                let at = row.get_ref(1)?.as_str()?.parse().map_err(|error: jiff::Error| error.to_string());
                let body = serde_json::from_str(row.get_ref(3)?.as_str()?).map_err(|error| error.to_string());
                let (at, body) = match (at, body) {
                    (Ok(at), Ok(body)) => (at, body),
                    (Err(reason), _) | (_, Err(reason)) => return Ok(Some(reason)),
                };
                let (seq, agent) = (row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, Option<String>>(2)?);
                take(Event { seq, at, session: session.clone(), agent: agent.map(AgentId), body });
            }
            Ok(None)
        })?;
        unreadable.map_or(Ok(()), |reason| Err(storage(&self.path, &reason)))
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

    /// The agents of all sessions. Looks through the whole log.
    pub fn agents(&self) -> Result<HashSet<AgentId>, LogError> {
        self.read(|reader| {
            let mut query = reader.prepare("SELECT DISTINCT agent FROM event WHERE agent IS NOT NULL")?;
            let rows = query.query_map([], |row| row.get(0).map(AgentId))?;
            rows.collect()
        })
    }

    /// Removes a session's events. Content that other sessions may share stays.
    pub fn delete_session(&self, session: &SessionId) {
        self.send(writer::Job::Delete { session: session.clone() });
    }

    /// Waits until everything handed over so far is on disk, and ends the writer. Later appends fail. What can't be stored
    /// is tried once more, and fails.
    pub fn close(&self) {
        let Some(Writing { jobs, thread, folder_lock }) = lock(&self.writing).take() else { return };
        drop(jobs);
        if thread.join().is_err() {
            tracing::error!("the log's writer panicked");
        }
        // By hand: a process that is being started at this moment may hold a copy of the file a little longer.
        if let Err(error) = folder_lock.unlock() {
            tracing::warn!(%error, "the data folder could not be released");
        }
    }

    fn send(&self, job: writer::Job) {
        let writing = lock(&self.writing);
        let refused = match writing.as_ref() {
            Some(writing) => writing.jobs.send(job).err().map(|error| error.0),
            None => Some(job),
        };
        drop(writing);
        if let Some(writer::Job::Events { committed, .. }) = refused {
            let why = if self.is_read_only { "it is only read here" } else { "the log is closed" };
            committed(Err(storage(&self.path, &why)));
        }
    }

    fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, LogError> {
        query(&lock(&self.reader)).map_err(|error| storage(&self.path, &writer::reason(&error)))
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

fn storage(path: &Path, reason: &dyn std::fmt::Display) -> LogError {
    LogError::Storage { path: path.to_path_buf(), reason: reason.to_string() }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
