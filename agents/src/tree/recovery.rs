//! After a restart: what was running is interrupted, on the record, and nothing runs by itself.

use std::sync::Arc;

use offshoot_protocol::{AgentId, AgentKind, AgentOutcome, AgentView, CallId, EventBody, TurnOutcome, WithdrawnReason};

use super::Tree;
use super::ending::has_end;
use crate::agent::is_running;
use crate::log::LogError;
use crate::prompt;
use crate::turn;
use crate::view::Fold;

impl Tree {
    /// Brings back the agents of a session from the log, at rest. Withdraws the requests that were pending, answers the
    /// calls that were open, ends the runs that were under way.
    pub async fn recover(self: &Arc<Self>) -> Result<(), LogError> {
        let (requests, running) = self.journal.read(|fold| {
            let running: Vec<AgentView> =
                fold.view.agents.iter().filter(|agent| is_running(&agent.state)).cloned().collect();
            (fold.view.requests.clone(), running)
        });
        for request in requests {
            let agent = request.asker.last().expect("a request names who asks").agent.clone();
            let reason = WithdrawnReason::ProgramEnded;
            self.journal.record(&agent, EventBody::PermissionWithdrawn { request: request.id, reason });
        }
        for agent in running {
            turn::settle(&self.journal, &agent.id, |fold, call| lost_call(fold, &agent.id, call));
            if agent.kind == AgentKind::Root || agent.started_at.is_some() {
                let ended = EventBody::TurnEnded { outcome: TurnOutcome::Interrupted };
                self.journal.record(&agent.id, ended);
            }
            if has_end(agent.kind) {
                self.journal.decide(|fold| (self.end(fold, &agent.id, AgentOutcome::Interrupted).0, ()));
            }
        }
        self.recover_shells();
        self.recall_worktrees().await;
        self.record_untold().await;
        let agents: Vec<AgentId> =
            self.journal.read(|fold| fold.view.agents.iter().map(|agent| agent.id.clone()).collect());
        for agent in &agents {
            self.bring_back(agent)?;
        }
        self.watch_roles();
        self.tell_warnings();
        let cursor = self.journal.read(|fold| fold.cursor);
        self.journal.stored_soon(cursor).await
    }
}

/// What an open call is answered with: for an agent that it waited for, which one that was and how far it got.
fn lost_call(fold: &Fold, agent: &AgentId, call: &CallId) -> String {
    let Some(child) = fold.children(agent).find(|child| child.call.as_ref() == Some(call)) else {
        return "The program ended while this call ran. It may have taken effect.".to_owned();
    };
    let id = &child.id;
    if child.background {
        return format!(
            "The program ended in this moment. Agent {id} was started in the background; you are told of its end."
        );
    }
    match &child.outcome {
        Some(AgentOutcome::Completed { report }) => {
            let report = prompt::defang(&prompt::bounded(report, prompt::REPORT_LIMIT, None));
            format!("The program ended in this moment, but agent {id} had handed back its report: {report}")
        }
        Some(_) => format!("The program ended in this moment; agent {id} had ended without a report."),
        None => {
            format!("The program ended while agent {id} worked. It is interrupted; the developer can resume it.")
        }
    }
}
