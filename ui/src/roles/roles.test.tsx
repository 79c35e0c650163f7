import { cleanup, fireEvent, screen, waitFor, within } from "@solidjs/testing-library";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RecordedBridge } from "../bridge.recorded";
import { showDemo } from "../testing";

beforeEach(() => localStorage.clear());
afterEach(cleanup);

async function openRoles(): Promise<RecordedBridge> {
  const bridge = showDemo(1e9);
  await screen.findByRole("textbox", { name: "Message" });
  fireEvent.keyDown(document, { key: "k", ctrlKey: true });
  const search = await screen.findByRole("combobox");
  fireEvent.input(search, { target: { value: "Roles" } });
  fireEvent.keyDown(search, { key: "Enter" });
  await within(await screen.findByRole("region", { name: "Roles" })).findByRole("button", { name: "reviewer" });
  return bridge;
}
const column = (name: string) => screen.getByRole("region", { name });
const card = (name: string, place: string) => within(column(place)).getByRole("button", { name });
const told = () => screen.getAllByRole("status").map((status) => status.textContent).join(" ");

async function openRole(name: string, place: string): Promise<void> {
  fireEvent.click(card(name, place));
  await screen.findByRole("region", { name: "File preview" });
  await waitFor(() => expect(fileText()).not.toBe(""));
}
const fileText = () =>
  [...within(screen.getByRole("region", { name: "File preview" })).getByRole("group", { name: "Lines" }).querySelectorAll("[data-kind]:not([data-kind=removed]) code")]
    .map((line) => line.textContent)
    .join("\n");
const chip = (bin: string, name: string) => within(screen.getByRole("group", { name: bin })).getByRole("button", { name });

describe("the board", () => {
  it("shows every file with its problems, and who hides whom", async () => {
    await openRoles();
    expect(within(column("Project")).getByText(/`description` is missing/)).toBeTruthy();
    expect(within(column("User")).getByText(/there is no front matter/)).toBeTruthy();
    const hidden = within(column("Built-in")).getByRole("article", { name: "explore" });
    expect(hidden.dataset["shadowed"]).toBe("true");
    expect(within(hidden).getByText("Overridden by Project")).toBeTruthy();
  });

  it("copies a card by keys, tells it, and takes it back", async () => {
    const bridge = await openRoles();
    const verify = card("verify", "Built-in");
    verify.focus();
    fireEvent.keyDown(verify, { key: " " });
    expect(told()).toMatch(/verify taken\. Target Copy to Project/);
    fireEvent.keyDown(verify, { key: "ArrowRight" });
    fireEvent.keyDown(verify, { key: " " });
    await waitFor(() => expect(card("verify", "User")).toBeTruthy());
    expect(told()).toMatch(/Copied “verify” to User/);
    fireEvent.click(screen.getByRole("button", { name: "Undo" }));
    await waitFor(() => expect(within(column("User")).queryByRole("button", { name: "verify" })).toBeNull());
    expect(bridge.sent).toEqual([]);
  });

  it("asks for a brief before it starts a dropped role", async () => {
    await openRoles();
    const plan = card("plan", "Built-in");
    plan.focus();
    fireEvent.keyDown(plan, { key: " " });
    fireEvent.keyDown(plan, { key: "ArrowLeft" });
    fireEvent.keyDown(plan, { key: "ArrowLeft" });
    expect(told()).toMatch(/Message: start a subagent/);
    fireEvent.keyDown(plan, { key: " " });
    const brief = await screen.findByRole("textbox", { name: "Brief" });
    const start = screen.getByRole<HTMLButtonElement>("button", { name: "Start" });
    expect(start.disabled).toBe(true);
    fireEvent.input(brief, { target: { value: "Look around" } });
    // An input method's Enter is none.
    fireEvent.keyDown(brief, { key: "Enter", keyCode: 229 });
    expect(screen.queryByRole("textbox", { name: "Brief" })).toBeTruthy();
    fireEvent.keyDown(brief, { key: "Enter" });
    // The recording can't start agents; what matters is that it was asked to, once.
    await waitFor(() => expect(screen.getByText("A recording can't start agents.")).toBeTruthy());
  });
});

describe("the editor", () => {
  it("moves tools by keys and shows the file with the change marked", async () => {
    await openRoles();
    await openRole("reviewer", "Project");
    const todo = chip("Tools", "TodoWrite");
    todo.focus();
    fireEvent.keyDown(todo, { key: " " });
    fireEvent.keyDown(todo, { key: "ArrowLeft" });
    expect(told()).toMatch(/Denied\./);
    fireEvent.keyDown(todo, { key: " " });
    await waitFor(() => expect(fileText()).toContain("disallowed_tools: [Write, Edit, TodoWrite]"));
    await waitFor(() => expect(document.activeElement).toBe(chip("Denied", "TodoWrite")));
    const file = screen.getByRole("region", { name: "File preview" });
    expect(within(file).getByText("2 lines will change")).toBeTruthy();
    expect(file.querySelectorAll("[data-kind=added]")).toHaveLength(1);
    fireEvent.keyDown(document, { key: "z", ctrlKey: true });
    await waitFor(() => expect(fileText()).not.toContain("TodoWrite"));
    fireEvent.keyDown(document, { key: "Z", ctrlKey: true, shiftKey: true });
    await waitFor(() => expect(fileText()).toContain("TodoWrite"));
  });

  it("asks which calls run unasked, and writes the rule", async () => {
    await openRoles();
    await openRole("reviewer", "Project");
    const bash = chip("Tools", "Bash");
    bash.focus();
    fireEvent.keyDown(bash, { key: " " });
    fireEvent.keyDown(bash, { key: "Enter" });
    const rule = await screen.findByRole("textbox", { name: "Rule for Bash" });
    fireEvent.input(rule, { target: { value: "npm test *" } });
    await waitFor(() => expect(screen.getByText("npm test && rm -r build")).toBeTruthy());
    fireEvent.keyDown(rule, { key: "Enter" });
    await waitFor(() => expect(fileText()).toContain("Bash(npm test *)"));
  });

  it("saves what it shows, and says where it was not saved", async () => {
    await openRoles();
    await openRole("reviewer", "Project");
    fireEvent.input(screen.getByRole("textbox", { name: "Description" }), { target: { value: "Another one." } });
    await waitFor(() => expect(fileText()).toContain("description: Another one."));
    fireEvent.click(screen.getByRole("button", { name: "Back to the roles" }));
    await screen.findByText("This role has changes that are not saved.");
    fireEvent.click(screen.getByRole("button", { name: "Keep editing" }));
    fireEvent.keyDown(document, { key: "s", ctrlKey: true });
    await waitFor(() => expect(screen.getByText("as on disk")).toBeTruthy());
    fireEvent.click(screen.getByRole("button", { name: "Back to the roles" }));
    await waitFor(() => expect(within(column("Project")).getByText("Another one.")).toBeTruthy());
  });

  it("locks what can't be changed and offers an override", async () => {
    await openRoles();
    await openRole("plan", "Built-in");
    expect(screen.getByText(/comes with Offshoot/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Copy to Project" }));
    await waitFor(() => expect(card("plan", "Project")).toBeTruthy());
  });
});

describe("history", () => {
  it("says who had the role, with turns, cost and failures", async () => {
    await openRoles();
    await openRole("reviewer", "Project");
    fireEvent.click(screen.getByRole("button", { name: "History" }));
    expect(await screen.findByText("2 runs, 1 failed, 9 turns, 28.8k tokens, $0.0396")).toBeTruthy();
    expect(screen.getByRole("button", { name: /Review of step 2.*Failed/ })).toBeTruthy();
  });
});

describe("comparing", () => {
  it("shows an override beside what it hides", async () => {
    await openRoles();
    fireEvent.click(within(column("Project")).getByRole("button", { name: "Actions for explore" }));
    fireEvent.keyDown(await screen.findByRole("menuitem", { name: /Compare/ }), { key: "Enter" });
    const differences = await screen.findByRole("group", { name: "Differences" });
    expect(differences.querySelector("[data-kind=added]")?.textContent).toContain("Our own way");
    expect(differences.querySelector("[data-kind=removed]")).toBeTruthy();
  });
});
