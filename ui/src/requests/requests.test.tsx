import { fireEvent, screen, waitFor, within } from "@solidjs/testing-library";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PermissionRequest } from "../protocol.gen";
import { showDemo } from "../testing";
import { ARM_AFTER_MS } from "./arming";

const ASKED = 10_000;

beforeEach(() => {
  localStorage.clear();
  vi.useFakeTimers({ shouldAdvanceTime: true, toFake: ["setTimeout", "clearTimeout"] });
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
});
afterEach(() => void vi.useRealTimers());

async function asked() {
  const bridge = showDemo(ASKED);
  const panel = await screen.findByRole("region", { name: "Permission requests" });
  const button = (name: string) => within(panel).getByRole("button", { name });
  return { bridge, panel, button };
}

test("a request says who asks, what exactly, why and where", async () => {
  const { panel } = await asked();
  const card = within(panel).getByRole("group", { name: /Rotate phases/ });
  expect(card.textContent).toContain("Speed up the tide table");
  expect(card.textContent).toContain("cargo bench --bench table -- --save-baseline before && rm -rf target/criterion/old");
  expect(card.textContent).toContain("No rule covers");
  expect(card.textContent).toContain("its own worktree");
});

test("the buttons arm a moment after they appear", async () => {
  const { bridge, button } = await asked();
  fireEvent.click(button("Allow once"));
  vi.advanceTimersByTime(ARM_AFTER_MS - 50);
  fireEvent.click(button("Allow once"));
  expect(bridge.sent).toEqual([]);
  vi.advanceTimersByTime(50);
  fireEvent.click(button("Allow once"));
  expect(bridge.sent).toEqual([{ type: "answer", request: "req_1", answer: { kind: "allow_once" } }]);
});

test("a click that only brings the window forward answers nothing", async () => {
  const { bridge, button } = await asked();
  vi.advanceTimersByTime(1_000);
  fireEvent(window, new Event("blur"));
  fireEvent(window, new Event("focus"));
  fireEvent.click(button("Allow once"));
  expect(bridge.sent).toEqual([]);
  vi.advanceTimersByTime(ARM_AFTER_MS);
  fireEvent.click(button("Deny"));
  expect(bridge.sent).toHaveLength(1);
});

test("where the focus is never told, a first press arms and answers nothing", async () => {
  vi.spyOn(document, "hasFocus").mockReturnValue(false);
  const { bridge, button } = await asked();
  vi.advanceTimersByTime(1_000);
  const press = () => {
    fireEvent.pointerDown(button("Allow once"));
    fireEvent.click(button("Allow once"));
  };
  press();
  expect(bridge.sent).toEqual([]);
  vi.advanceTimersByTime(ARM_AFTER_MS);
  press();
  expect(bridge.sent).toHaveLength(1);
});

test("a second click answers nothing more", async () => {
  const { bridge, button } = await asked();
  vi.advanceTimersByTime(1_000);
  const allow = button("Allow for this agent");
  fireEvent.click(allow);
  fireEvent.click(allow);
  expect(bridge.sent).toEqual([
    {
      type: "answer",
      request: "req_1",
      answer: { kind: "allow_for_agent", rules: ["Bash(cargo bench *)", "Bash(rm -rf target/criterion/old)"] },
    },
  ]);
  await waitFor(() => expect(screen.getByText("Nobody waits for you")).toBeTruthy());
});

test("what is always allowed is shown exactly and can be changed first", async () => {
  const { bridge, panel, button } = await asked();
  vi.advanceTimersByTime(1_000);
  fireEvent.click(button("Always allow …"));
  expect(bridge.sent).toEqual([]);
  const field = within(panel).getByRole("textbox", { name: /Rules to allow always/ }) as HTMLTextAreaElement;
  expect(field.value).toBe("Bash(cargo bench *)\nBash(rm -rf target/criterion/old)");
  expect(panel.textContent).toContain(".offshoot/settings.local.json");
  fireEvent.input(field, { target: { value: "  \n" } });
  fireEvent.click(button("Always allow"));
  expect(bridge.sent).toEqual([]);
  fireEvent.input(field, { target: { value: "Bash(cargo bench --bench table)\n\n" } });
  fireEvent.click(button("Always allow"));
  const answer = { kind: "allow_always", rules: ["Bash(cargo bench --bench table)"] };
  expect(bridge.sent).toEqual([{ type: "answer", request: "req_1", answer }]);
});

test("a rule that is turned down can be corrected", async () => {
  const { bridge, button } = await asked();
  vi.advanceTimersByTime(1_000);
  const command = bridge.command;
  bridge.command = () => Promise.reject({ code: "invalid", message: "`Bash(x` is no rule that can allow.", hint: "" });
  fireEvent.click(button("Always allow …"));
  fireEvent.click(button("Always allow"));
  expect(await screen.findByText(/is no rule that can allow/)).toBeTruthy();
  bridge.command = command;
  fireEvent.click(button("Always allow"));
  expect(bridge.sent).toHaveLength(1);
});

test("more than once can be for the agent and all below it", async () => {
  const { bridge, button } = await asked();
  vi.advanceTimersByTime(1_000);
  fireEvent.click(button("Allow for this subtree"));
  expect(bridge.sent).toMatchObject([{ answer: { kind: "allow_for_subtree", rules: { length: 2 } } }]);
});

test("keys answer only when the request itself has the focus", async () => {
  const { bridge, panel, button } = await asked();
  vi.advanceTimersByTime(1_000);
  const card = within(panel).getByRole("group", { name: /Rotate phases/ });
  fireEvent.keyDown(button("Deny"), { key: "a" });
  fireEvent.keyDown(document.body, { key: "a" });
  fireEvent.keyDown(card, { key: "a", ctrlKey: true });
  expect(bridge.sent).toEqual([]);
  fireEvent.keyDown(card, { key: "d" });
  expect(bridge.sent).toEqual([{ type: "answer", request: "req_1", answer: { kind: "deny" } }]);
});

test("a denial can say why", async () => {
  const { bridge, panel, button } = await asked();
  vi.advanceTimersByTime(1_000);
  fireEvent.click(button("Deny and tell why"));
  const field = within(panel).getByRole("textbox", { name: "What the agent is told" });
  fireEvent.input(field, { target: { value: "Keep the old results" } });
  fireEvent.keyDown(field, { key: "Enter", keyCode: 229 });
  expect(bridge.sent).toEqual([]);
  fireEvent.keyDown(field, { key: "Enter", keyCode: 13 });
  expect(bridge.sent).toEqual([{ type: "answer", request: "req_1", answer: { kind: "deny", reason: "Keep the old results" } }]);
});

test("a request that takes another's place has to arm again", async () => {
  const { bridge, panel } = await asked();
  const second: PermissionRequest = {
    id: "req_2",
    asker: [{ agent: "agt_fork_docs", kind: "fork", title: "Update the docs" }],
    directory: "/p",
    isolated: true,
    call: "h9",
    tool: "Bash",
    input: "{}",
    access: { kind: "command", command: "rm \u202e-rf" },
    reason: "no rule",
    suggested_rules: [],
    created_at: "2026-01-01T00:00:00Z",
  };
  bridge.inject([{ type: "permission_requested", agent: "agt_fork_docs", request: second }]);
  const card = await within(panel).findByRole("group", { name: /Update the docs/ });
  // What can't be seen is boxed, and nothing is offered that has no rule.
  expect(within(card).getByText("RLO")).toBeTruthy();
  for (const name of [/this agent/, /this subtree/, /Always/]) expect(within(card).queryByRole("button", { name })).toBeNull();
  vi.advanceTimersByTime(1_000);
  expect(card.dataset["armed"]).toBe("true");
  bridge.inject([{ type: "permission_withdrawn", agent: "agt_fork_phases", request: "req_1", reason: "agent_stopped" }]);
  await waitFor(() => expect(card.dataset["armed"]).toBe("false"));
  expect(within(panel).getByText(/Withdrawn: nothing ran/)).toBeTruthy();
});

test("the request also stands in the conversation that it belongs to", async () => {
  await asked();
  fireEvent.click(screen.getByRole("treeitem", { name: /Rotate phases/ }));
  const conversation = screen.getByRole("region", { name: "Conversation" });
  expect(await within(conversation).findByRole("button", { name: "Allow once" })).toBeTruthy();
});

test("the answers stay where they are while something is written with them", async () => {
  const { panel, button } = await asked();
  vi.advanceTimersByTime(1_000);
  const order = () => within(panel).getAllByRole("button").map((each) => each.textContent);
  const from = order().indexOf("Allow once");
  const answers = order().slice(from, from + 6);
  expect(answers).toEqual([
    "Allow once",
    "Deny",
    "Allow for this agent",
    "Deny and tell why",
    "Allow for this subtree",
    "Always allow …",
  ]);
  for (const name of ["Deny and tell why", "Always allow …"]) {
    fireEvent.click(button(name));
    expect(order().slice(from, from + 6)).toEqual(answers);
    // What is written, and the button that sends it, stand behind all of them.
    const field = within(panel).getAllByRole("textbox").at(-1) as HTMLElement;
    expect(button("Always allow …").compareDocumentPosition(field) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  }
});
