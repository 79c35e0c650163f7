// The whole file as text: for what the controls don't show, and for files that can't be taken apart.

import { For, Show, createMemo, type JSX } from "solid-js";
import { Icon } from "../parts/Icon";
import { Unseen } from "../parts/Unseen";
import type { Editor } from "./editor";
import s from "./FileText.module.css";

export function FileText(props: { editor: Editor }): JSX.Element {
  let field: HTMLTextAreaElement | undefined;
  let gutter: HTMLDivElement | undefined;
  const text = () => {
    const draft = props.editor.draft();
    return draft.kind === "text" ? draft.text : "";
  };
  const lines = createMemo(() => text().split("\n").length);
  const warnings = () => props.editor.preview()?.warnings ?? [];
  const bad = createMemo(() => new Set(warnings().map((warning) => warning.line)));

  const goTo = (line: number) => {
    if (!field) return;
    const start = text().split(/\r?\n/).slice(0, line - 1).reduce((sum, part) => sum + part.length + 1, 0);
    const end = field.value.indexOf("\n", start);
    field.focus();
    field.setSelectionRange(start, end < 0 ? field.value.length : end);
    field.scrollTop = Math.max(0, (line - 4) * 19);
  };

  return (
    <div class={s.file}>
      <For each={warnings()}>
        {(warning) => (
          <button type="button" class={s.problem} onClick={() => goTo(Math.max(1, warning.line))}>
            <Icon name="alert" size={13} />
            <span>
              {warning.line > 0 ? `Line ${warning.line}: ` : ""}
              <Unseen text={warning.message} />
            </span>
          </button>
        )}
      </For>
      <div class={s.area}>
        <div ref={gutter} class={s.gutter} aria-hidden="true">
          <For each={Array.from({ length: Math.min(lines(), 5000) }, (_, at) => at + 1)}>{(line) => <span data-bad={bad().has(line)}>{line}</span>}</For>
        </div>
        <textarea
          ref={field}
          class={s.text}
          aria-label="File"
          wrap="off"
          spellcheck={false}
          readOnly={!props.editor.isEditable()}
          value={text()}
          onInput={(event) => props.editor.setText(event.currentTarget.value)}
          onScroll={(event) => {
            if (gutter) gutter.scrollTop = event.currentTarget.scrollTop;
          }}
        />
      </div>
      <Show when={/\r/.test(props.editor.file()?.text ?? "")}>
        <p class={s.note}>Lines of this file end with CR LF; that stays.</p>
      </Show>
    </div>
  );
}
