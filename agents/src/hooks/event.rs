//! The moments at which hooks run.

/// A moment at which hooks run. The names are the field's, as they stand in settings files and in a hook's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HookEvent {
    /// The first turn since a session was made or opened again is about to begin. Subject: `startup` or `resume`.
    SessionStart,
    /// A person sent a text, before the agent sees it.
    UserPromptSubmit,
    /// A call is about to be decided. Subject: the tool's name.
    PreToolUse,
    /// A person is about to be asked. Subject: the tool's name.
    PermissionRequest,
    /// A call came to a good end. Subject: the tool's name.
    PostToolUse,
    /// A call failed. Subject: the tool's name.
    PostToolUseFailure,
    /// A fork, subagent or teammate starts. Subject: its role's name, `fork` for a fork.
    SubagentStart,
    /// A fork, subagent or teammate is about to end. Subject: as at its start.
    SubagentStop,
    /// A background task came into being.
    TaskCreated,
    /// A background task reached its end.
    TaskCompleted,
    /// A worktree was made.
    WorktreeCreate,
    /// A worktree was taken away.
    WorktreeRemove,
    /// A transcript is about to be compacted. Subject: `manual` or `auto`.
    PreCompact,
    /// A transcript was compacted. Subject: `manual` or `auto`.
    PostCompact,
    /// The person is told something. Subject: what kind of thing.
    Notification,
    /// The root's turn is about to end.
    Stop,
    /// A session in which something was done is closed. Subject: `exit` or `delete`.
    SessionEnd,
}

impl HookEvent {
    /// All events, in the order in which they come about.
    pub const ALL: [Self; 17] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::TaskCreated,
        Self::TaskCompleted,
        Self::WorktreeCreate,
        Self::WorktreeRemove,
        Self::PreCompact,
        Self::PostCompact,
        Self::Notification,
        Self::Stop,
        Self::SessionEnd,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PermissionRequest => "PermissionRequest",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::TaskCreated => "TaskCreated",
            Self::TaskCompleted => "TaskCompleted",
            Self::WorktreeCreate => "WorktreeCreate",
            Self::WorktreeRemove => "WorktreeRemove",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::Notification => "Notification",
            Self::Stop => "Stop",
            Self::SessionEnd => "SessionEnd",
        }
    }

    /// The event of exactly that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Whether there is something that a matcher is held against. Without it, matchers are ignored.
    pub const fn has_subject(self) -> bool {
        !matches!(
            self,
            Self::UserPromptSubmit
                | Self::TaskCreated
                | Self::TaskCompleted
                | Self::WorktreeCreate
                | Self::WorktreeRemove
                | Self::Stop
        )
    }

    /// Whether what a hook prints as plain text is something that the model is told.
    pub(super) const fn takes_plain_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }
}

impl std::fmt::Display for HookEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_events() {
        for event in HookEvent::ALL {
            assert_eq!(HookEvent::from_name(event.name()), Some(event));
        }
        assert_eq!(HookEvent::from_name("pretooluse"), None);
    }
}
