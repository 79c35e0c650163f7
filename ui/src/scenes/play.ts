// Writes a session as a recording: what would take pages of events in a few lines. For pictures, tests and measuring.

import type { Recording } from "../bridge.recorded";
import type { AgentCreated, AgentId, Block, CallResult, Delta, Event, EventBody, Message, PermissionRequest, SessionSummary } from "../protocol.gen";

export const SESSION = "ses_scene";
export const PROJECT = "/home/ana/tidepool";

/** A call as a scene writes it: an object as input, and what it returned; without a result it still runs. */
export interface Called {
  id?: string;
  name: string;
  input: Record<string, unknown>;
  result?: string | Partial<CallResult>;
}

export class Play {
  private readonly events: Event[] = [];
  private readonly deltas: Delta[] = [];
  private readonly messages = new Map<AgentId, number>();
  private calls = 0;
  private second = 0;

  constructor(
    private readonly title: string,
    private readonly project = PROJECT,
  ) {
    this.emit(undefined, { type: "session_created", project, title, mode: "default" });
    this.agent("root", "root", "");
  }

  /** Lets time go by. */
  wait(seconds: number): this {
    this.second += seconds;
    return this;
  }

  emit(agent: AgentId | undefined, ...bodies: EventBody[]): this {
    for (const body of bodies) {
      const at = new Date(Date.UTC(2026, 10, 30, 14, 0, 0) + this.second * 1000).toISOString();
      this.events.push({ seq: this.events.length + 1, at, session: SESSION, ...(agent === undefined ? {} : { agent }), ...body });
    }
    return this;
  }

  agent(id: AgentId, kind: AgentCreated["kind"], title: string, more: Partial<AgentCreated> = {}): this {
    this.messages.set(id, more.inherited?.messages ?? 0);
    return this.emit(id, {
      type: "agent_created",
      kind,
      title,
      directory: this.project,
      model: "sonnet",
      head: "head",
      background: kind === "fork",
      mode: "default",
      ...(kind === "root" ? {} : { parent: "root" }),
      ...more,
    });
  }

  worktree(agent: AgentId, branch: string, more: { kept_as?: string } = {}): this {
    const path = `${this.project}/.offshoot/worktrees/${agent}`;
    return this.emit(agent, {
      type: "worktree_created",
      worktree: { path, branch, base: "4f1c2a9d0b7e", base_is_snapshot: true, state: { kind: "live" } },
      ...more,
    });
  }

  /** A message of a person, and the turn that it starts. */
  ask(agent: AgentId, text: string): this {
    this.emit(agent, { type: "turn_started" });
    return this.append(agent, { role: "user", blocks: [{ type: "text", text, origin: "user" }] });
  }

  /** What the model answers: texts, then calls with what they returned. */
  answer(agent: AgentId, text: string | Block[], ...calls: Called[]): this {
    const made = calls.map((call) => ({ ...call, id: call.id ?? `call_${(this.calls += 1)}` }));
    const blocks: Block[] = typeof text === "string" ? [{ type: "text", text, origin: "model" }] : [...text];
    for (const call of made) blocks.push({ type: "call", id: call.id, name: call.name, input: JSON.stringify(call.input) });
    this.append(agent, { role: "assistant", blocks });
    const used = { input: 900, cache_read: 18_400, cache_write: 1200, output: 340 };
    this.emit(agent, { type: "step_ended", stop_reason: made.length > 0 ? "tool_use" : "end_turn", usage: used, duration_ms: 2100 });
    if (made.length === 0) return this;
    const results: Block[] = [];
    for (const call of made) {
      if (call.name !== "Agent" || call.result !== undefined) this.emit(agent, { type: "call_started", call: call.id });
      if (call.result === undefined) continue;
      const short = typeof call.result === "string" ? { content: call.result } : call.result;
      const result: CallResult = { content: "", is_error: false, duration_ms: 420, ...short };
      this.emit(agent, { type: "call_ended", call: call.id, result });
      results.push({ type: "result", id: call.id, content: result.content, is_error: result.is_error });
    }
    if (results.length < made.length) return this;
    const index = this.next(agent);
    return this.emit(agent, { type: "results_appended", index, calls: made.map((call) => call.id), message: { role: "user", blocks: results } });
  }

  done(agent: AgentId): this {
    return this.emit(agent, { type: "turn_ended", outcome: { kind: "finished" } });
  }

  report(agent: AgentId, report: string): this {
    this.answer(agent, report);
    return this.done(agent).emit(agent, { type: "agent_ended", outcome: { kind: "completed", report } });
  }

  /** Text that is being written when the window opens. */
  writing(agent: AgentId, text: string): this {
    this.deltas.push({ type: "text", agent, message: this.messages.get(agent) ?? 0, block: 0, kind: { kind: "text" }, offset: 0, text });
    return this;
  }

  output(agent: AgentId, call: string, text: string): this {
    this.deltas.push({ type: "output", agent, call, offset: 0, text });
    return this;
  }

  request(agent: AgentId, request: Pick<PermissionRequest, "id" | "call" | "tool" | "access" | "asker"> & Partial<PermissionRequest>): this {
    return this.emit(agent, {
      type: "permission_requested",
      request: {
        directory: this.project,
        isolated: false,
        input: "{}",
        reason: "no rule allows it and the mode asks",
        suggested_rules: [],
        created_at: new Date(Date.UTC(2026, 10, 30, 14, 0, this.second)).toISOString(),
        ...request,
      },
    });
  }

  recording(more: Partial<Recording> = {}): Recording {
    return {
      startup: { version: "0.1.0", project: this.project, demo: false, model: "sonnet", provider: "anthropic", dataDir: "/home/ana/.local/share/offshoot", key: "keychain" },
      session: SESSION,
      sessions: [this.summary()],
      frames: [{ at_ms: 0, batch: { events: this.events, deltas: this.deltas } }],
      roles: { roles: [], warnings: [] },
      changes: {},
      diffs: {},
      blobs: {},
      ...more,
    };
  }

  summary(): SessionSummary {
    return { id: SESSION, title: this.title, project: this.project, created_at: "2026-11-30T14:00:00Z", updated_at: new Date().toISOString() };
  }

  private append(agent: AgentId, message: Message): this {
    return this.emit(agent, { type: "message_appended", index: this.next(agent), message });
  }

  private next(agent: AgentId): number {
    const index = this.messages.get(agent) ?? 0;
    this.messages.set(agent, index + 1);
    return index;
  }
}
