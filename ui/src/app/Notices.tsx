// Wishes that were rejected: what happened and what to do, until dismissed.

import { For, Show, type JSX } from "solid-js";
import { IconButton } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { useApp } from "./context";
import s from "./Notices.module.css";

export function Notices(): JSX.Element {
  const app = useApp();
  return (
    <div class={s.stack}>
      <For each={app.notices()}>
        {(notice) => (
          <div class={s.notice} role="alert">
            <Icon name="alert" size={15} />
            <div class={s.words}>
              <p class={s.message}>{notice.problem.message}</p>
              <Show when={notice.problem.hint}>
                <p class={s.hint}>{notice.problem.hint}</p>
              </Show>
            </div>
            <IconButton icon="close" label="Dismiss" onClick={() => app.dismiss(notice.id)} />
          </div>
        )}
      </For>
    </div>
  );
}
