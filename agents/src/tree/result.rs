//! What a call that delegated gets as its result.

use offshoot_protocol::{AgentId, AgentOutcome, FailureCode, ResultDetail, WorktreeView};
use serde_json::{Value, json};

use super::Tree;
use crate::prompt;
use crate::tool::{Refusal, ToolError, ToolOutput, agent};

impl Tree {
    /// The result of a call whose agent runs in the background.
    pub(super) fn launched(&self, id: &AgentId, title: &str) -> ToolOutput {
        let mut result = json!({
            "status": "async_launched",
            "agent_id": id,
            "description": title,
            "output_file": self.report_file(id),
            "note": prompt::DELEGATED,
        });
        self.add_facts(id, &mut result);
        ToolOutput { content: result.to_string(), detail: Some(detail(id)), todos: None }
    }

    /// The result of a call that waited for its agent's end.
    pub(super) fn handed_back(&self, id: &AgentId, outcome: AgentOutcome) -> Result<ToolOutput, ToolError> {
        let room = self.room(id);
        let fail = |refusal: Refusal, message: String| ToolError {
            detail: Some(Box::new(detail(id))),
            ..refusal.because(message)
        };
        match outcome {
            AgentOutcome::Completed { report } => {
                let file = self.report_file(id).display().to_string();
                let mut result = json!({"status": "completed", "agent_id": id, "report": ""});
                self.add_facts(id, &mut result);
                let content = fitting(room, |limit| {
                    result["report"] = prompt::defang(&prompt::bounded(&report, limit, Some(&file))).into();
                    result.to_string()
                });
                Ok(ToolOutput { content, detail: Some(detail(id)), todos: None })
            }
            AgentOutcome::Failed { code, message, partial } => {
                let refusal = match code {
                    FailureCode::TurnLimit => Refusal::SubagentTurnLimit,
                    FailureCode::IsolationUnavailable => Refusal::IsolationUnavailable,
                    _ => Refusal::SubagentFailed,
                };
                let turns = self.journal.read(|fold| fold.steps_of_run(id));
                let with_partial = |limit| {
                    let partial = partial.as_deref().map(|text| prompt::defang(&prompt::bounded(text, limit, None)));
                    let partial = partial.map(|text| format!(" The last it wrote, which is no result: {text}"));
                    format!("Agent {id}, after {turns} turns: {message}{}", partial.unwrap_or_default())
                };
                // What it comes to is measured as it is sent: what JSON has to escape is longer there.
                let mut limit = 0;
                fitting(room, |most| {
                    limit = most;
                    fail(refusal, with_partial(most)).content()
                });
                Err(fail(refusal, with_partial(limit)))
            }
            AgentOutcome::Stopped => Err(fail(
                Refusal::SubagentStopped,
                format!("Agent {id} was stopped by the developer. Don't start it again."),
            )),
            AgentOutcome::Interrupted => Err(fail(Refusal::SubagentStopped, format!("Agent {id} was interrupted."))),
        }
    }

    /// Most bytes of this child's result: all that are handed back in one step stay in bounds together.
    fn room(&self, id: &AgentId) -> usize {
        let parent = self.journal.read(|fold| fold.agent(id).and_then(|child| child.parent.clone()));
        let calls = parent.and_then(|parent| self.worker(&parent)).map(|parent| parent.latest_calls());
        let siblings = calls.unwrap_or_default().iter().filter(|(_, name, _)| name == agent::NAME).count();
        prompt::STEP_LIMIT / siblings.max(1)
    }

    /// Figures, worktree and warnings of an agent, for a result.
    fn add_facts(&self, id: &AgentId, result: &mut Value) {
        let (view, started) = self.journal.read(|fold| (fold.agent(id).cloned(), fold.run_started_at(id)));
        let Some(view) = view else { return };
        if view.outcome.is_some() {
            let usage = view.usage;
            result["turns"] = json!(view.steps);
            result["tool_calls"] = json!(view.calls);
            result["tokens"] = json!(usage.input + usage.cache_read + usage.cache_write + usage.output);
            let ended = view.ended_at.zip(started).map(|(end, start)| end.duration_since(start).as_millis());
            result["duration_ms"] = json!(ended.map(|ms| u64::try_from(ms).unwrap_or(0)));
        }
        if let Some(WorktreeView { path, branch, .. }) = &view.worktree {
            result["worktree"] = json!({"path": path, "branch": branch});
        }
        if !view.warnings.is_empty() {
            result["warnings"] = view.warnings.iter().map(|warning| json!(warning.message)).collect();
        }
    }
}

/// A result of at most `room` bytes, if that can be: `write` makes it with that many bytes of a report. Whatever the room, a
/// report has at most [`prompt::REPORT_LIMIT`].
fn fitting(room: usize, mut write: impl FnMut(usize) -> String) -> String {
    let mut limit = prompt::REPORT_LIMIT.min(room);
    loop {
        let text = write(limit);
        if text.len() <= room || limit == 0 {
            return text;
        }
        // In proportion, and in any case less than before.
        limit = (limit * room / text.len()).min(limit - 1);
    }
}

fn detail(id: &AgentId) -> ResultDetail {
    ResultDetail::Delegated { agent: id.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_fits_also_where_its_report_grows_when_it_is_written() {
        // Six bytes each, as JSON has them.
        let report = "\u{1}".repeat(20_000);
        for room in [64 * 1024, 8 * 1024, 700] {
            let text =
                fitting(room, |limit| json!({"report": prompt::bounded(&report, limit, Some("/r.md"))}).to_string());
            assert!(text.len() <= room && text.len() > room / 2, "{room}: {}", text.len());
            assert!(text.contains("The whole report is in /r.md"));
        }
        // As much as there can be, and nothing is cut that needn't be.
        assert_eq!(fitting(64 * 1024, |limit| "x".repeat(limit)).len(), prompt::REPORT_LIMIT);
        assert_eq!(fitting(10, |_| "a result without a report".to_owned()), "a result without a report");
    }
}
