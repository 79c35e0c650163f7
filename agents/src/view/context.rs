//! What an agent's requests are made of: compaction, and who answers.

use offshoot_protocol::{AgentView, Block, CompactionTrigger, EventBody, HeadChanged, Message, Warning};

use super::Node;

/// Bytes of text that make about one token. Rather few: an estimate that is too high compacts early, one too low fails.
const BYTES_PER_TOKEN: u64 = 3;

pub(super) fn apply(agent: &mut AgentView, node: &mut Node, body: &EventBody) {
    match body {
        EventBody::CompactionRequested(wish) => agent.compaction = Some(wish.clone()),
        EventBody::CompactionStarted { trigger } => {
            node.requests.is_summing_up = true;
            let line = match trigger {
                CompactionTrigger::Manual | CompactionTrigger::Auto => "Compacting the conversation",
                CompactionTrigger::Overflow => "The conversation is too long: compacting it",
            };
            line.clone_into(&mut agent.activity);
        }
        EventBody::Compacted(compacted) => {
            agent.compaction = None;
            node.requests.is_summing_up = false;
            node.transcript.begin_segment(compacted.message.clone());
            node.context_tokens = 0;
            agent.messages = node.transcript.len();
            "Compacted the conversation".clone_into(&mut agent.activity);
        }
        EventBody::CompactionFailed { message } => {
            agent.compaction = None;
            node.requests.is_summing_up = false;
            agent.warnings.push(Warning { code: "compaction".to_owned(), message: message.clone() });
        }
        EventBody::HeadChanged(HeadChanged { model, head }) => {
            let message = format!(
                "The model was changed from {} to {model}: what the provider had cached of this conversation is lost.",
                agent.model
            );
            agent.warnings.push(Warning { code: "cache_lost".to_owned(), message });
            agent.model.clone_from(model);
            node.author = model.as_str().into();
            node.created.head = head.clone();
        }
        _ => {}
    }
}

/// About how many tokens a message adds that the provider hasn't counted yet.
pub(super) fn estimated_tokens(message: &Message) -> u64 {
    let sizes = message.blocks.iter().map(|block| match block {
        Block::Text { text, .. } => text.len(),
        Block::Result { content, .. } => content.len(),
        _ => 0,
    });
    sizes.sum::<usize>() as u64 / BYTES_PER_TOKEN
}
