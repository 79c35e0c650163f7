//! A child's end: what becomes of its worktree, and how its parent is told. Exactly once.

use std::path::PathBuf;
use std::sync::Weak;

use async_trait::async_trait;
use offshoot_protocol::{
    AgentId, AgentKind, AgentOutcome, AgentView, EventBody, Input, InputId, InputSource, Origin, TaskId, WorktreeState,
};

use super::Tree;
use crate::agent::{self, Ending, Wish};
use crate::prompt::{self, Notice};
use crate::turn::Worker;
use crate::view::Fold;

/// The tree, as its agents know it.
pub(super) struct TreeEnding(pub(super) Weak<Tree>);

#[async_trait]
impl Ending for TreeEnding {
    async fn ended(&self, worker: &Worker, outcome: AgentOutcome) -> bool {
        match self.0.upgrade() {
            Some(tree) => tree.child_ended(worker, outcome).await,
            // The session is being closed; the next start records the end.
            None => false,
        }
    }
}

impl Tree {
    async fn child_ended(&self, worker: &Worker, outcome: AgentOutcome) -> bool {
        let id = &worker.id;
        let goes_on = matches!(outcome, AgentOutcome::Completed { .. });
        let is_told_more = |fold: &Fold| goes_on && fold.agent(id).is_some_and(agent::is_addressed);
        if self.journal.read(is_told_more) {
            return true;
        }
        // Nothing of an agent outlives it.
        self.stop_shells(id).await;
        let outcome = self.settle_place(id, outcome).await;
        self.carry_out_rejections_at_end(id).await;
        let left_behind = self.look_after_worktree(id).await;
        if let AgentOutcome::Completed { report } = &outcome {
            self.write_report(id, report).await;
        }
        let (status, _) = prompt::outcome(&outcome, prompt::REPORT_LIMIT, None);
        let title = self.journal.read(|fold| fold.agent(id).map(|agent| agent.title.clone())).unwrap_or_default();
        let (seq, (again, parent)) = self.journal.decide(|fold| {
            if is_told_more(fold) {
                return (left_behind, (true, None));
            }
            let mut facts = left_behind;
            let (ends, parent) = self.end(fold, id, outcome);
            facts.extend(ends);
            (facts, (false, parent))
        });
        if let Err(error) = self.journal.stored(seq).await {
            tracing::error!(agent = %id, %error, "an agent's end could not be stored");
        }
        self.announce_change();
        let Some(parent) = parent else { return again };
        if self.means.settings.wake_parent {
            self.tell(&parent, Wish::Wake);
        }
        self.task_completed(&parent, id.as_str(), &title, status).await;
        again
    }

    /// The facts of a child's end: the end itself and, when nobody waits for it, the notification to its parent. One
    /// transaction, so that a crash neither loses nor repeats it. Also returns who is told.
    pub(super) fn end(
        &self,
        fold: &Fold,
        id: &AgentId,
        outcome: AgentOutcome,
    ) -> (Vec<(Option<AgentId>, EventBody)>, Option<AgentId>) {
        let is_revoked = super::lock(&self.revoked).remove(id);
        // A person who stops a parent and all below it doesn't want what they stopped to set it going again.
        let can_wait = super::lock(&self.stopped_along).remove(id) && outcome == AgentOutcome::Stopped;
        let notified = fold.agent(id).filter(|agent| agent.background && !is_revoked);
        let notified = notified.and_then(|agent| agent.parent.clone().map(|parent| (agent, parent)));
        let told = notified.map(|(agent, parent)| {
            let output_file = self.report_file(id).display().to_string();
            let completed = matches!(outcome, AgentOutcome::Completed { .. });
            let live = agent.worktree.as_ref().filter(|worktree| worktree.state == WorktreeState::Live);
            let output_file = completed.then_some(output_file.as_str());
            let waiting = fold.agent(&parent).map_or(0, waiting_bytes);
            // What is told at one turn boundary stays in bounds together, with a little for each.
            let limit = prompt::REPORT_LIMIT.min(prompt::STEP_LIMIT.saturating_sub(waiting)).max(prompt::LEAST_REPORT);
            let (status, summary) = prompt::outcome(&outcome, limit, output_file);
            let text = prompt::notification(&Notice {
                task: id.as_str(),
                kind: prompt::kind_word(agent.kind),
                status,
                description: &agent.title,
                summary,
                output_file,
                worktree: live.map(|worktree| (worktree.path.as_str(), worktree.branch.as_str())),
                usage: Some(agent.usage),
            });
            let mut input = self.notification(TaskId(id.0.clone()), text);
            if can_wait {
                input.origin = Origin::Reminder;
            }
            (parent, input)
        });
        let mut facts = vec![(Some(id.clone()), EventBody::AgentEnded { outcome })];
        let parent = told.map(|(parent, input)| {
            facts.push((Some(parent.clone()), EventBody::InputReceived { input }));
            parent
        });
        (facts, parent)
    }

    /// A notification on its way to an agent.
    pub(super) fn notification(&self, task: TaskId, text: String) -> Input {
        let id = InputId(self.means.kit.ids.next("i-"));
        Input { id, text, origin: Origin::Notification, source: Some(InputSource { task }) }
    }

    /// Where a child's report is written, for its parent to read.
    pub(super) fn report_file(&self, id: &AgentId) -> PathBuf {
        self.folder.join("reports").join(format!("{id}.md"))
    }

    async fn write_report(&self, id: &AgentId, report: &str) {
        let file = self.report_file(id);
        let folder = file.parent().expect("the name was joined to a folder").to_path_buf();
        let written = match tokio::fs::create_dir_all(&folder).await {
            Ok(()) => tokio::fs::write(&file, report).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            tracing::warn!(file = %file.display(), %error, "a report's file could not be written; the log has it");
        }
    }
}

/// Bytes of the notifications that wait for an agent.
fn waiting_bytes(agent: &AgentView) -> usize {
    let notifications = agent.queue.iter().filter(|input| input.origin == Origin::Notification);
    notifications.map(|input| input.text.len()).sum()
}

/// Whether agents of this kind end, rather than stay.
pub(super) fn has_end(kind: AgentKind) -> bool {
    matches!(kind, AgentKind::Fork | AgentKind::Subagent)
}
