// From tokens to money, as the core's `price` does it: in whole picodollars, never from an unknown price. Pure.

import type { AgentId, AgentView, MissReason, Price, PriceList, PromptSize, Rates, Spending, Usage } from "../protocol.gen";
import type { SessionState } from "../session/fold";
import { NOTHING, plus, prompt } from "./usage";

export interface Cost {
  /** As far as prices are known. A dollar is 10¹² of them; exact up to 9 000 dollars. */
  picodollars: number;
  /** Tokens whose price isn't known. */
  unknown: number;
  /** Tokens of the demo and of servers on this machine. */
  free: number;
}

const SIZES: readonly PromptSize[] = ["upto100k", "upto200k", "upto272k", "beyond272k"];

export function costOf(spending: readonly Spending[], list: PriceList | undefined): Cost {
  const sum: Cost = { picodollars: 0, unknown: 0, free: 0 };
  for (const part of spending) {
    const tokens = prompt(part.usage) + part.usage.output;
    const price = findPrice(list, part.model);
    const rates = price && ratesFor(price, part.size);
    if (part.seller === "demo" || (part.seller === "this_machine" && !price)) sum.free += tokens;
    else if (rates) sum.picodollars += money(part.usage, rates);
    else sum.unknown += tokens;
  }
  return sum;
}

export function ratesFor(price: Price, size: PromptSize): Rates | undefined {
  const { longer } = price;
  return longer && SIZES.indexOf(size) > SIZES.indexOf(longer.beyond) ? longer.rates : price.rates;
}

function money(usage: Usage, rates: Rates): number {
  return usage.input * rates.input + usage.cache_read * rates.cache_read + usage.cache_write * rates.cache_write + usage.output * rates.output;
}

/** Of the model's id, of its id without a reseller's name before it, or without a date behind it. */
export function findPrice(list: PriceList | undefined, model: string): Price | undefined {
  const named = (id: string) => list?.prices.find((price) => normal(price.model) === normal(id));
  const bare = model.slice(model.lastIndexOf("/") + 1);
  return named(model) ?? named(bare) ?? named(bare.replace(/-(latest|\d{8}|\d{4}-\d\d-\d\d)$/, ""));
}

const normal = (id: string) => id.toLowerCase().replaceAll(".", "-");

/** `$0.0123`, `free`, `cost unknown`, `$0.0123 +`: with a part that isn't known. Empty where nothing was used. */
export function shown(cost: Cost): string {
  if (cost.picodollars > 0) return `${dollars(cost.picodollars)}${cost.unknown > 0 ? " +" : ""}`;
  if (cost.unknown > 0) return "cost unknown";
  return cost.free > 0 ? "free" : "";
}

/** Rounded up, so that something is never shown as nothing. */
export function dollars(picodollars: number): string {
  const digits = picodollars >= 10e12 ? 2 : picodollars >= 1e12 ? 3 : 4;
  const step = 10 ** digits;
  return `$${(Math.ceil((picodollars / 1e12) * step - 1e-9) / step).toFixed(digits)}`;
}

/** In percent; nothing where there was no input. */
export function hitRate(usage: Usage): number | undefined {
  const all = prompt(usage);
  return all === 0 ? undefined : Math.floor((usage.cache_read / all) * 100);
}

/** The agent and all below it. */
export function within(state: SessionState, top: AgentId): AgentView[] {
  const found = new Set<AgentId>([top]);
  for (const id of state.order) {
    const parent = state.agents[id]?.parent;
    if (parent !== undefined && found.has(parent)) found.add(id);
  }
  return state.order.flatMap((id) => (found.has(id) && state.agents[id] ? [state.agents[id]] : []));
}

export interface Sum {
  usage: Usage;
  cost: Cost;
  requests: number;
  misses: number;
}

export function sumOf(agents: readonly AgentView[], list: PriceList | undefined): Sum {
  const sum: Sum = { usage: NOTHING, cost: { picodollars: 0, unknown: 0, free: 0 }, requests: 0, misses: 0 };
  for (const agent of agents) {
    const cost = costOf(agent.spending, list);
    sum.usage = plus(sum.usage, agent.usage);
    sum.cost = {
      picodollars: sum.cost.picodollars + cost.picodollars,
      unknown: sum.cost.unknown + cost.unknown,
      free: sum.cost.free + cost.free,
    };
    sum.requests += agent.steps;
    sum.misses += agent.misses.length;
  }
  return sum;
}

/** What a figure's tooltip says. */
export function inWords(sum: Sum): string {
  const { usage } = sum;
  const rate = hitRate(usage);
  const count = (tokens: number) => tokens.toLocaleString();
  return [
    `${count(usage.cache_read)} tokens read from the cache${rate === undefined ? "" : ` (${rate} %)`}`,
    `${count(usage.cache_write)} written to it`,
    `${count(usage.input)} other input`,
    `${count(usage.output)} output`,
    ...(shown(sum.cost) ? [shown(sum.cost)] : []),
    ...(sum.misses > 0 ? [`${sum.misses} ${sum.misses === 1 ? "request" : "requests"} missed the cache`] : []),
  ].join("\n");
}

export function reasonInWords(reason: MissReason): string {
  switch (reason.kind) {
    case "head_changed":
      return "Model, tools or system prompt changed";
    case "compacted":
      return "The conversation was compacted";
    case "prefix_changed":
      return `The conversation changed at message ${reason.message + 1}`;
    case "expired":
      return `The entry expired: unused for ${Math.round(reason.unused_s / 60)} min`;
    case "too_small":
      return `Shorter than the ${reason.minimum.toLocaleString()} tokens that the provider caches`;
    case "too_early":
      return "The entry was still being written";
    case "not_kept":
      return "The provider did not keep it";
  }
}
