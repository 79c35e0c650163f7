//! The `Agent` tool: the one way to delegate. Parses the call; the tree does the rest.

use async_trait::async_trait;
use offshoot_protocol::Access;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AgentCall, Tool, ToolContext, ToolError, ToolOutput};
use crate::boundary::Place;

/// The tool's name.
pub const NAME: &str = "Agent";

/// See the module.
pub struct AgentTool;

/// The input as written. Values are checked by [`parse`], which names the field that is wrong.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    prompt: Option<Value>,
    description: Option<Value>,
    subagent_type: Option<Value>,
    model: Option<Value>,
    isolation: Option<Value>,
    run_in_background: Option<Value>,
    name: Option<Value>,
    team_name: Option<Value>,
    plan_mode_required: Option<Value>,
}

#[async_trait]
impl Tool for AgentTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        include_str!("agent.md")
    }

    fn schema(&self) -> Value {
        let text = |description: &str| json!({"type": "string", "description": description});
        let flag = |description: &str| json!({"type": "boolean", "description": description});
        json!({
            "type": "object",
            "properties": {
                "prompt": text("The directive for a fork, or the whole brief for a subagent."),
                "description": text("Three to six words for the developer."),
                "subagent_type": text("The role of a subagent. Leave out for a fork."),
                "model": text("A model for a subagent; by default its role's, else yours."),
                "isolation": {"type": "string", "enum": ["worktree"], "description": "Give it its own git worktree."},
                "run_in_background": flag("Don't wait for a subagent."),
                "name": text("A teammate's name."),
                "team_name": text("The team it joins."),
                "plan_mode_required": flag("A teammate must have its plan approved first."),
            },
            "required": ["prompt"],
            "additionalProperties": false,
        })
    }

    fn is_parallel(&self) -> bool {
        true
    }

    /// A subagent needs nothing but its brief; a fork needs the whole message.
    fn is_early(&self, input: &Value) -> bool {
        parse(input).is_ok_and(|call| call.subagent_type.is_some())
    }

    /// Nothing is decided here: the tree asks for permission itself, after it has refused what can't be and before it
    /// starts anything.
    fn access(&self, input: &Value, _place: &Place) -> Result<Access, ToolError> {
        parse(input).map(|_| Access::Own)
    }

    async fn run(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        context.delegate.delegate(&context.agent, &context.call, parse(&input)?).await
    }
}

/// Reads a call: trims every string, refuses what is unknown, of the wrong type, or empty where it must not be.
pub fn parse(input: &Value) -> Result<AgentCall, ToolError> {
    let written = Written::deserialize(input).map_err(|error| ToolError::invalid(error.to_string()))?;
    let prompt = text("prompt", written.prompt)?
        .ok_or_else(|| ToolError::invalid("`prompt` is missing or empty: say what the agent shall do."))?;
    let isolated = match text("isolation", written.isolation)?.as_deref() {
        None => false,
        Some("worktree") => true,
        Some(other) => {
            return Err(ToolError::invalid(format!("`isolation` is {other:?}; the only value is \"worktree\".")));
        }
    };
    Ok(AgentCall {
        prompt,
        description: text("description", written.description)?,
        subagent_type: text("subagent_type", written.subagent_type)?,
        model: text("model", written.model)?,
        isolated,
        run_in_background: flag("run_in_background", written.run_in_background)?,
        name: text("name", written.name)?,
        team_name: text("team_name", written.team_name)?,
        plan_mode_required: flag("plan_mode_required", written.plan_mode_required)?.unwrap_or(false),
    })
}

/// A trimmed string; absent when it is missing, `null` or blank.
fn text(field: &str, value: Option<Value>) -> Result<Option<String>, ToolError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Some(other) => Err(ToolError::invalid(format!("`{field}` must be a string, not {other}."))),
    }
}

fn flag(field: &str, value: Option<Value>) -> Result<Option<bool>, ToolError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(flag)),
        Some(other) => Err(ToolError::invalid(format!("`{field}` must be true or false, not {other}."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_trimmed_and_blank_ones_are_absent() {
        let call = parse(&json!({"prompt": " do it ", "subagent_type": "  ", "isolation": " worktree "})).unwrap();
        let wanted = AgentCall { prompt: "do it".into(), isolated: true, ..AgentCall::default() };
        assert_eq!(call, wanted);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (input, named) in [
            (json!({}), "prompt"),
            (json!({"prompt": " \n"}), "prompt"),
            (json!({"prompt": 3}), "prompt"),
            (json!({"prompt": "x", "isolation": "container"}), "isolation"),
            (json!({"prompt": "x", "run_in_background": "yes"}), "run_in_background"),
            (json!({"prompt": "x", "subagent_type": ["a"]}), "subagent_type"),
            (json!({"prompt": "x", "colour": "red"}), "colour"),
            (json!([]), "invalid"),
        ] {
            let error = parse(&input).unwrap_err();
            assert_eq!(error.code, "invalid_arguments");
            assert!(error.message.contains(named), "{input} → {}", error.message);
        }
    }
}
