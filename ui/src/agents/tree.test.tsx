import { fireEvent, screen, waitFor } from "@solidjs/testing-library";
import { beforeEach, describe, expect, test } from "vitest";
import { created, eventsOf, showDemo } from "../testing";
import { emptySession, foldEvent } from "../session/fold";
import { rollUp, treeKey, treeNodes, type TreeOptions } from "./tree";

function session() {
  const state = emptySession("ses");
  const events = eventsOf(
    created("root", "Root", { agent: "r" } as object),
    created("fork", "Alpha", { agent: "a", parent: "r" } as object),
    created("subagent", "Beta", { agent: "b", parent: "r", role: "explore" } as object),
    created("subagent", "Deep", { agent: "d", parent: "a" } as object),
    { type: "agent_ended", agent: "b", outcome: { kind: "completed", report: "x" } },
    { type: "turn_started", agent: "d" },
    { type: "changes_counted", agent: "d", changes: { files: 3, added: 1, removed: 1 } },
  );
  for (const event of events) foldEvent(state, event, new Map());
  return state;
}

const plain: TreeOptions = { filter: "", hideFinished: false, collapsed: new Set(), selected: undefined };
const ids = (options: Partial<TreeOptions>) => treeNodes(session(), { ...plain, ...options }).map((node) => node.id);

describe("the tree shows", () => {
  test("children under their parent, in order", () => {
    expect(treeNodes(session(), plain).map((node) => [node.id, node.level, node.position, node.siblings])).toEqual([
      ["r", 1, 1, 1],
      ["a", 2, 1, 2],
      ["d", 3, 1, 1],
      ["b", 2, 2, 2],
    ]);
  });
  test("nothing below what is folded", () => expect(ids({ collapsed: new Set(["a"]) })).toEqual(["r", "a", "b"]));
  test("what matches, with all above it", () => expect(ids({ filter: "deep" })).toEqual(["r", "a", "d"]));
  test("roles by name too", () => expect(ids({ filter: "explore" })).toEqual(["r", "b"]));
  test("no finished ones when they are hidden", () => expect(ids({ hideFinished: true })).toEqual(["r", "a", "d"]));
  test("but always the selected one", () => expect(ids({ hideFinished: true, selected: "b" })).toEqual(["r", "a", "d", "b"]));
  test("commands in the background as leaves, as long as they run", () => {
    const state = session();
    const at = { at: "2026-01-01T12:00:00Z", session: "ses" };
    foldEvent(state, { ...at, seq: 20, agent: "a", type: "shell_started", task: "sh1", call: "c", command: "npm run dev", output_file: "/o" }, new Map());
    const leaf = treeNodes(state, plain).find((node) => node.kind === "shell");
    expect(leaf).toEqual({ id: "sh1", kind: "shell", level: 3, hasChildren: false, position: 2, siblings: 2 });
    foldEvent(state, { ...at, seq: 21, agent: "a", type: "shell_ended", task: "sh1", outcome: { kind: "failed", message: "exit status 1" } }, new Map());
    expect(treeNodes(state, plain).some((node) => node.kind === "shell")).toBe(false);
    expect(state.shells[0]).toMatchObject({ outcome: { kind: "failed" }, ended_at: at.at });
  });
  test("at a parent what is below it", () => expect(rollUp(session(), "r")).toEqual({ running: 1, waiting: 0, files: 3 }));
});

test("keys move as in every tree", () => {
  const nodes = treeNodes(session(), plain);
  const open = new Set<string>();
  expect(treeKey("ArrowDown", nodes, "r", open)).toEqual({ focus: "a" });
  expect(treeKey("ArrowUp", nodes, "r", open)).toBeUndefined();
  expect(treeKey("ArrowLeft", nodes, "d", open)).toEqual({ focus: "a" });
  expect(treeKey("ArrowLeft", nodes, "a", open)).toEqual({ toggle: "a", open: false });
  expect(treeKey("ArrowRight", nodes, "a", open)).toEqual({ focus: "d" });
  expect(treeKey("ArrowRight", nodes, "a", new Set(["a"]))).toEqual({ toggle: "a", open: true });
  expect(treeKey("End", nodes, "r", open)).toEqual({ focus: "b" });
});

describe("in the window", () => {
  beforeEach(() => localStorage.clear());

  test("one row is in the tab order; arrows move it, Enter selects", async () => {
    showDemo(10_000);
    const tree = await screen.findByRole("tree");
    const root = screen.getByRole("treeitem", { name: /^Root/ });
    expect(tree.querySelectorAll('[tabindex="0"]')).toHaveLength(1);
    root.focus();
    fireEvent.keyDown(root, { key: "ArrowDown" });
    const second = screen.getByRole("treeitem", { name: /Map the callers/ });
    expect(document.activeElement).toBe(second);
    expect(second.getAttribute("aria-selected")).toBe("false");
    fireEvent.keyDown(second, { key: "Enter" });
    await waitFor(() => expect(second.getAttribute("aria-selected")).toBe("true"));
    fireEvent.keyDown(second, { key: "Home" });
    fireEvent.keyDown(root, { key: "ArrowLeft" });
    // The selected one stays in the tree's model, but folded away below its parent.
    expect(root.getAttribute("aria-expanded")).toBe("false");
    expect(screen.getAllByRole("treeitem")).toHaveLength(1);
    // Folded, the root says what waits below it.
    expect(root.textContent).toContain("waiting for you");
  });
});

test("a command in the background leads to its agent's tasks, and can be stopped there", async () => {
  localStorage.clear();
  const bridge = showDemo(10_000);
  await screen.findByRole("tree");
  bridge.inject([{ type: "shell_started", agent: "agt_fork_docs", task: "sh1", call: "c", command: "npm run dev", output_file: "/o" }]);
  fireEvent.click(await screen.findByRole("treeitem", { name: "Command: npm run dev, Running" }));
  fireEvent.click(await screen.findByRole("button", { name: "Stop" }));
  await waitFor(() => expect(screen.queryByRole("treeitem", { name: /npm run dev/ })).toBeNull());
  expect(bridge.sent).toEqual([{ type: "stop_shell", task: "sh1" }]);
  expect(screen.getByText(/^Stopped, \d+:\d\d$/, { exact: false })).toBeTruthy();
});
