//! `TaskList`: what runs in the background for the agent.

use async_trait::async_trait;
use offshoot_protocol::Access;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput, input};
use crate::boundary::Place;

/// The tool.
#[derive(Debug)]
pub(super) struct TaskList;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {}

#[async_trait]
impl Tool for TaskList {
    fn name(&self) -> &'static str {
        "TaskList"
    }

    fn description(&self) -> &'static str {
        include_str!("task_list.md")
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
    }

    fn is_parallel(&self) -> bool {
        true
    }

    fn access(&self, input: &Value, _: &Place) -> Result<Access, ToolError> {
        input::parse::<Input>(input).map(|Input {}| Access::Own)
    }

    async fn run(&self, _: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(context.delegate.list(&context.agent)))
    }
}
