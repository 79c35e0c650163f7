//! `TodoWrite`: the agent's plan.

use async_trait::async_trait;
use offshoot_protocol::{Access, Todo, TodoStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolError, ToolOutput, input};
use crate::boundary::Place;

/// The tool's name.
pub const NAME: &str = "TodoWrite";

/// Most entries of a plan.
const MAX_TODOS: usize = 100;
/// Most characters of an entry.
const MAX_CONTENT: usize = 500;

/// The tool.
#[derive(Debug)]
pub(super) struct TodoWrite;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    todos: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    content: String,
    status: TodoStatus,
}

fn parse(input: &Value) -> Result<Vec<Todo>, ToolError> {
    let parsed: Input = input::parse(input)?;
    if parsed.todos.len() > MAX_TODOS {
        return Err(ToolError::invalid(format!("`todos` has more than {MAX_TODOS} entries.")));
    }
    let check = |entry: Entry| {
        let content = entry.content.trim();
        match content.chars().count() {
            0 => Err(ToolError::invalid("`todos`: an entry's `content` is empty.")),
            1..=MAX_CONTENT => Ok(Todo { content: content.to_owned(), status: entry.status }),
            _ => Err(ToolError::invalid(format!(
                "`todos`: an entry's `content` has more than {MAX_CONTENT} characters."
            ))),
        }
    };
    parsed.todos.into_iter().map(check).collect()
}

#[async_trait]
impl Tool for TodoWrite {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        include_str!("todo_write.md")
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "description": "The whole plan",
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {"type": "string", "description": "What is to be done, as an imperative"},
                            "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                        },
                        "required": ["content", "status"],
                        "additionalProperties": false,
                    },
                },
            },
            "required": ["todos"],
            "additionalProperties": false,
        })
    }

    fn access(&self, input: &Value, _: &Place) -> Result<Access, ToolError> {
        parse(input).map(|_| Access::Own)
    }

    async fn run(&self, input: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let todos = parse(&input)?;
        let open = todos.iter().filter(|todo| todo.status != TodoStatus::Completed).count();
        let content = match (todos.len(), open) {
            (0, _) => "The plan is empty.".to_owned(),
            (all, 0) => format!("Noted: all {all} steps are completed."),
            (all, open) => format!("Noted: {open} of {all} steps are open."),
        };
        Ok(ToolOutput { todos: Some(todos), ..ToolOutput::text(content) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    #[tokio::test]
    async fn the_plan_is_handed_over_whole() {
        let bench = Bench::new();
        let input = json!({"todos": [
            {"content": " Read ", "status": "completed"},
            {"content": "Write", "status": "in_progress"},
        ]});
        let output = bench.run(&TodoWrite, input).await.unwrap();
        let todos = output.todos.unwrap();
        assert_eq!(todos[0], Todo { content: "Read".to_owned(), status: TodoStatus::Completed });
        assert_eq!(output.content, "Noted: 1 of 2 steps are open.");
    }

    #[test]
    fn wrong_entries_are_named() {
        let message = |todos: Value| parse(&json!({"todos": todos})).unwrap_err().message;
        assert!(message(json!([{"content": "", "status": "pending"}])).contains("`content` is empty"));
        assert!(message(json!([{"content": "a", "status": "done"}])).starts_with("`todos`: unknown variant `done`"));
        assert!(message(json!([{"content": "a", "status": "pending", "x": 1}])).contains("unknown field `x`"));
        assert!(message(json!(vec![json!({"content": "a", "status": "pending"}); 101])).contains("more than 100"));
    }
}
