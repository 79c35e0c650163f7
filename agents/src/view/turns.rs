//! When an agent was at work.

use offshoot_protocol::{AgentView, Timestamp, TurnView};

/// How many of an agent's last turns its view keeps. The log has all of them.
const SHOWN: usize = 100;

/// A turn begins.
pub(super) fn begin(agent: &mut AgentView, at: Timestamp) {
    if agent.turns.len() == SHOWN {
        agent.turns.remove(0);
    }
    agent.turns.push(TurnView { started_at: at, ended_at: None });
}

/// The turn under way ends.
pub(super) fn end(agent: &mut AgentView, at: Timestamp) {
    if let Some(turn) = agent.turns.last_mut() {
        turn.ended_at = turn.ended_at.or(Some(at));
    }
}
