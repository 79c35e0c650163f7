// What several tests need: the recorded demo and the window around a bridge.

import { render } from "@solidjs/testing-library";
import { App } from "./app/App";
import { recordedBridge, type Recording, type RecordedBridge } from "./bridge.recorded";
import type { Event, EventBody } from "./protocol.gen";
import demo from "./recordings/demo.json";

export const recording = demo as Recording;
export const ROOT = "agt_root";

/** Builds events of one session, numbered, a second apart. */
export function eventsOf(...bodies: (EventBody & { agent?: string })[]): Event[] {
  return bodies.map((body, at) => ({
    seq: at + 1,
    at: new Date(Date.UTC(2026, 0, 1, 12, 0, at)).toISOString(),
    session: "ses",
    ...body,
  }));
}

export const created = (kind: "root" | "fork" | "subagent", title: string, more: Partial<Event> = {}) =>
  ({
    type: "agent_created",
    kind,
    title,
    directory: "/p",
    model: "m",
    head: "h",
    background: kind === "fork",
    mode: "default",
    ...more,
  }) as EventBody & { agent?: string };

/** The whole window on the demo, played up to a moment and standing still there. */
export function showDemo(skipTo: number): RecordedBridge {
  const bridge = recordedBridge(recording, { skipTo, speed: 0 });
  render(() => <App bridge={bridge} />);
  return bridge;
}
