// A list to choose from, drawn as the window's other controls and not as the desktop's.

import type { JSX } from "solid-js";
import { Icon } from "../parts/Icon";
import s from "./Select.module.css";

export function Select(props: { label: string; value: string; onChange: (value: string) => void; children: JSX.Element }): JSX.Element {
  return (
    <span class={s.select}>
      <select aria-label={props.label} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.children}
      </select>
      <Icon name="down" size={12} />
    </span>
  );
}
