//! Why delegating came to nothing: the codes that a model reads.

use super::ToolError;

/// See the module. The model gets [`Refusal::code`] beside a message that says what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A field is missing, unknown, empty or of the wrong type; the message names it. Also: teams, which aren't available.
    InvalidArguments,
    /// A fork, subagent or teammate wanted to start an agent. Only the root may.
    NestedAgentForbidden,
    /// The same, with a team named.
    NestedTeamMemberForbidden,
    /// There is no role of that name; the message has the closest ones and all there are.
    UnknownSubagentType,
    /// The model that was asked for is unknown. A warning, not a failure: the agent runs with its parent's.
    UnknownModel,
    /// The role leaves the agent no tool; the message names the entries of its file.
    SubagentConfigurationError,
    /// The session has started all the agents that it may. Trying again is of no use.
    SubagentLimitReached,
    /// It was to have a worktree of its own, and none can be made. It is never given its parent's directory instead.
    IsolationUnavailable,
    /// A rule or a person said no.
    PermissionDenied,
    /// It would run in the background, which is turned off.
    BackgroundDisabled,
    /// It was started, and used up its turns.
    SubagentTurnLimit,
    /// It was started, and failed or ended without a report.
    SubagentFailed,
    /// It was started, and stopped or interrupted before it was done. Only the developer lets it go on.
    SubagentStopped,
}

impl Refusal {
    /// All there are.
    pub const ALL: [Self; 13] = [
        Self::InvalidArguments,
        Self::NestedAgentForbidden,
        Self::NestedTeamMemberForbidden,
        Self::UnknownSubagentType,
        Self::UnknownModel,
        Self::SubagentConfigurationError,
        Self::SubagentLimitReached,
        Self::IsolationUnavailable,
        Self::PermissionDenied,
        Self::BackgroundDisabled,
        Self::SubagentTurnLimit,
        Self::SubagentFailed,
        Self::SubagentStopped,
    ];

    /// What stands in the result.
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid_arguments",
            Self::NestedAgentForbidden => "nested_agent_forbidden",
            Self::NestedTeamMemberForbidden => "nested_team_member_forbidden",
            Self::UnknownSubagentType => "unknown_subagent_type",
            Self::UnknownModel => "unknown_model",
            Self::SubagentConfigurationError => "subagent_configuration_error",
            Self::SubagentLimitReached => "subagent_limit_reached",
            Self::IsolationUnavailable => "isolation_unavailable",
            Self::PermissionDenied => "permission_denied",
            Self::BackgroundDisabled => "background_disabled",
            Self::SubagentTurnLimit => "subagent_turn_limit",
            Self::SubagentFailed => "subagent_failed",
            Self::SubagentStopped => "subagent_stopped",
        }
    }

    /// The one with this code.
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|refusal| refusal.code() == code)
    }

    /// The result of a call that was refused for this.
    pub fn because(self, message: impl Into<String>) -> ToolError {
        ToolError::new(self.code(), message)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_code_is_its_own() {
        let codes: HashSet<_> = Refusal::ALL.iter().map(|refusal| refusal.code()).collect();
        assert_eq!(codes.len(), Refusal::ALL.len());
        assert!(Refusal::ALL.iter().all(|refusal| Refusal::of_code(refusal.code()) == Some(*refusal)));
        assert_eq!(Refusal::of_code("storage"), None);
    }
}
