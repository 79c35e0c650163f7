// Which agents had this role, and how they did.

import { For, Match, Show, Switch, createResource, type JSX } from "solid-js";
import { faceOfState } from "../agents/state";
import { useApp } from "../app/context";
import { asRejected } from "../bridge";
import { costOf, shown } from "../costs/money";
import { Dialog } from "../parts/Dialog";
import { ago, amount, plural } from "../parts/time";
import type { RoleUse } from "../protocol.gen";
import s from "./History.module.css";

const tokensOf = (use: RoleUse) => use.usage.input + use.usage.cache_read + use.usage.cache_write + use.usage.output;
const isFailure = (use: RoleUse) => use.state.kind === "failed" || use.state.kind === "idle_after_failure";

export function History(props: { role: string | undefined; onClose: () => void }): JSX.Element {
  const app = useApp();
  const { studio } = app;
  const [found] = createResource(
    () => props.role,
    (role) => app.bridge.roleUses(app.project() ?? "", role),
  );
  const uses = () => (found.state === "ready" ? found() : []);
  const sum = () => {
    const list = uses();
    const failed = list.filter(isFailure).length;
    const steps = list.reduce((total, use) => total + use.steps, 0);
    const money = shown(costOf(list.flatMap((use) => use.spending), app.prices()));
    const tokens = list.reduce((total, use) => total + tokensOf(use), 0);
    return `${plural(list.length, "run")}, ${failed === 0 ? "none failed" : `${failed.toLocaleString()} failed`}, ${plural(steps, "turn")}, ${amount(tokens)} tokens${money === "" ? "" : `, ${money}`}`;
  };
  const show = (use: RoleUse) => {
    props.onClose();
    studio.leave(() => {
      studio.setOpen(false);
      void app.openSession(use.session).then(() => app.session()?.id === use.session && app.select(use.agent));
    });
  };
  return (
    <Dialog open={props.role !== undefined} onClose={() => props.onClose()} title={`Who had the role ${props.role ?? ""}`} wide>
      <div class={s.history}>
        <Switch>
          <Match when={found.error as unknown}>{(error) => <p class={s.note}>{asRejected(error()).message}</p>}</Match>
          <Match when={found.state !== "ready"}>
            <p class={s.note}>Looking through the sessions…</p>
          </Match>
          <Match when={uses().length === 0}>
            <p class={s.note}>No agent of this project's recent sessions had it.</p>
          </Match>
        </Switch>
        <Show when={uses().length > 0}>
          <p class={s.sum}>{sum()}</p>
          <ul class={s.list}>
            <For each={uses()}>
              {(use) => (
                <li>
                  <button type="button" class={s.use} onClick={() => show(use)}>
                    <span class={s.title}>
                      <strong title={use.title}>{use.title}</strong>
                      <span title={use.session_title}>{use.session_title}</span>
                    </span>
                    <span class={s.state} data-tone={faceOfState(use.state).tone}>
                      {faceOfState(use.state).word}
                    </span>
                    <span class={s.figure}>{plural(use.steps, "turn")}</span>
                    <span class={s.figure}>{amount(tokensOf(use))} tokens</span>
                    <span class={s.figure}>{shown(costOf(use.spending, app.prices()))}</span>
                    <span class={s.figure}>{ago(use.created_at, Date.now())}</span>
                  </button>
                </li>
              )}
            </For>
          </ul>
        </Show>
      </div>
    </Dialog>
  );
}
