// An agent's state as a small shape. The word stands beside it or is its title.

import { Show, onCleanup, type JSX } from "solid-js";
import { Icon } from "../parts/Icon";
import { onBeat } from "../parts/beat";
import type { AgentState } from "../protocol.gen";
import { faceOfState } from "./state";
import s from "./StateMark.module.css";

export function StateMark(props: { state: AgentState; word?: boolean }): JSX.Element {
  const face = () => faceOfState(props.state);
  return (
    <span class={s.mark} data-tone={face().tone} title={face().word}>
      <Show when={face().icon !== "spinner" && face().icon} fallback={<Spinner />}>
        {(icon) => <Icon name={icon() as Exclude<ReturnType<typeof icon>, "spinner">} size={13} />}
      </Show>
      <span class={props.word ? undefined : "sr-only"}>{face().word}</span>
    </span>
  );
}

export function Spinner(): JSX.Element {
  return <span ref={turn} class={s.spinner} aria-hidden="true" />;
}

/** An eighth of a turn with every beat. Who asked for less motion sees it stand still; its shape says the same. */
function turn(element: HTMLElement): void {
  if (window.matchMedia?.("(prefers-reduced-motion: reduce)").matches) return;
  onCleanup(onBeat((beat) => (element.style.transform = `rotate(${(beat % 8) * 45}deg)`)));
}
