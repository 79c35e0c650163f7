//! What crosses the boundary between the core and a window, as plain values.
//!
//! A window sends [`Command`]s (wishes) and gets [`Event`]s (facts, numbered, stored before they are shown) and
//! [`Delta`]s (passing text, never stored). A [`Snapshot`] is the fold of all events up to its cursor; subscribing from
//! that cursor continues it without a gap. A command answers `Ok` or [`Rejected`]; everything visible is an event.
//!
//! This crate knows neither tokio nor files nor a clock. Its TypeScript twin is written by [`typescript`].

mod agent;
mod change;
mod command;
mod compaction;
mod cost;
mod delta;
mod event;
mod id;
mod merge;
mod message;
mod permission;
mod review;
mod role;
mod shell;
mod snapshot;
mod step;
mod trust;
pub mod typescript;

pub use agent::{AgentCreated, AgentKind, AgentOutcome, FailureCode, Inherited, Input, InputSource, TurnOutcome};
pub use change::{ChangeCount, ChangeKind, ChangeSummary, ChangedFile, DiffLine, FileDiff, Hunk, LineKind};
pub use command::{Command, Isolation, Rejected, RejectedCode};
pub use compaction::{Compacted, CompactionTrigger, CompactionWish, HeadChanged};
pub use cost::{
    Asked, CacheMiss, LongerPrompts, MissReason, MissView, Price, PriceList, PromptSize, Rates, Seller, Spending,
};
pub use delta::{Batch, Delta, Storage, TextKind};
pub use event::{Event, EventBody, HookRan, SetupRan, Warning};
pub use id::{AgentId, BlobHash, CallId, InputId, MergeId, RequestId, SessionId, TaskId};
pub use jiff::Timestamp;
pub use merge::{
    Clash, ConflictFile, MergeConflict, MergeDone, MergeHow, MergePart, MergePreview, MergeSelection, Resolution,
};
pub use message::{Block, Message, MessageRole, Origin, RawJson};
pub use permission::{Access, Answer, Asker, DecidedBy, PermissionMode, PermissionRequest, WithdrawnReason};
pub use review::{Comment, DiffSide, Mark, Passage, Rejection, RejectionState, ReviewFact, ReviewView, ReviewWish};
pub use role::{
    RoleBoard, RoleCard, RoleChange, RoleCopy, RoleFields, RoleFile, RolePreview, RoleRule, RoleSave, RoleSource,
    RoleSummary, RoleTool, RoleTrashId, RoleUse, RoleWarning,
};
pub use shell::{ShellOutcome, ShellView};
pub use snapshot::{
    AgentState, AgentView, AppliedView, CallState, CallView, Conversation, SessionSummary, SessionView, Snapshot, Todo,
    TodoStatus, TurnView, WorktreeState, WorktreeView,
};
pub use step::{CallResult, ResultDetail, StepEnded, Usage};
pub use trust::{Trust, TrustQuestion};
