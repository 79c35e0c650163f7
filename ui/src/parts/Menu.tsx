// A menu that drops from a button. Kobalte holds the keyboard and the roles; this file its looks.

import { DropdownMenu } from "@kobalte/core/dropdown-menu";
import { For, Show, type JSX } from "solid-js";
import { Icon, type IconName } from "./Icon";
import s from "./Menu.module.css";

export interface MenuEntry {
  label: string;
  icon?: IconName;
  /** What it does, when the label alone doesn't say it. */
  note?: string;
  keys?: string;
  disabled?: boolean;
  /** Draws a line in front. */
  apart?: boolean;
  checked?: boolean;
  onSelect: () => void;
}

export function Menu(props: {
  label: string;
  icon?: IconName;
  class?: string | undefined;
  entries: readonly MenuEntry[];
  children?: JSX.Element;
}): JSX.Element {
  return (
    <DropdownMenu gutter={4} placement="bottom-start">
      <DropdownMenu.Trigger class={props.class ?? s.trigger} aria-label={props.label} title={props.label}>
        <Show when={props.children} fallback={<Icon name={props.icon ?? "menu"} />}>
          {props.children}
        </Show>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content class={s.content}>
          <For each={props.entries}>
            {(entry) => (
              <>
                <Show when={entry.apart}>
                  <DropdownMenu.Separator class={s.line} />
                </Show>
                <DropdownMenu.Item class={s.item} disabled={entry.disabled ?? false} onSelect={() => entry.onSelect()}>
                  <span class={s.icon}>
                    <Show when={entry.checked === true ? "done" : entry.icon}>{(icon) => <Icon name={icon()} size={14} />}</Show>
                  </span>
                  <span class={s.words}>
                    {entry.label}
                    <Show when={entry.note}>
                      <span class={s.note}>{entry.note}</span>
                    </Show>
                  </span>
                  <Show when={entry.keys}>
                    <span class={s.keys}>{entry.keys}</span>
                  </Show>
                </DropdownMenu.Item>
              </>
            )}
          </For>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu>
  );
}
