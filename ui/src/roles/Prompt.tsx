// The prompt: Markdown as text, or drawn.

import { Show, createSignal, type JSX } from "solid-js";
import { Markdown } from "../parts/Markdown";
import { plural } from "../parts/time";
import type { Editor } from "./editor";
import { NO_FIELDS } from "./studio";
import s from "./Prompt.module.css";

export function Prompt(props: { editor: Editor }): JSX.Element {
  const [drawn, setDrawn] = createSignal(false);
  const fields = () => props.editor.fields() ?? NO_FIELDS;
  const words = () => fields().body.trim().split(/\s+/).filter(Boolean).length;
  /** Tab indents, but only after something was typed: the keyboard must get out. */
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) => {
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229 || event.shiftKey || event.ctrlKey) return;
    const field = event.currentTarget;
    const line = field.value.slice(field.value.lastIndexOf("\n", field.selectionStart - 1) + 1, field.selectionStart);
    const item = /^(\s*)([-*]|\d+\.) (.*)$/.exec(line);
    if (!item || field.selectionStart !== field.selectionEnd) return;
    // A list goes on; an empty item ends it.
    event.preventDefault();
    const [, indent = "", mark = "-", rest = ""] = item;
    const next = /^\d+\.$/.test(mark) ? `${Number.parseInt(mark, 10) + 1}.` : mark;
    const start = rest === "" ? field.selectionStart - line.length : field.selectionStart;
    field.setRangeText(rest === "" ? "\n" : `\n${indent}${next} `, start, field.selectionStart, "end");
    props.editor.setFields({ ...fields(), body: field.value }, "body");
  };
  return (
    <div class={s.prompt}>
      <div class={s.head}>
        <h3>Prompt</h3>
        <span class={s.count}>{plural(words(), "word")}</span>
        <div class={s.modes} role="group" aria-label="Prompt view">
          <button type="button" aria-pressed={!drawn()} onClick={() => setDrawn(false)}>
            Write
          </button>
          <button type="button" aria-pressed={drawn()} onClick={() => setDrawn(true)}>
            Read
          </button>
        </div>
      </div>
      <Show
        when={drawn()}
        fallback={
          <textarea
            class={s.text}
            aria-label="Prompt"
            spellcheck={false}
            placeholder="You are …"
            value={fields().body}
            onInput={(event) => props.editor.setFields({ ...fields(), body: event.currentTarget.value }, "body")}
            onKeyDown={onKeyDown}
          />
        }
      >
        <div class={s.drawn}>
          <Markdown text={fields().body} />
        </div>
      </Show>
    </div>
  );
}
