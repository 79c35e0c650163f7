// A plan's steps with their states.

import { For, Index, Show, createSignal, type JSX } from "solid-js";
import type { Todo, TodoStatus } from "../protocol.gen";
import { Icon, type IconName } from "./Icon";
import { plural } from "./time";
import s from "./TodoList.module.css";

const STATUS: Record<TodoStatus, { icon: IconName; word: string }> = {
  pending: { icon: "queued", word: "not begun" },
  in_progress: { icon: "play", word: "in progress" },
  completed: { icon: "done", word: "done" },
};

export function TodoList(props: {
  todos: readonly Todo[];
  /** How many are shown until the rest is asked for. */
  most?: number;
}): JSX.Element {
  const [all, setAll] = createSignal(false);
  const rest = () => (all() || props.most === undefined ? 0 : Math.max(0, props.todos.length - props.most));
  return (
    <>
      <ul class={s.list}>
        <Index each={props.todos.slice(0, props.todos.length - rest())}>
          {(todo) => (
            <li class={s.todo} data-status={todo().status}>
              <span class={s.icon} title={STATUS[todo().status].word}>
                <Icon name={STATUS[todo().status].icon} size={13} />
                <span class="sr-only">{STATUS[todo().status].word}: </span>
              </span>
              <span class={s.words} dir="auto">
                {/* Odd pieces stood between backticks. */}
                <For each={todo().content.split(/`([^`]+)`/)}>{(piece, at) => (at() % 2 === 1 ? <code>{piece}</code> : piece)}</For>
              </span>
            </li>
          )}
        </Index>
      </ul>
      <Show when={rest() > 0}>
        <button type="button" class={s.more} onClick={() => setAll(true)}>
          Show {plural(rest(), "more step")}
        </button>
      </Show>
    </>
  );
}
