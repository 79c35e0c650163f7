// A path that breaks at its slashes, with invisible characters drawn. Seen from a folder, it is short, and whole when the
// pointer rests on it.

import { For, Show, type JSX } from "solid-js";
import { Unseen } from "./Unseen";
import { relativePath } from "./paths";

export function Path(props: {
  path: string;
  /** Where it is seen from. */
  base?: string;
}): JSX.Element {
  const seen = () => (props.base === undefined ? props.path : relativePath(props.path, props.base));
  return (
    <Show when={seen() !== props.path} fallback={<Parts path={props.path} />}>
      <span title={props.path}>
        <Parts path={seen()} />
      </span>
    </Show>
  );
}

function Parts(props: { path: string }): JSX.Element {
  return (
    <For each={props.path.split(/(?<=[\\/])/)}>
      {(part) => (
        <>
          <Unseen text={part} />
          <wbr />
        </>
      )}
    </For>
  );
}
