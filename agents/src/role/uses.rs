//! Which agents had a role, found in the log. It reads sessions and changes none.

use offshoot_protocol::{AgentView, RoleUse, SessionSummary};

use crate::log::{Log, LogError};
use crate::view::Fold;

/// Most sessions that are looked through, the newest first: each is read whole.
pub const SESSIONS_LIMIT: usize = 40;

/// The agents of `sessions` with the role of that name, the newest first.
pub fn uses(log: &Log, sessions: &[SessionSummary], role: &str) -> Result<Vec<RoleUse>, LogError> {
    let mut found = Vec::new();
    for summary in sessions.iter().take(SESSIONS_LIMIT) {
        let mut fold = Fold::new(summary.id.clone());
        log.each_event(&summary.id, 0, |event| fold.apply(&event))?;
        let Some(root) = fold.root() else { continue };
        let had = |agent: &&AgentView| agent.role.as_deref() == Some(role);
        found.extend(fold.children(&root.id).filter(had).map(|agent| RoleUse {
            session: summary.id.clone(),
            session_title: summary.title.clone(),
            agent: agent.id.clone(),
            title: agent.title.clone(),
            created_at: agent.created_at,
            state: agent.state.clone(),
            steps: agent.steps,
            usage: agent.usage,
            spending: agent.spending.clone(),
        }));
    }
    found.sort_by_key(|used| std::cmp::Reverse(used.created_at));
    Ok(found)
}
