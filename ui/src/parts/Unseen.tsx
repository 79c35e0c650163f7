// Text with its invisible characters drawn as small boxes.

import { For, Show, type JSX } from "solid-js";
import { showUnseen } from "./invisible";

export function Unseen(props: { text: string }): JSX.Element {
  return (
    <For each={showUnseen(props.text)}>
      {(piece) => (
        <Show when={piece.unseen} fallback={piece.text}>
          {(name) => (
            <span class="unseen" title="An invisible character">
              {name()}
            </span>
          )}
        </Show>
      )}
    </For>
  );
}
