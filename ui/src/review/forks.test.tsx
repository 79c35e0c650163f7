import { fireEvent, render, screen, waitFor, within } from "@solidjs/testing-library";
import { beforeEach, expect, test } from "vitest";
import { recordedBridge } from "../bridge.recorded";
import { App } from "../app/App";
import { recording } from "../testing";
import type { Clash, MergeSelection } from "../protocol.gen";
import { quoted } from "./drags";
import { diffRows, parseUnified } from "./diff";

beforeEach(() => localStorage.clear());

const PARSER = "agt_fork_parser";
const DOCS = "agt_fork_docs";

async function forks(clashes: Clash[]) {
  const bridge = recordedBridge(recording, { skipTo: 13_000, speed: 0 });
  const asked: [string[], MergeSelection][] = [];
  const { mergePreview } = bridge;
  bridge.conflicts = () => Promise.resolve(clashes);
  bridge.mergePreview = (session, agents, selection) => {
    asked.push([agents, selection]);
    return mergePreview(session, agents, selection);
  };
  render(() => <App bridge={bridge} />);
  fireEvent.click(await screen.findByRole("treeitem", { name: /^Root/ }));
  fireEvent.click(screen.getByRole("tab", { name: /Review/ }));
  return { bridge, asked };
}

test("forks that conflict are marked in the tree and in the matrix, and lead to the merge", async () => {
  const { asked } = await forks([{ agent: PARSER, other: DOCS, files: ["src/calendar.rs"] }]);
  const radar = await screen.findByRole("region", { name: "Conflict radar" });
  expect(await within(radar).findByText("1 pair in conflict")).toBeTruthy();
  const row = screen.getByRole("treeitem", { name: /leap-year/ });
  expect(row.textContent).toContain("Conflicts with “");
  const [cell] = within(radar).getAllByRole("button", { name: /conflict in 1 file$/ });
  if (cell) fireEvent.click(cell);
  expect(within(radar).getByText("src/calendar.rs")).toBeTruthy();
  fireEvent.click(within(radar).getByRole("button", { name: "Look at the merge…" }));
  await screen.findByRole("dialog", { name: "Merge into your checkout" });
  await waitFor(() => expect(asked.at(-1)).toEqual([[PARSER, DOCS], { kind: "all" }]));
});

test("forks are compared file by file, and hunks are picked across them", async () => {
  const { bridge, asked } = await forks([]);
  fireEvent.click(await screen.findByRole("button", { name: "Compare forks…" }));
  const dialog = await screen.findByRole("dialog", { name: "Compare forks" });
  const columns = await within(dialog).findAllByRole("region", { name: /^Changes of/ });
  expect(columns.length).toBeGreaterThan(1);
  const [first] = columns;
  if (!first) throw new Error("no column");
  await within(dialog).findByRole("option", { name: "src/calendar.rs" });
  fireEvent.change(within(dialog).getByRole("combobox", { name: "File" }), { target: { value: "src/calendar.rs" } });
  const buttons = await within(first).findAllByRole("button", { name: "Accept hunk" });
  if (buttons[0]) fireEvent.click(buttons[0]);
  await waitFor(() => expect(bridge.sent.at(-1)).toMatchObject({ type: "review", wish: { kind: "mark", mark: "accepted", on: true } }));
  const apply = within(dialog).getByRole("button", { name: "Apply accepted…" });
  await waitFor(() => expect(apply).toHaveProperty("disabled", false));
  fireEvent.click(apply);
  await screen.findByRole("dialog", { name: "Merge into your checkout" });
  await waitFor(() => expect(asked.at(-1)?.[1]).toEqual({ kind: "accepted" }));
});

test("a hunk is attached to the message with a fence that nothing in it closes", () => {
  const hunks = parseUnified("@@ -1 +1,2 @@\n-a\n+```\n+b\n");
  const file = { path: "a.md", hash: "h" } as never;
  expect(quoted(file, "docs", hunks)).toBe("Changes of “docs” in `a.md`:\n\n````diff\n@@ -1,1 +1,2 @@\n-a\n+```\n+b\n````");
});

test("ten thousand changed lines with comments are laid out side by side quickly", () => {
  const half = 5000;
  const hunks = parseUnified(`@@ -1,${half} +1,${half} @@\n${"-old line\n".repeat(half)}${"+new line\n".repeat(half)}`);
  const start = performance.now();
  expect(diffRows(hunks, { split: true })).toHaveLength(half + 1);
  expect(performance.now() - start).toBeLessThan(500);
});
