// What is drawn while something is dragged: its name under the pointer, and a frame around a target outside of the studio.

import { For, Show, type JSX } from "solid-js";
import { Portal } from "solid-js/web";
import type { Drag } from "./drag";
import s from "./Ghost.module.css";

/** `frames`: what the frame around a target says, by its id; the others have none. */
export function Ghost<T>(props: { drag: Drag<T> | undefined; frames: Readonly<Record<string, string>> }): JSX.Element {
  const outside = () => (props.drag?.targets ?? []).filter((target) => props.frames[target.id] !== undefined);
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
                      <span>{props.frames[target.id]}</span>
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
