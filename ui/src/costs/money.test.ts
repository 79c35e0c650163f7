import { expect, test } from "vitest";
import type { PriceList, Spending } from "../protocol.gen";
import { costOf, dollars, findPrice, hitRate, reasonInWords, shown } from "./money";

const rates = { input: 3_000_000, cache_read: 300_000, cache_write: 3_750_000, cache_write_hour: 6_000_000, output: 15_000_000 };
const list: PriceList = {
  file: "/c/prices.json",
  warnings: [],
  prices: [
    { model: "claude-sonnet-4-5", date: "2026-10-07", source: "s", rates },
    { model: "gpt-6-sol", date: "2026-10-07", source: "s", rates, longer: { beyond: "upto272k" } },
  ],
};
const spending = (model: string, more: Partial<Spending> = {}): Spending => ({
  model,
  seller: "provider",
  size: "upto100k",
  requests: 1,
  usage: { input: 1_000, cache_read: 90_000, cache_write: 2_000, output: 500 },
  ...more,
});

test("money is exact, and only where the price is known", () => {
  expect(costOf([spending("claude-sonnet-4-5")], list)).toEqual({ picodollars: 45_000_000_000, unknown: 0, free: 0 });
  expect(costOf([spending("other")], list)).toEqual({ picodollars: 0, unknown: 93_500, free: 0 });
  expect(costOf([spending("other", { seller: "this_machine" })], list).free).toBe(93_500);
  expect(costOf([spending("claude-sonnet-4-5", { seller: "this_machine" })], list).picodollars).toBe(45_000_000_000);
  expect(costOf([spending("claude-sonnet-4-5", { seller: "demo" })], list).free).toBe(93_500);
  expect(costOf([spending("gpt-6-sol", { size: "beyond272k" })], list).unknown).toBe(93_500);
  expect(costOf([spending("claude-sonnet-4-5")], undefined).unknown).toBe(93_500);
});

test("a model is found by its id, a reseller's and a dated one", () => {
  for (const id of ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4.5", "claude-sonnet-4-5-latest"]) {
    expect(findPrice(list, id)?.model, id).toBe("claude-sonnet-4-5");
  }
  expect(findPrice(list, "claude-sonnet-4-5-mini")).toBeUndefined();
});

test("amounts are rounded up and say what isn't known", () => {
  expect(dollars(1)).toBe("$0.0001");
  expect(dollars(45_000_000_000)).toBe("$0.0450");
  expect(dollars(1_234_100_000_000)).toBe("$1.235");
  expect(dollars(12_345_600_000_000)).toBe("$12.35");
  expect(shown({ picodollars: 0, unknown: 0, free: 0 })).toBe("");
  expect(shown({ picodollars: 0, unknown: 0, free: 1 })).toBe("free");
  expect(shown({ picodollars: 0, unknown: 1, free: 1 })).toBe("cost unknown");
  expect(shown({ picodollars: 1e12, unknown: 1, free: 0 })).toBe("$1.000 +");
});

test("the hit rate is never rounded up to all", () => {
  expect(hitRate({ input: 1, cache_read: 999, cache_write: 0, output: 0 })).toBe(99);
  expect(hitRate({ input: 0, cache_read: 0, cache_write: 0, output: 9 })).toBeUndefined();
  expect(reasonInWords({ kind: "prefix_changed", message: 0 })).toContain("message 1");
});
