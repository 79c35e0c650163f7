import { fireEvent, render, screen, waitFor, within } from "@solidjs/testing-library";
import { beforeEach, describe, expect, test } from "vitest";
import { App } from "../app/App";
import { recordedBridge } from "../bridge.recorded";
import type { CallResult } from "../protocol.gen";
import { ROOT, recording, showDemo } from "../testing";

beforeEach(() => localStorage.clear());

const FORK = "agt_fork_parser";
const FOLDER = "/home/ana/.local/share/offshoot/worktrees/tidepool/leap-year";

async function openFork(at = 7_600) {
  const bridge = showDemo(at);
  fireEvent.click(await screen.findByRole("treeitem", { name: /leap-year/ }));
  const conversation = screen.getByRole("region", { name: "Conversation" });
  await within(conversation).findByText(/You are looking at a fork/);
  let index = (await bridge.conversation(recording.session, FORK, null, 500)).messages.length;
  /** A call that has run. */
  const ran = (call: string, name: string, input: object, result: Partial<CallResult>) => {
    bridge.inject([
      { type: "message_appended", agent: FORK, index, message: { role: "assistant", blocks: [{ type: "call", id: call, name, input: JSON.stringify(input) }] } },
      { type: "call_started", agent: FORK, call },
      { type: "call_ended", agent: FORK, call, result: { content: "", is_error: false, duration_ms: 5, ...result } },
      { type: "results_appended", agent: FORK, index: index + 1, calls: [call], message: { role: "user", blocks: [] } },
    ]);
    index += 2;
  };
  return { bridge, conversation, ran };
}

describe("an empty conversation", () => {
  const open = (startup: object) => {
    const bridge = recordedBridge({ ...recording, startup: { ...recording.startup, ...startup } }, { skipTo: 0, speed: 0 });
    render(() => <App bridge={bridge} />);
    return bridge;
  };

  test("with the demo model sends the message that begins its tour", async () => {
    const bridge = open({ demo: true });
    fireEvent.click(await screen.findByRole("button", { name: /Show me around/ }));
    await waitFor(() => expect(bridge.sent).toEqual([{ type: "send_message", agent: ROOT, text: "Show me around" }]));
  });

  test("with a real model fills the composer and sends nothing", async () => {
    const bridge = open({ demo: false });
    fireEvent.click(await screen.findByRole("button", { name: /Get to know the project/ }));
    const message = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
    await waitFor(() => expect(message.value).toMatch(/^Explain how this project is built/));
    expect(bridge.sent).toEqual([]);
  });
});

describe("a report", () => {
  test("of a fork is a list of its fields, and plain text on demand", async () => {
    const { conversation } = await openFork();
    const report = await within(conversation).findByRole("group", { name: "Report" });
    expect(within(report).getByText("Changed").tagName).toBe("DT");
    expect(within(report).getByText("tests/calendar.rs")).toBeTruthy();
    fireEvent.click(within(report).getByRole("button", { name: "Show as text" }));
    expect(report.querySelector("pre")?.textContent).toContain("**Files changed:** `src/calendar.rs`");
  });

  test("is told by a notification in one line, and whole when that is opened", async () => {
    showDemo(7_600);
    const conversation = await screen.findByRole("region", { name: "Conversation" });
    const fold = await within(conversation).findByRole("button", { name: /Fix the leap-year rule is done/ });
    const card = fold.parentElement?.parentElement as HTMLElement;
    expect(within(card).getByText(/^The Gregorian rule is in place/)).toBeTruthy();
    expect(within(card).queryByRole("group", { name: "Report" })).toBeNull();
    fireEvent.click(fold);
    expect(within(conversation).getByRole("group", { name: "Report" })).toBeTruthy();
  });

  test("of a child stands in Tasks", async () => {
    showDemo(7_600);
    fireEvent.click(await screen.findByRole("tab", { name: /Tasks/ }));
    fireEvent.click(await screen.findByRole("button", { name: "Report of Fix the leap-year rule" }));
    const inspector = screen.getByRole("region", { name: "Inspector" });
    expect(within(inspector).getByRole("group", { name: "Report" })).toBeTruthy();
  });
});

describe("a call", () => {
  test("names a file as seen from the agent's folder, and whole on hover", async () => {
    const { conversation, ran } = await openFork();
    ran("n1", "Write", { file_path: `${FOLDER}/src/new.rs`, content: "x" }, {});
    ran("n2", "Write", { file_path: `${FOLDER}2/src/other.rs`, content: "x" }, {});
    const near = await within(conversation).findByText("src/new.rs");
    expect(near.title).toBe(`${FOLDER}/src/new.rs`);
    expect(within(conversation).getByText(`${FOLDER}2/src/other.rs`)).toBeTruthy();
  });

  test("of a command shows the command and its exit, and what failed apart from the output", async () => {
    const { conversation, ran } = await openFork();
    ran("n1", "Bash", { command: "make", description: "Build it" }, { content: "fine", detail: { kind: "ran", exit: 0, confinement: "confined" } });
    ran("n2", "Bash", { command: "make test" }, { content: '{"code":"command_failed","message":"exit status 3"}\nnot ok', is_error: true, detail: { kind: "ran", exit: 3, confinement: "confined" } });
    expect((await within(conversation).findByRole("button", { name: /Bash.*make.*exit 0/ })).textContent).toContain("make");
    const failed = within(conversation).getByRole("button", { name: /Bash.*make test.*exit 3/ });
    fireEvent.click(failed);
    expect(within(conversation).getByText("exit status 3")).toBeTruthy();
    expect(within(conversation).getByText("not ok")).toBeTruthy();
  });

  test("of a plan draws its list, the latest one open", async () => {
    const { conversation, ran } = await openFork();
    ran("n1", "TodoWrite", { todos: [{ content: "Look", status: "in_progress" }] }, {});
    ran("n2", "TodoWrite", { todos: [{ content: "Look", status: "completed" }, { content: "Write", status: "in_progress" }] }, {});
    const latest = await within(conversation).findByRole("button", { name: /Plan.*1 of 2 done/ });
    expect(latest.getAttribute("aria-expanded")).toBe("true");
    expect(within(conversation).getByRole("button", { name: /Plan.*0 of 1 done/ }).getAttribute("aria-expanded")).toBe("false");
    expect(within(conversation).getByText("Write").closest("li")?.textContent).toContain("in progress");
  });
});

describe("find", () => {
  const search = async (words: string) => {
    fireEvent.keyDown(document.body, { key: "f", ctrlKey: true });
    const field = await screen.findByRole("textbox", { name: "Find in the conversation" });
    fireEvent.input(field, { target: { value: words } });
    return field;
  };

  test("counts the places and goes from one to the next", async () => {
    const { conversation } = await openFork();
    const field = await search("GREGORIAN");
    const status = await within(conversation).findByText(/^\d+ of \d+$/);
    const [, first, count] = /^(\d+) of (\d+)$/.exec(status.textContent ?? "") ?? [];
    expect(Number(count)).toBeGreaterThan(1);
    fireEvent.keyDown(field, { key: "Enter" });
    expect(status.textContent).toBe(`${(Number(first) % Number(count)) + 1} of ${count}`);
    fireEvent.keyDown(field, { key: "Escape" });
    await waitFor(() => expect(screen.queryByRole("search")).toBeNull());
  });

  test("unfolds what holds the words", async () => {
    const { conversation, ran } = await openFork();
    ran("n1", "Bash", { command: "ls" }, { content: "a needle in it" });
    await within(conversation).findByRole("button", { name: /Bash.*ls/ });
    await search("needle");
    expect(await within(conversation).findByText("a needle in it")).toBeTruthy();
    await search("absent words");
    expect(await within(conversation).findByText("Not found")).toBeTruthy();
  });
});
