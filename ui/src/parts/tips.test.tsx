import { fireEvent, render } from "@solidjs/testing-library";
import { expect, test, vi } from "vitest";
import { Tips } from "./Tips";

const shown = () => document.querySelector("[data-tip]")?.textContent ?? undefined;
const over = (element: Element) => fireEvent(element, new PointerEvent("pointerover", { bubbles: true, pointerType: "mouse" }));

test("what an element says is drawn by the window, once, and given back", () => {
  vi.useFakeTimers();
  const page = render(() => (
    <>
      <button title="Stops the agent">
        Stop <em title="Only this one">it</em>
      </button>
      <p>text</p>
      <Tips />
    </>
  ));
  const button = page.getByRole("button");
  over(button);
  expect(shown(), "not while the pointer passes").toBeUndefined();
  vi.advanceTimersByTime(600);
  expect(shown()).toBe("Stops the agent");
  expect(button.getAttribute("title"), "the toolkit has nothing to draw").toBeNull();

  over(page.getByText("it"));
  vi.advanceTimersByTime(100);
  expect(shown(), "the next one comes at once").toBe("Only this one");
  expect(button.getAttribute("title")).toBe("Stops the agent");

  over(page.getByText("text"));
  expect(shown()).toBeUndefined();
  expect(page.getByText("it").getAttribute("title")).toBe("Only this one");

  over(button);
  fireEvent(button, new PointerEvent("pointerdown", { bubbles: true }));
  vi.advanceTimersByTime(1000);
  expect(shown(), "a click goes on with the work").toBeUndefined();
  vi.useRealTimers();
});
