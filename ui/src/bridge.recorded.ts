// The bridge played from a recording: for tests, for working on the window in a browser, and for pictures of it. It
// holds no rules of its own: it plays batches in time, waits where the recording waited for an answer, and folds the
// same events into the same snapshots as the window.

import { isAtWork } from "./agents/state";
import type { Bridge, Roles, Startup } from "./bridge";
import type {
  AgentId,
  Batch,
  ChangeSummary,
  Command,
  Conversation,
  Event,
  FileDiff,
  RequestId,
  Rejected,
  ReviewFact,
  ReviewWish,
  SessionId,
  SessionSummary,
  Snapshot,
  TrustQuestion,
} from "./protocol.gen";
import { recordedPrices } from "./costs/recorded";
import { recordedModels } from "./settings/recorded";
import { recordedRoles } from "./roles/recorded";
import { sampleRoles } from "./roles/samples";
import { emptySession, foldEvent, toSnapshot, type SessionState } from "./session/fold";
import { foldTranscript, type TranscriptState } from "./session/transcript";

export interface Frame {
  /** When the batch arrived, in milliseconds from the start. */
  at_ms: number;
  batch: Batch;
  /** The frame, and all behind it, came after this request was answered. */
  after?: RequestId;
}

export interface Recording {
  startup: Startup;
  session: SessionId;
  sessions: SessionSummary[];
  frames: Frame[];
  roles: Roles;
  /** Absent: the project is trusted. */
  trust?: TrustQuestion;
  /** By agent. */
  changes: Record<AgentId, ChangeSummary>;
  /** By `agent:path`. */
  diffs: Record<string, FileDiff>;
  /** By hash. */
  blobs: Record<string, string>;
}

export interface Playback {
  /** Play everything up to this moment at once, ignoring what frames wait for. */
  skipTo?: number;
  /** How much faster than recorded; 0: by `step()` only. */
  speed?: number;
  /** Which role files there are, see `sampleRoles`. */
  roles?: string;
}

export interface RecordedBridge extends Bridge {
  /** Commands in the order they were sent. */
  readonly sent: Command[];
  /** Answers to the question of trust, in the order they were given. */
  readonly trusted: boolean[];
  /** Delivers the next frame; answers whether there was one to deliver. */
  step(): boolean;
  /** Delivers a batch that isn't in the recording; sequence numbers are set here. */
  inject(events: readonly Partial<Event>[], deltas?: Batch["deltas"]): void;
}

export function recordedBridge(recording: Recording, playback: Playback = {}): RecordedBridge {
  const speed = playback.speed ?? 1;
  const log: Event[] = [];
  const answered = new Set<RequestId>();
  const sent: Command[] = [];
  const trusted: boolean[] = [];
  const previews = new Map<string, { agents: AgentId[]; summary: ChangeSummary }>();
  const listeners = new Set<(batch: Batch) => void>();
  let position = 0;
  let started = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  // Played as if it happened now, so that running times are believable.
  const first = recording.frames[0]?.batch.events[0]?.at;
  const shift = first === undefined ? 0 : Date.now() - Math.max(0, playback.skipTo ?? 0) - Date.parse(first);
  const moved = (at: string) => new Date(Date.parse(at) + shift).toISOString();

  const frames = recording.frames;
  const skipTo = playback.skipTo ?? -1;
  /** Deltas that a window opening now would have missed: a live subscriber of the core gets what comes. */
  let tail: Batch["deltas"] = [];
  while (position < frames.length && (frames[position]?.at_ms ?? Infinity) <= skipTo) {
    const frame = frames[position];
    if (frame) {
      record(frame.batch.events);
      tail = stillOpen([...tail, ...frame.batch.deltas], frame.batch.events);
    }
    position += 1;
  }

  function record(events: readonly Event[]): Event[] {
    return events.map((event) => {
      // What was injected in between moves the recording's own numbers up.
      const numbered = { ...event, seq: log.length + 1, at: moved(event.at) };
      log.push(numbered);
      return numbered;
    });
  }

  function deliver(batch: Batch): void {
    const events = record(batch.events);
    for (const listener of listeners) listener({ events, deltas: batch.deltas });
  }

  function isHeld(frame: Frame): boolean {
    return frame.after !== undefined && !answered.has(frame.after);
  }

  function step(): boolean {
    const frame = frames[position];
    if (!frame || isHeld(frame)) return false;
    position += 1;
    deliver(frame.batch);
    return true;
  }

  function play(): void {
    if (speed === 0 || timer !== undefined) return;
    const frame = frames[position];
    if (!frame || isHeld(frame)) return;
    const before = frames[position - 1]?.at_ms ?? 0;
    timer = setTimeout(() => {
      timer = undefined;
      step();
      play();
    }, Math.max(0, frame.at_ms - Math.max(before, skipTo)) / speed);
  }

  function inject(events: readonly Partial<Event>[], deltas: Batch["deltas"] = []): void {
    const at = new Date(Date.now() - shift).toISOString();
    deliver({
      events: events.map((event) => ({ session: recording.session, at, seq: 0, ...event }) as Event),
      deltas,
    });
  }

  function view(): SessionState {
    const state = emptySession(recording.session);
    const lines = new Map<string, string>();
    for (const event of structuredClone(log)) foldEvent(state, event, lines);
    return state;
  }

  function review(agent: AgentId, wish: ReviewWish): void {
    const view_ = view().agents[agent];
    const tell = (fact: ReviewFact, ...more: Partial<Event>[]) => inject([{ type: "reviewed", agent, fact }, ...more]);
    switch (wish.kind) {
      case "mark":
        return tell({ kind: "marked", hashes: wish.hashes, mark: wish.mark, on: wish.on });
      case "reject": {
        const waits = view_ !== undefined && isAtWork(view_.state);
        const state = { kind: waits ? ("queued" as const) : ("done" as const) };
        return tell({ kind: "rejected", rejection: { merge: `m-${log.length + 1}`, path: wish.path, hash: wish.hash, state } });
      }
      case "unreject":
        return tell({ kind: "rejection_withdrawn", merge: wish.merge });
      case "comment": {
        const base = view_?.worktree?.base ?? "";
        return tell({ kind: "commented", comment: { id: `c-${log.length + 1}`, passage: wish.passage, base, text: wish.text } });
      }
      case "edit_comment":
        return tell({ kind: "comment_edited", comment: wish.comment, text: wish.text });
      case "send_comments": {
        const comments = (view_?.review?.comments ?? []).filter((comment) => comment.sent === undefined);
        const input = `in_${log.length + 1}`;
        const text = comments.map((comment) => comment.text).join("\n\n");
        return tell(
          { kind: "comments_sent", comments: comments.map((comment) => comment.id), input },
          { type: "input_received", agent, input: { id: input, text, origin: "user" } },
        );
      }
    }
  }

  function answer(command: Command): void {
    switch (command.type) {
      case "answer":
        inject([{ type: "permission_decided", request: command.request, answer: command.answer, by: "user" }]);
        answered.add(command.request);
        play();
        return;
      case "send_message":
        inject([
          {
            type: "input_received",
            agent: command.agent,
            input: { id: `in_${log.length + 1}`, text: command.text, origin: "user" },
          },
        ]);
        return;
      case "withdraw_input":
        inject([{ type: "input_withdrawn", agent: command.agent, input: command.input }]);
        return;
      case "interrupt":
        inject([{ type: "turn_ended", agent: command.agent, outcome: { kind: "interrupted" } }]);
        return;
      case "stop":
        inject([{ type: "agent_ended", agent: command.agent, outcome: { kind: "stopped" } }]);
        return;
      case "resume":
        inject([{ type: "turn_started", agent: command.agent }]);
        return;
      case "send_to_background":
        inject([{ type: "moved_to_background", agent: command.agent }]);
        return;
      case "stop_shell":
        inject([{ type: "shell_ended", task: command.task, outcome: { kind: "stopped" } }]);
        return;
      case "set_mode":
        inject([{ type: "mode_changed", mode: command.mode }]);
        return;
      case "rename":
        inject([{ type: "session_renamed", title: command.title }]);
        return;
      case "archive_worktree":
      case "discard_worktree":
        inject([{ type: "worktree_removed", agent: command.agent, kept_as: `refs/offshoot/archive/${command.agent}` }]);
        return;
      case "restore_worktree": {
        const worktree = view().agents[command.agent]?.worktree;
        if (worktree) inject([{ type: "worktree_created", agent: command.agent, worktree: { ...worktree, state: { kind: "live" } } }]);
        return;
      }
      case "review":
        review(command.agent, command.wish);
        return;
      default:
        throw rejected("not_applicable", "A recording can't start agents.", "Open the program to do this for real.");
    }
  }

  return {
    ...recordedRoles(sampleRoles(playback.roles ?? null)),
    ...recordedModels(recording.startup),
    sent,
    trusted,
    step,
    inject,
    startup: async () => recording.startup,
    pickFolder: async () => recording.startup.project,
    openProject: async (path) => path,
    openDemo: async () => recording.sessions[0]?.project ?? "/sample",
    prices: async () => recordedPrices,
    sessions: async () => recording.sessions,
    createSession: async () => recording.session,
    deleteSession: async () => undefined,
    exportSession: async () => null,
    importSession: async () => null,
    snapshot: async (session): Promise<Snapshot> => {
      if (session !== recording.session) throw rejected("not_found", "This session isn't in the recording.", "");
      return toSnapshot(view());
    },
    conversation: async (_session, agent, before, limit): Promise<Conversation> => {
      return stretch(view(), log, agent, before, limit);
    },
    subscribe: async (_session, cursor, onBatch) => {
      listeners.add(onBatch);
      const missed = log.slice(cursor);
      if (missed.length > 0 || tail.length > 0) onBatch({ events: missed, deltas: tail });
      tail = [];
      if (!started) {
        started = true;
        play();
      }
      return () => listeners.delete(onBatch);
    },
    command: async (session, command) => {
      sent.push(command);
      if (session !== recording.session) return;
      answer(command);
    },
    changes: async (_session, agent) => {
      return recording.changes[agent] ?? { base: "", count: { files: 0, added: 0, removed: 0 }, files: [] };
    },
    fileDiff: async (_session, agent, path, whole) => {
      const diff = recording.diffs[`${agent}:${path}`];
      if (!diff) throw rejected("not_found", `There is no diff of ${path} in the recording.`, "");
      if (diff.too_large !== undefined && whole) {
        const { too_large: _, ...rest } = diff;
        return rest;
      }
      if (diff.too_large !== undefined) return { ...diff, hunks: [] };
      return { ...diff, hunks: diff.hunks.map((hunk, at) => ({ ...hunk, hash: hunk.hash ?? `${path}#${at}` })) };
    },
    fileContent: async (_session, _agent, path) => new TextEncoder().encode(recording.blobs[path] ?? "").buffer,
    mergePreview: async (_session, agents) => {
      const files = agents.flatMap((agent) => recording.changes[agent]?.files ?? []);
      const count = { files: files.length, added: sum(files.map((file) => file.added)), removed: sum(files.map((file) => file.removed)) };
      const merge = `m-${previews.size + 1}`;
      previews.set(merge, { agents, summary: { base: "", count, files } });
      return { merge, agents, target: recording.sessions[0]?.project ?? "/sample", count, files, conflicts: [] };
    },
    mergeApply: async (_session, merge) => {
      const preview = previews.get(merge);
      const into = view().order[0];
      if (!preview || into === undefined) throw rejected("gone", "This preview is no longer known.", "Look at it again.");
      const { agents, summary } = preview;
      const paths = summary.files.map((file) => file.path);
      inject([{ type: "changes_applied", agent: into, merge, agents, changes: summary.count, files: paths }]);
      return { merge, agents, count: summary.count, files: paths, left_out: [] };
    },
    mergePatch: async () => null,
    conflict: async () => {
      throw rejected("not_found", "A recording has no conflicts.", "");
    },
    resolve: async () => {
      throw rejected("not_found", "A recording has no conflicts.", "");
    },
    handOverConflict: async () => undefined,
    mergeUndo: async (_session, merge) => {
      const into = view().order[0];
      if (into !== undefined) inject([{ type: "changes_undone", agent: into, merge }]);
    },
    conflicts: async () => [],
    files: async (_session, _agent, letters) => {
      const known = Object.values(recording.changes).flatMap((changes) => changes.files.map((file) => file.path));
      return [...new Set(known)].filter((path) => path.toLowerCase().includes(letters.toLowerCase()));
    },
    blob: async (hash) => recording.blobs[hash] ?? "",
    roles: async () => recording.roles,
    trust: async (project) => {
      const question = recording.trust ?? { trust: "trusted", would_activate: [], place: project };
      const last = trusted.at(-1);
      return last === undefined ? question : { ...question, trust: last ? "trusted" : "untrusted" };
    },
    setTrust: async (_project, answer) => void trusted.push(answer),
    openExternal: async () => undefined,
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);

/** The passing text that the events have not made good yet. */
function stillOpen(deltas: Batch["deltas"], events: readonly Event[]): Batch["deltas"] {
  return deltas.filter(
    (delta) =>
      (delta.type === "text" || delta.type === "output") &&
      !events.some((event) =>
        delta.type === "output"
          ? event.type === "call_ended" && event.call === delta.call
          : event.type === "message_appended" && event.agent === delta.agent && event.index >= delta.message,
      ),
  );
}

/** A transcript, inherited messages included, cut to the stretch asked for. */
function stretch(
  view: SessionState,
  log: readonly Event[],
  agent: AgentId,
  before: number | null,
  limit: number,
): Conversation {
  const whole = transcript(view, log, agent, Number.POSITIVE_INFINITY);
  const end = Math.min(before ?? whole.messages.length, whole.messages.length);
  const first = Math.max(0, end - limit);
  return { agent, cursor: view.cursor, first, messages: whole.messages.slice(first, end), calls: whole.calls };
}

function transcript(view: SessionState, log: readonly Event[], agent: AgentId, length: number): TranscriptState {
  const inherited = view.agents[agent]?.inherited;
  const start = inherited ? transcript(view, log, inherited.from, inherited.messages) : undefined;
  const state: TranscriptState = {
    agent,
    cursor: 0,
    first: 0,
    messages: start?.messages ?? [],
    calls: start?.calls ?? {},
  };
  for (const event of log) foldTranscript(state, event);
  state.messages = state.messages.slice(0, length);
  return state;
}

function rejected(code: Rejected["code"], message: string, hint: string): Rejected {
  return { code, message, hint };
}
