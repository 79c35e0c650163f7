// Agents that go on writing, as fast as models do.

import type { RecordedBridge } from "../bridge.recorded";
import type { Delta } from "../protocol.gen";
import { MARKDOWN } from "./texts";

/** About four characters. */
const TOKEN = 4;
const PER_SECOND = 50;
/** As the core merges them. */
const FRAME_MS = 33;

/** Every fourth of the session's agents is at work; so many of them write `PER_SECOND` tokens. */
export function stream(bridge: RecordedBridge, agents: number): void {
  const text = `${MARKDOWN}\n\n`.repeat(400);
  const began = performance.now();
  let sent = 0;
  setInterval(() => {
    const now = Math.floor(((performance.now() - began) / 1000) * PER_SECOND * TOKEN);
    const deltas: Delta[] = [];
    for (let at = 0; at < agents; at += 1) {
      // The agent's question is message 0; this is its answer.
      deltas.push({ type: "text", agent: `agent_${at * 4}`, message: 1, block: 0, kind: { kind: "text" }, offset: sent, text: text.slice(sent, now) });
    }
    sent = now;
    bridge.inject([], deltas);
  }, FRAME_MS);
}
