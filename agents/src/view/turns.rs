//! When an agent was at work.

use offshoot_protocol::{AgentView, Timestamp, TurnView};

/// How many of an agent's last turns its view keeps. The log has all of them.
const SHOWN: usize = 100;

/// A turn begins.
pub(super) fn begin(agent: &mut AgentView, at: Timestamp) {
    if agent.turns.len() == SHOWN {
        agent.turns.remove(0);
    }
    agent.started_at = Some(at);
    agent.ended_at = None;
    agent.turns.push(TurnView { started_at: at, ended_at: None });
}

/// The turn under way ends.
pub(super) fn end(agent: &mut AgentView, at: Timestamp) {
    agent.ended_at = Some(at);
    if let Some(turn) = agent.turns.last_mut() {
        turn.ended_at = turn.ended_at.or(Some(at));
    }
}
