// Generated from agents/protocol by `UPDATE=1 cargo test -p offshoot-protocol`. Do not edit.

export type SessionId = string;

export type AgentId = string;

export type CallId = string;

export type RequestId = string;

export type InputId = string;

export type TaskId = string;

export type BlobHash = string;

export type MergeId = string;

export type RawJson = string;

export type MessageRole = "user" | "assistant";

export type Origin = "model" | "user" | "directive" | "brief" | "notification" | "summary" | "reminder";

export type Block = { "type": "text", 
/**
 * The text.
 */
text: string, 
/**
 * Who wrote it.
 */
origin: Origin, } | { "type": "thinking", 
/**
 * The reasoning; may be empty.
 */
thinking: string, 
/**
 * The provider's signature over it, or its item.
 */
signature: string, } | { "type": "redacted_thinking", 
/**
 * Opaque.
 */
data: string, } | { "type": "call", 
/**
 * The model's name for the call.
 */
id: CallId, 
/**
 * The tool's name.
 */
name: string, 
/**
 * The input as the model wrote it; `{}` when it wrote nothing. May be invalid JSON: then the call has an error
 * result and a valid stand-in is sent back to the provider.
 */
input: RawJson, } | { "type": "result", 
/**
 * Which call.
 */
id: CallId, 
/**
 * What the model is told.
 */
content: string, 
/**
 * Whether the call failed.
 */
is_error: boolean, } | { "type": "opaque", 
/**
 * The whole block.
 */
raw: RawJson, };

export type Message = { 
/**
 * Who speaks.
 */
role: MessageRole, 
/**
 * Its parts, in order.
 */
blocks: Array<Block>, };

export type AgentKind = "root" | "fork" | "subagent" | "teammate";

export type Inherited = { 
/**
 * Whose transcript.
 */
from: AgentId, 
/**
 * How many of its messages, counted from the first.
 */
messages: number, };

export type AgentCreated = { 
/**
 * Which of the kinds.
 */
kind: AgentKind, 
/**
 * Who delegated; absent for the root.
 */
parent?: AgentId, 
/**
 * The parent's call that started it; absent when a person did.
 */
call?: CallId, 
/**
 * The role's name; absent for the root and for forks.
 */
role?: string, 
/**
 * What the tree shows: the call's description.
 */
title: string, 
/**
 * The role's colour name, if it has one.
 */
color?: string, 
/**
 * Absolute path the agent works in. A worktree's path is known before the worktree is made.
 */
directory: string, 
/**
 * Model id, as sent to the provider.
 */
model: string, 
/**
 * The stored request head (`RequestHead` as JSON).
 */
head: BlobHash, 
/**
 * Whether nobody waits for it.
 */
background: boolean, 
/**
 * Mode this agent's calls are decided in.
 */
mode: PermissionMode, 
/**
 * Most model calls it may make in one run; absent: no limit.
 */
max_turns?: number, 
/**
 * Rules of its role that allow calls, in the usual spelling.
 */
allow?: Array<string>, 
/**
 * Rules of its role that deny calls.
 */
deny?: Array<string>, 
/**
 * The transcript that it continues; absent when it starts empty.
 */
inherited?: Inherited, };

export type Input = { 
/**
 * Its id.
 */
id: InputId, 
/**
 * The text as the model will see it.
 */
text: string, 
/**
 * Who wrote it.
 */
origin: Origin, 
/**
 * What caused it, for notifications.
 */
source?: InputSource, };

export type InputSource = { 
/**
 * The task whose end it reports: an agent's id, or a shell command's.
 */
task: TaskId, };

export type Usage = { 
/**
 * Input neither read from nor written to a cache.
 */
input: number, 
/**
 * Input read from the provider's cache.
 */
cache_read: number, 
/**
 * Input written to the provider's cache.
 */
cache_write: number, 
/**
 * Output.
 */
output: number, };

export type Seller = "provider" | "this_machine" | "demo";

export type Asked = { 
/**
 * Model id, as sent.
 */
model: string, 
/**
 * Who answers.
 */
seller: Seller, 
/**
 * Fingerprint of the request head.
 */
head: string, };

export type PromptSize = "upto100k" | "upto200k" | "upto272k" | "beyond272k";

export type Spending = { 
/**
 * Model id, as sent.
 */
model: string, 
/**
 * Who answered.
 */
seller: Seller, 
/**
 * How long the prompts were.
 */
size: PromptSize, 
/**
 * How many requests.
 */
requests: number, 
/**
 * Their tokens.
 */
usage: Usage, };

export type MissReason = { "kind": "head_changed" } | { "kind": "compacted" } | { "kind": "prefix_changed", 
/**
 * The first that differs, from 0.
 */
message: number, } | { "kind": "expired", 
/**
 * For how long, in seconds.
 */
unused_s: number, } | { "kind": "too_small", 
/**
 * The provider's limit, in tokens.
 */
minimum: number, } | { "kind": "too_early" } | { "kind": "not_kept" };

export type CacheMiss = { 
/**
 * How many tokens were paid for that should have been read.
 */
tokens: number, 
/**
 * Why.
 */
reason: MissReason, };

export type MissView = { 
/**
 * Which of the agent's model calls, from 1.
 */
step: number, 
/**
 * When (UTC).
 */
at: string, 
/**
 * What was missed, and why.
 */
miss: CacheMiss, };

export type Rates = { 
/**
 * Input neither read from nor written to a cache.
 */
input: number, 
/**
 * Input read from the cache.
 */
cache_read: number, 
/**
 * Input written to the cache for five minutes.
 */
cache_write: number, 
/**
 * Input written to the cache for an hour.
 */
cache_write_hour: number, 
/**
 * Output.
 */
output: number, };

export type LongerPrompts = { 
/**
 * The longest prompt that has the usual price.
 */
beyond: PromptSize, 
/**
 * The price of all tokens of a longer one; absent: not known.
 */
rates?: Rates, };

export type Price = { 
/**
 * Model id. A dated id, such as `name-20260930`, has the price of the name.
 */
model: string, 
/**
 * When this was the price: `YYYY-MM-DD`.
 */
date: string, 
/**
 * Where it was read.
 */
source: string, 
/**
 * For prompts up to the first size in `longer`.
 */
rates: Rates, 
/**
 * For longer prompts. Without rates the cost of those isn't known.
 */
longer?: LongerPrompts, };

export type PriceList = { 
/**
 * The prices.
 */
prices: Array<Price>, 
/**
 * What was wrong in the person's file; those entries are left out.
 */
warnings: Array<string>, 
/**
 * Absolute path of the person's file, whether it is there or not.
 */
file: string, };

export type StepEnded = { 
/**
 * Why the model stopped, as the provider says it.
 */
stop_reason: string, 
/**
 * Tokens.
 */
usage: Usage, 
/**
 * From sending the request to its last byte, in milliseconds.
 */
duration_ms: number, 
/**
 * From sending the request to the first event of its answer, in milliseconds. Absent in logs of earlier versions.
 */
begun_ms?: number, 
/**
 * Who was asked. Absent in logs of earlier versions.
 */
asked?: Asked, 
/**
 * What should have been read from the cache and wasn't.
 */
missed?: CacheMiss, };

export type ResultDetail = { "kind": "edited", 
/**
 * Path as the tool was given it, made absolute.
 */
path: string, 
/**
 * Unified diff of the edit, without file headers; bounded.
 */
diff: string, } | { "kind": "ran", 
/**
 * Exit status; absent when a signal ended it.
 */
exit?: number, 
/**
 * How far the kernel confined it, in words for people.
 */
confinement: string, } | { "kind": "committed", 
/**
 * Its full hash.
 */
commit: string, 
/**
 * The branch that moved, without `refs/heads/`; absent when the checkout is on none.
 */
branch?: string, 
/**
 * How many files it changes.
 */
files: number, 
/**
 * Lines that came.
 */
insertions: number, 
/**
 * Lines that went.
 */
deletions: number, } | { "kind": "delegated", 
/**
 * Which one.
 */
agent: AgentId, };

export type CallResult = { 
/**
 * What the model is told; bounded.
 */
content: string, 
/**
 * Whether it failed.
 */
is_error: boolean, 
/**
 * Why it failed, for programs: `permission_denied`, `invalid_arguments`, ….
 */
code?: string, 
/**
 * The whole output, when `content` had to be cut.
 */
full?: BlobHash, 
/**
 * More for the window than the model needs.
 */
detail?: ResultDetail, 
/**
 * From the call's start, waiting for a person included, in milliseconds.
 */
duration_ms: number, };

export type FailureCode = "model" | "refusal" | "output_limit" | "context_window" | "unknown_stop" | "turn_limit" | "empty_report" | "worktree_missing" | "isolation_unavailable" | "storage" | "hook";

export type TurnOutcome = { "kind": "finished" } | { "kind": "failed", 
/**
 * For programs.
 */
code: FailureCode, 
/**
 * For people: what happened.
 */
message: string, } | { "kind": "interrupted" };

export type AgentOutcome = { "kind": "completed", 
/**
 * The raw text of the report.
 */
report: string, } | { "kind": "failed", 
/**
 * For programs.
 */
code: FailureCode, 
/**
 * For people: what happened.
 */
message: string, 
/**
 * The last text it wrote, if any. Not a report.
 */
partial?: string, } | { "kind": "stopped" } | { "kind": "interrupted" };

export type Warning = { 
/**
 * For programs, in `snake_case`.
 */
code: string, 
/**
 * For people.
 */
message: string, };

export type HookRan = { 
/**
 * The moment: `PreToolUse`, `Stop`, ….
 */
event: string, 
/**
 * The command line, as set.
 */
command: string, 
/**
 * Its exit status: 0 is no objection, 2 is one; absent when it was ended, or never started.
 */
exit?: number, 
/**
 * How long it took, in milliseconds.
 */
duration_ms: number, 
/**
 * What went wrong, or what it tells the person.
 */
warning?: string, };

export type SetupRan = { 
/**
 * The command line, as set.
 */
command: string, 
/**
 * Its exit status; absent when it was ended, or never started. Anything but 0 undoes the worktree.
 */
exit?: number, 
/**
 * The end of what it wrote, or why it never ran.
 */
output: string, 
/**
 * How far the kernel confined it, in words for people.
 */
confinement: string, 
/**
 * How long it took, in milliseconds.
 */
duration_ms: number, };

export type CompactionTrigger = "manual" | "auto" | "overflow";

export type CompactionWish = { 
/**
 * What the summary shall look at; may be empty.
 */
instructions: string, };

export type Compacted = { 
/**
 * Place of the segment's first message in the transcript.
 */
index: number, 
/**
 * That message: the summary, running tasks, the plan, what the person said last.
 */
message: Message, 
/**
 * How many messages the summary stands for.
 */
replaced: number, 
/**
 * Why.
 */
trigger: CompactionTrigger, };

export type HeadChanged = { 
/**
 * Model id, as sent to the provider.
 */
model: string, 
/**
 * The stored request head (`RequestHead` as JSON).
 */
head: BlobHash, };

export type EventBody = { "type": "session_created", 
/**
 * Absolute path of the project folder.
 */
project: string, 
/**
 * What the session list shows.
 */
title: string, 
/**
 * The mode the session starts in.
 */
mode: PermissionMode, } | { "type": "session_renamed", 
/**
 * The new title.
 */
title: string, } | { "type": "agent_created" } & AgentCreated | { "type": "input_received", 
/**
 * The text.
 */
input: Input, } | { "type": "input_withdrawn", 
/**
 * Which one.
 */
input: InputId, } | { "type": "turn_started" } | { "type": "message_appended", 
/**
 * Its place in the transcript, from 0. A fork counts on from what it inherited.
 */
index: number, 
/**
 * The message.
 */
message: Message, 
/**
 * The queued inputs that it contains; they are delivered by this event.
 */
inputs?: Array<InputId>, } | { "type": "results_appended", 
/**
 * The message's place in the transcript.
 */
index: number, 
/**
 * Whose results, in order.
 */
calls: Array<CallId>, 
/**
 * What stands behind the results: queued inputs and reminders. Often empty.
 */
message: Message, 
/**
 * The queued inputs among them; delivered by this event.
 */
inputs?: Array<InputId>, } | { "type": "compaction_requested" } & CompactionWish | { "type": "compaction_started", 
/**
 * Why.
 */
trigger: CompactionTrigger, } | { "type": "compacted" } & Compacted | { "type": "compaction_failed", 
/**
 * What happened, for people.
 */
message: string, } | { "type": "head_changed" } & HeadChanged | { "type": "step_ended" } & StepEnded | { "type": "answer_lost", 
/**
 * Who was asked.
 */
asked: Asked, 
/**
 * What the provider had told by then: all input, hardly any output.
 */
usage: Usage, } | { "type": "model_waiting", 
/**
 * Why, for people.
 */
reason: string, 
/**
 * Which try failed, from 1.
 */
attempt: number, 
/**
 * How long until the next try, in milliseconds.
 */
retry_in_ms: number, } | { "type": "call_started", 
/**
 * Which call.
 */
call: CallId, } | { "type": "call_ended", 
/**
 * Which call.
 */
call: CallId, 
/**
 * What came out.
 */
result: CallResult, } | { "type": "turn_ended", 
/**
 * How.
 */
outcome: TurnOutcome, } | { "type": "agent_ended", 
/**
 * How.
 */
outcome: AgentOutcome, } | { "type": "moved_to_background" } | { "type": "permission_requested", 
/**
 * Everything the person needs to see.
 */
request: PermissionRequest, } | { "type": "permission_decided", 
/**
 * Which one.
 */
request: RequestId, 
/**
 * The answer.
 */
answer: Answer, 
/**
 * Who gave it.
 */
by: DecidedBy, } | { "type": "permission_withdrawn", 
/**
 * Which one.
 */
request: RequestId, 
/**
 * Why.
 */
reason: WithdrawnReason, } | { "type": "mode_changed", 
/**
 * The new mode.
 */
mode: PermissionMode, } | { "type": "worktree_planned", 
/**
 * Where it will be, on which branch; its base isn't known yet.
 */
worktree: WorktreeView, } | { "type": "setup_ran" } & SetupRan | { "type": "worktree_created", 
/**
 * Where, on which branch, from what.
 */
worktree: WorktreeView, } | { "type": "worktree_removed", 
/**
 * Where the content is now: a ref, or nothing when there was nothing.
 */
kept_as?: string, } | { "type": "changes_counted", 
/**
 * Files and lines.
 */
changes: ChangeCount, } | { "type": "changes_applied", 
/**
 * Which step; it can be undone by this.
 */
merge: MergeId, 
/**
 * Whose changes.
 */
agents: Array<AgentId>, 
/**
 * How much.
 */
changes: ChangeCount, 
/**
 * The paths that changed; the first of many.
 */
files: Array<string>, 
/**
 * The commit that was made; absent when the changes are uncommitted.
 */
commit?: string, } | { "type": "changes_undone", 
/**
 * Which step.
 */
merge: MergeId, } | { "type": "reviewed", 
/**
 * What happened.
 */
fact: ReviewFact, } | { "type": "shell_started", 
/**
 * Its id.
 */
task: TaskId, 
/**
 * The call that started it.
 */
call: CallId, 
/**
 * The command line.
 */
command: string, 
/**
 * Absolute path of the file that holds its output.
 */
output_file: string, } | { "type": "shell_ended", 
/**
 * Which.
 */
task: TaskId, 
/**
 * How.
 */
outcome: ShellOutcome, } | { "type": "todos_changed", 
/**
 * The whole list.
 */
todos: Array<Todo>, } | { "type": "warned", 
/**
 * What.
 */
warning: Warning, } | { "type": "hook_ran" } & HookRan;

export type Event = { 
/**
 * Position in the session's log, from 1, without holes.
 */
seq: number, 
/**
 * When it was recorded (UTC).
 */
at: string, 
/**
 * Whose log it stands in.
 */
session: SessionId, 
/**
 * The agent it is about; absent for facts about the session itself.
 */
agent?: AgentId, } & ({ "type": "session_created", 
/**
 * Absolute path of the project folder.
 */
project: string, 
/**
 * What the session list shows.
 */
title: string, 
/**
 * The mode the session starts in.
 */
mode: PermissionMode, } | { "type": "session_renamed", 
/**
 * The new title.
 */
title: string, } | { "type": "agent_created" } & AgentCreated | { "type": "input_received", 
/**
 * The text.
 */
input: Input, } | { "type": "input_withdrawn", 
/**
 * Which one.
 */
input: InputId, } | { "type": "turn_started" } | { "type": "message_appended", 
/**
 * Its place in the transcript, from 0. A fork counts on from what it inherited.
 */
index: number, 
/**
 * The message.
 */
message: Message, 
/**
 * The queued inputs that it contains; they are delivered by this event.
 */
inputs?: Array<InputId>, } | { "type": "results_appended", 
/**
 * The message's place in the transcript.
 */
index: number, 
/**
 * Whose results, in order.
 */
calls: Array<CallId>, 
/**
 * What stands behind the results: queued inputs and reminders. Often empty.
 */
message: Message, 
/**
 * The queued inputs among them; delivered by this event.
 */
inputs?: Array<InputId>, } | { "type": "compaction_requested" } & CompactionWish | { "type": "compaction_started", 
/**
 * Why.
 */
trigger: CompactionTrigger, } | { "type": "compacted" } & Compacted | { "type": "compaction_failed", 
/**
 * What happened, for people.
 */
message: string, } | { "type": "head_changed" } & HeadChanged | { "type": "step_ended" } & StepEnded | { "type": "answer_lost", 
/**
 * Who was asked.
 */
asked: Asked, 
/**
 * What the provider had told by then: all input, hardly any output.
 */
usage: Usage, } | { "type": "model_waiting", 
/**
 * Why, for people.
 */
reason: string, 
/**
 * Which try failed, from 1.
 */
attempt: number, 
/**
 * How long until the next try, in milliseconds.
 */
retry_in_ms: number, } | { "type": "call_started", 
/**
 * Which call.
 */
call: CallId, } | { "type": "call_ended", 
/**
 * Which call.
 */
call: CallId, 
/**
 * What came out.
 */
result: CallResult, } | { "type": "turn_ended", 
/**
 * How.
 */
outcome: TurnOutcome, } | { "type": "agent_ended", 
/**
 * How.
 */
outcome: AgentOutcome, } | { "type": "moved_to_background" } | { "type": "permission_requested", 
/**
 * Everything the person needs to see.
 */
request: PermissionRequest, } | { "type": "permission_decided", 
/**
 * Which one.
 */
request: RequestId, 
/**
 * The answer.
 */
answer: Answer, 
/**
 * Who gave it.
 */
by: DecidedBy, } | { "type": "permission_withdrawn", 
/**
 * Which one.
 */
request: RequestId, 
/**
 * Why.
 */
reason: WithdrawnReason, } | { "type": "mode_changed", 
/**
 * The new mode.
 */
mode: PermissionMode, } | { "type": "worktree_planned", 
/**
 * Where it will be, on which branch; its base isn't known yet.
 */
worktree: WorktreeView, } | { "type": "setup_ran" } & SetupRan | { "type": "worktree_created", 
/**
 * Where, on which branch, from what.
 */
worktree: WorktreeView, } | { "type": "worktree_removed", 
/**
 * Where the content is now: a ref, or nothing when there was nothing.
 */
kept_as?: string, } | { "type": "changes_counted", 
/**
 * Files and lines.
 */
changes: ChangeCount, } | { "type": "changes_applied", 
/**
 * Which step; it can be undone by this.
 */
merge: MergeId, 
/**
 * Whose changes.
 */
agents: Array<AgentId>, 
/**
 * How much.
 */
changes: ChangeCount, 
/**
 * The paths that changed; the first of many.
 */
files: Array<string>, 
/**
 * The commit that was made; absent when the changes are uncommitted.
 */
commit?: string, } | { "type": "changes_undone", 
/**
 * Which step.
 */
merge: MergeId, } | { "type": "reviewed", 
/**
 * What happened.
 */
fact: ReviewFact, } | { "type": "shell_started", 
/**
 * Its id.
 */
task: TaskId, 
/**
 * The call that started it.
 */
call: CallId, 
/**
 * The command line.
 */
command: string, 
/**
 * Absolute path of the file that holds its output.
 */
output_file: string, } | { "type": "shell_ended", 
/**
 * Which.
 */
task: TaskId, 
/**
 * How.
 */
outcome: ShellOutcome, } | { "type": "todos_changed", 
/**
 * The whole list.
 */
todos: Array<Todo>, } | { "type": "warned", 
/**
 * What.
 */
warning: Warning, } | { "type": "hook_ran" } & HookRan);

export type PermissionMode = "default" | "accept-edits" | "plan" | "dont-ask" | "bypass";

export type Asker = { 
/**
 * The agent.
 */
agent: AgentId, 
/**
 * Its kind.
 */
kind: AgentKind, 
/**
 * Its title in the tree.
 */
title: string, };

export type Access = { "kind": "read", 
/**
 * Absolute path.
 */
path: string, } | { "kind": "edit", 
/**
 * Absolute path.
 */
path: string, 
/**
 * Unified diff of what would change, without file headers; bounded; absent when it can't be known beforehand.
 */
diff?: string, } | { "kind": "command", 
/**
 * The command line.
 */
command: string, } | { "kind": "delegate", 
/**
 * The role, or `fork`.
 */
role: string, } | { "kind": "own" };

export type PermissionRequest = { 
/**
 * Its id. An answer names it.
 */
id: RequestId, 
/**
 * The path in the tree, from the root to the agent that asks.
 */
asker: Array<Asker>, 
/**
 * The role of the agent that asks.
 */
role?: string, 
/**
 * Absolute path of the directory the call would run in.
 */
directory: string, 
/**
 * Whether that directory is the agent's own worktree.
 */
isolated: boolean, 
/**
 * The call.
 */
call: CallId, 
/**
 * The tool's name.
 */
tool: string, 
/**
 * The input as the model wrote it.
 */
input: RawJson, 
/**
 * What the call would do.
 */
access: Access, 
/**
 * Why it is asked: the rule or the mode, in words.
 */
reason: string, 
/**
 * The exact rules that *always allow* would save, one per part of a compound command. Empty: not offered.
 */
suggested_rules: Array<string>, 
/**
 * When it was asked (UTC).
 */
created_at: string, };

export type Answer = { "kind": "allow_once" } | { "kind": "allow_for_agent", 
/**
 * Rules in the usual spelling.
 */
rules: Array<string>, } | { "kind": "allow_for_subtree", 
/**
 * Rules in the usual spelling.
 */
rules: Array<string>, } | { "kind": "allow_for_session", 
/**
 * Rules in the usual spelling.
 */
rules: Array<string>, } | { "kind": "allow_always", 
/**
 * Rules in the usual spelling.
 */
rules: Array<string>, } | { "kind": "deny", 
/**
 * What the model is told, if the person wants to say something.
 */
reason?: string, };

export type DecidedBy = "user" | "rule" | "headless";

export type WithdrawnReason = "agent_stopped" | "program_ended";

export type ChangeKind = "added" | "modified" | "deleted" | "renamed";

export type ChangeCount = { 
/**
 * Files.
 */
files: number, 
/**
 * Added lines.
 */
added: number, 
/**
 * Removed lines.
 */
removed: number, };

export type ChangedFile = { 
/**
 * Path relative to the worktree, `/` between components. Bytes that aren't UTF-8 are shown as U+FFFD.
 */
path: string, 
/**
 * Where it was before, when it was renamed.
 */
old_path?: string, 
/**
 * What happened to it.
 */
kind: ChangeKind, 
/**
 * Added lines; 0 for a binary file.
 */
added: number, 
/**
 * Removed lines; 0 for a binary file.
 */
removed: number, 
/**
 * Whether its content isn't text.
 */
binary: boolean, 
/**
 * Things to know at a glance, in words: `mode only`, `line endings only`, `submodule`, `symlink`, `generated`.
 */
labels: Array<string>, 
/**
 * Hash of both sides' content: changes when, and only when, the file's diff changes.
 */
hash: BlobHash, };

export type ChangeSummary = { 
/**
 * The commit the changes are counted from.
 */
base: string, 
/**
 * Totals.
 */
count: ChangeCount, 
/**
 * One entry a file, sorted by path.
 */
files: Array<ChangedFile>, };

export type LineKind = "context" | "added" | "removed";

export type DiffLine = { 
/**
 * Which side it is on.
 */
kind: LineKind, 
/**
 * The line without its end.
 */
text: string, 
/**
 * Set on a last line that has no line end.
 */
no_newline?: boolean, };

export type Hunk = { 
/**
 * What it is told apart by: its file and its lines, wherever they stand. Empty where nobody asked for it.
 */
hash?: string, 
/**
 * First line in the base, from 1; 0 when the hunk has no line there.
 */
old_start: number, 
/**
 * Lines in the base.
 */
old_lines: number, 
/**
 * First line now, from 1; 0 when the hunk has no line there.
 */
new_start: number, 
/**
 * Lines now.
 */
new_lines: number, 
/**
 * What stands behind the second `@@`: usually the enclosing function.
 */
heading: string, 
/**
 * The lines.
 */
lines: Array<DiffLine>, };

export type FileDiff = { 
/**
 * The file.
 */
file: ChangedFile, 
/**
 * Its changed places.
 */
hunks: Array<Hunk>, 
/**
 * Set when the hunks were left out because the file is larger than the budget; says how large, in bytes.
 */
too_large?: number, };

export type Mark = "accepted" | "viewed";

export type DiffSide = "base" | "now";

export type Passage = { 
/**
 * Path as the list of changes spells it.
 */
path: string, 
/**
 * Which side the lines are on.
 */
side: DiffSide, 
/**
 * The first line, from 1.
 */
first: number, 
/**
 * The last line; the same for a single one.
 */
last: number, 
/**
 * Their text.
 */
quoted: string, 
/**
 * The hunk that they stand in.
 */
hunk?: string, };

export type Comment = { 
/**
 * Its id.
 */
id: string, 
/**
 * About what.
 */
passage: Passage, 
/**
 * The commit that the changes were counted from.
 */
base: string, 
/**
 * What is said.
 */
text: string, 
/**
 * The message that carried it to the agent; absent: it wasn't sent yet.
 */
sent?: InputId, };

export type RejectionState = { "kind": "queued" } | { "kind": "done" } | { "kind": "refused", 
/**
 * Why, in words for people.
 */
reason: string, };

export type Rejection = { 
/**
 * The step that takes it out of the worktree; it can be undone by this.
 */
merge: MergeId, 
/**
 * In which file.
 */
path: string, 
/**
 * The hunk's hash, or the file's own for all of it.
 */
hash: string, 
/**
 * How far it is.
 */
state: RejectionState, };

export type ReviewView = { 
/**
 * Hashes of hunks, and of whole files, that shall come home.
 */
accepted?: Array<string>, 
/**
 * Hashes of hunks, and of whole files, that were looked at.
 */
viewed?: Array<string>, 
/**
 * What was turned down, oldest first.
 */
rejections?: Array<Rejection>, 
/**
 * What was said about lines, oldest first.
 */
comments?: Array<Comment>, };

export type ReviewWish = { "kind": "mark", 
/**
 * Their hashes.
 */
hashes: Array<string>, 
/**
 * Which mark.
 */
mark: Mark, 
/**
 * Whether it is put on.
 */
on: boolean, } | { "kind": "reject", 
/**
 * In which file.
 */
path: string, 
/**
 * The hunk's hash, or the file's own.
 */
hash: string, } | { "kind": "unreject", 
/**
 * Which.
 */
merge: MergeId, } | { "kind": "comment", 
/**
 * About what.
 */
passage: Passage, 
/**
 * What.
 */
text: string, } | { "kind": "edit_comment", 
/**
 * Which.
 */
comment: string, 
/**
 * What it says now.
 */
text: string, } | { "kind": "send_comments" };

export type ReviewFact = { "kind": "marked", 
/**
 * Their hashes.
 */
hashes: Array<string>, 
/**
 * Which mark.
 */
mark: Mark, 
/**
 * Whether it is on now.
 */
on: boolean, } | { "kind": "rejected", 
/**
 * Which, and how far it is.
 */
rejection: Rejection, } | { "kind": "rejection_changed", 
/**
 * Which.
 */
merge: MergeId, 
/**
 * How far it is now.
 */
state: RejectionState, } | { "kind": "rejection_withdrawn", 
/**
 * Which.
 */
merge: MergeId, } | { "kind": "commented", 
/**
 * What.
 */
comment: Comment, } | { "kind": "comment_edited", 
/**
 * Which.
 */
comment: string, 
/**
 * Its text.
 */
text: string, } | { "kind": "comments_sent", 
/**
 * Which.
 */
comments: Array<string>, 
/**
 * In which message.
 */
input: InputId, };

export type MergeSelection = { "kind": "all" } | { "kind": "files", 
/**
 * Paths as a list of changes spells them.
 */
paths: Array<string>, } | { "kind": "hunks", 
/**
 * Their content hashes; a file's own `hash` takes it whole.
 */
hashes: Array<string>, } | { "kind": "accepted" };

export type MergeHow = { "kind": "apply" } | { "kind": "squash", 
/**
 * What it says; blank: the agents' titles. Where the changes came from is added.
 */
message: string, } | { "kind": "merge", 
/**
 * As in `squash`.
 */
message: string, } | { "kind": "rebase" } | { "kind": "cherry_pick" };

export type ConflictFile = { 
/**
 * Whose change it is.
 */
agent: AgentId, 
/**
 * Which file.
 */
path: string, 
/**
 * Whether all sides are text that can be shown.
 */
text: boolean, 
/**
 * What both sides started from; absent: there was no such file.
 */
base?: string, 
/**
 * What the checkout has, with what is merged before this one.
 */
ours?: string, 
/**
 * What the agent has.
 */
theirs?: string, 
/**
 * Both in one text, with marks around what conflicts.
 */
merged: string, };

export type Resolution = { "kind": "ours" } | { "kind": "theirs" } | { "kind": "text", 
/**
 * All of it.
 */
text: string, };

export type MergeConflict = { 
/**
 * Whose change it is.
 */
agent: AgentId, 
/**
 * Which file.
 */
path: string, 
/**
 * The agent on the other side; absent: the checkout itself.
 */
other?: AgentId, 
/**
 * Why, in words for people.
 */
reason: string, 
/**
 * Whether it can be settled by taking a side or writing a text.
 */
resolvable: boolean, };

export type MergePart = { 
/**
 * Whose changes.
 */
agent: AgentId, 
/**
 * How many changed places; a file without lines to compare is one.
 */
hunks: number, 
/**
 * Of how many.
 */
of: number, };

export type MergePreview = { 
/**
 * What to apply it by. Known until the program ends or newer previews have pushed it out.
 */
merge: MergeId, 
/**
 * Whose changes, in the order they are merged.
 */
agents: Array<AgentId>, 
/**
 * Absolute path of the checkout that would change.
 */
target: string, 
/**
 * Totals, without what is in conflict.
 */
count: ChangeCount, 
/**
 * What would change there, without what is in conflict.
 */
files: Array<ChangedFile>, 
/**
 * What can't be merged by itself.
 */
conflicts: Array<MergeConflict>, 
/**
 * What was asked for and isn't among the changes: paths, or hashes of hunks.
 */
unknown?: Array<string>, 
/**
 * How much of each agent's changes that is, where not all of them were asked for.
 */
parts?: Array<MergePart>, };

export type MergeDone = { 
/**
 * What to undo it by.
 */
merge: MergeId, 
/**
 * Whose changes.
 */
agents: Array<AgentId>, 
/**
 * How much.
 */
count: ChangeCount, 
/**
 * The paths that changed.
 */
files: Array<string>, 
/**
 * Files that were left out because of conflicts.
 */
left_out: Array<string>, 
/**
 * The commit that was made; absent when the changes are uncommitted.
 */
commit?: string, };

export type Clash = { 
/**
 * One side.
 */
agent: AgentId, 
/**
 * The other; absent: the checkout they would come home to.
 */
other?: AgentId, 
/**
 * In which files.
 */
files: Array<string>, };

export type RoleSource = "plugin" | "built_in" | "user" | "project";

export type RoleSummary = { 
/**
 * Its name.
 */
name: string, 
/**
 * When to use it.
 */
description: string, 
/**
 * Where it comes from.
 */
source: RoleSource, 
/**
 * Absolute path of its file, or `built-in:<name>.md`.
 */
path: string, 
/**
 * The model it asks for; absent: the parent's.
 */
model?: string, 
/**
 * Its colour name.
 */
color?: string, 
/**
 * The tools it may use, as written; absent: all.
 */
tools?: Array<string>, 
/**
 * The path of the role that hides this one, if any.
 */
shadowed_by?: string, };

export type RoleWarning = { 
/**
 * Absolute path of the file.
 */
path: string, 
/**
 * Line in it, from 1; 0 when it is about the whole file.
 */
line: number, 
/**
 * What is wrong and what was done about it.
 */
message: string, };

export type RoleFields = { 
/**
 * Its name; empty where the file has none.
 */
name: string, 
/**
 * When to use it; empty where the file doesn't say.
 */
description: string, 
/**
 * The tools it may use, as written (`Bash(git diff *)` too); absent: all.
 */
tools?: Array<string>, 
/**
 * The tools it may not use, as written.
 */
disallowed_tools: Array<string>, 
/**
 * A model id or alias; absent: the parent's.
 */
model?: string, 
/**
 * Most model calls of one run; absent: the default.
 */
max_turns?: number, 
/**
 * The mode its calls are decided in; absent: the parent's.
 */
permission?: PermissionMode, 
/**
 * Whether it runs in the background.
 */
background: boolean, 
/**
 * Where it works.
 */
isolation: Isolation, 
/**
 * A colour name.
 */
color?: string, 
/**
 * Whether the project's instructions are left out of its prompt.
 */
without_instructions: boolean, 
/**
 * The prompt, with `\n` as line end and without empty lines around it.
 */
body: string, };

export type RoleFile = { 
/**
 * Absolute path, or `built-in:<name>.md`.
 */
path: string, 
/**
 * Where it comes from.
 */
source: RoleSource, 
/**
 * All of it, a byte-order mark and the author's line ends included; absent where it isn't UTF-8.
 */
text?: string, 
/**
 * SHA-256 of its bytes, in hex: what a save says it started from.
 */
fingerprint: string, 
/**
 * What it says; absent where that can't be made out.
 */
fields?: RoleFields, 
/**
 * Everything in it that isn't taken as written, with lines.
 */
warnings: Array<RoleWarning>, 
/**
 * Whether it can be saved here; if not, it can be copied.
 */
editable: boolean, };

export type RoleChange = { "type": "fields", 
/**
 * All of them, changed or not.
 */
fields: RoleFields, } | { "type": "text", 
/**
 * The whole file.
 */
text: string, };

export type RolePreview = { 
/**
 * Exactly what a save writes.
 */
text: string, 
/**
 * Every line of it in order, with the lines that go. Line ends aren't part of a line.
 */
lines: Array<DiffLine>, 
/**
 * What it says; absent where that can't be made out.
 */
fields?: RoleFields, 
/**
 * Everything in it that isn't taken as written, with lines.
 */
warnings: Array<RoleWarning>, 
/**
 * Whether it is a role.
 */
loads: boolean, };

export type RoleSave = { "outcome": "saved", 
/**
 * As it was read back.
 */
file: RoleFile, } | { "outcome": "conflict", 
/**
 * What it is now; absent where it is gone.
 */
now?: RoleFile, };

export type RoleTrashId = string;

export type RoleCopy = { 
/**
 * Absolute path of the new file.
 */
path: string, 
/**
 * Set when the old file went: what brings it back.
 */
trashed?: RoleTrashId, };

export type RoleTool = { 
/**
 * Its name.
 */
name: string, 
/**
 * What it does, in a line.
 */
about: string, 
/**
 * Whether its calls wait for a person where nothing else is said. Tools that only read, or keep the agent's own
 * plan, never do.
 */
asks: boolean, };

export type RoleCard = { 
/**
 * Absolute path of its file, or `built-in:<name>.md`.
 */
path: string, 
/**
 * Where it comes from.
 */
source: RoleSource, 
/**
 * What it says; absent where the file is no role.
 */
role?: RoleSummary, 
/**
 * What is wrong with it.
 */
warnings: Array<RoleWarning>, 
/**
 * Whether it can be changed here; if not, it can be copied.
 */
editable: boolean, };

export type RoleBoard = { 
/**
 * One card per file, by name; a winner before those that it shadows.
 */
cards: Array<RoleCard>, 
/**
 * Problems that are no file's.
 */
warnings: Array<RoleWarning>, 
/**
 * Where new roles of the project go.
 */
project_folder: string, 
/**
 * Where new roles of the user go.
 */
user_folder: string, 
/**
 * Tools that a role can have.
 */
tools: Array<RoleTool>, 
/**
 * Names of colours that a role can have.
 */
colors: Array<string>, 
/**
 * Aliases of models.
 */
models: Array<string>, 
/**
 * Most turns that a role may ask for.
 */
max_turns: number, };

export type RoleRule = { 
/**
 * Whether it can stand in a role file.
 */
valid: boolean, 
/**
 * What is wrong with it or doubtful about it; may be empty.
 */
problem: string, 
/**
 * Calls that it speaks of.
 */
matches: Array<string>, 
/**
 * Calls that look alike and that it doesn't speak of.
 */
misses: Array<string>, };

export type RoleUse = { 
/**
 * In which session.
 */
session: SessionId, 
/**
 * That session's title.
 */
session_title: string, 
/**
 * The agent.
 */
agent: AgentId, 
/**
 * Its title.
 */
title: string, 
/**
 * When it was created (UTC).
 */
created_at: string, 
/**
 * How it ended, or how far it is.
 */
state: AgentState, 
/**
 * Its model calls.
 */
steps: number, 
/**
 * What it used up.
 */
usage: Usage, 
/**
 * The same tokens, by what they cost.
 */
spending: Array<Spending>, };

export type Trust = "trusted" | "untrusted" | "unknown";

export type TrustQuestion = { 
/**
 * What they said so far.
 */
trust: Trust, 
/**
 * What would become active, a line each, for people; the texts come from the folder. Empty: there is nothing to ask.
 */
would_activate: Array<string>, 
/**
 * Absolute path of the main checkout: the answer holds for it and all its worktrees.
 */
place: string, };

export type Isolation = "shared" | "worktree";

export type Command = { "type": "send_message", 
/**
 * Whom.
 */
agent: AgentId, 
/**
 * What.
 */
text: string, } | { "type": "withdraw_input", 
/**
 * Whose.
 */
agent: AgentId, 
/**
 * Which.
 */
input: InputId, } | { "type": "interrupt", 
/**
 * Whose.
 */
agent: AgentId, } | { "type": "stop", 
/**
 * Which.
 */
agent: AgentId, } | { "type": "stop_shell", 
/**
 * Which.
 */
task: TaskId, } | { "type": "compact", 
/**
 * Whose.
 */
agent: AgentId, 
/**
 * What the summary shall look at; may be empty.
 */
instructions: string, } | { "type": "set_model", 
/**
 * Whom.
 */
agent: AgentId, 
/**
 * A model id, or an alias that roles may use.
 */
model: string, } | { "type": "resume", 
/**
 * Which.
 */
agent: AgentId, } | { "type": "fork", 
/**
 * Whose conversation it inherits.
 */
agent: AgentId, 
/**
 * What it shall do.
 */
directive: string, 
/**
 * Where it works.
 */
isolation: Isolation, 
/**
 * How many of the agent's messages it inherits; absent: all.
 */
messages?: number, } | { "type": "start_subagent", 
/**
 * The role's name.
 */
role: string, 
/**
 * What it shall do.
 */
brief: string, 
/**
 * Where it works.
 */
isolation: Isolation, } | { "type": "send_to_background", 
/**
 * Which.
 */
agent: AgentId, } | { "type": "archive_worktree", 
/**
 * Whose.
 */
agent: AgentId, } | { "type": "discard_worktree", 
/**
 * Whose.
 */
agent: AgentId, } | { "type": "restore_worktree", 
/**
 * Whose.
 */
agent: AgentId, } | { "type": "review", 
/**
 * Whose changes.
 */
agent: AgentId, 
/**
 * What is to happen.
 */
wish: ReviewWish, } | { "type": "answer", 
/**
 * Which request.
 */
request: RequestId, 
/**
 * The answer.
 */
answer: Answer, } | { "type": "set_mode", 
/**
 * To what.
 */
mode: PermissionMode, } | { "type": "rename", 
/**
 * The new title.
 */
title: string, };

export type RejectedCode = "not_found" | "gone" | "not_applicable" | "invalid" | "isolation_unavailable" | "limit" | "storage" | "failed";

export type Rejected = { 
/**
 * For programs.
 */
code: RejectedCode, 
/**
 * What happened.
 */
message: string, 
/**
 * What to do about it; may be empty.
 */
hint: string, };

export type TextKind = { "kind": "text" } | { "kind": "thinking" } | { "kind": "input", 
/**
 * The call.
 */
call: CallId, 
/**
 * The tool's name.
 */
name: string, };

export type Delta = { "type": "text", 
/**
 * Whose model.
 */
agent: AgentId, 
/**
 * The place that the message will have in the transcript.
 */
message: number, 
/**
 * The block in the message, from 0.
 */
block: number, 
/**
 * What kind of block.
 */
kind: TextKind, 
/**
 * Where `text` stands in the block.
 */
offset: number, 
/**
 * The new text.
 */
text: string, } | { "type": "output", 
/**
 * Whose call.
 */
agent: AgentId, 
/**
 * Which call.
 */
call: CallId, 
/**
 * Where `text` stands in the output.
 */
offset: number, 
/**
 * The new text.
 */
text: string, } | { "type": "making", 
/**
 * Whose worktree.
 */
agent: AgentId, 
/**
 * How many of its files are there.
 */
done: number, 
/**
 * All; 0 when that isn't known.
 */
all: number, } | { "type": "setup", 
/**
 * Whose worktree.
 */
agent: AgentId, 
/**
 * Where `text` stands in the output of all its commands.
 */
offset: number, 
/**
 * The new text.
 */
text: string, } | { "type": "changes", 
/**
 * Whose worktree.
 */
agent: AgentId, 
/**
 * How much differs now.
 */
count: ChangeCount, };

export type Storage = { "kind": "working" } | { "kind": "waiting", 
/**
 * What is wrong, and where, for people.
 */
message: string, };

export type Batch = { 
/**
 * Facts, in order.
 */
events: Array<Event>, 
/**
 * Passing text, in order.
 */
deltas: Array<Delta>, 
/**
 * Set when facts can't be stored any more, or can be again.
 */
storage?: Storage, };

export type ShellOutcome = { "kind": "completed" } | { "kind": "failed", 
/**
 * What happened.
 */
message: string, } | { "kind": "stopped" } | { "kind": "interrupted" };

export type ShellView = { 
/**
 * Its id.
 */
id: TaskId, 
/**
 * Whose it is. It doesn't outlive that agent.
 */
agent: AgentId, 
/**
 * The call that started it.
 */
call: CallId, 
/**
 * The command line.
 */
command: string, 
/**
 * Absolute path of the file that holds its output.
 */
output_file: string, 
/**
 * How it ended; absent while it runs.
 */
outcome?: ShellOutcome, 
/**
 * When it began (UTC).
 */
started_at: string, 
/**
 * When it ended (UTC).
 */
ended_at?: string, };

export type TodoStatus = "pending" | "in_progress" | "completed";

export type Todo = { 
/**
 * What is to be done.
 */
content: string, 
/**
 * How far it is.
 */
status: TodoStatus, };

export type WorktreeState = { "kind": "making" } | { "kind": "live" } | { "kind": "removed", 
/**
 * The ref that holds its content; absent when nothing had changed.
 */
kept_as?: string, };

export type WorktreeView = { 
/**
 * Absolute path.
 */
path: string, 
/**
 * Branch name, without `refs/heads/`.
 */
branch: string, 
/**
 * The commit it started from, as full hexadecimal hash; empty while it is being made.
 */
base: string, 
/**
 * Whether the base is a snapshot of uncommitted work rather than a commit of the person.
 */
base_is_snapshot: boolean, 
/**
 * Whether it is there.
 */
state: WorktreeState, };

export type AgentState = { "kind": "queued" } | { "kind": "running" } | { "kind": "waiting_for_permission" } | { "kind": "waiting_for_api", 
/**
 * When the request is sent again (UTC).
 */
until: string, } | { "kind": "idle" } | { "kind": "idle_after_failure", 
/**
 * What happened.
 */
message: string, } | { "kind": "completed" } | { "kind": "failed", 
/**
 * What happened.
 */
message: string, } | { "kind": "stopped" } | { "kind": "interrupted" };

export type TurnView = { 
/**
 * From when (UTC).
 */
started_at: string, 
/**
 * Until when (UTC); absent while it is.
 */
ended_at?: string, };

export type AgentView = { 
/**
 * Its id.
 */
id: AgentId, 
/**
 * Its parent; absent for the root.
 */
parent?: AgentId, 
/**
 * The parent's call that started it.
 */
call?: CallId, 
/**
 * Its kind.
 */
kind: AgentKind, 
/**
 * Its role's name.
 */
role?: string, 
/**
 * What the tree shows.
 */
title: string, 
/**
 * Its role's colour name.
 */
color?: string, 
/**
 * Where it works: absolute path.
 */
directory: string, 
/**
 * Its model.
 */
model: string, 
/**
 * Whether nobody waits for it.
 */
background: boolean, 
/**
 * The mode its calls are decided in.
 */
mode: PermissionMode, 
/**
 * What it shares of another transcript.
 */
inherited?: Inherited, 
/**
 * What it is doing.
 */
state: AgentState, 
/**
 * One line on what it is doing right now or did last: a tool and its target, or the start of a text.
 */
activity: string, 
/**
 * Its worktree, if it has one.
 */
worktree?: WorktreeView, 
/**
 * The setup of its worktree, as far as it ran.
 */
setup?: Array<SetupRan>, 
/**
 * What differs from its worktree's base.
 */
changes?: ChangeCount, 
/**
 * What a person thinks of its changes.
 */
review?: ReviewView, 
/**
 * Length of its transcript, inherited messages included.
 */
messages: number, 
/**
 * Model calls made.
 */
steps: number, 
/**
 * Tool calls made.
 */
calls: number, 
/**
 * Tokens of all its model calls.
 */
usage: Usage, 
/**
 * The same tokens, by what they cost.
 */
spending: Array<Spending>, 
/**
 * Its last requests that should have read more from the cache, oldest first; bounded.
 */
misses: Array<MissView>, 
/**
 * Texts it has not taken in yet, oldest first.
 */
queue: Array<Input>, 
/**
 * Set while a person's wish to compact its conversation waits.
 */
compaction?: CompactionWish, 
/**
 * Its plan.
 */
todos: Array<Todo>, 
/**
 * What a person should know about it.
 */
warnings: Array<Warning>, 
/**
 * The last hooks that ran for it, oldest first; bounded.
 */
hooks?: Array<HookRan>, 
/**
 * How its last run ended.
 */
outcome?: AgentOutcome, 
/**
 * When it was created (UTC).
 */
created_at: string, 
/**
 * Its last turns, oldest first; bounded.
 */
turns: Array<TurnView>, 
/**
 * When its last turn began (UTC).
 */
started_at?: string, 
/**
 * When its last turn ended (UTC).
 */
ended_at?: string, };

export type AppliedView = { 
/**
 * Which step.
 */
merge: MergeId, 
/**
 * Whose checkout they were brought into.
 */
into: AgentId, 
/**
 * Whose changes.
 */
agents: Array<AgentId>, 
/**
 * How much.
 */
changes: ChangeCount, 
/**
 * The commit that was made; absent when the changes are uncommitted.
 */
commit?: string, 
/**
 * Whether they were taken out again.
 */
undone: boolean, 
/**
 * When (UTC).
 */
at: string, };

export type SessionView = { 
/**
 * Its id.
 */
id: SessionId, 
/**
 * Absolute path of the project folder.
 */
project: string, 
/**
 * Its title.
 */
title: string, 
/**
 * Its permission mode.
 */
mode: PermissionMode, 
/**
 * When it began (UTC).
 */
created_at: string, 
/**
 * All agents in the order of their creation; the first is the root.
 */
agents: Array<AgentView>, 
/**
 * Pending permission requests, oldest first.
 */
requests: Array<PermissionRequest>, 
/**
 * Shell commands in the background, oldest first, ended ones too.
 */
shells: Array<ShellView>, 
/**
 * Changes that were brought home, oldest first.
 */
applied: Array<AppliedView>, };

export type Snapshot = { 
/**
 * The number of the last event that is in it.
 */
cursor: number, 
/**
 * The session.
 */
session: SessionView, };

export type CallState = "pending" | "running" | "waiting_for_permission" | "ended";

export type CallView = { 
/**
 * How far it is.
 */
state: CallState, 
/**
 * When it began (UTC); absent when it never did.
 */
started_at?: string, 
/**
 * What came out.
 */
result?: CallResult, };

export type Conversation = { 
/**
 * Whose.
 */
agent: AgentId, 
/**
 * The number of the last event that is in it.
 */
cursor: number, 
/**
 * The place of the first message in the transcript.
 */
first: number, 
/**
 * The messages.
 */
messages: Array<Message>, 
/**
 * The calls in these messages, also those still running.
 */
calls: { [key in string]: CallView }, };

export type SessionSummary = { 
/**
 * Its id.
 */
id: SessionId, 
/**
 * Its title.
 */
title: string, 
/**
 * Absolute path of its project.
 */
project: string, 
/**
 * When it began (UTC).
 */
created_at: string, 
/**
 * When something last happened in it (UTC).
 */
updated_at: string, };
