//! The one writer: takes everything that is waiting into one transaction.

use std::sync::mpsc::Receiver;

use offshoot_protocol::{AgentId, BlobHash, Event, EventBody, SessionId};
use rusqlite::{Connection, params};

use super::LogError;

/// Most jobs of one transaction: bounds how long the first of them waits.
const BATCH: usize = 4096;

type Committed = Box<dyn FnOnce(Result<Vec<Event>, LogError>) + Send>;

/// Something to write.
pub(super) enum Job {
    Events { events: Vec<Event>, committed: Committed },
    Blob { hash: BlobHash, bytes: Vec<u8> },
    Delete { session: SessionId },
}

/// Writes until every sender is gone.
pub(super) fn run(mut connection: Connection, jobs: &Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        let mut batch = vec![first];
        batch.extend(jobs.try_iter().take(BATCH - 1));
        let written = write(&mut connection, &batch).map_err(|error| LogError::Storage {
            path: connection.path().unwrap_or_default().into(),
            reason: error.to_string(),
        });
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
    let body = serde_json::to_string(event).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
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
