// A path that breaks at its slashes, with invisible characters drawn.

import { For, type JSX } from "solid-js";
import { Unseen } from "./Unseen";

export function Path(props: { path: string }): JSX.Element {
  return (
    <For each={props.path.split(/(?<=\/)/)}>
      {(part) => (
        <>
          <Unseen text={part} />
          <wbr />
        </>
      )}
    </For>
  );
}
