import { fireEvent, render, screen } from "@solidjs/testing-library";
import { expect, test, vi } from "vitest";
import { AppContext } from "../app/context";
import type { AppStore } from "../store";
import { Output } from "./Output";

const ESC = "\u001b";

function show(text: string, full?: string, blob?: (hash: string) => Promise<string>) {
  const app = { bridge: { blob }, report: vi.fn() } as unknown as AppStore;
  return render(() => (
    <AppContext.Provider value={app}>
      <Output text={text} {...(full === undefined ? {} : { full })} />
    </AppContext.Provider>
  )).container;
}

test("much output shows its head and tail, and the rest when it is asked for", async () => {
  const lines = Array.from({ length: 4000 }, (_, at) => `line ${at} ${"x".repeat(40)}`);
  const page = show(lines.join("\n"));
  expect(page.textContent).toContain("line 0 ");
  expect(page.textContent).toContain("line 3999 ");
  expect(page.textContent).not.toContain("line 2000 ");
  expect(page.textContent?.length).toBeLessThan(40_000);
  fireEvent.click(screen.getByRole("button", { name: /more lines/ }));
  expect(page.textContent).toContain("line 2000 ");
});

test("five megabytes on one line are no more work than one page", () => {
  const page = show("0123456789abcdef".repeat(330_000));
  expect(page.textContent?.length).toBeLessThan(40_000);
  expect(screen.getByRole("button", { name: /more characters/ })).toBeDefined();
});

test("what was cut for the model is read only when somebody wants it", async () => {
  const blob = vi.fn(async () => "the whole of it");
  const page = show("the beginning", "hash", blob);
  expect(blob).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole("button", { name: /Load the whole output/ }));
  await vi.waitFor(() => expect(page.textContent).toContain("the whole of it"));
});

test("what is copied has no escapes either", () => {
  const page = show(`${ESC}[31mred${ESC}[0m ${ESC}]8;;https://evil.example${ESC}\\link${ESC}]8;;${ESC}\\ ${ESC}]52;c;cm0gLXJmIH4=${ESC}\\end`);
  expect(page.textContent).toBe("red link end");
  // A selection may reach into text that was drawn elsewhere.
  vi.spyOn(window, "getSelection").mockReturnValue({ toString: () => `red ${ESC}]52;c;cm0=${ESC}\\end${ESC}[2J` } as Selection);
  const setData = vi.fn();
  const copy = Object.assign(new Event("copy", { bubbles: true, cancelable: true }), { clipboardData: { setData } });
  fireEvent(page.querySelector("pre") as HTMLElement, copy);
  expect(setData).toHaveBeenCalledWith("text/plain", "red end");
  expect(copy.defaultPrevented).toBe(true);
});
