// An agent's conversation as the window holds it: the loaded stretch of messages, the state of their calls, and what is
// being written right now. Pure, like `fold.ts`.

import type { AgentId, Block, CallId, CallResult, CallView, Conversation, Delta, Event, Message, TextKind } from "../protocol.gen";

/** The loaded part of a transcript. Messages `first … first + messages.length` stand here. */
export interface TranscriptState {
  agent: AgentId;
  cursor: number;
  first: number;
  messages: Message[];
  calls: Record<CallId, CallView>;
}

export function fromConversation(conversation: Conversation): TranscriptState {
  return {
    agent: conversation.agent,
    cursor: conversation.cursor,
    first: conversation.first,
    messages: conversation.messages,
    calls: Object.fromEntries(Object.entries(conversation.calls).flatMap(([id, call]) => (call ? [[id, call]] : []))),
  };
}

/** Puts an older stretch in front. Stretches that don't touch are left alone. */
export function prepend(state: TranscriptState, older: Conversation): void {
  const missing = state.first - older.first;
  if (missing <= 0 || older.first + older.messages.length < state.first) return;
  state.messages = [...older.messages.slice(0, missing), ...state.messages];
  state.first = older.first;
  for (const [id, call] of Object.entries(older.calls)) {
    if (call && !state.calls[id]) state.calls[id] = call;
  }
}

/** Lets go of the oldest messages but `keep`; they can be read again. */
export function forget(state: TranscriptState, keep: number): void {
  const excess = state.messages.length - keep;
  if (excess <= 0) return;
  state.messages = state.messages.slice(excess);
  state.first += excess;
  const needed = new Set(state.messages.flatMap((message) => message.blocks.flatMap((block) => (block.type === "call" ? [block.id] : []))));
  for (const id of Object.keys(state.calls)) if (!needed.has(id)) delete state.calls[id];
}

/**
 * Applies one event of this agent. Events in the loaded stretch already change nothing. Answers whether the transcript
 * is whole afterwards: `false` says that a message was missed and the stretch must be loaded again.
 */
export function foldTranscript(state: TranscriptState, event: Event): boolean {
  if (event.seq <= state.cursor) return true;
  state.cursor = event.seq;
  if (event.agent !== state.agent && !(event.type === "permission_decided" || event.type === "permission_withdrawn")) {
    return true;
  }
  switch (event.type) {
    case "message_appended":
    case "compacted":
      return append(state, event.index, event.message);
    case "results_appended":
      return append(state, event.index, resultsMessage(state, event.calls, event.message));
    case "call_started": {
      // A call can be denied before it is written down; its end stays.
      const call = state.calls[event.call];
      if (call?.state !== "ended") state.calls[event.call] = { state: "running", started_at: event.at };
      return true;
    }
    case "call_ended":
      state.calls[event.call] = { ...state.calls[event.call], state: "ended", result: event.result };
      return true;
    case "permission_requested":
      setCallState(state, event.request.call, "waiting_for_permission");
      return true;
    case "permission_decided":
    case "permission_withdrawn":
      // The call itself isn't named; whichever waits and isn't asked for any more is put right by its own end.
      return true;
    default:
      return true;
  }
}

/** Says that a call no longer waits for a person. */
export function setCallState(state: TranscriptState, call: CallId, to: CallView["state"]): void {
  const before = state.calls[call];
  if (before?.state === "ended") return;
  state.calls[call] = { ...before, state: to };
}

function append(state: TranscriptState, index: number, message: Message): boolean {
  const at = index - state.first;
  if (at < state.messages.length) return true;
  if (at > state.messages.length) return false;
  state.messages.push(message);
  for (const block of message.blocks) {
    if (block.type === "call" && !state.calls[block.id]) state.calls[block.id] = { state: "pending" };
  }
  return true;
}

function resultsMessage(state: TranscriptState, calls: CallId[], tail: Message): Message {
  const results = calls.map((id): Block => {
    const result: CallResult | undefined = state.calls[id]?.result;
    if (result) return { type: "result", id, content: result.content, is_error: result.is_error };
    return { type: "result", id, content: "The result of this call was lost.", is_error: true };
  });
  return { role: "user", blocks: [...results, ...tail.blocks] };
}

/** A block that is being written. */
export interface LiveBlock {
  kind: TextKind;
  text: string;
  /** Whether a piece was missed: the text has a hole until the final event repairs it. */
  gap: boolean;
}

/** The message an agent is writing right now. */
export interface LiveMessage {
  /** The place that it will have in the transcript. */
  index: number;
  blocks: LiveBlock[];
}

/** Output of a call that still runs. */
export interface LiveOutput {
  text: string;
  /** How many code units were dropped in front of `text`. */
  dropped: number;
  gap: boolean;
}

/** How much running output is held: what scrolls past is in the result. */
export const OUTPUT_HELD = 128 * 1024;

/**
 * Applies a piece of a message. A piece that is already there is skipped, one that overlaps is cut, one that leaves a
 * hole is appended and marks the block.
 */
export function applyText(live: LiveMessage | undefined, delta: Delta & { type: "text" }): LiveMessage {
  const message: LiveMessage = live && live.index === delta.message ? live : { index: delta.message, blocks: [] };
  if (live && live.index > delta.message) return live;
  while (message.blocks.length < delta.block) message.blocks.push({ kind: { kind: "thinking" }, text: "", gap: true });
  const block = message.blocks[delta.block];
  if (!block) {
    message.blocks.push({ kind: delta.kind, text: delta.text, gap: delta.offset > 0 });
    return message;
  }
  if (block.text === "" && block.gap) block.kind = delta.kind;
  const joined = join(block.text, block.text.length, delta.offset, delta.text);
  block.text = joined.text;
  block.gap ||= joined.gap;
  return message;
}

export function applyOutput(live: LiveOutput | undefined, delta: Delta & { type: "output" | "setup" }): LiveOutput {
  const before = live ?? { text: "", dropped: 0, gap: false };
  const joined = join(before.text, before.dropped + before.text.length, delta.offset, delta.text);
  const excess = Math.max(0, joined.text.length - OUTPUT_HELD);
  const skipped = joined.gap ? Math.max(0, delta.offset - before.dropped - before.text.length) : 0;
  return {
    text: excess > 0 ? joined.text.slice(excess) : joined.text,
    dropped: before.dropped + excess + skipped,
    gap: before.gap || joined.gap,
  };
}

function join(text: string, end: number, offset: number, piece: string): { text: string; gap: boolean } {
  if (offset > end) return { text: text + piece, gap: true };
  const overlap = end - offset;
  return { text: overlap >= piece.length ? text : text + piece.slice(overlap), gap: false };
}
