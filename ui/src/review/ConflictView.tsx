// One file in conflict: what both sides started from, what each has, and the text that it becomes.

import { For, Match, Show, Switch, createEffect, createMemo, createResource, createSignal, on, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { asRejected } from "../bridge";
import { Button } from "../parts/Button";
import { highlightLines, languageOf } from "../parts/highlight";
import type { MergeConflict, MergeId, MergePreview, Rejected, Resolution } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { Problem } from "./MergeDialog";
import s from "./ConflictView.module.css";

const MARKS = /^(?:<{7}|={7}|>{7})(?: |$)/m;
/** More lines aren't drawn in a pane; the text that is edited is whole. */
const MOST = 4000;

export function ConflictView(props: {
  session: SessionStore;
  merge: MergeId;
  conflict: MergeConflict;
  onSettled: (preview: MergePreview) => void;
  onBack: () => void;
}): JSX.Element {
  const app = useApp();
  const [file] = createResource(
    () => ({ merge: props.merge, agent: props.conflict.agent, path: props.conflict.path }),
    ({ merge, agent, path }) => app.bridge.conflict(props.session.id, merge, agent, path),
  );
  const [text, setText] = createSignal("");
  const [problem, setProblem] = createSignal<Rejected>();
  const [asked, setAsked] = createSignal(false);
  createEffect(on(() => file.latest?.merged, (merged) => setText(merged ?? "")));
  const fork = () => props.session.state.agents[props.conflict.agent]?.title ?? props.conflict.agent;
  const other = () => (props.conflict.other === undefined ? "Yours" : (props.session.state.agents[props.conflict.other]?.title ?? "The other fork"));
  const hasMarks = createMemo(() => MARKS.test(text()));

  const settle = async (how: Resolution) => {
    setProblem(undefined);
    try {
      props.onSettled(await app.bridge.resolve(props.session.id, props.merge, props.conflict.agent, props.conflict.path, how));
    } catch (error) {
      setProblem(asRejected(error));
    }
  };
  const ask = async () => {
    setProblem(undefined);
    try {
      await app.bridge.handOverConflict(props.session.id, props.merge, props.conflict.agent, props.conflict.path);
      setAsked(true);
    } catch (error) {
      setProblem(asRejected(error));
    }
  };

  return (
    <section class={s.view} aria-label="Conflict" data-needs="width">
      <p class={s.path}>
        <Button kind="quiet" small onClick={() => props.onBack()}>
          Back
        </Button>
        <code>{props.conflict.path}</code>
        <span>{props.conflict.reason}</span>
      </p>
      <Switch fallback={<p class={s.note}>Reading the sides…</p>}>
        <Match when={file.state === "errored"}>
          <Problem of={asRejected(file.error)} />
        </Match>
        <Match when={file.latest}>
          {(sides) => (
            <>
              <Show when={sides().text} fallback={<p class={s.note}>This file isn't text, or is too large to show: a side can be taken as it is.</p>}>
                <div class={s.panes}>
                  <Pane label={other()} text={sides().ours} against={sides().base} path={sides().path} />
                  <Pane label="Base" text={sides().base} against={undefined} path={sides().path} />
                  <Pane label={fork()} text={sides().theirs} against={sides().base} path={sides().path} />
                </div>
                <label class={s.result}>
                  <span>
                    Result
                    <Show when={hasMarks()}>
                      <em> the lines between the marks conflict</em>
                    </Show>
                  </span>
                  <textarea
                    aria-label="Result"
                    spellcheck={false}
                    wrap="off"
                    value={text()}
                    onInput={(event) => setText(event.currentTarget.value)}
                  />
                </label>
              </Show>
              <Show when={asked()}>
                <p class={s.note} role="status">
                  {fork()} was asked to work your version into its own. When it is done, look at the merge again and take its version.
                </p>
              </Show>
              <Show when={problem()}>{(rejected) => <Problem of={rejected()} />}</Show>
              <div class={s.answers}>
                <Button kind="quiet" disabled={!sides().text || asked()} onClick={() => void ask()}>
                  Let the agent settle it
                </Button>
                <span class={s.gap} />
                <Button onClick={() => void settle({ kind: "ours" })}>Keep {props.conflict.other === undefined ? "mine" : "the other"}</Button>
                <Button onClick={() => void settle({ kind: "theirs" })}>Take the fork's</Button>
                <Button kind="primary" disabled={!sides().text || hasMarks()} onClick={() => void settle({ kind: "text", text: text() })}>
                  Use the result
                </Button>
              </div>
            </>
          )}
        </Match>
      </Switch>
    </section>
  );
}

function Pane(props: { label: string; text: string | undefined; against: string | undefined; path: string }): JSX.Element {
  const lines = createMemo(() => {
    const known = new Set(props.against?.split("\n"));
    const plain = (props.text ?? "").split("\n").slice(0, MOST);
    const coloured = highlightLines(plain.join("\n"), languageOf(props.path));
    return plain.map((text, at) => ({ tokens: coloured?.[at] ?? [{ text, class: "" }], isNew: props.against !== undefined && text !== "" && !known.has(text) }));
  });
  return (
    <figure class={s.pane}>
      <figcaption>{props.label}</figcaption>
      <Show when={props.text !== undefined} fallback={<p class={s.none}>No such file on this side.</p>}>
        <pre tabindex={0} class="selectable">
          <For each={lines()}>
            {(line) => (
              <code data-new={line.isNew}>
                <For each={line.tokens}>{(token) => (token.class ? <span class={token.class}>{token.text}</span> : token.text)}</For>
                {"\n"}
              </code>
            )}
          </For>
        </pre>
      </Show>
    </figure>
  );
}
