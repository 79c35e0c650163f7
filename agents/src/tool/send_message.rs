//! `SendMessage`: gives a text to an agent that this one started.

use async_trait::async_trait;
use offshoot_protocol::Access;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput, input};
use crate::boundary::Place;

/// The tool.
#[derive(Debug)]
pub(super) struct SendMessage;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    to: String,
    message: String,
}

fn parse(input: &Value) -> Result<(String, String), ToolError> {
    let Input { to, message } = input::parse(input)?;
    let (to, message) = (to.trim().to_owned(), message.trim().to_owned());
    if message.is_empty() {
        return Err(ToolError::invalid("`message` is empty."));
    }
    Ok((to, message))
}

#[async_trait]
impl Tool for SendMessage {
    fn name(&self) -> &'static str {
        "SendMessage"
    }

    fn description(&self) -> &'static str {
        include_str!("send_message.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "to": {"type": "string", "description": "The agent's id or description"},
                "message": {"type": "string", "description": "The text"},
            },
            "required": ["to", "message"],
            "additionalProperties": false,
        })
    }

    fn access(&self, input: &Value, _: &Place) -> Result<Access, ToolError> {
        parse(input).map(|_| Access::Own)
    }

    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (to, message) = parse(&input)?;
        context.delegate.message(&context.agent, &to, &message).await.map(ToolOutput::text)
    }
}
