import { describe, expect, test } from "vitest";
import { keepsEnd, type ScrollPlace } from "./stick";

const at = (offset: number, size = 2000, viewport = 600): ScrollPlace => ({ offset, size, viewport });
const END = at(1400);

describe("the end is kept", () => {
  test.each([
    ["a row is added below", END, at(1400, 2300)],
    ["a request appears and the box becomes smaller", END, at(1400, 2000, 500)],
    ["a request goes, and the browser moves up with what shrank", END, at(1150, 1790)],
    ["rows above turn out smaller than guessed", at(1400), at(1300, 1930)],
    ["rows above turn out larger", at(1400), at(1500, 2150)],
    ["nothing was measured before", undefined, at(0, 2000)],
  ])("while %s", (_, before, now) => {
    expect(keepsEnd(true, before, now, false)).toBe(true);
  });

  test("again, when a person comes back to it", () => {
    expect(keepsEnd(false, at(1200), at(1390), false)).toBe(true);
  });
});

describe("the end is left", () => {
  test("when a person turns the wheel up, also by a little and while text streams in", () => {
    expect(keepsEnd(true, END, at(1300), true)).toBe(false);
    expect(keepsEnd(true, END, at(1390), true)).toBe(false);
    expect(keepsEnd(true, END, at(1300, 2060), true)).toBe(false);
  });

  test("when the scroll bar is dragged, which no event tells", () => {
    expect(keepsEnd(true, END, at(700), false)).toBe(false);
  });

  test("and stays left while more is written", () => {
    expect(keepsEnd(false, at(700), at(700, 2600), false)).toBe(false);
    expect(keepsEnd(false, at(700), at(900, 2600), false)).toBe(false);
  });

  test("but not where there is nothing to scroll", () => {
    expect(keepsEnd(true, at(5, 600), at(0, 600), true)).toBe(true);
  });
});
