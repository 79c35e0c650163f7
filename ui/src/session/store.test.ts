import { createRoot } from "solid-js";
import { expect, test, vi } from "vitest";
import type { Bridge } from "../bridge";
import { recordedBridge, type RecordedBridge } from "../bridge.recorded";
import type { Batch, Conversation } from "../protocol.gen";
import { ROOT, recording } from "../testing";
import { openSession } from "./store";

/** A session whose frames are flushed by hand. */
async function open(bridge: Bridge) {
  const work: (() => void)[] = [];
  const store = await createRoot(() => openSession(bridge, recording.session, (next) => work.push(next)));
  return { store, frames: () => work.length, flush: () => work.splice(0).forEach((next) => next()) };
}

const settle = () => vi.waitFor(() => Promise.resolve());

test("what arrives in one frame is applied in one go", async () => {
  const bridge = recordedBridge(recording, { skipTo: 0, speed: 0 });
  const { store, frames, flush } = await open(bridge);
  bridge.step();
  bridge.step();
  expect(store.state.agents[ROOT]?.state.kind).toBe("idle");
  expect(frames()).toBe(1);
  flush();
  expect(store.state.agents[ROOT]?.state.kind).toBe("running");
});

test("streaming text is there until its message is", async () => {
  const bridge = recordedBridge(recording, { skipTo: 0, speed: 0 });
  const { store, flush } = await open(bridge);
  while (store.live(ROOT) === undefined && bridge.step()) flush();
  expect(store.live(ROOT)?.blocks[0]?.kind.kind).toBe("thinking");
  while (store.state.agents[ROOT]?.messages === 1 && bridge.step()) flush();
  expect(store.live(ROOT)).toBeUndefined();
});

test("events that were missed are made good from a fresh snapshot", async () => {
  const bridge = recordedBridge(recording, { skipTo: 0, speed: 0 });
  let forward: ((batch: Batch) => void) | undefined;
  let lose = false;
  const lossy: Bridge = {
    ...bridge,
    subscribe: (session, cursor, onBatch) => {
      forward = (batch) => {
        if (!lose) onBatch(batch);
      };
      return bridge.subscribe(session, cursor, (batch) => forward?.(batch));
    },
  };
  const { store, flush } = await open(lossy);
  lose = true;
  bridge.inject([{ type: "session_renamed", title: "Lost" }]);
  lose = false;
  bridge.inject([{ type: "warned", agent: ROOT, warning: { code: "x", message: "seen" } }]);
  flush();
  await vi.waitFor(() => expect(store.state.title).toBe("Lost"));
  expect(store.state.agents[ROOT]?.warnings).toHaveLength(1);
  bridge.inject([{ type: "session_renamed", title: "Goes on" }]);
  flush();
  expect(store.state.title).toBe("Goes on");
});

test("a stream that can't be taken up again says so", async () => {
  const bridge = recordedBridge(recording, { skipTo: 0, speed: 0 });
  let snapshots = 0;
  const dying: RecordedBridge = {
    ...bridge,
    snapshot: (session) => {
      snapshots += 1;
      return snapshots === 1 ? bridge.snapshot(session) : Promise.reject({ code: "storage", message: "The log is gone.", hint: "" });
    },
    subscribe: (session, cursor, onBatch) =>
      bridge.subscribe(session, cursor, (batch) => onBatch({ ...batch, events: batch.events.map((event) => ({ ...event, seq: event.seq + 5 })) })),
  };
  const { store, flush } = await open(dying);
  bridge.inject([{ type: "session_renamed", title: "x" }]);
  flush();
  await vi.waitFor(() => expect(store.broken()?.message).toBe("The log is gone."));
});

test("events that arrive while a transcript is read are neither lost nor applied twice", async () => {
  const bridge = recordedBridge(recording, { skipTo: 12_000, speed: 0 });
  let answer: ((conversation: Conversation) => void) | undefined;
  const slow: Bridge = {
    ...bridge,
    conversation: () => new Promise((resolve) => (answer = resolve)),
  };
  const { store, flush } = await open(slow);
  const transcript = store.transcript(ROOT);
  const early = await bridge.conversation(recording.session, ROOT, null, 200);
  const index = store.state.agents[ROOT]?.messages ?? 0;
  const say = (at: number, text: string) =>
    bridge.inject([{ type: "message_appended", agent: ROOT, index: at, message: { role: "user", blocks: [{ type: "text", text, origin: "user" }] } }]);
  say(index, "one");
  const late = await bridge.conversation(recording.session, ROOT, null, 200);
  say(index + 1, "two");
  flush();
  answer?.(late);
  await settle();
  expect(transcript.data?.messages).toHaveLength(index + 2);

  store.retry(ROOT);
  answer?.(early);
  await settle();
  // `early` ends before what was folded already: nothing waits, so the next message shows the hole and reads again.
  say(index + 2, "three");
  flush();
  answer?.(await bridge.conversation(recording.session, ROOT, null, 200));
  await settle();
  expect(transcript.data?.messages).toHaveLength(index + 3);
});

test("a failed reading says so and can be tried again", async () => {
  const bridge = recordedBridge(recording, { skipTo: 12_000, speed: 0 });
  let broken = true;
  const { store } = await open({
    ...bridge,
    conversation: (...where) => (broken ? Promise.reject({ code: "storage", message: "No.", hint: "" }) : bridge.conversation(...where)),
  });
  const transcript = store.transcript(ROOT);
  await vi.waitFor(() => expect(transcript.failed?.message).toBe("No."));
  broken = false;
  store.retry(ROOT);
  await vi.waitFor(() => expect(transcript.data?.messages.length).toBeGreaterThan(3));
  expect(transcript.failed).toBeUndefined();
});

test("a person is told for as long as nothing can be stored", async () => {
  const bridge = recordedBridge(recording, { skipTo: 0, speed: 0 });
  let send: (batch: Batch) => void = () => undefined;
  const { store, flush } = await open({
    ...bridge,
    subscribe: (session, cursor, onBatch) => {
      send = onBatch;
      return bridge.subscribe(session, cursor, onBatch);
    },
  });
  expect(store.stuck()).toBeUndefined();
  send({ events: [], deltas: [], storage: { kind: "waiting", message: "The disk is full." } });
  send({ events: [], deltas: [] });
  flush();
  expect(store.stuck()).toBe("The disk is full.");
  send({ events: [], deltas: [], storage: { kind: "working" } });
  flush();
  expect(store.stuck()).toBeUndefined();
});
