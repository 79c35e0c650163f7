//! Pending permission requests: one table, each taken once.
//!
//! Asking suspends the call that asks. A request ends when it is answered, when its agent stops (the asking future is
//! dropped), or when a rule that was granted meanwhile decides it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use offshoot_protocol::{
    AgentId, Answer, DecidedBy, EventBody, PermissionRequest, Rejected, RejectedCode, RequestId, Warning,
    WithdrawnReason,
};
use tokio::sync::{oneshot, watch};

use crate::journal::Journal;
use crate::log::LogError;
use crate::policy::{RuleKind, RuleSource, Rules};
use crate::settings;

/// Where *always allow* is saved.
#[derive(Clone, Debug)]
pub struct Saving {
    /// The local settings of the project's main checkout.
    pub file: PathBuf,
    /// Whether what stands there counts: the project is trusted.
    pub counts: bool,
}

/// The table of one session.
pub struct Approvals {
    journal: Arc<Journal>,
    /// Whether somebody can be asked.
    interactive: bool,
    saving: Saving,
    pending: Mutex<HashMap<RequestId, Pending>>,
    /// Counts granted rules, so that waiting calls look again.
    granted: watch::Sender<u64>,
}

struct Pending {
    agent: AgentId,
    answer: oneshot::Sender<Answer>,
}

impl Approvals {
    /// An empty table. Without `interactive` every request is denied at once, on the record.
    pub fn new(journal: Arc<Journal>, interactive: bool, saving: Saving) -> Arc<Self> {
        Arc::new(Self { journal, interactive, saving, pending: Mutex::default(), granted: watch::Sender::new(0) })
    }

    /// Asks, and waits for the answer. `is_decided` is called again whenever a rule was granted: once it holds, the
    /// request ends as allowed by a rule. Dropping the future withdraws the request.
    pub async fn ask(
        &self,
        agent: &AgentId,
        request: PermissionRequest,
        is_decided: impl Fn() -> bool + Send,
    ) -> Result<Answer, LogError> {
        let id = request.id.clone();
        let (sender, mut answered) = oneshot::channel();
        let mut granted = self.granted.subscribe();
        if self.interactive {
            self.lock().insert(id.clone(), Pending { agent: agent.clone(), answer: sender });
        }
        let mut open = OpenRequest { approvals: self, agent, id: &id, ended: false };
        self.journal.store(agent, EventBody::PermissionRequested { request }).await?;
        if !self.interactive {
            open.ended = true;
            let answer = Answer::Deny { reason: None };
            self.decided(agent, &id, &answer, DecidedBy::Headless).await?;
            return Ok(answer);
        }
        loop {
            tokio::select! {
                answer = &mut answered => {
                    open.ended = true;
                    return Ok(answer.expect("the sender leaves the table only to answer"));
                }
                changed = granted.changed() => {
                    changed.expect("the sender lives as long as self");
                    if is_decided() && self.lock().remove(&id).is_some() {
                        open.ended = true;
                        let answer = Answer::AllowOnce;
                        self.decided(agent, &id, &answer, DecidedBy::Rule).await?;
                        return Ok(answer);
                    }
                }
            }
        }
    }

    /// A person's answer. Of two for one request the first wins; the other is told. Rules in it that aren't any reject it,
    /// and the request stays. *Always allow* is saved before the call runs; where it can't be, the call runs this once, with
    /// a warning.
    pub async fn answer(&self, id: &RequestId, answer: Answer) -> Result<(), Rejected> {
        check_rules(&answer)?;
        let Some(pending) = self.lock().remove(id) else {
            return Err(Rejected::new(
                RejectedCode::Gone,
                "This request is gone: it was answered, or its agent stopped.",
                "Nothing was run by this answer.",
            ));
        };
        let answer = match answer {
            Answer::AllowAlways { rules } => self.save(&pending.agent, rules).await,
            other => other,
        };
        let grants = matches!(
            answer,
            Answer::AllowForAgent { .. }
                | Answer::AllowForSubtree { .. }
                | Answer::AllowForSession { .. }
                | Answer::AllowAlways { .. }
        );
        // On disk before it is acted on.
        self.decided(&pending.agent, id, &answer, DecidedBy::User)
            .await
            .map_err(|error| Rejected::new(RejectedCode::Storage, error.to_string(), "Nothing was run."))?;
        if pending.answer.send(answer).is_err() {
            return Err(Rejected::new(RejectedCode::Gone, "The agent stopped in the same moment.", "Nothing was run."));
        }
        if grants {
            self.granted.send_modify(|count| *count += 1);
        }
        Ok(())
    }

    /// Saves rules. Returns the answer that holds after it.
    async fn save(&self, agent: &AgentId, rules: Vec<String>) -> Answer {
        let Saving { file, counts } = self.saving.clone();
        let saved = {
            let (file, rules) = (file.clone(), rules.clone());
            tokio::task::spawn_blocking(move || settings::add_allow_rules(&file, &rules)).await
        };
        let failed = match saved {
            Ok(Ok(_)) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        let warn = |code: &str, message: String| {
            let warning = Warning { code: code.to_owned(), message };
            self.journal.record(agent, EventBody::Warned { warning });
        };
        if let Some(why) = failed {
            warn("rules_not_saved", format!("What you always allow could not be saved, so only this call runs: {why}"));
            return Answer::AllowOnce;
        }
        if !counts {
            let message =
                "The rules hold for this session and are saved in {}, where they count once you trust the folder.";
            warn("rules_untrusted", message.replace("{}", &file.display().to_string()));
        }
        Answer::AllowAlways { rules }
    }

    async fn decided(&self, agent: &AgentId, id: &RequestId, answer: &Answer, by: DecidedBy) -> Result<(), LogError> {
        let body = EventBody::PermissionDecided { request: id.clone(), answer: answer.clone(), by };
        self.journal.store(agent, body).await
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, Pending>> {
        self.pending.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Rejects an answer with rules that could not hold.
fn check_rules(answer: &Answer) -> Result<(), Rejected> {
    let (Answer::AllowForAgent { rules }
    | Answer::AllowForSubtree { rules }
    | Answer::AllowForSession { rules }
    | Answer::AllowAlways { rules }) = answer
    else {
        return Ok(());
    };
    let mut read = Rules::default();
    read.add(RuleKind::Allow, RuleSource::Session, rules);
    match read.problems.first() {
        Some(problem) => {
            let message = format!("`{}` is no rule that can allow: {}.", problem.rule, problem.message);
            Err(Rejected::new(RejectedCode::Invalid, message, "Correct it and answer again; the request still waits."))
        }
        None => Ok(()),
    }
}

/// Withdraws the request when the asking future is dropped.
struct OpenRequest<'a> {
    approvals: &'a Approvals,
    agent: &'a AgentId,
    id: &'a RequestId,
    ended: bool,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        // Not in the table: an answer took it in the same moment and has recorded that.
        let was_pending = self.approvals.lock().remove(self.id).is_some();
        if !self.ended && was_pending {
            let body =
                EventBody::PermissionWithdrawn { request: self.id.clone(), reason: WithdrawnReason::AgentStopped };
            self.approvals.journal.record(self.agent, body);
        }
    }
}
