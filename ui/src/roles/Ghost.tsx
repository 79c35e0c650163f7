// What is drawn while something is dragged: its name under the pointer, and a frame around a target outside of the studio.

import { For, Show, type JSX } from "solid-js";
import { Portal } from "solid-js/web";
import type { Drag } from "./drag";
import s from "./Ghost.module.css";

const OUTSIDE: Record<string, string> = { composer: "Drop to start a subagent", tree: "Drop to start a subagent" };

export function Ghost<T>(props: { drag: Drag<T> | undefined }): JSX.Element {
  const outside = () => (props.drag?.targets ?? []).filter((target) => OUTSIDE[target.id] !== undefined);
  return (
    <Show when={props.drag}>
      {(drag) => (
        <Portal>
          <For each={outside()}>
            {(target) => {
              const box = target.element()?.getBoundingClientRect();
              return (
                <Show when={box}>
                  {(place) => (
                    <div
                      class={s.frame}
                      aria-hidden="true"
                      data-over={drag().over === target.id}
                      style={{ left: `${place().left}px`, top: `${place().top}px`, width: `${place().width}px`, height: `${place().height}px` }}
                    >
                      <span>{OUTSIDE[target.id]}</span>
                    </div>
                  )}
                </Show>
              );
            }}
          </For>
          <Show when={drag().by === "pointer"}>
            <div class={s.ghost} aria-hidden="true" style={{ transform: `translate(${drag().x + 10}px, ${drag().y + 12}px)` }}>
              {drag().label}
            </div>
          </Show>
        </Portal>
      )}
    </Show>
  );
}
