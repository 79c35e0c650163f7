// What can be done with all of an agent's changes: collected marks, comments to send, and what was taken out.

import { For, Show, createSignal, type JSX } from "solid-js";
import { Button, IconButton } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { plural } from "../parts/time";
import { useApp } from "../app/context";
import type { AgentView, ChangedFile, Rejection } from "../protocol.gen";
import { NO_REVIEW, markFiles, takenOut, unsentOf } from "./marks";
import s from "./ReviewBar.module.css";

export function ReviewBar(props: {
  agent: AgentView;
  files: readonly ChangedFile[];
  isSplit: boolean;
  isWide: boolean;
  onSplit: () => void;
  onWide: () => void;
}): JSX.Element {
  const app = useApp();
  const review = () => props.agent.review ?? NO_REVIEW;
  const unsent = () => unsentOf(review());
  const accepted = () => (review().accepted ?? []).length;
  const isAll = () => {
    const marked = new Set(review().accepted);
    return props.files.length > 0 && props.files.every((file) => marked.has(file.hash));
  };
  const wish = (wanted: Parameters<typeof app.send>[0] & { type: "review" }) => void app.send(wanted);
  return (
    <div class={s.bar} role="toolbar" aria-label="Review">
      <Button
        kind="quiet"
        small
        disabled={props.files.length === 0}
        onClick={() => wish({ type: "review", agent: props.agent.id, wish: markFiles("accepted", !isAll(), props.files) })}
      >
        {isAll() ? "Accept none" : "Accept all"}
      </Button>
      <Show when={accepted() > 0 && !isAll()}>
        <Button
          kind="quiet"
          small
          onClick={() => wish({ type: "review", agent: props.agent.id, wish: { kind: "mark", hashes: review().accepted ?? [], mark: "accepted", on: false } })}
        >
          Clear
        </Button>
      </Show>
      <span class={s.rest}>
        <Show when={unsent().length > 0}>
          <Button small onClick={() => wish({ type: "review", agent: props.agent.id, wish: { kind: "send_comments" } })} title="Gives them to the agent as one message (s)">
            Send {plural(unsent().length, "comment")}
          </Button>
        </Show>
        <IconButton icon="columns" label="Side by side (d)" pressed={props.isSplit} onClick={() => props.onSplit()} />
        <IconButton icon="widen" label="Wide review (w)" pressed={props.isWide} onClick={() => props.onWide()} />
      </span>
    </div>
  );
}

/** What was rejected and can be put back. */
export function TakenOut(props: { agent: AgentView }): JSX.Element {
  const app = useApp();
  const [all, setAll] = createSignal(false);
  const list = () => takenOut(props.agent.review ?? NO_REVIEW);
  const shown = () => (all() ? list() : list().slice(0, 2));
  const putBack = (rejection: Rejection) => void app.send({ type: "review", agent: props.agent.id, wish: { kind: "unreject", merge: rejection.merge } });
  return (
    <Show when={list().length > 0}>
      <section class={s.taken} aria-label="Taken out">
        <For each={shown()}>
          {(rejection) => (
            <p>
              <Icon name="failed" size={12} />
              <span class={s.what}>
                Taken out of <b>{rejection.path}</b>
              </span>
              <Button kind="quiet" small onClick={() => putBack(rejection)} title={rejection === list()[0] ? "Put it back (u)" : "Put it back"}>
                Undo
              </Button>
            </p>
          )}
        </For>
        <Show when={list().length > shown().length}>
          <button type="button" class={s.more} onClick={() => setAll(true)}>
            {list().length - shown().length} more
          </button>
        </Show>
      </section>
    </Show>
  );
}
