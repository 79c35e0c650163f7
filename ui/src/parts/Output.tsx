// Output of a tool: colours drawn, everything else a terminal would obey dropped; huge output cut until it is asked for.

import { For, Match, Show, Switch, createMemo, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import type { BlobHash } from "../protocol.gen";
import { parseAnsi, stripAnsi } from "./ansi";
import { cutOutput, lastLines, pieces } from "./cut";
import { VirtualList } from "./VirtualList";
import s from "./Output.module.css";

export function Output(props: {
  text: string;
  /** Where the whole text is stored, when `text` is a part of it. */
  full?: BlobHash;
  failed?: boolean;
  /** Show only the end: it still runs. */
  tail?: boolean;
}): JSX.Element {
  const app = useApp();
  const [all, setAll] = createSignal(false);
  const [whole, setWhole] = createSignal<string>();
  const [isLoading, setLoading] = createSignal(false);
  const text = () => whole() ?? props.text;
  const cut = createMemo(() => cutOutput(text()));

  const load = async (hash: BlobHash) => {
    setLoading(true);
    try {
      setWhole(await app.bridge.blob(hash));
      setAll(true);
    } catch (error) {
      app.report(error);
    } finally {
      setLoading(false);
    }
  };

  return (
    <Show when={text().trim() !== "" || props.full !== undefined}>
      <div
        class={s.output}
        classList={{ [s.failed ?? ""]: props.failed === true }}
        onCopy={(event) => {
          const copied = window.getSelection()?.toString() ?? "";
          event.clipboardData?.setData("text/plain", stripAnsi(copied));
          event.preventDefault();
        }}
      >
        <Switch>
          <Match when={props.tail}>
            <pre class={s.text}>
              <Ansi text={lastLines(text(), 8)} />
            </pre>
          </Match>
          <Match when={all()}>
            <Whole text={text()} />
          </Match>
          <Match when={true}>
            <pre class={`${s.text} selectable`}>
              <Ansi text={cut().head} />
              <Show when={cut().cutChars > 0}>
                <button type="button" class={s.more} onClick={() => setAll(true)}>
                  Show all: {cut().cutLines > 1 ? `${cut().cutLines.toLocaleString()} more lines` : `${cut().cutChars.toLocaleString()} more characters`}
                </button>
                <Ansi text={cut().tail} />
              </Show>
            </pre>
          </Match>
        </Switch>
        <Show when={whole() === undefined && props.full}>
          {(hash) => (
            <button type="button" class={s.more} disabled={isLoading()} onClick={() => void load(hash())}>
              {isLoading() ? "Reading the whole output…" : "This was cut for the model. Load the whole output"}
            </button>
          )}
        </Show>
      </div>
    </Show>
  );
}

function Ansi(props: { text: string }): JSX.Element {
  const spans = createMemo(() => parseAnsi(props.text));
  return <For each={spans()}>{(span) => (span.class ? <span class={span.class}>{span.text}</span> : span.text)}</For>;
}

/** Everything, drawn only where it is in sight. */
function Whole(props: { text: string }): JSX.Element {
  const parts = createMemo(() => pieces(props.text));
  return (
    <VirtualList class={s.whole} keys={parts().map((_, at) => String(at))} label="Output">
      {(key) => (
        <pre class={`${s.text} selectable`}>
          <Ansi text={(parts()[Number(key)] ?? "").replace(/\n$/, "")} />
        </pre>
      )}
    </VirtualList>
  );
}
