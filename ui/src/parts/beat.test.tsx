import { render } from "@solidjs/testing-library";
import { expect, test, vi } from "vitest";
import { Spinner } from "../agents/StateMark";
import { useNow } from "./time";

function Time() {
  const now = useNow();
  return <p>{now()}</p>;
}

test("spinners and running times move together, and nothing ticks once the last is gone", () => {
  vi.useFakeTimers();
  const page = render(() => (
    <>
      <Spinner />
      <Spinner />
      <Time />
    </>
  ));
  const angles = () => [...page.container.querySelectorAll("span")].map((spinner) => spinner.style.transform);
  const before = angles();
  vi.advanceTimersByTime(500);
  expect(angles()).not.toEqual(before);
  expect(new Set(angles()).size).toBe(1);
  expect(vi.getTimerCount()).toBe(1);
  page.unmount();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});
