// A call that wrote the plan: the list with its states. Only the latest is open, the older ones tell how far it was.

import { Show, createMemo, createSignal, type JSX } from "solid-js";
import { Icon } from "../parts/Icon";
import { TodoList } from "../parts/TodoList";
import { planOf } from "../session/calls";
import { CallCard, Status, callView, type CallProps } from "./CallCard";
import { useFound } from "./finding";
import s from "./CallCard.module.css";

const MOST = 12;

export function PlanCard(props: CallProps & { isLatest: boolean }): JSX.Element {
  const plan = createMemo(() => planOf(props.call.input));
  const [chosen, setChosen] = createSignal<boolean>();
  useFound(
    () => `c:${props.call.id}`,
    () => setChosen(true),
  );
  const isOpen = () => chosen() ?? props.isLatest;
  const done = () => plan()?.filter((todo) => todo.status === "completed").length ?? 0;
  const current = () => plan()?.find((todo) => todo.status === "in_progress")?.content ?? "";
  const failed = () => callView(props)?.result?.is_error === true;

  return (
    <Show when={!failed() && plan()} fallback={<CallCard {...props} />}>
      {(todos) => (
        <div class={s.card} data-open={isOpen()}>
          <button type="button" class={s.line} aria-expanded={isOpen()} onClick={() => setChosen(!isOpen())}>
            <Icon name="plan" size={14} class={s.icon} />
            <span class={s.name}>Plan</span>
            <span class={s.says} title={isOpen() ? undefined : current()}>
              {todos().length === 0 ? "empty" : `${done()} of ${todos().length} done`}
              <Show when={!isOpen() && current()}>{(words) => ` · ${words()}`}</Show>
            </span>
            <Status call={props.call} view={callView(props)} />
            <Icon name="chevron" size={12} class={s.chevron} />
          </button>
          <Show when={isOpen() && todos().length > 0}>
            <div class={s.plan}>
              <TodoList todos={todos()} most={MOST} />
            </div>
          </Show>
        </div>
      )}
    </Show>
  );
}
