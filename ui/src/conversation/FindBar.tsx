// Find in the conversation: words, how many places there are, and the way from one to the next.

import { Show, type JSX } from "solid-js";
import { isComposing } from "../composer/commands";
import { Icon } from "../parts/Icon";
import { MOST } from "../parts/words";
import s from "./FindBar.module.css";

export function FindBar(props: {
  query: string;
  count: number;
  /** Place among all, from 0. */
  current: number;
  /** Whether there are older messages that aren't loaded and weren't searched. */
  isPart: boolean;
  field: (field: HTMLInputElement) => void;
  onQuery: (query: string) => void;
  onStep: (direction: -1 | 1) => void;
  onClose: () => void;
}): JSX.Element {
  const words = () => {
    if (props.query === "") return "";
    if (props.count === 0) return "Not found";
    return `${(props.current + 1).toLocaleString()} of ${props.count.toLocaleString()}${props.count >= MOST ? "+" : ""}`;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === "Enter") props.onStep(event.shiftKey ? -1 : 1);
    else if (event.key === "ArrowDown") props.onStep(1);
    else if (event.key === "ArrowUp") props.onStep(-1);
    else if (event.key === "Escape") props.onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class={s.bar} role="search" aria-label="Find in the conversation">
      <Icon name="search" size={14} />
      <input
        ref={(field) => props.field(field)}
        type="text"
        class={s.field}
        aria-label="Find in the conversation"
        placeholder="Find"
        value={props.query}
        spellcheck={false}
        onInput={(event) => props.onQuery(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class={s.count} role="status" data-none={props.query !== "" && props.count === 0}>
        {words()}
        <Show when={props.isPart && props.query !== ""}>
          <span class={s.part} title="Older messages aren't loaded. Scroll up to load them.">
            {" "}
            in the loaded part
          </span>
        </Show>
      </span>
      <button type="button" class={s.step} aria-label="Previous" title="Previous (Shift Enter)" disabled={props.count === 0} onClick={() => props.onStep(-1)}>
        <Icon name="up" size={14} />
      </button>
      <button type="button" class={s.step} aria-label="Next" title="Next (Enter)" disabled={props.count === 0} onClick={() => props.onStep(1)}>
        <Icon name="down" size={14} />
      </button>
      <button type="button" class={s.step} aria-label="Close" title="Close (Esc)" onClick={() => props.onClose()}>
        <Icon name="close" size={14} />
      </button>
    </div>
  );
}
