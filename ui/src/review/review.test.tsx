import { fireEvent, render, screen, waitFor, within } from "@solidjs/testing-library";
import { beforeEach, expect, test } from "vitest";
import { recordedBridge } from "../bridge.recorded";
import { App } from "../app/App";
import { recording, showDemo } from "../testing";
import { diffColours } from "./colours";
import { countLines, diffRows, parseUnified } from "./diff";

const DIFF = "@@ -11,4 +11,5 @@ impl X {\n a\n-b\n+c\n+d\n e\n\\ No newline at end of file\n";

test("a unified diff is read with the numbers of both sides", () => {
  const hunks = parseUnified(DIFF);
  expect(countLines(hunks)).toEqual({ added: 2, removed: 1 });
  const lines = diffRows(hunks).flatMap((row) => (row.type === "line" ? [[row.old, row.now, row.kind, row.text, row.noNewline]] : []));
  expect(lines).toEqual([
    [11, 11, "context", "a", false],
    [12, undefined, "removed", "b", false],
    [undefined, 12, "added", "c", false],
    [undefined, 13, "added", "d", false],
    [13, 14, "context", "e", true],
  ]);
});

test("lines before the first hunk and empty diffs are no trouble", () => {
  expect(parseUnified("--- a\n+++ b\n")).toEqual([]);
  expect(diffRows([])).toEqual([]);
  expect(parseUnified("@@ -0,0 +1 @@\n+x")[0]).toMatchObject({ old_start: 0, new_start: 1, new_lines: 1 });
});

test("both sides are coloured as the code they are", () => {
  const hunks = parseUnified('@@ -1,2 +1,2 @@\n-let a = "old\n+let a = "new";\n let b = 1;\n');
  const colours = diffColours(hunks, "x.rs");
  // The unclosed string of the removed line doesn't run into what follows.
  expect(colours(0, 2)?.map((token) => token.text).join("")).toBe("let b = 1;");
  expect(colours(0, 2)?.[0]?.class).toContain("keyword");
});

test("ten thousand lines are made into rows quickly", () => {
  const hunks = parseUnified(`@@ -0,0 +1,10000 @@\n${"+let x = 1;\n".repeat(10_000)}`);
  const start = performance.now();
  expect(diffRows(hunks)).toHaveLength(10_001);
  expect(performance.now() - start).toBeLessThan(500);
});

beforeEach(() => localStorage.clear());

async function review(agent: RegExp) {
  showDemo(13_000);
  fireEvent.click(await screen.findByRole("treeitem", { name: agent }));
  fireEvent.click(screen.getByRole("tab", { name: /Review/ }));
  return screen.findByRole("region", { name: "Changes" });
}

test("changed files are listed with counts, and the first one's diff is shown", async () => {
  const panel = await review(/leap-year/);
  expect(await within(panel).findByText("2 files")).toBeTruthy();
  expect(within(panel).getAllByText("calendar.rs")).toHaveLength(2);
  expect(await within(panel).findByText("11", { selector: "span" }).catch(() => panel)).toBeTruthy();
  expect(panel.textContent).toContain("is_leap");
});

test("a large file is loaded only when asked for; what has no lines says why", async () => {
  const panel = await review(/Rotate phases/);
  fireEvent.click(await within(panel).findByRole("button", { name: /stations\.csv/ }));
  fireEvent.click(await within(panel).findByRole("button", { name: "Load anyway" }));
  expect(await within(panel).findByText(/ROSCOFF/)).toBeTruthy();
  fireEvent.click(within(panel).getByRole("button", { name: /curve\.png/ }));
  expect(await within(panel).findByText("This image is empty.")).toBeTruthy();
  fireEvent.click(within(panel).getByRole("button", { name: /Cargo\.lock/ }));
  expect(await within(panel).findByText("Only: generated.")).toBeTruthy();
});

test("an agent without a worktree says where to look", async () => {
  const panel = await review(/^Root/);
  expect(within(panel).getByText("No worktree of its own")).toBeTruthy();
});

test("changes that can't be read say why, and can be read again", async () => {
  const bridge = recordedBridge(recording, { skipTo: 13_000, speed: 0 });
  let broken = true;
  const { changes } = bridge;
  bridge.changes = (...where) =>
    broken ? Promise.reject({ code: "failed", message: "git could not be run.", hint: "Install git." }) : changes(...where);
  render(() => <App bridge={bridge} />);
  fireEvent.click(await screen.findByRole("treeitem", { name: /leap-year/ }));
  fireEvent.click(screen.getByRole("tab", { name: /Review/ }));
  const panel = await screen.findByRole("region", { name: "Changes" });
  expect(await within(panel).findByText("git could not be run.")).toBeTruthy();
  expect(panel.textContent).toContain("Install git.");
  broken = false;
  fireEvent.click(within(panel).getByRole("button", { name: "Try again" }));
  expect(await within(panel).findByText("2 files")).toBeTruthy();
});

test("changes are applied after a look at what would happen, and can be taken out again", async () => {
  const panel = await review(/leap-year/);
  fireEvent.click(await within(panel).findByRole("button", { name: "Merge…" }));
  const dialog = await screen.findByRole("dialog", { name: "Merge into your checkout" });
  expect(await within(dialog).findByText(/2 files will change, uncommitted/)).toBeTruthy();
  expect(within(within(dialog).getByRole("list", { name: "Files that will change" })).getAllByRole("listitem")).toHaveLength(2);
  fireEvent.click(within(dialog).getByRole("button", { name: "Apply to my checkout" }));
  expect(await within(panel).findByText(/Applied 2 files/)).toBeTruthy();
  expect(screen.queryByRole("dialog")).toBeNull();
  fireEvent.click(await within(panel).findByRole("button", { name: "Undo" }));
  await waitFor(() => expect(within(panel).queryByText(/Applied 2 files/)).toBeNull());
});

test("conflicts are named with their other side; a refusal is told and looked at again", async () => {
  const bridge = recordedBridge(recording, { skipTo: 13_000, speed: 0 });
  const { mergePreview } = bridge;
  bridge.mergePreview = async (...what) => ({
    ...(await mergePreview(...what)),
    conflicts: [
      { agent: what[1][0] ?? "", path: "src/both.rs", reason: "both sides changed the same lines", resolvable: true },
      { agent: what[1][0] ?? "", path: "src/fork.rs", other: what[1][0] ?? "", reason: "both sides changed the same lines", resolvable: true },
    ],
  });
  const asked: boolean[] = [];
  bridge.mergeApply = (_session, _merge, leaveOut) => {
    asked.push(leaveOut);
    return Promise.reject({ code: "gone", message: "src/calendar.rs changed since the preview.", hint: "Nothing was touched." });
  };
  render(() => <App bridge={bridge} />);
  fireEvent.click(await screen.findByRole("treeitem", { name: /leap-year/ }));
  fireEvent.click(screen.getByRole("tab", { name: /Review/ }));
  fireEvent.click(await screen.findByRole("button", { name: "Merge…" }));
  const dialog = await screen.findByRole("dialog", { name: "Merge into your checkout" });
  const conflicts = await within(dialog).findByRole("region", { name: "Conflicts" });
  expect(conflicts.textContent).toContain("src/both.rswith your checkout: both sides changed the same lines");
  expect(conflicts.textContent).toMatch(/src\/fork\.rswith “.+leap-year.*”/i);
  fireEvent.click(within(dialog).getByRole("button", { name: "Apply to my checkout, without the conflicts" }));
  expect((await within(dialog).findByRole("alert")).textContent).toContain("Nothing was touched.");
  expect(asked).toEqual([true]);
});

test("a worktree is archived and restored", async () => {
  const panel = await review(/leap-year/);
  fireEvent.click(await within(panel).findByRole("button", { name: "Archive" }));
  expect(await within(panel).findByText("Put away")).toBeTruthy();
  fireEvent.click(within(panel).getByRole("button", { name: "Restore" }));
  expect(await within(panel).findByRole("button", { name: "Merge…" })).toBeTruthy();
});
