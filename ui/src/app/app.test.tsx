import { fireEvent, render, screen, waitFor, within } from "@solidjs/testing-library";
import { beforeEach, expect, test } from "vitest";
import { recordedBridge } from "../bridge.recorded";
import { recording, showDemo } from "../testing";
import { App } from "./App";
import { matchScore } from "./match";

beforeEach(() => localStorage.clear());

test("the regions have their names", async () => {
  showDemo(10_000);
  for (const name of ["Agents", "Conversation", "Inspector"]) expect(await screen.findByRole("region", { name })).toBeTruthy();
  expect(screen.getByText("Demo model.")).toBeTruthy();
});

test("a session plays from its first message to its last report", async () => {
  const bridge = showDemo(0);
  await screen.findByRole("tree");
  while (bridge.step());
  // It waits for the answer.
  const conversation = screen.getByRole("region", { name: "Conversation" });
  await waitFor(() => expect(within(conversation).getByText(/1 request waits for you/)).toBeTruthy());
  await bridge.command(recording.session, { type: "answer", request: "req_1", answer: { kind: "allow_once" } });
  while (bridge.step());
  await waitFor(() => expect(screen.getAllByRole("treeitem").map((item) => item.getAttribute("aria-label"))).toEqual([
    "Root: Speed up the tide table, Idle",
    "Subagent: Map the callers of TideTable, Done",
    "Fork: Fix the leap-year rule, Done",
    "Fork: Rotate phases instead of cosines, Done",
    "Fork: Update the docs, Done",
  ]));
});

test("a fork's conversation says what it is and what it inherits", async () => {
  showDemo(10_000);
  fireEvent.click(await screen.findByRole("treeitem", { name: /leap-year/ }));
  const conversation = screen.getByRole("region", { name: "Conversation" });
  expect(await within(conversation).findByText(/You are looking at a fork/)).toBeTruthy();
  const inherits = await within(conversation).findByRole("button", { name: /Inherits 4 messages/ });
  expect(within(conversation).queryByText(/three independent pieces/)).toBeNull();
  fireEvent.click(inherits);
  expect(await within(conversation).findByText(/three independent pieces/)).toBeTruthy();
});

test("a link asks before it opens", async () => {
  const opened: string[] = [];
  const bridge = recordedBridge(recording, { skipTo: 13_000, speed: 0 });
  bridge.openExternal = async (url) => void opened.push(url);
  render(() => <App bridge={bridge} />);
  await screen.findByRole("tree");
  const index = (await bridge.conversation(recording.session, "agt_root", null, 500)).messages.length;
  bridge.inject([
    { type: "message_appended", agent: "agt_root", index, message: { role: "assistant", blocks: [{ type: "text", origin: "model", text: "See [the manual](https://example.org/a?b=c)." }] } },
  ]);
  fireEvent.click(await screen.findByRole("link", { name: "the manual" }));
  const dialog = await screen.findByRole("dialog", { name: "Open this link?" });
  expect(dialog.textContent).toContain("https://example.org/a?b=c");
  expect(opened).toEqual([]);
  fireEvent.click(within(dialog).getByRole("button", { name: "Open in browser" }));
  expect(opened).toEqual(["https://example.org/a?b=c"]);
});

test("without a project the first start offers a folder and the sample", async () => {
  const bridge = recordedBridge({ ...recording, startup: { ...recording.startup, project: null } }, { speed: 0 });
  render(() => <App bridge={bridge} />);
  expect(await screen.findByRole("button", { name: /Open a folder/ })).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: /Try the sample repository/ }));
  expect(await screen.findByRole("tree")).toBeTruthy();
});

test("a start that fails says what happened and what to do", async () => {
  const bridge = recordedBridge(recording, { speed: 0 });
  bridge.snapshot = () => Promise.reject({ code: "storage", message: "The session's log can't be read.", hint: "Check the disk." });
  render(() => <App bridge={bridge} />);
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("The session's log can't be read.");
  expect(alert.textContent).toContain("Check the disk.");
});

test("the palette finds agents and goes there", async () => {
  showDemo(10_000);
  await screen.findByRole("tree");
  fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
  const search = await screen.findByRole("combobox");
  fireEvent.input(search, { target: { value: "leap" } });
  fireEvent.keyDown(search, { key: "Enter" });
  await waitFor(() => expect(screen.getByRole("treeitem", { name: /leap-year/ }).getAttribute("aria-selected")).toBe("true"));
});

test("the help sheet and the roles open", async () => {
  showDemo(10_000);
  await screen.findByRole("tree");
  fireEvent.keyDown(document.body, { key: "?" });
  expect(await screen.findByRole("dialog", { name: "Keyboard" })).toBeTruthy();
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "Escape" });
  const message = screen.getByLabelText("Message");
  fireEvent.input(message, { target: { value: "/roles" } });
  fireEvent.keyDown(message, { key: "Enter", keyCode: 13 });
  const roles = await screen.findByRole("region", { name: "Roles" });
  expect(await within(roles).findByText(/Line 4: `tools`: there is no tool/)).toBeTruthy();
  expect(within(roles).getByText(/Overridden by/)).toBeTruthy();
});

test("letters find lines", () => {
  expect(matchScore("fork", "Fork: fix")).toBeGreaterThan(matchScore("fork", "a fork"));
  expect(matchScore("fx", "fix")).toBeGreaterThan(0);
  expect(matchScore("zz", "fix")).toBe(0);
});

const BOLD = { trust: "unknown", would_activate: ["hook at PreToolUse: runs `./x\u202e.sh`", "role loose"], place: "/home/ada/tides" } as const;

function showBold() {
  const trust = { ...BOLD, would_activate: [...BOLD.would_activate] };
  const bridge = recordedBridge({ ...recording, trust }, { speed: 0 });
  const opened: string[] = [];
  const { snapshot } = bridge;
  bridge.snapshot = (session) => {
    opened.push(session);
    return snapshot(session);
  };
  render(() => <App bridge={bridge} />);
  return { bridge, opened };
}

test("an unknown folder asks to be trusted before anything opens, and says what for", async () => {
  const { bridge, opened } = showBold();
  const dialog = await screen.findByRole("dialog", { name: "Trust this folder?" });
  expect(within(dialog).getAllByRole("listitem")).toHaveLength(2);
  expect(dialog.textContent).toContain("/home/ada/tides");
  // What can't be seen is boxed.
  expect(within(dialog).getByText("RLO")).toBeTruthy();
  expect(opened).toEqual([]);
  fireEvent.click(within(dialog).getByRole("button", { name: "Trust" }));
  expect(await screen.findByRole("tree")).toBeTruthy();
  expect(bridge.trusted).toEqual([true]);
});

test("a folder opens without trust, and nobody is asked where nothing would change", async () => {
  const { bridge } = showBold();
  const dialog = await screen.findByRole("dialog", { name: "Trust this folder?" });
  fireEvent.click(within(dialog).getByRole("button", { name: "Open without trusting" }));
  expect(await screen.findByRole("tree")).toBeTruthy();
  expect(bridge.trusted).toEqual([false]);
});

test("closing the question opens the folder and answers nothing", async () => {
  const { bridge } = showBold();
  const dialog = await screen.findByRole("dialog", { name: "Trust this folder?" });
  fireEvent.click(within(dialog).getByRole("button", { name: "Close" }));
  expect(await screen.findByRole("tree")).toBeTruthy();
  expect(bridge.trusted).toEqual([]);
});

test("what was said of a folder can be changed in the settings", async () => {
  const { bridge } = showBold();
  const first = await screen.findByRole("dialog", { name: "Trust this folder?" });
  fireEvent.click(within(first).getByRole("button", { name: "Trust" }));
  await screen.findByRole("tree");
  fireEvent.keyDown(document.body, { key: ",", ctrlKey: true });
  fireEvent.click(await screen.findByRole("button", { name: /Trust this folder or not/ }));
  const again = await screen.findByRole("dialog", { name: "Trust this folder?" });
  fireEvent.click(within(again).getByRole("button", { name: "Don't trust" }));
  await waitFor(() => expect(bridge.trusted).toEqual([true, false]));
});

test("hooks that ran stand in one quiet line each", async () => {
  const bridge = showDemo(10_000);
  await screen.findByRole("tree");
  bridge.inject([
    { type: "hook_ran", agent: "agt_root", event: "PreToolUse", command: "./check.sh", exit: 2, duration_ms: 12 },
    { type: "hook_ran", agent: "agt_root", event: "Stop", command: "./log.sh", exit: 0, duration_ms: 3 },
  ]);
  fireEvent.click(screen.getByRole("treeitem", { name: /^Root/ }));
  fireEvent.click(screen.getByRole("tab", { name: /Tasks/ }));
  const lines = within(await screen.findByRole("list", { name: "Last hooks" })).getAllByRole("listitem");
  expect(lines.map((line) => line.textContent)).toEqual(["Stop ./log.sh 3 ms", "PreToolUse ./check.sh objected, 12 ms"]);
});
