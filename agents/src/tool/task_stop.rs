//! `TaskStop`: stops a background task for good.

use async_trait::async_trait;
use offshoot_protocol::Access;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput, input};
use crate::boundary::Place;

/// The tool.
#[derive(Debug)]
pub(super) struct TaskStop;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    task_id: String,
}

#[async_trait]
impl Tool for TaskStop {
    fn name(&self) -> &'static str {
        "TaskStop"
    }

    fn description(&self) -> &'static str {
        include_str!("task_stop.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"task_id": {"type": "string", "description": "The task"}},
            "required": ["task_id"],
            "additionalProperties": false,
        })
    }

    fn access(&self, input: &Value, _: &Place) -> Result<Access, ToolError> {
        input::parse::<Input>(input).map(|_| Access::Own)
    }

    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Input { task_id } = input::parse(&input)?;
        context.delegate.stop(&context.agent, task_id.trim()).await.map(ToolOutput::text)
    }
}
