// The rows of a diff: line numbers of both sides, a sign, and the line, wrapped and never cut without a way to see it.

import { For, Match, Show, Switch, createSignal, type JSX } from "solid-js";
import { Unseen } from "../parts/Unseen";
import { hasUnseen } from "../parts/invisible";
import type { Colours } from "./colours";
import type { DiffRow } from "./diff";
import s from "./Diff.module.css";

const SIGN = { added: "+", removed: "−", context: "" } as const;
const WORD = { added: "added", removed: "removed", context: "" } as const;
/** A longer line is cut until it is asked for: wrapping half a megabyte stalls the window. */
const LONGEST = 2000;

export function DiffLine(props: { row: DiffRow; colours: Colours }): JSX.Element {
  const [all, setAll] = createSignal(false);
  return (
    <Switch>
      <Match when={props.row.type === "hunk" && props.row}>
        {(row) => (
          <div class={s.hunk} data-hunk={row().hunk}>
            <span class={s.range}>{row().range}</span>
            <span class={s.heading}>{row().heading}</span>
          </div>
        )}
      </Match>
      <Match when={props.row.type === "line" && props.row}>
        {(row) => (
          <div class={s.line} data-kind={row().kind}>
            <span class={s.number}>{row().old ?? ""}</span>
            <span class={s.number}>{row().now ?? ""}</span>
            <span class={s.sign}>
              <span aria-hidden="true">{SIGN[row().kind]}</span>
              <span class="sr-only">{WORD[row().kind]}</span>
            </span>
            <code class={`${s.code} selectable`}>
              <Show
                when={row().text.length <= LONGEST || all()}
                fallback={
                  <>
                    {row().text.slice(0, LONGEST)}
                    <button type="button" class={s.more} onClick={() => setAll(true)}>
                      {(row().text.length - LONGEST).toLocaleString()} more characters
                    </button>
                  </>
                }
              >
                <Line text={row().text} tokens={() => props.colours(row().hunk, row().at)} />
              </Show>
              <Show when={row().noNewline}>
                <span class={s.note}>no line end</span>
              </Show>
            </code>
          </div>
        )}
      </Match>
    </Switch>
  );
}

function Line(props: { text: string; tokens: () => ReturnType<Colours> }): JSX.Element {
  if (hasUnseen(props.text)) return <Unseen text={props.text} />;
  const tokens = props.tokens();
  if (!tokens) return <>{props.text}</>;
  return <For each={tokens}>{(token) => (token.class ? <span class={token.class}>{token.text}</span> : token.text)}</For>;
}
