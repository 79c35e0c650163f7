// A dialog above the window. Kobalte keeps the focus inside and gives it back; this file its looks.

import { Dialog as Base } from "@kobalte/core/dialog";
import { Show, type JSX } from "solid-js";
import { IconButton } from "./Button";
import s from "./Dialog.module.css";

export function Dialog(props: {
  open: boolean;
  onClose: () => void;
  title: string;
  /** A palette stands higher and shows no title bar. */
  bare?: boolean;
  wide?: boolean;
  children: JSX.Element;
}): JSX.Element {
  let content: HTMLElement | undefined;
  return (
    <Base open={props.open} onOpenChange={(open) => !open && props.onClose()} preventScroll={false}>
      <Base.Portal>
        <Base.Overlay class={s.veil} />
        <div class={s.place} classList={{ [s.high ?? ""]: props.bare === true }}>
          <Base.Content
            ref={content}
            tabindex={-1}
            onOpenAutoFocus={(event) => {
              // Not the first button: the dialog itself, unless it starts with a field.
              if (props.bare) return;
              event.preventDefault();
              content?.focus();
            }}
            class={s.content} classList={{ [s.wide ?? ""]: props.wide === true }}>
            <Show when={!props.bare} fallback={<Base.Title class="sr-only">{props.title}</Base.Title>}>
              <header class={s.head}>
                <Base.Title class={s.title}>{props.title}</Base.Title>
                <IconButton icon="close" label="Close" onClick={() => props.onClose()} />
              </header>
            </Show>
            {props.children}
          </Base.Content>
        </div>
      </Base.Portal>
    </Base>
  );
}
