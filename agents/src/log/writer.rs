//! The one writer: takes everything that is waiting into one transaction.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use offshoot_protocol::{AgentId, BlobHash, Event, EventBody, SessionId, Storage};
use rusqlite::{Connection, ErrorCode, params};
use tokio::sync::watch;

use super::LogError;

/// Most jobs of one transaction: bounds how long the first of them waits.
const BATCH: usize = 4096;

/// Between two tries to write what could not be written.
const RETRY: Duration = Duration::from_secs(1);

type Committed = Box<dyn FnOnce(Result<Vec<Event>, LogError>) + Send>;

/// Something to write.
pub(super) enum Job {
    Events { events: Vec<Event>, committed: Committed },
    Blob { hash: BlobHash, bytes: Vec<u8> },
    Delete { session: SessionId },
}

/// The writer, on a thread of its own.
pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) jobs: Receiver<Job>,
    /// Told whether facts can be stored.
    pub(super) health: watch::Sender<Storage>,
}

impl Writer {
    /// Writes until every sender is gone.
    pub(super) fn run(mut self) {
        while let Ok(first) = self.jobs.recv() {
            let mut batch = vec![first];
            batch.extend(self.jobs.try_iter().take(BATCH - 1));
            match self.persist(&mut batch) {
                Err(error) if batch.len() > 1 && !is_passing(&error) => {
                    // One session's impossible fact is no reason to lose another's.
                    for job in batch {
                        let mut alone = vec![job];
                        let written = self.persist(&mut alone);
                        self.conclude(alone, &written);
                    }
                }
                written => self.conclude(batch, &written),
            }
        }
    }

    /// Writes a batch; for as long as that fails in a way that may pass, waits and tries again, with what has come since
    /// behind it. Nothing of it was confirmed, and nothing later is written before it: the log never has a hole.
    fn persist(&mut self, batch: &mut Vec<Job>) -> rusqlite::Result<()> {
        loop {
            let written = write(&mut self.connection, batch);
            match &written {
                Err(error) if is_passing(error) => {
                    let message = describe(error, self.connection.path().unwrap_or_default());
                    let waiting = Storage::Waiting { message };
                    if *self.health.borrow() != waiting {
                        tracing::error!(%error, "the log can't be written; it is tried again");
                        self.health.send_replace(waiting);
                    }
                }
                _ => {
                    self.health.send_if_modified(|health| std::mem::take(health) != Storage::Working);
                    return written;
                }
            }
            match self.jobs.recv_timeout(RETRY) {
                Ok(job) => batch.push(job),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return write(&mut self.connection, batch),
            }
        }
    }

    fn conclude(&self, batch: Vec<Job>, written: &rusqlite::Result<()>) {
        let path = || PathBuf::from(self.connection.path().unwrap_or_default());
        let written = written.as_ref().map_err(|error| LogError::Storage { path: path(), reason: reason(error) });
        if let Err(error) = &written {
            tracing::error!(%error, "the log could not be written");
        }
        for job in batch {
            if let Job::Events { events, committed } = job {
                committed(written.clone().map(|()| events));
            }
        }
    }
}

/// Whether the same write may succeed later: space can be made, another program can let go, a disk can come back.
fn is_passing(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
        )
    )
}

/// What is wrong, for people.
pub(super) fn reason(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full".to_owned(),
        Some(ErrorCode::SystemIoFailure) => format!("the disk failed ({error})"),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "another program holds the file".to_owned(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            format!("the file is damaged ({error}); a copy of it may be readable with `sqlite3 FILE .recover`")
        }
        _ => error.to_string(),
    }
}

fn describe(error: &rusqlite::Error, path: &str) -> String {
    format!("Nothing can be stored in {path}: {}.", reason(error))
}

fn write(connection: &mut Connection, batch: &[Job]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for job in batch {
        match job {
            Job::Events { events, .. } => {
                for event in events {
                    insert(&transaction, event)?;
                }
            }
            Job::Blob { hash, bytes } => {
                transaction
                    .prepare_cached("INSERT OR IGNORE INTO blob (hash, bytes) VALUES (?1, ?2)")?
                    .execute(params![hash.as_str(), bytes])?;
            }
            Job::Delete { session } => {
                transaction.execute("DELETE FROM event WHERE session = ?1", [session.as_str()])?;
                transaction.execute("DELETE FROM session WHERE id = ?1", [session.as_str()])?;
            }
        }
    }
    transaction.commit()
}

fn insert(transaction: &rusqlite::Transaction<'_>, event: &Event) -> rusqlite::Result<()> {
    let body =
        serde_json::to_string(&event.body).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let at = event.at.to_string();
    let session = event.session.as_str();
    transaction
        .prepare_cached("INSERT INTO event (session, seq, agent, at, body) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![session, event.seq.cast_signed(), event.agent.as_ref().map(AgentId::as_str), at, body])?;
    match &event.body {
        EventBody::SessionCreated { project, title, .. } => transaction
            .prepare_cached(
                "INSERT INTO session (id, title, project, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)",
            )?
            .execute(params![session, title, project, at])?,
        EventBody::SessionRenamed { title } => transaction
            .prepare_cached("UPDATE session SET title = ?2, updated_at = ?3 WHERE id = ?1")?
            .execute(params![session, title, at])?,
        _ => transaction
            .prepare_cached("UPDATE session SET updated_at = ?2 WHERE id = ?1")?
            .execute(params![session, at])?,
    };
    Ok(())
}
