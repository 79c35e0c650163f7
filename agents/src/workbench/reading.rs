//! Sessions that are only looked at, and whether anything can be stored.

use std::sync::Arc;

use offshoot_protocol::{Rejected, RejectedCode, SessionId, Storage};
use tokio::sync::watch;

use super::{Workbench, storage};
use crate::journal::Journal;

impl Workbench {
    /// Whether another program has the data folder, and this one only looks.
    pub fn is_read_only(&self) -> bool {
        self.log.is_read_only()
    }

    /// Whether what happens gets to the disk; changes are told.
    pub fn storage(&self) -> watch::Receiver<Storage> {
        self.log.health()
    }

    /// Refuses to begin anything while nothing can be stored.
    pub(super) fn check_storage(&self) -> Result<(), Rejected> {
        if self.log.is_read_only() {
            let message = "Another Offshoot is using this data folder; here it can only be read.";
            let hint = "Do it in the other one, or close that first.";
            return Err(Rejected::new(RejectedCode::Storage, message, hint));
        }
        match &*self.log.health().borrow() {
            Storage::Working => Ok(()),
            Storage::Waiting { message } => {
                let hint = "Nothing that was confirmed is lost. Agents at work wait, and go on once it works again.";
                Err(Rejected::new(RejectedCode::Storage, message.clone(), hint))
            }
        }
    }

    /// A session as the log has it. It must exist.
    pub(super) fn stored_journal(&self, session: &SessionId) -> Result<Arc<Journal>, Rejected> {
        let journal = Journal::open(session.clone(), self.clock.clone(), self.log.clone());
        let journal = journal.map_err(|error| storage(&error))?;
        if journal.read(|fold| fold.root().is_none()) {
            return Err(Rejected::new(RejectedCode::NotFound, format!("There is no session {session}."), ""));
        }
        Ok(journal)
    }

    /// A session's journal: of its tree, or, where another program has the tree, as that has written it by now.
    pub(super) async fn journal(&self, session: &SessionId) -> Result<Arc<Journal>, Rejected> {
        if self.log.is_read_only() {
            return self.stored_journal(session);
        }
        Ok(self.tree(session).await?.journal().clone())
    }
}
