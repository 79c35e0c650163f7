//! `TaskOutput`: what a background task has come to.

use std::time::Duration;

use async_trait::async_trait;
use offshoot_protocol::Access;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput, input};
use crate::boundary::Place;

const DEFAULT_PATIENCE: Duration = Duration::from_secs(30);
const MAX_PATIENCE: Duration = Duration::from_secs(600);

/// The tool.
#[derive(Debug)]
pub(super) struct TaskOutput;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    task_id: String,
    block: Option<bool>,
    timeout_ms: Option<u64>,
}

/// The task, and how long to wait for its end.
fn parse(input: &Value) -> Result<(String, Option<Duration>), ToolError> {
    let Input { task_id, block, timeout_ms } = input::parse(input)?;
    let patience = timeout_ms.map_or(DEFAULT_PATIENCE, Duration::from_millis);
    if patience > MAX_PATIENCE {
        return Err(ToolError::invalid("`timeout_ms` must be at most 600000."));
    }
    Ok((task_id.trim().to_owned(), block.unwrap_or(false).then_some(patience)))
}

#[async_trait]
impl Tool for TaskOutput {
    fn name(&self) -> &'static str {
        "TaskOutput"
    }

    fn description(&self) -> &'static str {
        include_str!("task_output.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "task_id": {"type": "string", "description": "The task"},
                "block": {"type": "boolean", "description": "Wait until it ends (false)"},
                "timeout_ms": {
                    "type": "integer", "minimum": 0, "maximum": 600_000,
                    "description": "Longest wait in milliseconds (30000)",
                },
            },
            "required": ["task_id"],
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self) -> bool {
        true
    }

    fn access(&self, input: &Value, _: &Place) -> Result<Access, ToolError> {
        parse(input).map(|_| Access::Own)
    }

    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (task, patience) = parse(&input)?;
        context.delegate.output(&context.agent, &task, patience).await.map(ToolOutput::text)
    }
}
