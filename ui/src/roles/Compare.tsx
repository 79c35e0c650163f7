// Two role files line by line.

import { For, Match, Show, Switch, createResource, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { asRejected } from "../bridge";
import { Dialog } from "../parts/Dialog";
import { Lines } from "./FilePreview";
import { Select } from "./Select";
import { SOURCE_WORD, cardName } from "./studio";
import s from "./Compare.module.css";

export function Compare(): JSX.Element {
  const app = useApp();
  const { studio } = app;
  const [found] = createResource(studio.compared, async ([left, right]) => {
    const project = app.project() ?? "";
    const [a, b] = await Promise.all([app.bridge.roleFile(project, left), app.bridge.roleFile(project, right)]);
    const preview = await app.bridge.rolePreview(project, a.text ?? "", { type: "text", text: b.text ?? "" });
    return preview.lines;
  });
  const choose = (side: 0 | 1, path: string) => {
    const now = studio.compared();
    if (now) studio.compare(side === 0 ? [path, now[1]] : [now[0], path]);
  };
  const lines = () => (found.state === "ready" || found.state === "refreshing" ? (found.latest ?? []) : []);
  return (
    <Dialog open={studio.compared() !== undefined} onClose={() => studio.compare(undefined)} title="Compare roles" wide>
      <div class={s.compare}>
        <div class={s.sides}>
          <For each={[0, 1] as const}>
            {(side) => (
              <Select label={side === 0 ? "From" : "To"} value={studio.compared()?.[side] ?? ""} onChange={(value) => choose(side, value)}>
                <For each={studio.board.cards}>
                  {(card) => (
                    <option value={card.path}>
                      {cardName(card)} ({SOURCE_WORD[card.source]})
                    </option>
                  )}
                </For>
              </Select>
            )}
          </For>
        </div>
        <Switch>
          <Match when={found.error as unknown}>{(error) => <p class={s.note}>{asRejected(error()).message}</p>}</Match>
          <Match when={found.state === "ready" && lines().every((line) => line.kind === "context")}>
            <p class={s.note}>They are the same, line by line.</p>
          </Match>
        </Switch>
        <Show when={lines().length > 0}>
          <div class={s.lines}>
            <Lines lines={lines()} warnings={[]} label="Differences" />
          </div>
        </Show>
      </div>
    </Dialog>
  );
}
