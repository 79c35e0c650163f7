import { fireEvent, screen, waitFor, within } from "@solidjs/testing-library";
import { expect, test } from "vitest";
import { ROOT, showDemo } from "../testing";

/** Opens the actions of the first message that is shown, by keyboard. */
async function openActions(): Promise<HTMLElement> {
  const [trigger] = await screen.findAllByRole("button", { name: "Message actions" });
  trigger?.focus();
  fireEvent.keyDown(trigger ?? document.body, { key: "Enter" });
  return screen.findByRole("menu");
}

test("an earlier message is where a fork begins", async () => {
  localStorage.clear();
  const bridge = showDemo(7_600);
  const message = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
  const menu = await openActions();
  fireEvent.keyDown(within(menu).getByRole("menuitem", { name: /Fork from here/ }), { key: "Enter" });
  const chip = await screen.findByText(/Fork that inherits the first/);
  const messages = Number(/first (\d+) message/.exec(chip.textContent ?? "")?.[1]);
  expect(messages).toBeGreaterThan(0);
  fireEvent.input(message, { target: { value: "try another way" } });
  fireEvent.keyDown(message, { key: "Enter", keyCode: 13 });
  await waitFor(() => expect(bridge.sent).toHaveLength(1));
  expect(bridge.sent[0]).toMatchObject({ type: "fork", agent: ROOT, directive: "try another way", messages });
});

test("a child's messages offer no fork, which it couldn't have", async () => {
  localStorage.clear();
  showDemo(10_000);
  const [fork] = await screen.findAllByRole("treeitem", { name: /^Fork: / });
  if (fork) fireEvent.click(fork);
  await screen.findByText(/You are looking at a fork/);
  const menu = await openActions();
  expect(within(menu).queryByRole("menuitem", { name: /Fork from here/ })).toBeNull();
  expect(within(menu).getByRole("menuitem", { name: "Copy as Markdown" })).toBeTruthy();
});
