// Prices for recordings.

import type { PriceList } from "../protocol.gen";

export const recordedPrices: PriceList = {
  file: "/home/user/.config/offshoot/prices.json",
  warnings: [],
  prices: [
    {
      model: "claude-sonnet-4-5",
      date: "2026-10-07",
      source: "platform.claude.com/docs/en/about-claude/pricing",
      rates: { input: 3_000_000, cache_read: 300_000, cache_write: 3_750_000, cache_write_hour: 6_000_000, output: 15_000_000 },
    },
  ],
};
