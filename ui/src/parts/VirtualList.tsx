// A list that draws only what is in sight, by key. Where nothing can be measured (tests) it draws everything.

import { For, onCleanup, onMount, type JSX } from "solid-js";
import { VList, type VListHandle } from "virtua/solid";

export type ListHandle = VListHandle;

export interface VirtualListProps {
  keys: readonly string[];
  children: (key: string) => JSX.Element;
  handle?: (handle: ListHandle | undefined) => void;
  onScroll?: (offset: number) => void;
  /** The box or what is in it has another size, before that is painted. */
  onResize?: () => void;
  /** The scrolling element, once it is there. */
  box?: (box: HTMLElement) => void;
  /** Set while items are being added in front, so that what is in sight stays. */
  shift?: boolean;
  class?: string | undefined;
  itemSize?: number;
  label?: string;
}

export function VirtualList(props: VirtualListProps): JSX.Element {
  if (typeof ResizeObserver === "undefined") {
    return (
      <div class={props.class} ref={(box) => props.box?.(box)}>
        <For each={props.keys}>{(key) => props.children(key)}</For>
      </div>
    );
  }
  const list = (
    <VList
      data={props.keys}
      ref={(handle) => props.handle?.(handle)}
      onScroll={(offset) => props.onScroll?.(offset)}
      shift={props.shift ?? false}
      bufferSize={400}
      class={props.class}
      tabindex={0}
      {...(props.itemSize === undefined ? {} : { itemSize: props.itemSize })}
      {...(props.label === undefined ? {} : { role: "group", "aria-label": props.label })}
    >
      {(key) => props.children(key)}
    </VList>
  );
  onMount(() => {
    const box = resolved(list);
    if (!(box instanceof HTMLElement)) return;
    props.box?.(box);
    const observer = new ResizeObserver(() => props.onResize?.());
    observer.observe(box);
    if (box.firstElementChild) observer.observe(box.firstElementChild);
    onCleanup(() => observer.disconnect());
  });
  return list;
}

/** The element behind what a component hands out. */
function resolved(element: JSX.Element): unknown {
  return typeof element === "function" ? resolved((element as () => JSX.Element)()) : element;
}
