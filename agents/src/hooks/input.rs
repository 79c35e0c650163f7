//! What a hook reads on its standard input.

use std::path::{Path, PathBuf};

use offshoot_protocol::{AgentId, AgentKind, CallId, PermissionMode, SessionId};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::HookEvent;

/// What a hook reads on its standard input, as one JSON object; the event's name is added as `hook_event_name`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HookInput {
    /// The session.
    pub session_id: SessionId,
    /// Where the agent works; the hook is started there.
    #[serde(serialize_with = "path")]
    pub cwd: PathBuf,
    /// The mode the agent's calls are decided in. Written as the field does: `acceptEdits`, `bypassPermissions`.
    #[serde(serialize_with = "mode")]
    pub permission_mode: PermissionMode,
    /// The agent.
    pub agent_id: AgentId,
    /// Root or one of the children's kinds.
    pub agent_kind: AgentKind,
    /// The role's name, or a teammate's own; absent for the root and for forks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// Who delegated; absent for the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<AgentId>,
    /// A file with the transcript, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<String>,
    /// What belongs to the event.
    #[serde(flatten)]
    pub detail: HookDetail,
}

/// What belongs to the event. The fields stand beside the others in the JSON object.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(untagged)]
pub enum HookDetail {
    /// Nothing more.
    #[default]
    None,
    /// A call: `PreToolUse`, `PermissionRequest`, `PostToolUse`, `PostToolUseFailure`.
    Tool {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// What came out, afterwards.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_response: Option<Value>,
        /// The call.
        tool_use_id: CallId,
    },
    /// `UserPromptSubmit`.
    Prompt {
        /// The text.
        prompt: String,
    },
    /// `SessionStart`.
    Start {
        /// `startup` or `resume`.
        source: String,
    },
    /// `SessionEnd`.
    End {
        /// Why.
        reason: String,
    },
    /// `PreCompact`, `PostCompact`.
    Compact {
        /// `manual` or `auto`.
        trigger: String,
    },
    /// `Notification`.
    Notification {
        /// What the person is told.
        message: String,
        /// What kind of thing it is.
        notification_type: String,
    },
    /// `TaskCreated`, `TaskCompleted`.
    Task {
        /// The task.
        task_id: String,
        /// What it does.
        task_subject: String,
        /// How it ended, afterwards.
        #[serde(skip_serializing_if = "Option::is_none")]
        task_status: Option<String>,
    },
    /// `WorktreeCreate`, `WorktreeRemove`.
    Worktree {
        /// Where it is.
        #[serde(serialize_with = "path")]
        worktree_path: PathBuf,
        /// Its branch.
        branch: String,
    },
    /// `Stop`, `SubagentStop`.
    Stop {
        /// Whether the agent works only because a hook of this event kept it from stopping. A hook that always blocks must
        /// look at it, or the agent never ends.
        stop_hook_active: bool,
        /// The agent's last text.
        last_assistant_message: String,
    },
}

impl HookInput {
    /// The JSON text for one event.
    pub(super) fn to_json(&self, event: HookEvent) -> Vec<u8> {
        #[derive(Serialize)]
        struct Line<'a> {
            hook_event_name: &'static str,
            #[serde(flatten)]
            input: &'a HookInput,
        }
        serde_json::to_vec(&Line { hook_event_name: event.name(), input: self }).expect("all keys are strings")
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands in references")]
fn mode<S: Serializer>(mode: &PermissionMode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match mode {
        PermissionMode::Default => "default",
        PermissionMode::AcceptEdits => "acceptEdits",
        PermissionMode::Plan => "plan",
        PermissionMode::DontAsk => "dontAsk",
        PermissionMode::Bypass => "bypassPermissions",
    })
}

/// Bytes that aren't UTF-8 are shown as U+FFFD: a hook that misses a path is worth more than none.
fn path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

#[cfg(test)]
pub(super) fn sample(cwd: &Path) -> HookInput {
    HookInput {
        session_id: SessionId("s-1".to_owned()),
        cwd: cwd.to_path_buf(),
        permission_mode: PermissionMode::AcceptEdits,
        agent_id: AgentId("a-2".to_owned()),
        agent_kind: AgentKind::Subagent,
        agent_name: Some("reviewer".to_owned()),
        parent_id: Some(AgentId("a-1".to_owned())),
        transcript_path: None,
        detail: HookDetail::Tool {
            tool_name: "Bash".to_owned(),
            tool_input: serde_json::json!({"command": "ls"}),
            tool_response: None,
            tool_use_id: CallId("c-1".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_flat_object_with_the_fields_names() {
        let json = sample(Path::new("/w")).to_json(HookEvent::PreToolUse);
        insta::assert_snapshot!(String::from_utf8(json).unwrap(), @r#"{"hook_event_name":"PreToolUse","session_id":"s-1","cwd":"/w","permission_mode":"acceptEdits","agent_id":"a-2","agent_kind":"subagent","agent_name":"reviewer","parent_id":"a-1","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"c-1"}"#);
    }

    #[test]
    fn a_root_without_detail_has_the_common_fields_only() {
        let mut input = sample(Path::new("/w"));
        input.agent_kind = AgentKind::Root;
        (input.agent_name, input.parent_id, input.detail) = (None, None, HookDetail::None);
        let json = input.to_json(HookEvent::Stop);
        insta::assert_snapshot!(String::from_utf8(json).unwrap(), @r#"{"hook_event_name":"Stop","session_id":"s-1","cwd":"/w","permission_mode":"acceptEdits","agent_id":"a-2","agent_kind":"root"}"#);
    }
}
