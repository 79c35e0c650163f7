// What the setup of an agent's worktree came to: a line for each command, its output behind it.

import { For, Show, type JSX } from "solid-js";
import { Output } from "../parts/Output";
import { Unseen } from "../parts/Unseen";
import type { SetupRan } from "../protocol.gen";
import { endOf } from "./words";
import s from "./Making.module.css";

export function SetupList(props: { setup: SetupRan[] }): JSX.Element {
  return (
    <ul aria-label="Setup of the worktree">
      <For each={props.setup}>
        {(ran) => (
          <li class={s.ran} data-failed={endOf(ran) !== ""}>
            <details open={endOf(ran) !== ""}>
              <summary title={ran.confinement}>
                <code>
                  <Unseen text={ran.command} />
                </code>{" "}
                <Show when={endOf(ran)}>{endOf(ran)}, </Show>
                <span class="num">{ran.duration_ms.toLocaleString()} ms</span>
              </summary>
              <Output text={ran.output} failed={endOf(ran) !== ""} />
            </details>
          </li>
        )}
      </For>
    </ul>
  );
}
