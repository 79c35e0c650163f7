import { expect, test } from "vitest";
import { readSummary } from "./SummaryRow";

test("a summary's words stand apart from what the program wrote around them", () => {
  const text = '<conversation-summary messages="42">\nThe conversation before this was summarised.\n\nWe **counted**.\n\nTo two.\n</conversation-summary>';
  expect(readSummary(text)).toEqual({ messages: 42, summary: "We **counted**.\n\nTo two." });
  expect(readSummary("odd")).toEqual({ messages: 0, summary: "odd" });
});
