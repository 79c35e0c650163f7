// The file as it will be written, byte for byte: every line, what goes and what comes, and problems at their line.

import { For, Show, createMemo, createSignal, type JSX } from "solid-js";
import { Icon } from "../parts/Icon";
import { Unseen } from "../parts/Unseen";
import { plural } from "../parts/time";
import type { DiffLine, RoleFile, RoleWarning } from "../protocol.gen";
import type { Editor } from "./editor";
import s from "./FilePreview.module.css";

/** Lines that are drawn before more is asked for. */
const MOST = 800;

const SIGN = { added: "+", removed: "−", context: "" } as const;

export function FilePreview(props: { editor: Editor; theirs: RoleFile | undefined }): JSX.Element {
  const { editor } = props;
  const lines = createMemo<DiffLine[]>(() => {
    if (props.theirs) return (props.theirs.text ?? "").split(/\r?\n/).map((text) => ({ kind: "context", text }));
    return editor.preview()?.lines ?? [];
  });
  const warnings = () => (props.theirs ? props.theirs.warnings : (editor.preview()?.warnings ?? []));
  const last = () => lines().filter((line) => line.kind !== "removed").length;
  /** About the whole file, or behind its end. */
  const loose = () => warnings().filter((warning) => warning.line === 0 || warning.line > last());
  const changed = () => lines().filter((line) => line.kind !== "context").length;
  const text = () => props.theirs?.text ?? editor.preview()?.text ?? "";
  const isNew = () => editor.file() === undefined;

  return (
    <section class={s.preview} aria-label="File preview">
      <header class={s.head}>
        <h3>{props.theirs ? "On disk now" : "File"}</h3>
        <span class={s.state}>
          <Show when={!props.theirs} fallback="not yours">
            {isNew() ? "new, not written yet" : changed() === 0 ? "as on disk" : `${plural(changed(), "line")} will change`}
          </Show>
        </span>
        <Show when={text().includes("\r\n")}>
          <span class={s.tag}>CR LF</span>
        </Show>
        <Show when={text().startsWith("\ufeff")}>
          <span class={s.tag}>BOM</span>
        </Show>
        <Show when={text() !== "" && !text().endsWith("\n")}>
          <span class={s.tag}>no line end at the end</span>
        </Show>
      </header>
      <Show when={editor.problem()}>
        {(problem) => (
          <p class={s.problem} role="alert">
            <Icon name="alert" size={13} />
            <span>
              {problem().message} {problem().hint} What you see below is the last version that can be written.
            </span>
          </p>
        )}
      </Show>
      <For each={loose()}>
        {(warning) => (
          <p class={s.warning}>
            <Icon name="alert" size={13} />
            <Unseen text={warning.message} />
          </p>
        )}
      </For>
      <Lines lines={lines()} warnings={warnings()} label="Lines" />
    </section>
  );
}

/** Lines of a file, numbered as they will be, with those that go, and problems below the line that they are about. */
export function Lines(props: { lines: readonly DiffLine[]; warnings: readonly RoleWarning[]; label: string }): JSX.Element {
  const [all, setAll] = createSignal(false);
  const rows = createMemo(() => {
    let number = 0;
    return props.lines.map((line) => {
      if (line.kind !== "removed") number += 1;
      return { line, number: line.kind === "removed" ? undefined : number };
    });
  });
  const at = (number: number | undefined) => (number === undefined ? [] : props.warnings.filter((warning) => warning.line === number));
  return (
    <div class={`${s.lines} selectable`} tabindex={0} role="group" aria-label={props.label}>
      <For each={all() ? rows() : rows().slice(0, MOST)}>
        {(row) => (
          <>
            <div class={s.line} data-kind={row.line.kind} data-bad={at(row.number).length > 0}>
              <span class={s.number}>{row.number ?? ""}</span>
              <span class={s.sign}>
                <span aria-hidden="true">{SIGN[row.line.kind]}</span>
                <Show when={row.line.kind !== "context"}>
                  <span class="sr-only">{row.line.kind}</span>
                </Show>
              </span>
              <code>
                <Unseen text={row.line.text.replace(/^\ufeff/, "")} />
              </code>
            </div>
            <For each={at(row.number)}>
              {(warning) => (
                <p class={s.inline}>
                  <Icon name="alert" size={12} />
                  <span>
                    <span class="sr-only">Line {warning.line}: </span>
                    <Unseen text={warning.message} />
                  </span>
                </p>
              )}
            </For>
          </>
        )}
      </For>
      <Show when={!all() && rows().length > MOST}>
        <button type="button" class={s.more} onClick={() => setAll(true)}>
          Show all: {(rows().length - MOST).toLocaleString()} more lines
        </button>
      </Show>
    </div>
  );
}
