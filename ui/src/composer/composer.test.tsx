import { fireEvent, screen, waitFor } from "@solidjs/testing-library";
import { beforeEach, describe, expect, test } from "vitest";
import { ROOT, showDemo } from "../testing";
import { completions, readWish } from "./commands";
import { leadsAway, readHistory, remember, stepThrough } from "./history";
import { mentions } from "./mentions";
import { expand, keepApart, readPastes, stillUsed } from "./pastes";

const context = { agent: "a", isolation: "worktree" as const, messages: undefined, length: 4 };

describe("a text is read as", () => {
  test.each([
    ["hello", { type: "send_message", agent: "a", text: "hello" }],
    ["/etc/hosts is odd", { type: "send_message", agent: "a", text: "/etc/hosts is odd" }],
    ["/fork fix it", { type: "fork", agent: "a", directive: "fix it", isolation: "worktree" }],
    ["/agent explore: find\nthem", { type: "start_subagent", role: "explore", brief: "find\nthem", isolation: "worktree" }],
    ["/agent plugin:reviewer: look", { type: "start_subagent", role: "plugin:reviewer", brief: "look", isolation: "worktree" }],
    ["/compact", { type: "compact", agent: "a", instructions: "" }],
    ["/compact keep the plan", { type: "compact", agent: "a", instructions: "keep the plan" }],
    ["/model opus", { type: "set_model", agent: "a", model: "opus" }],
    ["/agent explore:find", { type: "start_subagent", role: "explore", brief: "find", isolation: "worktree" }],
  ])("%s", (text, command) => {
    expect(readWish(text, context)).toEqual({ kind: "command", command });
  });

  test("or as a problem that says what to write", () => {
    for (const text of ["/model", "/model a b", "/fork", "/agent explore", "/agent : x", "/nonsense"]) {
      expect(readWish(text, context).kind).toBe("problem");
    }
  });

  test("another model for a long conversation is asked about first", () => {
    expect(readWish("/model opus", { ...context, length: 200 })).toMatchObject({ kind: "confirm", command: { type: "set_model", model: "opus" } });
  });

  test("a fork from a message inherits up to it", () => {
    expect(readWish("/fork x", { ...context, messages: 4 })).toMatchObject({ command: { messages: 4 } });
  });
});

test("what is typed is completed", () => {
  const roles = [
    { name: "explore", description: "" },
    { name: "plan", description: "" },
  ];
  expect(completions("/f", roles).map((entry) => entry.text)).toEqual(["/fork "]);
  expect(completions("/agent ex", roles).map((entry) => entry.text)).toEqual(["/agent explore: "]);
  expect(completions("hello /f", roles)).toEqual([]);
});

describe("the history", () => {
  const list = ["one", "two"];

  test("leads from the draft back, and forth to the draft again", () => {
    const first = stepThrough(list, undefined, -1, "draft");
    expect(first).toEqual({ text: "two", browsing: { at: 1, draft: "draft" } });
    const second = stepThrough(list, first?.browsing, -1, "two");
    expect(second?.text).toBe("one");
    expect(stepThrough(list, second?.browsing, -1, "one")).toBeUndefined();
    expect(stepThrough(list, first?.browsing, 1, "two")).toEqual({ text: "draft", browsing: undefined });
    expect(stepThrough(list, undefined, 1, "draft")).toBeUndefined();
  });

  test("is entered only where the caret can't move further", () => {
    const at = (start: number, end = start) => ({ start, end });
    expect(leadsAway(-1, at(0), 5, false)).toBe(true);
    expect(leadsAway(-1, at(5), 5, false)).toBe(false);
    expect(leadsAway(1, at(5), 5, false)).toBe(true);
    expect(leadsAway(-1, at(0, 5), 5, false)).toBe(false);
    expect(leadsAway(-1, at(5), 5, true)).toBe(true);
    expect(leadsAway(-1, at(3), 5, true)).toBe(false);
  });

  test("holds a text once, and no pasted files", () => {
    expect(remember(["a", "b"], " a ")).toEqual(["b", "a"]);
    expect(remember(["a"], "x".repeat(10_000))).toEqual(["a"]);
    expect(readHistory("nonsense")).toEqual([]);
  });
});

describe("agents are named after @", () => {
  const agents = [
    { id: "a1", title: "Fix the parser", kind: "fork" as const },
    { id: "a2", title: "Survey", kind: "subagent" as const, role: "explore" },
    { id: "a3", title: "Twin", kind: "fork" as const },
    { id: "a4", title: "Twin", kind: "fork" as const },
  ];
  const labels = (text: string) => mentions(text, text.length, agents).map((entry) => entry.label);

  test("by the beginning of a word, at the caret", () => {
    expect(labels("ask @pars")).toEqual(["Fix the parser"]);
    expect(labels("ask @expl")).toEqual(["Survey"]);
    expect(labels("@")).toHaveLength(4);
    expect(labels("mail me@pars")).toEqual([]);
    expect(labels("ask @pars now")).toEqual([]);
    expect(labels(`${"x".repeat(100)}@pars`)).toEqual([]);
  });

  test("by what the model can reach them with", () => {
    expect(mentions("ask @pars now", 9, agents)[0]).toMatchObject({ text: 'ask @"Fix the parser" now', caret: 22 });
    expect(mentions("@twi", 4, agents).map((entry) => entry.text)).toEqual(["@a3 ", "@a4 "]);
  });
});

describe("a long pasted text", () => {
  const long = "line\n".repeat(4000);

  test("stands as a mark, and is sent whole", () => {
    const kept = keepApart(long, {});
    expect(kept.text).toBe("[Pasted text 1: 4,001 lines]");
    expect(expand(`See ${kept.text} there`, kept.pastes)).toBe(`See ${long} there`);
    expect(keepApart("short", {})).toEqual({ text: "short", pastes: {} });
    expect(keepApart("x".repeat(20_000), kept.pastes).text).toBe("[Pasted text 2: 20,000 characters]");
  });

  test("is let go with its mark, and a mark that stands for nothing is text", () => {
    const { text, pastes } = keepApart(long, {});
    expect(stillUsed(`a ${text}`, pastes)).toEqual(pastes);
    expect(stillUsed("a", pastes)).toEqual({});
    expect(expand("[Pasted text 7: 3 lines]", pastes)).toBe("[Pasted text 7: 3 lines]");
    // What was pasted is not looked into.
    expect(expand(text, { 1: "[Pasted text 1: 3 lines]" })).toBe("[Pasted text 1: 3 lines]");
    expect(readPastes('{"1": "a", "x": 2}')).toEqual({ 1: "a" });
  });
});

describe("the message field", () => {
  beforeEach(() => localStorage.clear());

  async function field(at = 7_600) {
    const bridge = showDemo(at);
    const message = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
    const type = (text: string) => fireEvent.input(message, { target: { value: text } });
    return { bridge, message, type };
  }

  test("Enter sends and empties it", async () => {
    const { bridge, message, type } = await field();
    type("Go on");
    fireEvent.keyDown(message, { key: "Enter", keyCode: 13 });
    await waitFor(() => expect(message.value).toBe(""));
    expect(bridge.sent).toEqual([{ type: "send_message", agent: ROOT, text: "Go on" }]);
  });

  test("Enter that confirms an input method's candidate doesn't send", async () => {
    const { bridge, message, type } = await field();
    type("にほん");
    fireEvent.keyDown(message, { key: "Enter", keyCode: 229 });
    fireEvent.keyDown(message, { key: "Enter", keyCode: 13, isComposing: true });
    fireEvent.keyDown(message, { key: "Enter", keyCode: 13, shiftKey: true });
    expect(bridge.sent).toEqual([]);
    expect(message.value).toBe("にほん");
  });

  test("a rejected text stays, with the reason", async () => {
    const { message, type } = await field();
    type("/fork do it");
    fireEvent.keyDown(message, { key: "Enter", keyCode: 13 });
    expect(await screen.findByText("A recording can't start agents.")).toBeTruthy();
    expect(message.value).toBe("/fork do it");
  });

  test("a draft survives the window and belongs to its agent", async () => {
    const first = await field();
    first.type("half a thought");
    fireEvent.click(screen.getByRole("treeitem", { name: /Map the callers/ }));
    await waitFor(() => expect(screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" }).value).toBe(""));
    fireEvent.click(screen.getByRole("treeitem", { name: /Root/ }));
    await waitFor(() => expect(screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" }).value).toBe("half a thought"));
  });

  test("a message sent while a turn runs is visibly queued and can be withdrawn", async () => {
    const { bridge, message, type } = await field(1_500);
    type("And the README");
    fireEvent.keyDown(message, { key: "Enter", keyCode: 13 });
    fireEvent.click(await screen.findByRole("button", { name: "Withdraw" }));
    await waitFor(() => expect(screen.queryByText("And the README")).toBeNull());
    expect(bridge.sent.map((command) => command.type)).toEqual(["send_message", "withdraw_input"]);
  });

  test("Esc interrupts a running turn", async () => {
    const { bridge, message } = await field(1_500);
    fireEvent.keyDown(message, { key: "Escape" });
    expect(bridge.sent).toEqual([{ type: "interrupt", agent: ROOT }]);
  });

  test("a choice of the command menu is taken with Enter, and a fork can have a worktree or not", async () => {
    const { bridge, message, type } = await field();
    type("/fo");
    fireEvent.keyDown(message, { key: "Enter", keyCode: 13 });
    expect(message.value).toBe("/fork ");
    expect(bridge.sent).toEqual([]);
    fireEvent.click(screen.getByRole("checkbox", { name: "In its own worktree" }));
    type("/fork tidy up");
    fireEvent.keyDown(message, { key: "Enter", keyCode: 13 });
    expect(bridge.sent).toEqual([{ type: "fork", agent: ROOT, directive: "tidy up", isolation: "shared" }]);
  });

  test("what was sent comes back with ↑, and the draft with ↓", async () => {
    const { message, type } = await field();
    type("First wish");
    fireEvent.keyDown(message, { key: "Enter", keyCode: 13 });
    await waitFor(() => expect(message.value).toBe(""));
    // The queue is empty only when the message was taken in.
    fireEvent.click(await screen.findByRole("button", { name: "Withdraw" }));
    await waitFor(() => expect(screen.queryByText("First wish")).toBeNull());
    type("half");
    fireEvent.keyDown(message, { key: "ArrowUp" });
    expect(message.value).toBe("half");
    message.setSelectionRange(0, 0);
    fireEvent.keyDown(message, { key: "ArrowUp" });
    expect(message.value).toBe("First wish");
    fireEvent.keyDown(message, { key: "ArrowDown" });
    expect(message.value).toBe("half");
  });

  test("a queued message goes back into the field to be edited, in front of what stands there", async () => {
    const { message, type } = await field(1_500);
    type("And the README");
    fireEvent.keyDown(message, { key: "Enter", keyCode: 13 });
    const edit = await screen.findByRole("button", { name: "Edit" });
    type("more");
    fireEvent.click(edit);
    await waitFor(() => expect(message.value).toBe("And the README\n\nmore"));
  });

  test("an agent is named from the menu", async () => {
    const { message, type } = await field();
    type("Ask @leap");
    fireEvent.keyDown(message, { key: "Enter", keyCode: 13 });
    expect(message.value).toBe('Ask @"Fix the leap-year rule" ');
  });

  test("takes a long pasted text as a mark, keeps it with the draft and sends it whole", async () => {
    const { bridge, message, type } = await field();
    const long = "x".repeat(30_000);
    type("See ");
    message.setSelectionRange(4, 4);
    fireEvent.paste(message, { clipboardData: { getData: () => long } });
    expect(message.value).toBe("See [Pasted text 1: 30,000 characters]");
    fireEvent.click(screen.getByRole("treeitem", { name: /Map the callers/ }));
    await waitFor(() => expect(message.value).toBe(""));
    fireEvent.click(screen.getByRole("treeitem", { name: /Root/ }));
    await screen.findByRole("button", { name: "Remove pasted text 1" });
    fireEvent.keyDown(message, { key: "Enter", keyCode: 13 });
    expect(bridge.sent).toEqual([{ type: "send_message", agent: ROOT, text: `See ${long}` }]);
    await waitFor(() => expect(screen.queryByRole("button", { name: "Remove pasted text 1" })).toBeNull());
  });
});
