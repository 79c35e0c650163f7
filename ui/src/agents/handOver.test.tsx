import { fireEvent, screen, waitFor, within } from "@solidjs/testing-library";
import { expect, test } from "vitest";
import { ROOT, created, showDemo } from "../testing";

/** The demo's root with two foreground children at work, and its tasks in sight. */
async function showTwo() {
  localStorage.clear();
  const bridge = showDemo(10_000);
  await screen.findByRole("tree");
  for (const id of ["one", "two"]) {
    bridge.inject([
      created("subagent", `Survey ${id}`, { agent: id, parent: ROOT } as object),
      { type: "turn_started", agent: id },
    ]);
  }
  fireEvent.click(screen.getByRole("treeitem", { name: /^Root/ }));
  fireEvent.click(screen.getByRole("tab", { name: /Tasks/ }));
  const inspector = screen.getByRole("region", { name: "Inspector" });
  await within(inspector).findByRole("button", { name: "Send to background: Survey one" });
  return { bridge, inspector };
}

test("an agent that is waited for is sent to the background with one press", async () => {
  const { bridge, inspector } = await showTwo();
  const button = within(inspector).getByRole("button", { name: "Send to background: Survey one" });
  fireEvent.click(button);
  expect(bridge.sent).toEqual([{ type: "send_to_background", agent: "one" }]);
  // It goes on; nobody waits for it any more, so that nothing is offered.
  await waitFor(() => expect(within(inspector).queryByRole("button", { name: "Send to background: Survey one" })).toBeNull());
  expect(screen.getByRole("treeitem", { name: /Survey one.*Running/ })).toBeTruthy();
});

test("all of them together, too", async () => {
  const { bridge, inspector } = await showTwo();
  const count = within(inspector).getAllByRole("button", { name: /^Send to background: / }).length;
  fireEvent.click(within(inspector).getByRole("button", { name: `Send all ${count} to background` }));
  await waitFor(() => expect(within(inspector).queryByRole("button", { name: /to background/ })).toBeNull());
  expect(bridge.sent).toHaveLength(count);
});
