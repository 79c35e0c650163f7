//! How messages enter an agent's transcript.

use offshoot_protocol::{AgentView, Block, CallId, Message, MessageRole};

use super::{Node, activity};

/// Appends a message and updates what the tree shows of it.
pub(super) fn append(agent: &mut AgentView, node: &mut Node, message: Message) {
    if message.role == MessageRole::Assistant
        && let Some(line) = activity::of_message(&message)
    {
        agent.activity = line;
    }
    match message.role {
        MessageRole::Assistant => node.transcript.push_by(message, node.author.clone()),
        MessageRole::User => {
            node.context_tokens += super::context::estimated_tokens(&message);
            node.transcript.push(message)
        }
    };
    agent.messages = node.transcript.len();
}

/// The user message that answers calls: their results in order, then the other blocks. A call without a stored result
/// gets an error result, so that no transcript ever holds a call without one.
pub(super) fn with_results(node: &Node, calls: &[CallId], message: &Message) -> Message {
    let result = |call: &CallId| match node.calls.get(call).and_then(|view| view.result.as_ref()) {
        Some(result) => Block::Result { id: call.clone(), content: result.content.clone(), is_error: result.is_error },
        None => {
            Block::Result { id: call.clone(), content: "The result of this call was lost.".to_owned(), is_error: true }
        }
    };
    let mut blocks: Vec<Block> = calls.iter().map(result).collect();
    blocks.extend(message.blocks.iter().cloned());
    Message { role: MessageRole::User, blocks }
}
