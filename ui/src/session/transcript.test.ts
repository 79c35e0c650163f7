import { describe, expect, test } from "vitest";
import type { Delta } from "../protocol.gen";
import { eventsOf } from "../testing";
import { OUTPUT_HELD, applyOutput, applyText, foldTranscript, forget, prepend, type LiveMessage, type LiveOutput, type TranscriptState } from "./transcript";

const piece = (offset: number, text: string, block = 0, message = 3): Delta & { type: "text" } => ({
  type: "text",
  agent: "a",
  message,
  block,
  kind: { kind: "text" },
  offset,
  text,
});

function write(...deltas: (Delta & { type: "text" })[]): LiveMessage | undefined {
  let live: LiveMessage | undefined;
  for (const delta of deltas) live = applyText(live, delta);
  return live;
}

describe("streaming text", () => {
  const table: [string, (Delta & { type: "text" })[], string, boolean][] = [
    ["continues", [piece(0, "ab"), piece(2, "cd")], "abcd", false],
    ["ignores a piece it has", [piece(0, "abcd"), piece(0, "ab")], "abcd", false],
    ["cuts an overlap", [piece(0, "abc"), piece(2, "cde")], "abcde", false],
    ["marks a gap", [piece(0, "ab"), piece(5, "fg")], "abfg", true],
    ["marks a missed start", [piece(4, "ef")], "ef", true],
    ["counts in UTF-16 units", [piece(0, "🌱"), piece(2, "日本")], "🌱日本", false],
  ];
  test.each(table)("%s", (_, deltas, text, gap) => {
    expect(write(...deltas)?.blocks[0]).toMatchObject({ text, gap });
  });

  test("a later message takes the place of an earlier one, not the other way round", () => {
    expect(write(piece(0, "old", 0, 3), piece(0, "new", 0, 5))?.index).toBe(5);
    expect(write(piece(0, "new", 0, 5), piece(3, "late", 0, 3))?.blocks[0]?.text).toBe("new");
  });

  test("a block that was never seen is a gap, filled when it speaks", () => {
    const live = write(piece(0, "second", 1), { ...piece(0, "first", 0) });
    expect(live?.blocks.map((block) => block.text)).toEqual(["first", "second"]);
  });
});

test("running output holds a bounded tail and knows how much it dropped", () => {
  let output: LiveOutput | undefined;
  for (let at = 0; at < 40; at += 1) {
    output = applyOutput(output, { type: "output", agent: "a", call: "c", offset: at * 10_000, text: "x".repeat(9_999) + "\n" });
  }
  expect(output?.text.length).toBe(OUTPUT_HELD);
  expect(output?.dropped).toBe(400_000 - OUTPUT_HELD);
  expect(output?.gap).toBe(false);
});

const empty = (more: Partial<TranscriptState> = {}): TranscriptState => ({ agent: "a", cursor: 0, first: 0, messages: [], calls: {}, ...more });

test("results stand in the order of their calls, then what follows them", () => {
  const state = empty();
  const events = eventsOf(
    {
      type: "message_appended",
      agent: "a",
      index: 0,
      message: {
        role: "assistant",
        blocks: [
          { type: "call", id: "x", name: "Read", input: "{}" },
          { type: "call", id: "y", name: "Read", input: "{}" },
        ],
      },
    },
    { type: "call_started", agent: "a", call: "x" },
    { type: "call_ended", agent: "a", call: "y", result: { content: "Y", is_error: true, duration_ms: 1 } },
    { type: "call_ended", agent: "a", call: "x", result: { content: "X", is_error: false, duration_ms: 1 } },
    {
      type: "results_appended",
      agent: "a",
      index: 1,
      calls: ["x", "y"],
      message: { role: "user", blocks: [{ type: "text", text: "more", origin: "user" }] },
    },
  );
  for (const event of events) expect(foldTranscript(state, event)).toBe(true);
  expect(state.messages[1]?.blocks).toEqual([
    { type: "result", id: "x", content: "X", is_error: false },
    { type: "result", id: "y", content: "Y", is_error: true },
    { type: "text", text: "more", origin: "user" },
  ]);
  expect(state.calls["x"]).toMatchObject({ state: "ended", started_at: events[1]?.at });
});

test("a message that doesn't follow says that one was missed; a repeated one changes nothing", () => {
  const state = empty();
  const message = { role: "user" as const, blocks: [] };
  const [first, far] = eventsOf(
    { type: "message_appended", agent: "a", index: 0, message },
    { type: "message_appended", agent: "a", index: 2, message },
  );
  if (!first || !far) throw new Error("two events");
  foldTranscript(state, first);
  expect(foldTranscript(state, { ...first, seq: 9 })).toBe(true);
  expect(state.messages).toHaveLength(1);
  expect(foldTranscript(state, { ...far, seq: 10 })).toBe(false);
});

test("an older stretch goes in front, without what is there already", () => {
  const message = (text: string) => ({ role: "user" as const, blocks: [{ type: "text" as const, text, origin: "user" as const }] });
  const state = empty({ first: 2, messages: [message("2")] });
  prepend(state, { agent: "a", cursor: 0, first: 0, messages: [message("0"), message("1"), message("2")], calls: {} });
  expect(state.first).toBe(0);
  expect(state.messages.map((entry) => entry.blocks[0]?.type === "text" && entry.blocks[0].text)).toEqual(["0", "1", "2"]);
});

test("old messages are let go with their calls, and what follows still fits", () => {
  const call = (id: string) => ({ role: "assistant" as const, blocks: [{ type: "call" as const, id, name: "Read", input: "{}" }] });
  const state = empty({ messages: ["a", "b", "c"].map(call), calls: { a: { state: "ended" }, b: { state: "ended" }, c: { state: "running" } } });
  forget(state, 2);
  expect([state.first, state.messages.length, Object.keys(state.calls)]).toEqual([1, 2, ["b", "c"]]);
  const [event] = eventsOf({ type: "message_appended", agent: "a", index: 3, message: call("d") });
  expect(event && foldTranscript(state, event)).toBe(true);
  expect(state.messages).toHaveLength(3);
});
