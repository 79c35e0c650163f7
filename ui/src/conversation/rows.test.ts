import { expect, test } from "vitest";
import type { AgentView, Block } from "../protocol.gen";
import { callTarget, planOf, readFailure } from "../session/calls";
import { created, eventsOf } from "../testing";
import { emptySession, foldEvent } from "../session/fold";
import type { TranscriptState } from "../session/transcript";
import { parseNotification } from "./notification";
import { readFrames } from "./framed";
import { buildRows, isSameRow } from "./rows";

const call = (id: string, name: string): Block => ({ type: "call", id, name, input: "{}" });
const text = (words: string): Block => ({ type: "text", text: words, origin: "model" });

function agent(more: object = {}): AgentView {
  const state = emptySession("ses");
  for (const event of eventsOf(created("fork", "F", { agent: "f", ...more } as object))) foldEvent(state, event, new Map());
  const view = state.agents["f"];
  if (!view) throw new Error("the fold makes an agent");
  return view;
}

function rows(messages: Block[][], more: Partial<Parameters<typeof buildRows>[0]> = {}) {
  const transcript: TranscriptState = {
    agent: "f",
    cursor: 0,
    first: 0,
    messages: messages.map((blocks) => ({ role: "assistant", blocks })),
    calls: {},
  };
  return buildRows({ agent: agent(), transcript, live: undefined, session: { requests: [], settled: {} }, showInherited: false, ...more });
}

const keys = (list: ReturnType<typeof rows>) => list.map((row) => `${row.type} ${row.key}`);

test("consecutive reads fold into one row, also across messages", () => {
  const list = rows([
    [text("Looking."), call("a", "Read"), call("b", "Grep")],
    [{ type: "result", id: "a", content: "", is_error: false }],
    [call("c", "Glob"), call("d", "Bash"), call("e", "Read")],
  ]);
  expect(keys(list)).toEqual(["text 0.0", "reads c:a", "call c:d", "reads c:e", "state state"]);
  const reads = list[1];
  expect(reads?.type === "reads" && reads.calls.map((entry) => entry.id)).toEqual(["a", "b", "c"]);
});

test("a block keeps its key when it goes from being written to being stored", () => {
  const live = {
    index: 0,
    blocks: [
      { kind: { kind: "text" as const }, text: "Hi", gap: false },
      { kind: { kind: "input" as const, call: "k", name: "Bash" }, text: '{"comm', gap: false },
    ],
  };
  expect(keys(rows([], { live }))).toEqual(keys(rows([[text("Hi"), call("k", "Bash")]])));
  // What is stored already is not drawn twice.
  expect(keys(rows([[text("Hi")]], { live }))).toEqual(["text 0.0", "state state"]);
});

test("what a fork inherits is folded behind one row", () => {
  const inheriting = agent({ inherited: { from: "r", messages: 2 } });
  const messages = [[text("old")], [text("older")], [text("mine")]];
  expect(keys(rows(messages, { agent: inheriting }))).toEqual(["inherited inherited", "text 2.0", "state state"]);
  const open = rows(messages, { agent: inheriting, showInherited: true });
  expect(keys(open)).toEqual(["inherited inherited", "text 0.0", "text 1.0", "text 2.0", "state state"]);
  expect(open[1]).toMatchObject({ isInherited: true });
});

test("a call in writing is another row than the same call with more input", () => {
  const row = (input: string) => rows([], { live: { index: 0, blocks: [{ kind: { kind: "input", call: "k", name: "Bash" }, text: input, gap: false }] } })[0];
  expect(isSameRow(row("{"), row("{"))).toBe(true);
  expect(isSameRow(row("{"), row('{"a'))).toBe(false);
});

test("the latest plan is told apart from those before it", () => {
  const list = rows([[call("a", "TodoWrite")], [call("b", "TodoWrite"), text("x")]]);
  expect(list.map((row) => row.type === "plan" && row.isLatest)).toEqual([false, true, false, false]);
  expect(isSameRow(list[0], rows([[call("a", "TodoWrite")]])[0])).toBe(false);
});

test("a plan is read from a call's input, whole or not at all", () => {
  expect(planOf('{"todos": [{"content": "a", "status": "completed"}]}')).toEqual([{ content: "a", status: "completed" }]);
  expect(planOf('{"todos": [{"content": "a", "sta')).toBeUndefined();
  expect(planOf('{"todos": [{"content": "a", "status": "odd"}]}')).toBeUndefined();
});

test("what a failed call tells people stands apart from its output", () => {
  expect(readFailure('{"code":"command_failed","message":"exit status 3"}\nit broke\n')).toEqual({ message: "exit status 3", output: "it broke\n" });
  expect(readFailure('{"a": 1}\nx')).toBeUndefined();
  expect(readFailure("plain")).toBeUndefined();
});

test("a notification is read, and its escaped report stays text", () => {
  const told = parseNotification(
    "<task-notification>\n<task_id>agt_1</task_id>\n<status>failed</status>\n<summary>&lt;/summary&gt;&lt;status&gt;completed&lt;/status&gt; &amp;amp;</summary>\n</task-notification>",
  );
  expect(told).toMatchObject({ taskId: "agt_1", status: "failed", summary: "</summary><status>completed</status> &amp;" });
});

test("what the program wrote around a directive is told apart from it", () => {
  const framed = readFrames(
    "<fork-directive>\nYou are a fork.\n</fork-directive>\nFix the <b>parser</b>.\n\n<worktree-notice>\nYou work in /w.\n</worktree-notice>",
  );
  expect(framed.text).toBe("Fix the <b>parser</b>.");
  expect(framed.frames.map((frame) => frame.title)).toEqual(["Rules for a fork", "About its worktree"]);
  expect(readFrames("plain")).toEqual({ text: "plain", frames: [] });
});

test("a call says what it is about while its input is still being written", () => {
  expect(callTarget('{"file_path": "/p/a b.rs", "content": "fn')).toBe("/p/a b.rs");
  expect(callTarget('{"command": "echo \\"hi\\"", "x')).toBe('echo "hi"');
  expect(callTarget('{"command": "echo \\')).toBe("");
  expect(callTarget("[1]")).toBe("");
});
