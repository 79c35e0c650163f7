// One open session, live: folds what the bridge sends, at most once per frame, into a Solid store.

import { batch, createSignal, type Accessor } from "solid-js";
import { createStore, produce, reconcile, unwrap, type SetStoreFunction } from "solid-js/store";
import { asRejected, type Bridge } from "../bridge";
import type { AgentId, Batch, CallId, Command, Event, Rejected, SessionId, Snapshot } from "../protocol.gen";
import type { MakingFiles } from "../worktree/words";
import { foldEvent, fromSnapshot, type CallLines, type SessionState } from "./fold";
import {
  applyOutput,
  applyText,
  foldTranscript,
  fromConversation,
  forget,
  prepend,
  setCallState,
  type LiveMessage,
  type LiveOutput,
  type TranscriptState,
} from "./transcript";

/** How many messages are read at once. */
export const STRETCH = 200;
/** How many messages are held before the oldest are let go, when nobody looks at them. */
const HELD = 1000;
/** How many agents' transcripts are kept up to date beside the one that is looked at. */
const KEPT = 6;

/** A transcript that is being read, or is there, or couldn't be read. */
export interface Transcript {
  data: TranscriptState | undefined;
  failed: Rejected | undefined;
  loadingOlder: boolean;
}

interface OpenTranscript {
  state: Transcript;
  set: SetStoreFunction<Transcript>;
  /** Events that arrived while the stretch was being read. */
  waiting: Event[] | undefined;
}

export interface SessionStore {
  readonly id: SessionId;
  readonly state: SessionState;
  /** Set when the stream broke and could not be taken up again. */
  readonly broken: Accessor<Rejected | undefined>;
  /** Why nothing can be stored at the moment: agents wait, and nothing new begins. */
  readonly stuck: Accessor<string | undefined>;
  /** The transcript of an agent; reading starts with the first call. */
  transcript(agent: AgentId): Transcript;
  loadOlder(agent: AgentId): Promise<void>;
  retry(agent: AgentId): void;
  /** Says that nobody looks at the agent's older messages: most of a long stretch is let go. */
  tidy(agent: AgentId): void;
  /** What the agent is writing right now. */
  live(agent: AgentId): LiveMessage | undefined;
  /** What a running call has written so far. */
  output(call: CallId): LiveOutput | undefined;
  /** How far the making of the agent's worktree is; nothing before it has begun and when it is over. */
  making(agent: AgentId): MakingFiles | undefined;
  /** What the setup of the agent's worktree has written so far. */
  setup(agent: AgentId): LiveOutput | undefined;
  /** Counts up with every change in the agent's worktree that is told: who shows its changes reads them again. */
  changesVersion(agent: AgentId): number;
  send(command: Command): Promise<void>;
  close(): void;
}

/** Runs work at the next frame, or soon when there are no frames because the window is hidden. */
export type Schedule = (work: () => void) => void;

const atNextFrame: Schedule = (work) => {
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    work();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, 200);
};

export async function openSession(bridge: Bridge, id: SessionId, schedule: Schedule = atNextFrame): Promise<SessionStore> {
  const snapshot = await bridge.snapshot(id);
  const store = createSession(bridge, snapshot, schedule);
  await store.listen();
  return store;
}

function createSession(bridge: Bridge, snapshot: Snapshot, schedule: Schedule): SessionStore & { listen(): Promise<void> } {
  const id = snapshot.session.id;
  const [state, setState] = createStore<SessionState>(fromSnapshot(snapshot));
  const [broken, setBroken] = createSignal<Rejected>();
  const [stuck, setStuck] = createSignal<string>();
  const lines: CallLines = new Map();
  const transcripts = new Map<AgentId, OpenTranscript>();
  const lives = keyedSignals<AgentId, LiveMessage>();
  const outputs = keyedSignals<CallId, LiveOutput>();
  const versions = keyedSignals<AgentId, number>();
  const makings = keyedSignals<AgentId, MakingFiles>();
  const setups = keyedSignals<AgentId, LiveOutput>();

  let queue: Batch[] = [];
  let scheduled = false;
  let closed = false;
  let unsubscribe: (() => void) | undefined;
  let recovering = false;

  function receive(arrived: Batch): void {
    if (closed) return;
    queue.push(arrived);
    if (scheduled) return;
    scheduled = true;
    schedule(flush);
  }

  function flush(): void {
    scheduled = false;
    const batches = queue;
    queue = [];
    if (closed || batches.length === 0) return;
    batch(() => {
      for (const { events, deltas, storage } of batches) {
        if (storage) setStuck(storage.kind === "waiting" ? storage.message : undefined);
        if (events.length > 0 && !applyEvents(events)) {
          void recover();
          return;
        }
        applyDeltas(deltas);
      }
    });
  }

  /** Answers `false` when events were missed. */
  function applyEvents(events: Event[]): boolean {
    const fresh = events.filter((event) => event.seq > state.cursor);
    const first = fresh[0];
    if (first && first.seq !== state.cursor + 1) return false;
    for (const event of fresh) before(event);
    setState(
      produce((draft) => {
        for (const event of fresh) foldEvent(draft, event, lines);
      }),
    );
    for (const event of events) {
      for (const [agent, open] of transcripts) {
        if (event.agent !== agent) continue;
        if (open.waiting) open.waiting.push(event);
        else applyToTranscript(agent, open, event);
      }
      after(event);
    }
    return true;
  }

  /** What needs the session as it was before the event. */
  function before(event: Event): void {
    if (event.type !== "permission_decided" && event.type !== "permission_withdrawn") return;
    const request = state.requests.find((candidate) => candidate.id === event.request);
    const agent = request?.asker.at(-1)?.agent;
    const open = agent === undefined ? undefined : transcripts.get(agent);
    if (!request || !open?.state.data) return;
    open.set("data", produce((data) => data && setCallState(data, request.call, "running")));
  }

  function after(event: Event): void {
    if (event.agent === undefined) return;
    const live = lives.peek(event.agent);
    switch (event.type) {
      case "message_appended":
        if (live && live.index <= event.index) lives.set(event.agent, undefined);
        return;
      case "turn_ended":
      case "agent_ended":
      case "model_waiting":
        // A half-written message that was given up; what counts is in the events.
        lives.set(event.agent, undefined);
        return;
      case "call_ended":
        outputs.set(event.call, undefined);
        return;
      case "worktree_planned":
      case "worktree_created":
      case "worktree_removed":
        makings.set(event.agent, undefined);
        setups.set(event.agent, undefined);
        return;
      case "changes_counted":
        versions.set(event.agent, (versions.peek(event.agent) ?? 0) + 1);
        return;
      default:
    }
  }

  function applyDeltas(deltas: Batch["deltas"]): void {
    for (const delta of deltas) {
      const agent = unwrap(state).agents[delta.agent];
      const isSpoken = delta.type === "text" || delta.type === "output";
      if (isSpoken && agent?.state.kind === "waiting_for_api") setState("agents", delta.agent, "state", { kind: "running" });
      if (delta.type === "text") {
        // What is already in the transcript needs no passing text any more.
        if (agent && delta.message < agent.messages) continue;
        lives.set(delta.agent, applyText(lives.peek(delta.agent), delta));
      } else if (delta.type === "making") {
        makings.set(delta.agent, { done: delta.done, all: delta.all });
      } else if (delta.type === "setup") {
        setups.set(delta.agent, applyOutput(setups.peek(delta.agent), delta));
      } else if (delta.type === "changes") {
        if (agent) setState("agents", delta.agent, "changes", delta.count);
        versions.set(delta.agent, (versions.peek(delta.agent) ?? 0) + 1);
      } else {
        outputs.set(delta.call, applyOutput(outputs.peek(delta.call), delta));
      }
    }
  }

  function applyToTranscript(agent: AgentId, open: OpenTranscript, event: Event): void {
    let whole = true;
    open.set(
      "data",
      produce((data) => {
        if (data) whole = foldTranscript(data, event);
      }),
    );
    if (!whole) load(agent, open);
  }

  function load(agent: AgentId, open: OpenTranscript): void {
    if (open.waiting) return;
    open.waiting = [];
    open.set("failed", undefined);
    bridge.conversation(id, agent, null, STRETCH).then(
      (conversation) => {
        const missed = open.waiting ?? [];
        open.waiting = undefined;
        batch(() => {
          open.set("data", fromConversation(conversation));
          for (const event of missed) applyToTranscript(agent, open, event);
        });
      },
      (error: unknown) => {
        open.waiting = undefined;
        open.set("failed", asRejected(error));
      },
    );
  }

  function openTranscript(agent: AgentId): OpenTranscript {
    const known = transcripts.get(agent);
    if (known) {
      // The map's order is the order of use.
      transcripts.delete(agent);
      transcripts.set(agent, known);
      return known;
    }
    const [transcript, set] = createStore<Transcript>({ data: undefined, failed: undefined, loadingOlder: false });
    const open: OpenTranscript = { state: transcript, set, waiting: undefined };
    transcripts.set(agent, open);
    for (const oldest of transcripts.keys()) {
      if (transcripts.size <= KEPT) break;
      transcripts.delete(oldest);
    }
    load(agent, open);
    return open;
  }

  async function listen(): Promise<void> {
    const stop = await bridge.subscribe(id, state.cursor, receive);
    if (closed) stop();
    else unsubscribe = stop;
  }

  /** Takes the session up again from a fresh snapshot. */
  async function recover(): Promise<void> {
    if (recovering || closed) return;
    recovering = true;
    unsubscribe?.();
    queue = [];
    try {
      const fresh = fromSnapshot(await bridge.snapshot(id));
      fresh.settled = unwrap(state).settled;
      batch(() => {
        setState(reconcile(fresh, { key: "id" }));
        for (const [agent, open] of transcripts) load(agent, open);
      });
      await listen();
      setBroken(undefined);
    } catch (error) {
      setBroken(asRejected(error));
    } finally {
      recovering = false;
    }
  }

  return {
    id,
    state,
    broken,
    stuck,
    listen,
    transcript: (agent) => openTranscript(agent).state,
    async loadOlder(agent) {
      const open = transcripts.get(agent);
      const data = open?.state.data;
      if (!open || !data || data.first === 0 || open.state.loadingOlder) return;
      open.set("loadingOlder", true);
      try {
        const older = await bridge.conversation(id, agent, data.first, STRETCH);
        open.set("data", produce((draft) => draft && prepend(draft, older)));
      } catch (error) {
        open.set("failed", asRejected(error));
      } finally {
        open.set("loadingOlder", false);
      }
    },
    retry(agent) {
      const open = transcripts.get(agent);
      if (open) load(agent, open);
    },
    tidy(agent) {
      const open = transcripts.get(agent);
      if (!open?.state.data || open.state.data.messages.length <= HELD) return;
      open.set("data", produce((draft) => draft && forget(draft, STRETCH)));
    },
    live: (agent) => lives.get(agent),
    output: (call) => outputs.get(call),
    making: (agent) => makings.get(agent),
    setup: (agent) => setups.get(agent),
    changesVersion: (agent) => versions.get(agent) ?? 0,
    send: (command) => bridge.command(id, command),
    close() {
      closed = true;
      unsubscribe?.();
    },
  };
}

/** A map whose entries are signals: a reader of one key hears of that key alone. */
function keyedSignals<K, V>(): { get(key: K): V | undefined; peek(key: K): V | undefined; set(key: K, value: V | undefined): void } {
  const values = new Map<K, V>();
  const signals = new Map<K, [Accessor<V | undefined>, (value: V | undefined) => void]>();
  return {
    get(key) {
      let signal = signals.get(key);
      if (!signal) {
        const [read, write] = createSignal<V | undefined>(values.get(key), { equals: false });
        signal = [read, (value) => write(() => value)];
        signals.set(key, signal);
      }
      return signal[0]();
    },
    peek: (key) => values.get(key),
    set(key, value) {
      if (value === undefined) values.delete(key);
      else values.set(key, value);
      signals.get(key)?.[1](value);
    },
  };
}
