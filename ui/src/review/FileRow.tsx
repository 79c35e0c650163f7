// One changed file in a list: what happened to it, its name, its counts. A button where it can be chosen.

import { For, Show, type JSX } from "solid-js";
import { Dynamic } from "solid-js/web";
import type { ChangeKind, ChangedFile } from "../protocol.gen";
import { Icon } from "../parts/Icon";
import s from "./Changes.module.css";

const KIND: Record<ChangeKind, { letter: string; word: string }> = {
  added: { letter: "A", word: "added" },
  modified: { letter: "M", word: "modified" },
  deleted: { letter: "D", word: "deleted" },
  renamed: { letter: "R", word: "renamed" },
};

export function FileRow(props: {
  file: ChangedFile;
  isSelected?: boolean;
  onSelect?: () => void;
  /** Marks that stand on all of the file. */
  isAccepted?: boolean;
  isViewed?: boolean;
  comments?: number;
}): JSX.Element {
  const slash = () => props.file.path.lastIndexOf("/") + 1;
  const title = () => (props.file.old_path === undefined ? props.file.path : `${props.file.old_path} → ${props.file.path}`);
  return (
    <Dynamic
      component={props.onSelect ? "button" : "div"}
      {...(props.onSelect ? { type: "button", "aria-current": props.isSelected === true, onClick: () => props.onSelect?.() } : {})}
      class={s.file}
      data-viewed={props.isViewed === true}
      title={title()}
    >
      <span class={s.kind} data-kind={props.file.kind} title={KIND[props.file.kind].word}>
        <span aria-hidden="true">{KIND[props.file.kind].letter}</span>
        <span class="sr-only">{KIND[props.file.kind].word}</span>
      </span>
      <span class={s.name}>
        <span class={s.base}>{props.file.path.slice(slash())}</span>
        <span class={s.folder}>{props.file.path.slice(0, Math.max(0, slash() - 1))}</span>
      </span>
      <Show when={(props.comments ?? 0) > 0}>
        <span class={s.said} title={`${props.comments} comments`}>
          <Icon name="message" size={11} />
          {props.comments}
        </span>
      </Show>
      <Show when={props.isAccepted}>
        <span class={s.ok} title="Accepted">
          <Icon name="done" size={12} />
          <span class="sr-only">accepted</span>
        </span>
      </Show>
      <Show when={props.isViewed}>
        <span class={s.seen} title="Viewed">
          <Icon name="eye" size={12} />
          <span class="sr-only">viewed</span>
        </span>
      </Show>
      <For each={props.file.labels}>{(label) => <span class={s.label}>{label}</span>}</For>
      <Show when={!props.file.binary} fallback={<span class={s.label}>binary</span>}>
        <span class={s.counts}>
          <Show when={props.file.added > 0}>
            <span class={s.added}>+{props.file.added.toLocaleString()}</span>
          </Show>
          <Show when={props.file.removed > 0}>
            <span class={s.removed}>−{props.file.removed.toLocaleString()}</span>
          </Show>
        </span>
      </Show>
    </Dynamic>
  );
}
