//! The TypeScript twin of this crate: one file, generated, checked for freshness by a test.

use ts_rs::{Config, TS};

/// The text of `ui/src/protocol.gen.ts`.
pub fn declarations() -> String {
    let config = Config::default();
    let mut text =
        String::from("// Generated from agents/protocol by `UPDATE=1 cargo test -p offshoot-protocol`. Do not edit.\n");
    macro_rules! declare {
        ($($name:ident),* $(,)?) => {$(
            text.push_str("\nexport ");
            text.push_str(&crate::$name::decl(&config));
            text.push('\n');
        )*};
    }
    declare! {
        SessionId, AgentId, CallId, RequestId, InputId, TaskId, BlobHash, MergeId,
        RawJson, MessageRole, Origin, Block, Message,
        AgentKind, Inherited, AgentCreated, Input, InputSource, Usage,
        Seller, Asked, PromptSize, Spending, MissReason, CacheMiss, MissView, Rates, LongerPrompts, Price, PriceList,
        StepEnded, ResultDetail, CallResult,
        FailureCode, TurnOutcome, AgentOutcome, Warning, HookRan, SetupRan,
        CompactionTrigger, CompactionWish, Compacted, HeadChanged, EventBody, Event,
        PermissionMode, Asker, Access, PermissionRequest, Answer, DecidedBy, WithdrawnReason,
        ChangeKind, ChangeCount, ChangedFile, ChangeSummary, LineKind, DiffLine, Hunk, FileDiff,
        Mark, DiffSide, Passage, Comment, RejectionState, Rejection, ReviewView, ReviewWish, ReviewFact,
        MergeSelection, MergeHow, ConflictFile, Resolution, MergeConflict, MergePart, MergePreview, MergeDone, Clash,
        RoleSource, RoleSummary, RoleWarning,
        RoleFields, RoleFile, RoleChange, RolePreview, RoleSave, RoleTrashId, RoleCopy, RoleTool, RoleCard, RoleBoard, RoleRule, RoleUse,
        Trust, TrustQuestion,
        Isolation, Command, RejectedCode, Rejected,
        TextKind, Delta, Storage, Batch,
        ShellOutcome, ShellView,
        TodoStatus, Todo, WorktreeState, WorktreeView, AgentState, TurnView, AgentView, AppliedView, SessionView, Snapshot,
        CallState, CallView, Conversation, SessionSummary,
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "tests may read the environment")]
    fn generated_file_is_fresh() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/protocol.gen.ts");
        let wanted = super::declarations();
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &wanted).expect("the UI folder is there");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == wanted, "{} is stale: run `UPDATE=1 cargo test -p offshoot-protocol`", path.display());
    }
}
