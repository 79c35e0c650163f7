// A list that draws only what is in sight, by key. Where nothing can be measured (tests) it draws everything.

import { For, type JSX } from "solid-js";
import { VList, type VListHandle } from "virtua/solid";

export type ListHandle = VListHandle;

export interface VirtualListProps {
  keys: readonly string[];
  children: (key: string) => JSX.Element;
  handle?: (handle: ListHandle | undefined) => void;
  onScroll?: (offset: number) => void;
  onResize?: () => void;
  /** Set while items are being added in front, so that what is in sight stays. */
  shift?: boolean;
  class?: string | undefined;
  itemSize?: number;
  label?: string;
}

export function VirtualList(props: VirtualListProps): JSX.Element {
  if (typeof ResizeObserver === "undefined") {
    return (
      <div class={props.class}>
        <For each={props.keys}>{(key) => props.children(key)}</For>
      </div>
    );
  }
  return (
    <VList
      data={props.keys}
      ref={(handle) => props.handle?.(handle)}
      onScroll={(offset) => props.onScroll?.(offset)}
      onResize={() => props.onResize?.()}
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
}
