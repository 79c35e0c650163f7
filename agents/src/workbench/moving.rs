//! Sessions written to files and read back.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use offshoot_protocol::{EventBody, Rejected, RejectedCode, SessionId};

use super::{Workbench, blocking, storage};
use crate::portable::{self, Imported, Place};

impl Workbench {
    /// Writes a session as JSON Lines, as it is by now.
    pub async fn export(&self, session: &SessionId, out: impl Write + Send + 'static) -> Result<(), Rejected> {
        let (log, session, at) = (self.log.clone(), session.clone(), self.clock.now());
        let written = blocking(move || portable::write(&log, &session, at, BufWriter::new(out))).await?;
        written.map_err(|error| match error {
            portable::NotWritten::NoSession(session) => {
                Rejected::new(RejectedCode::NotFound, format!("There is no session {session}."), "")
            }
            error => Rejected::new(RejectedCode::Failed, format!("The session was not exported: {error}."), ""),
        })
    }

    /// The same into a file, which appears when it is whole and replaces what was there.
    pub async fn export_file(&self, session: &SessionId, path: &Path) -> Result<(), Rejected> {
        let failed = |error: &dyn std::fmt::Display| {
            let message = format!("{} can't be written: {error}.", path.display());
            Rejected::new(RejectedCode::Failed, message, "Choose another place.")
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let unfinished = tempfile::NamedTempFile::new_in(folder).map_err(|error| failed(&error))?;
        let out = unfinished.reopen().map_err(|error| failed(&error))?;
        self.export(session, out).await?;
        unfinished.persist(path).map(drop).map_err(|error| failed(&error))
    }

    /// Reads a session from a file and stores it, at rest, as one of `project`'s; absent: of the project it had, if that
    /// folder is here. It keeps its id where that is free.
    pub async fn import_file(&self, path: &Path, project: Option<&Path>) -> Result<SessionId, Rejected> {
        self.check_storage()?;
        let shown = path.display().to_string();
        let refused = |why: String| {
            Rejected::new(RejectedCode::Invalid, format!("{shown} can't be imported: {why}."), "Nothing was changed.")
        };
        let file = path.to_path_buf();
        let read = blocking(move || {
            let opened = File::open(&file).map_err(|error| error.to_string())?;
            // A folder opens, too, and a pipe would be waited for.
            if !opened.metadata().map_err(|error| error.to_string())?.is_file() {
                return Err("it is no file".to_owned());
            }
            portable::read(BufReader::new(opened)).map_err(|error| error.to_string())
        });
        let imported = read.await?.map_err(refused)?;
        let project = match project {
            Some(project) => project.to_path_buf(),
            None => {
                project_of(&imported).filter(|project| project.is_absolute() && project.is_dir()).ok_or_else(|| {
                    let message = "The project that this session belongs to is not on this machine.";
                    Rejected::new(RejectedCode::NotFound, message, "Name the folder that it is to belong to here.")
                })?
            }
        };
        let project = project.canonicalize().map_err(|error| refused(error.to_string()))?;
        let place = Place { project, nowhere: self.data_dir.join("elsewhere"), renamed: self.new_ids(&imported)? };
        let (session, events, contents) = imported.settle(&place);
        for content in contents.into_values() {
            self.log.put_blob(content);
        }
        let (done, stored) = tokio::sync::oneshot::channel();
        // Whoever waits may be gone by then.
        self.log.append(events, move |result| drop(done.send(result.map(drop))));
        match stored.await {
            Ok(result) => result.map_err(|error| storage(&error))?,
            Err(_) => return Err(Rejected::new(RejectedCode::Storage, "The log was closed.", "")),
        }
        Ok(session)
    }

    /// New ids for what is here already. When the session is, all its agents get new ones with it.
    fn new_ids(&self, imported: &Imported) -> Result<HashMap<String, String>, Rejected> {
        let taken = self.log.agents().map_err(|error| storage(&error))?;
        let sessions = self.log.sessions().map_err(|error| storage(&error))?;
        let is_here = sessions.iter().any(|session| session.id == imported.session);
        if !is_here && !imported.agents().any(|agent| taken.contains(agent)) {
            return Ok(HashMap::new());
        }
        let ids = &self.kit.ids;
        let agents = imported.agents().map(|agent| (agent.0.clone(), ids.next("a-")));
        Ok(agents.chain([(imported.session.0.clone(), ids.next("s-"))]).collect())
    }
}

fn project_of(imported: &Imported) -> Option<PathBuf> {
    imported.events.iter().find_map(|event| match &event.body {
        EventBody::SessionCreated { project, .. } => Some(PathBuf::from(project)),
        _ => None,
    })
}
