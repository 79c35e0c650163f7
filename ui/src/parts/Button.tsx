// Buttons in three weights, and the square one that holds an icon.

import { splitProps, type JSX } from "solid-js";
import { Icon, type IconName } from "./Icon";
import s from "./Button.module.css";

type Native = Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, "class">;

export function Button(props: Native & { kind?: "primary" | "plain" | "quiet"; small?: boolean }): JSX.Element {
  const [own, rest] = splitProps(props, ["kind", "small", "children"]);
  return (
    <button
      type="button"
      class={s.button}
      classList={{ [s.primary ?? ""]: own.kind === "primary", [s.quiet ?? ""]: own.kind === "quiet", [s.small ?? ""]: own.small === true }}
      {...rest}
    >
      {own.children}
    </button>
  );
}

export function IconButton(props: Native & { icon: IconName; label: string; pressed?: boolean }): JSX.Element {
  const [own, rest] = splitProps(props, ["icon", "label", "pressed"]);
  return (
    <button
      type="button"
      class={s.icon}
      aria-label={own.label}
      title={own.label}
      {...(own.pressed === undefined ? {} : { "aria-pressed": own.pressed })}
      {...rest}
    >
      <Icon name={own.icon} />
    </button>
  );
}

/** Keys as they stand on the keyboard. */
export function Keys(props: { of: string }): JSX.Element {
  return <kbd class={s.keys}>{props.of}</kbd>;
}
