// An agent's state as a small shape. The word stands beside it or is its title.

import { Show, type JSX } from "solid-js";
import { Icon } from "../parts/Icon";
import type { AgentState } from "../protocol.gen";
import { faceOfState } from "./state";
import s from "./StateMark.module.css";

export function StateMark(props: { state: AgentState; word?: boolean }): JSX.Element {
  const face = () => faceOfState(props.state);
  return (
    <span class={s.mark} data-tone={face().tone} title={face().word}>
      <Show when={face().icon !== "spinner" && face().icon} fallback={<span class={s.spinner} aria-hidden="true" />}>
        {(icon) => <Icon name={icon() as Exclude<ReturnType<typeof icon>, "spinner">} size={13} />}
      </Show>
      <span class={props.word ? undefined : "sr-only"}>{face().word}</span>
    </span>
  );
}

export function Spinner(): JSX.Element {
  return <span class={s.spinner} aria-hidden="true" />;
}
