import { expect, test } from "vitest";
import { rangesOf } from "../parts/marks";
import { fold, places } from "../parts/words";
import type { TranscriptState } from "../session/transcript";
import { FoundTexts, readable } from "./find";
import type { Row } from "./rows";

test("letters are folded one for one", () => {
  expect(fold("ÄÖ İx")).toHaveLength(5);
  expect(fold("Straße ÄB")).toBe("straße äb");
});

test("places don't overlap, and nothing is nowhere", () => {
  expect(places("aaaa", "aa")).toEqual([0, 2]);
  expect(places("abc", "")).toEqual([]);
});

test("marks of Markdown part no words", () => {
  expect(readable("**Three** `callers` of [this](https://x.example) show_items")).toBe("Three callers of this show_items");
});

const transcript: TranscriptState = {
  agent: "a",
  cursor: 0,
  first: 3,
  messages: [
    {
      role: "assistant",
      blocks: [
        { type: "text", origin: "model", text: "The **tide** table, the TIDE." },
        { type: "call", id: "c", name: "Bash", input: '{"command": "grep \\"tide\\" x"}' },
      ],
    },
  ],
  calls: { c: { state: "ended", result: { content: "\u001b[31mti\u001b[0mde 潮汐", is_error: false, duration_ms: 1 } } },
};
const rows: Row[] = [
  { type: "text", key: "3.0", index: 3, block: 0, origin: "model", isInherited: false },
  { type: "call", key: "c:c", call: { id: "c", name: "Bash", input: '{"command": "grep \\"tide\\" x"}', isWriting: false }, isInherited: false },
  { type: "thinking", key: "4.0", index: 4, block: 0, isInherited: false },
  { type: "state", key: "state" },
];

test("words are found in texts, inputs, outputs and what is being written", () => {
  const found = new FoundTexts();
  const live = { index: 4, blocks: [{ kind: { kind: "thinking" as const }, text: "tides", gap: false }] };
  expect(found.find(rows, "Tide", transcript, live)).toEqual([
    { row: "3.0", nth: 0 },
    { row: "3.0", nth: 1 },
    { row: "c:c", nth: 0 },
    { row: "c:c", nth: 1 },
    { row: "4.0", nth: 0 },
  ]);
  expect(found.find(rows, "潮汐", transcript, live)).toEqual([{ row: "c:c", nth: 0 }]);
  expect(found.find(rows, 'grep "tide"', transcript, undefined)).toEqual([{ row: "c:c", nth: 0 }]);
  expect(found.find(rows, "absent", transcript, live)).toEqual([]);
});

test("words are marked across the elements of a line", () => {
  const root = document.createElement("div");
  root.append("a ", Object.assign(document.createElement("b"), { textContent: "Ti" }), "de, tide");
  const ranges = rangesOf(root, "tide");
  expect(ranges.map((range) => range.toString())).toEqual(["Tide", "tide"]);
});
