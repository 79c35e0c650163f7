// The diff of one edit, in a card or a request: whole when it is short, else its beginning and the rest on demand.

import { For, Show, createMemo, createSignal, type JSX } from "solid-js";
import type { Hunk } from "../protocol.gen";
import { diffColours } from "./colours";
import { diffRows } from "./diff";
import { DiffLine } from "./DiffLines";
import s from "./Diff.module.css";

const MOST = 120;

export function TextDiff(props: { hunks: Hunk[]; path: string; whole?: boolean }): JSX.Element {
  const [all, setAll] = createSignal(false);
  const rows = createMemo(() => diffRows(props.hunks));
  const colours = createMemo(() => diffColours(props.hunks, props.path));
  const shown = () => (all() || props.whole ? rows() : rows().slice(0, MOST));
  return (
    <div class={s.diff}>
      <For each={shown()}>{(row) => <DiffLine row={row} context={{ hunks: props.hunks, colours: colours() }} />}</For>
      <Show when={shown().length < rows().length}>
        <button type="button" class={s.more} onClick={() => setAll(true)}>
          Show all: {(rows().length - shown().length).toLocaleString()} more lines
        </button>
      </Show>
    </div>
  );
}
