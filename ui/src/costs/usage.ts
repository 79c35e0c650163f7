// Adding up tokens. Pure.

import type { Usage } from "../protocol.gen";

export const NOTHING: Usage = { input: 0, cache_read: 0, cache_write: 0, output: 0 };

/** All input tokens. */
export const prompt = (usage: Usage): number => usage.input + usage.cache_read + usage.cache_write;

export function plus(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
  };
}
