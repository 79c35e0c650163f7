//! The file: how it is opened, what is in it, how an older one becomes a current one.
//!
//! `event(session, seq, agent, at, body)`, `blob(hash, bytes)`, `session(id, …)` for the list, `meta(key, value)`. An
//! event's `body` is its `EventBody`; up to version 1 it was the whole event, and those rows are read as they are. The
//! version stands in the file's header (`user_version`). A newer file is refused and left alone; an older one is copied
//! beside itself and then brought up to date in one transaction.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{LogError, storage, writer::reason};

/// What makes a file of version `n` one of version `n + 1`; the first one makes an empty file one of version 1.
const STEPS: &[&str] = &[
    "CREATE TABLE event (
         session TEXT NOT NULL, seq INTEGER NOT NULL, agent TEXT, at TEXT NOT NULL, body TEXT NOT NULL,
         PRIMARY KEY (session, seq)) WITHOUT ROWID;
     CREATE TABLE blob (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
     CREATE TABLE session (
         id TEXT PRIMARY KEY, title TEXT NOT NULL, project TEXT NOT NULL,
         created_at TEXT NOT NULL, updated_at TEXT NOT NULL) WITHOUT ROWID;
     CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;",
    // Rows of an index-like table that are longer than a quarter of a page are cut in two, the second part with a page of
    // its own: a file three times as long as what is in it.
    "ALTER TABLE event RENAME TO event_1;
     CREATE TABLE event (
         session TEXT NOT NULL, seq INTEGER NOT NULL, agent TEXT, at TEXT NOT NULL, body TEXT NOT NULL,
         UNIQUE (session, seq));
     INSERT INTO event (session, seq, agent, at, body)
         SELECT session, seq, agent, at, body FROM event_1 ORDER BY session, seq;
     DROP TABLE event_1;
     ALTER TABLE blob RENAME TO blob_1;
     CREATE TABLE blob (hash TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL);
     INSERT INTO blob (hash, bytes) SELECT hash, bytes FROM blob_1;
     DROP TABLE blob_1;",
];

/// Version of the files that this program writes.
pub(super) const VERSION: i64 = version_after(STEPS);

#[expect(clippy::cast_possible_wrap, reason = "a handful of steps")]
const fn version_after(steps: &[&str]) -> i64 {
    steps.len() as i64
}

/// Bytes of a page of a new file. Most events fit into one several times, so that little of it stays empty.
const PAGE: u32 = 8192;

/// How long another connection may hold the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection that can write.
pub(super) fn connect(path: &Path) -> Result<Connection, LogError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        // Without effect on a file that has pages already.
        connection.pragma_update(None, "page_size", PAGE)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // Every commit reaches the disk: people's money and work hang on these facts. The writer batches.
        connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(connection)
    };
    open().map_err(|error| storage(path, &reason(&error)))
}

/// A connection that can't, to a file that is there and of this version.
pub(super) fn connect_read_only(path: &Path) -> Result<Connection, LogError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(PATIENCE)?;
        Ok(connection)
    };
    let connection = open().map_err(|error| storage(path, &reason(&error)))?;
    match version(&connection, path)? {
        found if found > VERSION => Err(newer(path, found)),
        VERSION => Ok(connection),
        found => Err(storage(path, &format!("it has the older format {found}, and another program is using it"))),
    }
}

/// Makes the file one of this version.
pub(super) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), LogError> {
    bring_up(connection, path, STEPS)
}

fn bring_up(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), LogError> {
    let (found, wanted) = (version(connection, path)?, version_after(steps));
    if found > wanted {
        return Err(newer(path, found));
    }
    // A file that is up to date isn't written: opening it must work on a full disk, too.
    if found == wanted {
        return Ok(());
    }
    if found > 0 {
        keep_copy(connection, path, found)?;
    }
    upgrade(connection, steps).map_err(|error| storage(path, &reason(&error)))
}

fn upgrade(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    for step in steps.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", version_after(steps))?;
    transaction.commit()
}

fn version(connection: &Connection, path: &Path) -> Result<i64, LogError> {
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0));
    version.map_err(|error| storage(path, &reason(&error)))
}

fn newer(path: &Path, found: i64) -> LogError {
    LogError::Newer { path: path.to_path_buf(), found, known: VERSION }
}

/// Copies the file as it is, with what stands in its write-ahead log. A copy that an interrupted upgrade left is replaced.
fn keep_copy(connection: &Connection, path: &Path, version: i64) -> Result<(), LogError> {
    let kept = copy_of(path, version);
    let unfinished = kept.with_extension("unfinished");
    let remove = std::fs::remove_file(&unfinished);
    if let Err(error) = remove
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(storage(&unfinished, &error));
    }
    // A file name is text for SQLite.
    let name = unfinished.to_str().ok_or_else(|| storage(&unfinished, &"its path is no text"))?;
    connection.execute("VACUUM INTO ?1", [name]).map_err(|error| storage(&unfinished, &reason(&error)))?;
    std::fs::rename(&unfinished, &kept).map_err(|error| storage(&kept, &error))
}

/// Where the copy of a file of an older version is kept.
pub(super) fn copy_of(path: &Path, version: i64) -> PathBuf {
    path.with_extension(format!("version-{version}.sqlite"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What version 1 looked like, with a session in it. Stays as it is, whatever later versions look like.
    const VERSION_1: &str = r#"
        CREATE TABLE event (session TEXT NOT NULL, seq INTEGER NOT NULL, agent TEXT, at TEXT NOT NULL,
            body TEXT NOT NULL, PRIMARY KEY (session, seq)) WITHOUT ROWID;
        CREATE TABLE blob (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT NOT NULL, project TEXT NOT NULL,
            created_at TEXT NOT NULL, updated_at TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO session VALUES ('s-old', 'Old', '/p', '2026-01-02T03:04:05Z', '2026-01-02T03:04:06Z');
        INSERT INTO event VALUES ('s-old', 1, NULL, '2026-01-02T03:04:05Z',
            '{"seq":1,"at":"2026-01-02T03:04:05Z","session":"s-old","type":"session_created","project":"/p","title":"Old","mode":"default"}');
        PRAGMA user_version = 1;
    "#;

    const NEXT: &str = "ALTER TABLE session ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0";

    fn old_file(folder: &Path) -> PathBuf {
        let path = folder.join(super::super::FILE);
        let connection = connect(&path).unwrap();
        connection.execute_batch(VERSION_1).unwrap();
        path
    }

    fn title(connection: &Connection) -> String {
        connection.query_row("SELECT title FROM session", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_file_of_version_1_is_read() {
        let folder = tempfile::tempdir().unwrap();
        old_file(folder.path());
        let log = super::super::Log::open(folder.path()).unwrap();
        let events = log.events(&"s-old".into(), 0).unwrap();
        assert_eq!((events.len(), events[0].seq), (1, 1));
        assert!(
            matches!(&events[0].body, offshoot_protocol::EventBody::SessionCreated { title, .. } if title == "Old")
        );
        assert_eq!(log.sessions().unwrap()[0].title, "Old");
        let kept = copy_of(&folder.path().join(super::super::FILE), 1);
        assert!(kept.exists(), "the old file is kept");
        let known = super::super::files(folder.path());
        let sqlite = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let sqlite = sqlite.filter(|path| path.display().to_string().contains(".sqlite"));
        assert!(sqlite.into_iter().all(|path| known.contains(&path)), "no file of the log is forgotten");
    }

    #[test]
    fn an_older_file_is_copied_and_then_brought_up_to_date() {
        let folder = tempfile::tempdir().unwrap();
        let path = old_file(folder.path());
        let mut connection = connect(&path).unwrap();
        // What an upgrade that was cut short left is no hindrance.
        std::fs::write(copy_of(&path, 1).with_extension("unfinished"), "half").unwrap();
        bring_up(&mut connection, &path, &[STEPS, &[NEXT]].concat()).unwrap();
        assert_eq!(version(&connection, &path).unwrap(), VERSION + 1);
        assert_eq!(title(&connection), "Old");
        assert_eq!(connection.query_row("SELECT pinned FROM session", [], |row| row.get::<_, i64>(0)), Ok(0));
        let copy = Connection::open(copy_of(&path, 1)).unwrap();
        assert_eq!((version(&copy, &path).unwrap(), title(&copy)), (1, "Old".to_owned()));
    }

    #[test]
    fn an_upgrade_that_fails_in_the_middle_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = old_file(folder.path());
        let mut connection = connect(&path).unwrap();
        assert!(bring_up(&mut connection, &path, &[STEPS, &[NEXT, "no SQL"]].concat()).is_err());
        assert_eq!(version(&connection, &path).unwrap(), 1);
        assert!(connection.query_row("SELECT pinned FROM session", [], |row| row.get::<_, i64>(0)).is_err());
        assert_eq!(title(&connection), "Old");
    }
}
