// Folds events into the view of a session, as the core's `view` does. Pure: it changes the value it is handed and
// nothing else, and knows neither Solid nor the bridge.

import type {
  AgentId,
  AgentOutcome,
  AgentState,
  AgentView,
  AppliedView,
  Asked,
  CallId,
  Event,
  HookRan,
  Message,
  PermissionMode,
  PermissionRequest,
  PromptSize,
  SessionId,
  SetupRan,
  ShellView,
  Snapshot,
  Spending,
  Usage,
} from "../protocol.gen";
import { plus } from "../costs/usage";
import { foldReview, unsend } from "../review/marks";
import { callLine, lineOf } from "./calls";

/** How a request left the queue while this window watched. */
export interface Settled {
  request: PermissionRequest;
  /** In words for people. */
  how: "allowed" | "denied" | "withdrawn";
  detail: string;
}

/** A session as the window holds it: agents by id, in an order of their own. */
export interface SessionState {
  cursor: number;
  id: SessionId;
  project: string;
  title: string;
  mode: PermissionMode;
  createdAt: string;
  /** Ids in the order of creation; the first is the root. */
  order: AgentId[];
  agents: Record<AgentId, AgentView>;
  /** Pending requests, oldest first. */
  requests: PermissionRequest[];
  /** Shell commands in the background, oldest first, ended ones too. */
  shells: ShellView[];
  /** Changes that were brought home, oldest first. */
  applied: AppliedView[];
  /** Requests that were answered or withdrawn since the window opened, newest last, by id. */
  settled: Record<string, Settled>;
}

/** What an agent's last message called, so that `call_started` can say what runs. */
export type CallLines = Map<CallId, string>;

export function fromSnapshot(snapshot: Snapshot): SessionState {
  const { session, cursor } = snapshot;
  return {
    cursor,
    id: session.id,
    project: session.project,
    title: session.title,
    mode: session.mode,
    createdAt: session.created_at,
    order: session.agents.map((agent) => agent.id),
    agents: Object.fromEntries(session.agents.map((agent) => [agent.id, agent])),
    requests: session.requests,
    shells: session.shells,
    applied: session.applied,
    settled: {},
  };
}

/** The other way round: what the core would send for this state. */
export function toSnapshot(state: SessionState): Snapshot {
  return {
    cursor: state.cursor,
    session: {
      id: state.id,
      project: state.project,
      title: state.title,
      mode: state.mode,
      created_at: state.createdAt,
      agents: state.order.flatMap((id) => state.agents[id] ?? []),
      requests: state.requests,
      shells: state.shells,
      applied: state.applied,
    },
  };
}

export function emptySession(id: SessionId): SessionState {
  return {
    cursor: 0,
    id,
    project: "",
    title: "",
    mode: "default",
    createdAt: "",
    order: [],
    agents: {},
    requests: [],
    shells: [],
    applied: [],
    settled: {},
  };
}

/** Applies one event. Events at or before the cursor are already in the state and change nothing. */
export function foldEvent(state: SessionState, event: Event, lines: CallLines): void {
  if (event.seq <= state.cursor) return;
  state.cursor = event.seq;
  const agent = event.agent === undefined ? undefined : state.agents[event.agent];

  switch (event.type) {
    case "session_created":
      state.project = event.project;
      state.title = event.title;
      state.mode = event.mode;
      state.createdAt = event.at;
      return;
    case "session_renamed":
      state.title = event.title;
      return;
    case "mode_changed":
      changeMode(state, event.mode);
      return;
    case "agent_created":
      if (event.agent !== undefined) addAgent(state, event.agent, event);
      return;
    case "permission_requested":
      state.requests.push(event.request);
      if (agent) agent.state = { kind: "waiting_for_permission" };
      return;
    case "permission_decided": {
      const allowed = event.answer.kind !== "deny";
      settle(state, event.request, allowed ? "allowed" : "denied", answerInWords(event));
      return;
    }
    case "permission_withdrawn":
      settle(
        state,
        event.request,
        "withdrawn",
        event.reason === "agent_stopped" ? "the agent was stopped" : "the program ended",
      );
      return;
    case "shell_started":
      if (event.agent === undefined) return;
      state.shells.push({
        id: event.task,
        agent: event.agent,
        call: event.call,
        command: event.command,
        output_file: event.output_file,
        started_at: event.at,
      });
      return;
    case "shell_ended": {
      const shell = state.shells.find((candidate) => candidate.id === event.task);
      if (!shell) return;
      shell.outcome = event.outcome;
      shell.ended_at = event.at;
      return;
    }
    case "changes_applied":
      if (event.agent === undefined) return;
      state.applied.push({
        merge: event.merge,
        into: event.agent,
        agents: event.agents,
        changes: event.changes,
        ...(event.commit === undefined ? {} : { commit: event.commit }),
        undone: false,
        at: event.at,
      });
      return;
    case "changes_undone":
      for (const applied of state.applied) if (applied.merge === event.merge) applied.undone = true;
      return;
    default:
      if (agent) foldAgent(agent, event, lines);
  }
}

/** How many of an agent's last turns are kept, as in the core. */
const TURNS_SHOWN = 100;

/** How many of an agent's last misses are kept, as in the core. */
const MISSES_SHOWN = 50;

/** How many of an agent's last hooks are kept, as in the core. */
const HOOKS_SHOWN = 20;

type AgentEvent = Exclude<
  Event,
  {
    type:
      | "session_created"
      | "session_renamed"
      | "mode_changed"
      | "agent_created"
      | "permission_requested"
      | "permission_decided"
      | "permission_withdrawn"
      | "shell_started"
      | "shell_ended"
      | "changes_applied"
      | "changes_undone";
  }
>;

function foldAgent(agent: AgentView, event: AgentEvent, lines: CallLines): void {
  switch (event.type) {
    case "input_received":
      agent.queue.push(event.input);
      return;
    case "input_withdrawn":
      agent.queue = agent.queue.filter((input) => input.id !== event.input);
      if (agent.review) agent.review = unsend(agent.review, event.input) ?? agent.review;
      return;
    case "turn_started":
      agent.state = { kind: "running" };
      agent.started_at = event.at;
      agent.turns = [...(agent.turns ?? []), { started_at: event.at }].slice(-TURNS_SHOWN);
      delete agent.ended_at;
      // Who has an end begins a new run; the others only ever have turns.
      if (agent.kind === "fork" || agent.kind === "subagent") delete agent.outcome;
      return;
    case "message_appended":
    case "results_appended":
      agent.messages = event.index + 1;
      if (event.inputs && event.inputs.length > 0) {
        const taken = new Set(event.inputs);
        agent.queue = agent.queue.filter((input) => !taken.has(input.id));
      }
      if (event.type === "message_appended" && event.message.role === "assistant") noteMessage(agent, event.message, lines);
      return;
    case "compaction_requested":
      agent.compaction = { instructions: event.instructions };
      return;
    case "compaction_started":
      agent.activity = event.trigger === "overflow" ? "The conversation is too long: compacting it" : "Compacting the conversation";
      return;
    case "compacted":
      delete agent.compaction;
      agent.messages = event.index + 1;
      agent.activity = "Compacted the conversation";
      return;
    case "compaction_failed":
      delete agent.compaction;
      agent.warnings.push({ code: "compaction", message: event.message });
      return;
    case "head_changed":
      agent.warnings.push({
        code: "cache_lost",
        message: `The model was changed from ${agent.model} to ${event.model}: what the provider had cached of this conversation is lost.`,
      });
      agent.model = event.model;
      return;
    case "step_ended":
      agent.state = { kind: "running" };
      agent.steps += 1;
      agent.usage = plus(agent.usage, event.usage);
      if (event.asked) agent.spending = spend(agent.spending ?? [], event.asked, event.usage);
      if (event.asked && event.missed) agent.misses = [...(agent.misses ?? []), { step: agent.steps, at: event.at, miss: event.missed }].slice(-MISSES_SHOWN);
      return;
    case "answer_lost":
      agent.usage = plus(agent.usage, event.usage);
      agent.spending = spend(agent.spending ?? [], event.asked, event.usage);
      return;
    case "model_waiting":
      agent.state = { kind: "waiting_for_api", until: later(event.at, event.retry_in_ms) };
      agent.activity = event.reason;
      return;
    case "call_started":
      agent.state = { kind: "running" };
      agent.calls += 1;
      agent.activity = lines.get(event.call) ?? agent.activity;
      return;
    case "call_ended":
      lines.delete(event.call);
      return;
    case "turn_ended":
      agent.ended_at = event.at;
      agent.turns = (agent.turns ?? []).map((turn, at, all) => (at === all.length - 1 && turn.ended_at === undefined ? { ...turn, ended_at: event.at } : turn));
      if (event.outcome.kind !== "finished" || agent.kind !== "root") delete agent.compaction;
      if (agent.kind === "root" || agent.kind === "teammate") {
        agent.state =
          event.outcome.kind === "failed"
            ? { kind: "idle_after_failure", message: event.outcome.message }
            : { kind: "idle" };
      }
      return;
    case "agent_ended":
      agent.outcome = event.outcome;
      agent.state = stateAfter(event.outcome);
      agent.ended_at = event.at;
      return;
    case "moved_to_background":
      agent.background = true;
      return;
    case "worktree_planned":
      agent.worktree = event.worktree;
      delete agent.setup;
      return;
    case "setup_ran": {
      const ran: SetupRan = {
        command: event.command,
        output: event.output,
        confinement: event.confinement,
        duration_ms: event.duration_ms,
      };
      if (event.exit !== undefined) ran.exit = event.exit;
      agent.setup = [...(agent.setup ?? []), ran];
      return;
    }
    case "worktree_created":
      agent.worktree = event.worktree;
      return;
    case "worktree_removed":
      if (agent.worktree) {
        agent.worktree.state =
          event.kept_as === undefined ? { kind: "removed" } : { kind: "removed", kept_as: event.kept_as };
      }
      return;
    case "changes_counted":
      agent.changes = event.changes;
      return;
    case "reviewed":
      agent.review = foldReview(agent.review, event.fact);
      return;
    case "todos_changed":
      agent.todos = event.todos;
      return;
    case "warned":
      agent.warnings.push(event.warning);
      return;
    case "hook_ran": {
      const ran: HookRan = { event: event.event, command: event.command, duration_ms: event.duration_ms };
      if (event.exit !== undefined) ran.exit = event.exit;
      if (event.warning !== undefined) ran.warning = event.warning;
      agent.hooks = [...(agent.hooks ?? []), ran].slice(-HOOKS_SHOWN);
      return;
    }
  }
}

/** Adds a request to the part that it has its price from. */
function spend(spending: Spending[], asked: Asked, usage: Usage): Spending[] {
  const tokens = usage.input + usage.cache_read + usage.cache_write;
  const size: PromptSize = tokens <= 100_000 ? "upto100k" : tokens <= 200_000 ? "upto200k" : tokens <= 272_000 ? "upto272k" : "beyond272k";
  const isSame = (part: Spending) => part.model === asked.model && part.seller === asked.seller && part.size === size;
  if (!spending.some(isSame)) return [...spending, { model: asked.model, seller: asked.seller, size, requests: 1, usage }];
  return spending.map((part) => (isSame(part) ? { ...part, requests: part.requests + 1, usage: plus(part.usage, usage) } : part));
}

function addAgent(state: SessionState, id: AgentId, event: Event & { type: "agent_created" }): void {
  const view: AgentView = {
    id,
    kind: event.kind,
    title: event.title,
    directory: event.directory,
    model: event.model,
    background: event.background,
    mode: event.mode,
    state: { kind: event.kind === "root" ? "idle" : "queued" },
    activity: "",
    messages: event.inherited?.messages ?? 0,
    steps: 0,
    calls: 0,
    usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
    spending: [],
    misses: [],
    turns: [],
    queue: [],
    todos: [],
    warnings: [],
    created_at: event.at,
  };
  if (event.parent !== undefined) view.parent = event.parent;
  if (event.call !== undefined) view.call = event.call;
  if (event.role !== undefined) view.role = event.role;
  if (event.color !== undefined) view.color = event.color;
  if (event.inherited !== undefined) view.inherited = event.inherited;
  state.agents[id] = view;
  state.order.push(id);
}

function noteMessage(agent: AgentView, message: Message, lines: CallLines): void {
  const texts = message.blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  agent.activity = lineOf(texts.join("\n\n")) || agent.activity;
  for (const block of message.blocks) {
    if (block.type === "call") lines.set(block.id, callLine(block.name, block.input));
  }
}

/** From narrow to wide. */
const WIDTHS: PermissionMode[] = ["plan", "dont-ask", "default", "accept-edits", "bypass"];

/** Who ran in the session's mode follows it; nobody stays wider than it. */
function changeMode(state: SessionState, mode: PermissionMode): void {
  const before = state.mode;
  state.mode = mode;
  for (const id of state.order) {
    const agent = state.agents[id];
    if (!agent) continue;
    if (agent.mode === before || WIDTHS.indexOf(agent.mode) > WIDTHS.indexOf(mode)) agent.mode = mode;
  }
}

function settle(state: SessionState, id: string, how: Settled["how"], detail: string): void {
  const index = state.requests.findIndex((request) => request.id === id);
  const request = state.requests[index];
  if (!request) return;
  state.requests.splice(index, 1);
  state.settled[id] = { request, how, detail };
  const asker = request.asker.at(-1);
  const agent = asker && state.agents[asker.agent];
  if (!agent || agent.state.kind !== "waiting_for_permission") return;
  const more = state.requests.some((other) => other.asker.at(-1)?.agent === agent.id);
  if (!more) agent.state = { kind: "running" };
}

function answerInWords(event: Event & { type: "permission_decided" }): string {
  const who = event.by === "user" ? "you" : event.by === "rule" ? "a rule" : "nobody could answer";
  switch (event.answer.kind) {
    case "allow_once":
      return `once, by ${who}`;
    case "allow_for_agent":
      return `for this agent, by ${who}`;
    case "allow_for_subtree":
      return `for this subtree, by ${who}`;
    case "allow_for_session":
      return `for this session, by ${who}`;
    case "allow_always":
      return `always, by ${who}`;
    case "deny":
      return event.answer.reason ? `by ${who}: ${event.answer.reason}` : `by ${who}`;
  }
}

function stateAfter(outcome: AgentOutcome): AgentState {
  return outcome.kind === "failed" ? { kind: "failed", message: outcome.message } : { kind: outcome.kind };
}

function later(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString();
}
