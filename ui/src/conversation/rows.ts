// What stands in a conversation, row by row, from the transcript and what is being written. Pure. A row's key stays the
// same when a streaming block becomes a stored one, so nothing is drawn twice.

import type { AgentView, Block, CallId, Input, RawJson, RequestId } from "../protocol.gen";
import { faceOf } from "../session/calls";
import type { SessionState } from "../session/fold";
import type { LiveMessage, TranscriptState } from "../session/transcript";

export interface CallRef {
  id: CallId;
  name: string;
  /** As far as it is written. */
  input: RawJson;
  isWriting: boolean;
}

export type Row =
  | { type: "older"; key: string }
  | { type: "inherited"; key: string; messages: number; isOpen: boolean }
  | { type: "text"; key: string; index: number; block: number; origin: Extract<Block, { type: "text" }>["origin"]; isInherited: boolean }
  | { type: "thinking"; key: string; index: number; block: number; isInherited: boolean }
  | { type: "hidden"; key: string; words: string }
  | { type: "call"; key: string; call: CallRef; isInherited: boolean }
  /** A call that wrote the plan; the last one shows it open. */
  | { type: "plan"; key: string; call: CallRef; isLatest: boolean; isInherited: boolean }
  | { type: "reads"; key: string; calls: CallRef[]; isInherited: boolean }
  | { type: "request"; key: string; request: RequestId }
  | { type: "queued"; key: string; input: Input }
  | { type: "state"; key: string };

export interface RowsInput {
  agent: AgentView;
  transcript: TranscriptState;
  live: LiveMessage | undefined;
  session: Pick<SessionState, "requests" | "settled">;
  /** Whether the inherited part is unfolded. */
  showInherited: boolean;
}

export function buildRows(input: RowsInput): Row[] {
  const { agent, transcript, live, showInherited } = input;
  const rows: Row[] = [];
  const inherited = agent.inherited?.messages ?? 0;
  if (inherited > 0) {
    rows.push({ type: "inherited", key: "inherited", messages: inherited, isOpen: showInherited });
  }
  if (transcript.first > 0 && (showInherited || transcript.first > inherited)) rows.push({ type: "older", key: "older" });

  const requests = requestsByCall(input);
  let plan: Extract<Row, { type: "plan" }> | undefined;
  const pushCall = (call: CallRef, isInherited: boolean) => {
    const last = rows.at(-1);
    const asked = requests.get(call.id);
    if (faceOf(call.name) === "read" && !asked) {
      if (last?.type === "reads" && last.isInherited === isInherited) last.calls.push(call);
      else rows.push({ type: "reads", key: `c:${call.id}`, calls: [call], isInherited });
      return;
    }
    if (faceOf(call.name) === "plan") {
      if (plan) plan.isLatest = false;
      plan = { type: "plan", key: `c:${call.id}`, call, isLatest: true, isInherited };
      rows.push(plan);
    } else rows.push({ type: "call", key: `c:${call.id}`, call, isInherited });
    for (const request of asked ?? []) rows.push({ type: "request", key: `q:${request}`, request });
  };

  transcript.messages.forEach((message, at) => {
    const index = transcript.first + at;
    const isInherited = index < inherited;
    if (isInherited && !showInherited) return;
    // What the program put behind a summary repeats what stands above; it is folded into the summary's row.
    if (message.blocks[0]?.type === "text" && message.blocks[0].origin === "summary") {
      rows.push({ type: "text", key: `${index}.0`, index, block: 0, origin: "summary", isInherited });
      return;
    }
    message.blocks.forEach((block, place) => {
      const key = `${index}.${place}`;
      switch (block.type) {
        case "text":
          if (block.text.trim() !== "") rows.push({ type: "text", key, index, block: place, origin: block.origin, isInherited });
          return;
        case "thinking":
          if (block.thinking.trim() !== "") rows.push({ type: "thinking", key, index, block: place, isInherited });
          return;
        case "call":
          pushCall({ id: block.id, name: block.name, input: block.input, isWriting: false }, isInherited);
          return;
        case "redacted_thinking":
          rows.push({ type: "hidden", key, words: "Reasoning that only the provider can read" });
          return;
        case "opaque":
          rows.push({ type: "hidden", key, words: "A block of a kind this version doesn't know; it is kept" });
          return;
        case "result":
          // Drawn with its call.
          return;
      }
    });
  });

  const next = transcript.first + transcript.messages.length;
  if (live && live.index >= next) {
    live.blocks.forEach((block, place) => {
      const key = `${live.index}.${place}`;
      if (block.kind.kind === "input") {
        pushCall({ id: block.kind.call, name: block.kind.name, input: block.text, isWriting: true }, false);
      } else if (block.text.trim() === "") return;
      else if (block.kind.kind === "text") {
        rows.push({ type: "text", key, index: live.index, block: place, origin: "model", isInherited: false });
      } else rows.push({ type: "thinking", key, index: live.index, block: place, isInherited: false });
    });
  }
  rows.push({ type: "state", key: "state" });
  // Reminders and notifications wait for the next turn; only what a person wrote is theirs to see and take back.
  for (const queued of agent.queue.filter((input) => input.origin === "user")) rows.push({ type: "queued", key: `i:${queued.id}`, input: queued });
  return rows;
}

function requestsByCall({ agent, session }: RowsInput): Map<CallId, RequestId[]> {
  const byCall = new Map<CallId, RequestId[]>();
  const settled = Object.values(session.settled).map((entry) => entry.request);
  for (const request of [...settled, ...session.requests]) {
    if (request.asker.at(-1)?.agent !== agent.id) continue;
    byCall.set(request.call, [...(byCall.get(request.call) ?? []), request.id]);
  }
  return byCall;
}

/** Whether two builds of a row would be drawn the same; the content of messages never changes. */
export function isSameRow(a: Row | undefined, b: Row | undefined): boolean {
  if (a === b) return true;
  if (!a || !b || a.type !== b.type || a.key !== b.key) return false;
  switch (a.type) {
    case "call":
      return b.type === "call" && sameCall(a.call, b.call);
    case "plan":
      return b.type === "plan" && a.isLatest === b.isLatest && sameCall(a.call, b.call);
    case "reads":
      return b.type === "reads" && a.calls.length === b.calls.length && a.calls.every((call, at) => sameCall(call, b.calls[at]));
    case "inherited":
      return b.type === "inherited" && a.isOpen === b.isOpen;
    default:
      return true;
  }
}

function sameCall(a: CallRef, b: CallRef | undefined): boolean {
  return b !== undefined && a.id === b.id && a.isWriting === b.isWriting && a.input === b.input;
}

/** The part of a live message that decides about rows: not its text. */
export function liveShape(live: LiveMessage | undefined): string {
  if (!live) return "";
  return `${live.index}:${live.blocks.map((block) => (block.kind.kind === "input" ? `${block.kind.call}/${block.text.length}` : `${block.kind.kind}${block.text.trim() === "" ? 0 : 1}`)).join(",")}`;
}
