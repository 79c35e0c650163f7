// What the selected agent and all below it used up: tokens, money, hit rate, and which requests missed the cache.

import { For, Show, createMemo, type JSX } from "solid-js";
import { titleOf } from "../agents/state";
import { useApp } from "../app/context";
import { Icon } from "../parts/Icon";
import { amount, plural } from "../parts/time";
import type { AgentView, Spending } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { Timeline } from "./Timeline";
import { costOf, findPrice, hitRate, ratesFor, reasonInWords, shown, sumOf, within, type Sum } from "./money";
import { NOTHING, plus } from "./usage";
import s from "./Costs.module.css";

export function Costs(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  const app = useApp();
  const family = createMemo(() => within(props.session.state, props.agent.id));
  const own = createMemo(() => sumOf([props.agent], app.prices()));
  const all = createMemo(() => sumOf(family(), app.prices()));
  const misses = createMemo(() => family().flatMap((agent) => agent.misses.map((view) => ({ agent, view }))));
  const parts = createMemo(() => byModel(family()));
  const ranked = createMemo(() => {
    const sums = family().map((agent) => ({ agent, sum: sumOf([agent], app.prices()) }));
    return sums.sort((a, b) => b.sum.cost.picodollars - a.sum.cost.picodollars || tokensOf(b.sum) - tokensOf(a.sum)).slice(0, 12);
  });
  const most = () => Math.max(1, ...ranked().map(({ sum }) => sum.cost.picodollars || tokensOf(sum)));

  return (
    <div class={s.costs}>
      <div class={s.totals}>
        <Total label={family().length > 1 ? "This agent" : "Used"} sum={own()} />
        <Show when={family().length > 1}>
          <Total label={`With the ${plural(family().length - 1, "agent")} below it`} sum={all()} />
        </Show>
      </div>

      <Timeline session={props.session} agent={props.agent} />

      <Show when={family().length > 1}>
        <h3 class={s.heading}>By agent</h3>
        <ul class={s.agents}>
          <For each={ranked()}>
            {({ agent, sum }) => (
              <li>
                <button type="button" class={s.agent} aria-current={agent.id === props.agent.id} onClick={() => app.select(agent.id)}>
                  <span class={s.share} style={{ width: `${((sum.cost.picodollars || tokensOf(sum)) / most()) * 100}%` }} />
                  <span class={s.name} title={titleOf(props.session.state, agent)}>{titleOf(props.session.state, agent)}</span>
                  <span class={s.figure}>{hitRate(sum.usage) ?? 0} %</span>
                  <span class={s.figure}>{amount(tokensOf(sum))}</span>
                  <span class={s.money}>{shown(sum.cost)}</span>
                </button>
              </li>
            )}
          </For>
        </ul>
      </Show>

      <h3 class={s.heading}>Missed the cache</h3>
      <Show when={misses().length > 0} fallback={<p class={s.none}>Every request read what earlier ones had written.</p>}>
        <ul class={s.misses}>
          <For each={misses()}>
            {({ agent, view }) => (
              <li class={s.miss}>
                <Icon name="alert" size={13} />
                <span>
                  <strong>{reasonInWords(view.miss.reason)}</strong>
                  <span class={s.where}>
                    {amount(view.miss.tokens)} tokens paid again · request {view.step} of{" "}
                    <button type="button" class={s.link} onClick={() => app.select(agent.id)}>
                      {titleOf(props.session.state, agent)}
                    </button>
                  </span>
                </span>
              </li>
            )}
          </For>
        </ul>
      </Show>

      <Show when={parts().length > 0}>
        <h3 class={s.heading}>By model</h3>
        <table class={s.table}>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Input</th>
              <th scope="col">Read</th>
              <th scope="col">Written</th>
              <th scope="col">Output</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            <For each={parts()}>
              {(part) => (
                <tr>
                  <th scope="row" title={priceInWords(part)}>
                    {part.model}
                  </th>
                  <td>{amount(part.usage.input)}</td>
                  <td>{amount(part.usage.cache_read)}</td>
                  <td>{amount(part.usage.cache_write)}</td>
                  <td>{amount(part.usage.output)}</td>
                  <td>{shown(costOf([part], app.prices()))}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </Show>

      <For each={app.prices()?.warnings ?? []}>{(warning) => <p class={s.warning}>{warning}</p>}</For>
      <Show when={app.prices()}>
        {(list) => (
          <p class={s.source}>
            List prices, without discounts and taxes. To correct one or to add a model, write it into <code>{list().file}</code>.
          </p>
        )}
      </Show>
    </div>
  );

  function priceInWords(part: Spending): string {
    if (part.seller === "demo") return "The demo costs nothing.";
    const price = findPrice(app.prices(), part.model);
    const rates = price && ratesFor(price, part.size);
    if (!price && part.seller === "this_machine") return "It runs on this machine.";
    if (!price) return "There is no price for this model.";
    if (!rates) return `The price of prompts this long isn't listed (${price.date}, ${price.source}).`;
    const perMillion = (rate: number) => `$${rate / 1e6}`;
    return [
      `For a million tokens: input ${perMillion(rates.input)}, read ${perMillion(rates.cache_read)}, written ${perMillion(rates.cache_write)}, output ${perMillion(rates.output)}`,
      [price.date, price.source].filter(Boolean).join(", "),
    ].join("\n");
  }
}

const tokensOf = (sum: Sum) => sum.usage.input + sum.usage.cache_read + sum.usage.cache_write + sum.usage.output;

/** The parts of all agents, those of one price together. */
function byModel(agents: readonly AgentView[]): Spending[] {
  const parts = new Map<string, Spending>();
  for (const part of agents.flatMap((agent) => agent.spending)) {
    const key = `${part.model} ${part.seller} ${part.size}`;
    const known = parts.get(key) ?? { ...part, requests: 0, usage: NOTHING };
    parts.set(key, { ...known, requests: known.requests + part.requests, usage: plus(known.usage, part.usage) });
  }
  return [...parts.values()];
}

function Total(props: { label: string; sum: Sum }): JSX.Element {
  return (
    <dl class={s.total}>
      <dt>{props.label}</dt>
      <dd class={s.big}>{shown(props.sum.cost) || "nothing yet"}</dd>
      <dd>
        {amount(tokensOf(props.sum))} tokens · {plural(props.sum.requests, "request")}
      </dd>
      <dd>
        <Show when={hitRate(props.sum.usage)} fallback="No input yet">
          {(rate) => <>{rate()} % of the input read from the cache</>}
        </Show>
      </dd>
    </dl>
  );
}
