// The conflict radar: every fork against every other and against the checkout, before anyone merges.

import { For, Show, createMemo, createSignal, type JSX } from "solid-js";
import { hue, titleOf } from "../agents/state";
import { useApp } from "../app/context";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { plural } from "../parts/time";
import type { AgentId, Clash } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { comingHome, useRadar } from "./radar";
import s from "./Radar.module.css";

/** The checkout's place in the matrix. */
const HOME = "";

export function RadarView(props: { session: SessionStore }): JSX.Element {
  const app = useApp();
  const radar = useRadar();
  const [open, setOpen] = createSignal<Clash>();
  const ids = createMemo(() => comingHome(props.session.state));
  const title = (id: AgentId) => {
    const agent = props.session.state.agents[id];
    return id === HOME ? "Your checkout" : agent ? titleOf(props.session.state, agent) : id;
  };
  const between = (a: AgentId, b: AgentId) =>
    radar.clashes().find((clash) => {
      const other = clash.other ?? HOME;
      return (clash.agent === a && other === b) || (clash.agent === b && other === a);
    });
  const columns = () => [HOME, ...ids()];
  return (
    <Show when={ids().length > 1 || radar.clashes().length > 0}>
      <section class={s.radar} aria-label="Conflict radar">
        <header>
          <h3>Conflict radar</h3>
          <span class={s.state} role="status">
            {radar.clashes().length === 0 ? "Everything goes together" : `${plural(radar.clashes().length, "pair")} in conflict`}
          </span>
        </header>
        <div class={s.scroll}>
          <table>
            <thead>
              <tr>
                <td />
                <For each={columns()}>
                  {(id, at) => (
                    <th scope="col" title={title(id)}>
                      <Show when={id !== HOME} fallback={<Icon name="folder" size={13} />}>
                        {at()}
                      </Show>
                      <span class="sr-only">{title(id)}</span>
                    </th>
                  )}
                </For>
              </tr>
            </thead>
            <tbody>
              <For each={ids()}>
                {(row, at) => (
                  <tr>
                    <th scope="row">
                      <span class={s.number}>{at() + 1}</span>
                      <span style={{ color: hue(props.session.state.agents[row]?.color) }}>
                        <Icon name={props.session.state.agents[row]?.kind ?? "fork"} size={13} />
                      </span>
                      <button type="button" class={s.name} onClick={() => app.select(row)}>
                        {title(row)}
                      </button>
                    </th>
                    <For each={columns()}>
                      {(column) => (
                        <td>
                          <Show when={column !== row} fallback={<span class={s.self}>·</span>}>
                            <Show when={between(row, column)} fallback={<span class={s.fine} title={`${title(row)} and ${title(column)} go together`}>✓</span>}>
                              {(clash) => (
                                <button
                                  type="button"
                                  class={s.clash}
                                  aria-pressed={open() === clash()}
                                  aria-label={`${title(row)} and ${title(column)} conflict in ${plural(clash().files.length, "file")}`}
                                  title={clash().files.join("\n")}
                                  onClick={() => setOpen((before) => (before === clash() ? undefined : clash()))}
                                >
                                  {clash().files.length}
                                </button>
                              )}
                            </Show>
                          </Show>
                        </td>
                      )}
                    </For>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
        <Show when={open()}>
          {(clash) => (
            <div class={s.files}>
              <For each={clash().files}>{(file) => <code>{file}</code>}</For>
              <Button small onClick={() => app.askMerge([clash().agent, ...(clash().other === undefined ? [] : [clash().other ?? ""])])}>
                Look at the merge…
              </Button>
            </div>
          )}
        </Show>
        <Show when={ids().length > 1}>
          <footer>
            <Button small onClick={() => app.askCompare(ids().slice(0, 4))}>
              Compare forks…
            </Button>
          </footer>
        </Show>
      </section>
    </Show>
  );
}
