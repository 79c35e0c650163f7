import { describe, expect, test } from "vitest";
import type { AgentState, EventBody } from "../protocol.gen";
import { created, eventsOf, recording } from "../testing";
import { emptySession, foldEvent, fromSnapshot, toSnapshot, type SessionState } from "./fold";

type Body = EventBody & { agent?: string };

function fold(...bodies: Body[]): SessionState {
  const state = emptySession("ses");
  const lines = new Map<string, string>();
  for (const event of eventsOf({ type: "session_created", project: "/p", title: "T", mode: "default" }, ...bodies)) {
    foldEvent(state, event, lines);
  }
  return state;
}

const root = created("root", "Root", { agent: "r" } as object);
const child = created("subagent", "Child", { agent: "c", parent: "r", role: "explore" } as object);
const request = (id: string, agent: string): Body => ({
  type: "permission_requested",
  agent,
  request: {
    id,
    asker: [{ agent, kind: "subagent", title: "Child" }],
    directory: "/p",
    isolated: false,
    call: "call1",
    tool: "Bash",
    input: "{}",
    access: { kind: "command", command: "ls" },
    reason: "no rule",
    suggested_rules: [],
    created_at: "2026-01-01T12:00:00Z",
  },
});

describe("an agent's state after", () => {
  const table: [string, Body[], string, AgentState["kind"]][] = [
    ["the root's creation", [root], "r", "idle"],
    ["a child's creation", [root, child], "c", "queued"],
    ["the start of a turn", [root, { type: "turn_started", agent: "r" }], "r", "running"],
    ["a request", [root, child, request("q", "c")], "c", "waiting_for_permission"],
    [
      "a decision",
      [root, child, request("q", "c"), { type: "permission_decided", agent: "c", request: "q", answer: { kind: "allow_once" }, by: "user" }],
      "c",
      "running",
    ],
    [
      "one of two decisions",
      [root, child, request("q", "c"), request("q2", "c"), { type: "permission_decided", agent: "c", request: "q", answer: { kind: "deny" }, by: "user" }],
      "c",
      "waiting_for_permission",
    ],
    [
      "a withdrawal, then the end",
      [
        root,
        child,
        request("q", "c"),
        { type: "permission_withdrawn", agent: "c", request: "q", reason: "agent_stopped" },
        { type: "agent_ended", agent: "c", outcome: { kind: "stopped" } },
      ],
      "c",
      "stopped",
    ],
    ["a wait for the provider", [root, { type: "model_waiting", agent: "r", reason: "529", attempt: 1, retry_in_ms: 5000 }], "r", "waiting_for_api"],
    [
      "a wait and a next event",
      [root, { type: "model_waiting", agent: "r", reason: "529", attempt: 1, retry_in_ms: 5000 }, { type: "step_ended", agent: "r", stop_reason: "end_turn", usage: { input: 1, cache_read: 0, cache_write: 0, output: 1 }, duration_ms: 1 }],
      "r",
      "running",
    ],
    ["a finished turn of the root", [root, { type: "turn_started", agent: "r" }, { type: "turn_ended", agent: "r", outcome: { kind: "finished" } }], "r", "idle"],
    ["an interrupted turn of the root", [root, { type: "turn_started", agent: "r" }, { type: "turn_ended", agent: "r", outcome: { kind: "interrupted" } }], "r", "idle"],
    [
      "a failed turn of the root",
      [root, { type: "turn_started", agent: "r" }, { type: "turn_ended", agent: "r", outcome: { kind: "failed", code: "model", message: "no key" } }],
      "r",
      "idle_after_failure",
    ],
    ["a finished turn of a child", [root, child, { type: "turn_started", agent: "c" }, { type: "turn_ended", agent: "c", outcome: { kind: "finished" } }], "c", "running"],
    ["a report", [root, child, { type: "agent_ended", agent: "c", outcome: { kind: "completed", report: "R" } }], "c", "completed"],
    ["a failure", [root, child, { type: "agent_ended", agent: "c", outcome: { kind: "failed", code: "turn_limit", message: "8 turns" } }], "c", "failed"],
    ["the program's end", [root, child, { type: "agent_ended", agent: "c", outcome: { kind: "interrupted" } }], "c", "interrupted"],
    ["a resumption", [root, child, { type: "agent_ended", agent: "c", outcome: { kind: "stopped" } }, { type: "turn_started", agent: "c" }], "c", "running"],
  ];
  test.each(table)("%s", (_, bodies, agent, expected) => {
    expect(fold(...bodies).agents[agent]?.state.kind).toBe(expected);
  });
});

test("a wait says until when", () => {
  const state = fold(root, { type: "model_waiting", agent: "r", reason: "529", attempt: 1, retry_in_ms: 5000 });
  expect(state.agents["r"]?.state).toEqual({ kind: "waiting_for_api", until: "2026-01-01T12:00:07.000Z" });
});

test("inputs wait in the queue until a message takes them in, or they are withdrawn", () => {
  const input = (id: string): Body => ({ type: "input_received", agent: "r", input: { id, text: id, origin: "user" } });
  const state = fold(root, input("a"), input("b"), input("c"), { type: "input_withdrawn", agent: "r", input: "b" }, {
    type: "message_appended",
    agent: "r",
    index: 0,
    message: { role: "user", blocks: [] },
    inputs: ["a"],
  });
  expect(state.agents["r"]?.queue.map((queued) => queued.id)).toEqual(["c"]);
  expect(state.agents["r"]?.messages).toBe(1);
});

test("a fork counts on from what it inherits, usage adds up, the activity names what runs", () => {
  const usage = { input: 1, cache_read: 2, cache_write: 3, output: 4 };
  const fork = created("fork", "F", { agent: "f", parent: "r", inherited: { from: "r", messages: 7 } } as object);
  const state = fold(
    root,
    fork,
    { type: "message_appended", agent: "f", index: 7, message: { role: "assistant", blocks: [{ type: "call", id: "k", name: "Read", input: '{"file_path":"/p/a.rs"}' }] } },
    { type: "call_started", agent: "f", call: "k" },
    { type: "step_ended", agent: "f", stop_reason: "x", usage, duration_ms: 1 },
    { type: "step_ended", agent: "f", stop_reason: "x", usage, duration_ms: 1 },
  );
  expect(state.agents["f"]).toMatchObject({ messages: 8, calls: 1, steps: 2, activity: "Read /p/a.rs", usage: { input: 2, output: 8 } });
});

test("an event at or before the cursor changes nothing", () => {
  const state = fold(root);
  foldEvent(state, { seq: 1, at: "", session: "ses", type: "session_renamed", title: "Old news" }, new Map());
  expect(state.title).toBe("T");
});

test("a request that goes away leaves word of how", () => {
  const state = fold(root, child, request("q", "c"), { type: "permission_withdrawn", agent: "c", request: "q", reason: "agent_stopped" });
  expect(state.requests).toEqual([]);
  expect(state.settled["q"]).toMatchObject({ how: "withdrawn", detail: "the agent was stopped" });
});

test("the recorded session folds the same from the start and from a snapshot in its middle", () => {
  const events = recording.frames.flatMap((frame) => frame.batch.events);
  const whole = emptySession(recording.session);
  const lines = new Map<string, string>();
  for (const event of structuredClone(events)) foldEvent(whole, event, lines);

  const half = emptySession(recording.session);
  const middle = Math.floor(events.length / 2);
  const halfLines = new Map<string, string>();
  for (const event of structuredClone(events.slice(0, middle))) foldEvent(half, event, halfLines);
  const resumed = fromSnapshot(structuredClone(toSnapshot(half)));
  // Subscribing again may repeat events.
  for (const event of structuredClone(events.slice(middle - 5))) foldEvent(resumed, event, halfLines);
  expect(toSnapshot(resumed)).toEqual(toSnapshot(whole));
});

test("a change of mode takes along who ran in it, and leaves nobody wider", () => {
  const agent = (id: string, mode: string) => created("subagent", id, { agent: id, parent: "r", mode } as object);
  const state = fold(root, agent("same", "default"), agent("narrow", "plan"), agent("wide", "bypass"), { type: "mode_changed", mode: "accept-edits" });
  expect(["r", "same", "narrow", "wide"].map((id) => state.agents[id]?.mode)).toEqual(["accept-edits", "accept-edits", "plan", "accept-edits"]);
});

test("a new run forgets how the last one ended", () => {
  const state = fold(root, child, { type: "agent_ended", agent: "c", outcome: { kind: "stopped" } }, { type: "turn_started", agent: "c" });
  expect(state.agents["c"]?.outcome).toBeUndefined();
  expect(state.agents["c"]?.ended_at).toBeUndefined();
});

test("an activity is one line, cut at a grapheme", () => {
  const family = "👨‍👩‍👧";
  const state = fold(root, {
    type: "message_appended",
    agent: "r",
    index: 0,
    message: { role: "assistant", blocks: [{ type: "text", text: `a\n\n ${family.repeat(130)}`, origin: "model" }] },
  });
  expect(state.agents["r"]?.activity).toBe(`a ${family.repeat(118)}…`);
});
