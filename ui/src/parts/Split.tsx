// The bar between two regions: dragged with the pointer or moved with the arrow keys.

import type { JSX } from "solid-js";
import s from "./Split.module.css";

export function Split(props: {
  label: string;
  value: number;
  min: number;
  max: number;
  /** Which side of the bar grows when it moves to the right. */
  grows: "before" | "after";
  onChange: (value: number) => void;
  onReset: () => void;
}): JSX.Element {
  const set = (value: number) => props.onChange(Math.round(Math.min(props.max, Math.max(props.min, value))));
  const sign = () => (props.grows === "before" ? 1 : -1);
  const zoom = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 || 1;
  let from: { x: number; value: number } | undefined;

  return (
    <div
      class={s.bar}
      role="separator"
      aria-orientation="vertical"
      aria-label={props.label}
      aria-valuenow={props.value}
      aria-valuemin={props.min}
      aria-valuemax={props.max}
      tabindex={0}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        from = { x: event.clientX, value: props.value };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => from && set(from.value + ((event.clientX - from.x) / zoom()) * sign())}
      onPointerUp={() => (from = undefined)}
      onPointerCancel={() => (from = undefined)}
      onDblClick={() => props.onReset()}
      onKeyDown={(event) => {
        const step = event.shiftKey ? 48 : 12;
        if (event.key === "ArrowLeft") set(props.value - step * sign());
        else if (event.key === "ArrowRight") set(props.value + step * sign());
        else if (event.key === "Home") set(props.min);
        else if (event.key === "End") set(props.max);
        else return;
        event.preventDefault();
      }}
    />
  );
}
