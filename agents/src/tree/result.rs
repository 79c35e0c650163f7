//! What a call that delegated gets as its result.

use offshoot_protocol::{AgentId, AgentOutcome, FailureCode, ResultDetail, WorktreeView};
use serde_json::{Value, json};

use super::Tree;
use crate::prompt;
use crate::tool::{ToolError, ToolOutput, agent};

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
        let limit = self.report_limit(id);
        let fail =
            |code, message: String| ToolError { detail: Some(Box::new(detail(id))), ..ToolError::new(code, message) };
        match outcome {
            AgentOutcome::Completed { report } => {
                let file = self.report_file(id).display().to_string();
                let report = prompt::defang(&prompt::bounded(&report, limit, Some(&file)));
                let mut result = json!({"status": "completed", "agent_id": id, "report": report});
                self.add_facts(id, &mut result);
                Ok(ToolOutput { content: result.to_string(), detail: Some(detail(id)), todos: None })
            }
            AgentOutcome::Failed { code, message, partial } => {
                let code = match code {
                    FailureCode::TurnLimit => "subagent_turn_limit",
                    FailureCode::IsolationUnavailable => "isolation_unavailable",
                    _ => "subagent_failed",
                };
                let turns = self.journal.read(|fold| fold.steps_of_run(id));
                let partial = partial.map(|text| prompt::defang(&prompt::bounded(&text, limit, None)));
                let partial = partial.map(|text| format!(" The last it wrote, which is no result: {text}"));
                let message = format!("Agent {id}, after {turns} turns: {message}{}", partial.unwrap_or_default());
                Err(fail(code, message))
            }
            AgentOutcome::Stopped => {
                Err(fail("subagent_stopped", format!("Agent {id} was stopped by the developer. Don't start it again.")))
            }
            AgentOutcome::Interrupted => Err(fail("subagent_stopped", format!("Agent {id} was interrupted."))),
        }
    }

    /// Most bytes of this child's report in its call's result: all that are handed back in one step stay in bounds
    /// together.
    fn report_limit(&self, id: &AgentId) -> usize {
        let parent = self.journal.read(|fold| fold.agent(id).and_then(|child| child.parent.clone()));
        let calls = parent.and_then(|parent| self.worker(&parent)).map(|parent| parent.latest_calls());
        let siblings = calls.unwrap_or_default().iter().filter(|(_, name, _)| name == agent::NAME).count();
        prompt::REPORT_LIMIT.min(prompt::STEP_LIMIT / siblings.max(1))
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

fn detail(id: &AgentId) -> ResultDetail {
    ResultDetail::Delegated { agent: id.clone() }
}
