// A report as a short list of its fields; as plain text on demand, and copied as it was written. Text that is no report
// is drawn as Markdown.

import { For, Show, createMemo, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { Icon } from "../parts/Icon";
import { Markdown } from "../parts/Markdown";
import { Path } from "../parts/Path";
import { Unseen } from "../parts/Unseen";
import { fieldOf, parseReport, reportedFiles, type FieldName, type ReportField } from "./report";
import s from "./ReportCard.module.css";

const LABELS: Record<FieldName, string> = {
  scope: "Scope",
  result: "Result",
  keyFiles: "Key files",
  filesChanged: "Changed",
  issues: "Issues",
};

export function ReportCard(props: {
  text: string;
  /** The folder of the agent that wrote it: paths are seen from there. */
  directory: string | undefined;
  /** Whether it is still being written. */
  streaming?: boolean;
  /** In a narrow place: labels stand above what they label. */
  narrow?: boolean;
  /** Inside of another card, which has a border already. */
  bare?: boolean;
}): JSX.Element {
  const app = useApp();
  const [isText, setText] = createSignal(false);
  const report = createMemo(() => parseReport(props.text, props.streaming === true));
  const copy = () => void navigator.clipboard.writeText(props.text).catch((error: unknown) => app.report(error));

  return (
    <Show
      when={report()}
      fallback={
        <div class={s.plain}>
          <Markdown text={props.text} streaming={props.streaming === true} />
        </div>
      }
    >
      {(read) => (
        <div class={s.report} data-narrow={props.narrow === true} data-bare={props.bare === true} role="group" aria-label="Report">
          <div class={s.head}>
            <Icon name="plan" size={13} />
            <span class={s.title}>Report</span>
            <Show when={fieldOf(read(), "issues")?.isNone === false}>
              <span class={s.flag}>
                <Icon name="alert" size={12} /> names issues
              </span>
            </Show>
            <Show when={!props.streaming}>
              <span class={s.tools}>
                <button type="button" class={s.tool} aria-pressed={isText()} onClick={() => setText(!isText())}>
                  {isText() ? "Show as fields" : "Show as text"}
                </button>
                <button type="button" class={s.tool} onClick={copy}>
                  Copy
                </button>
              </span>
            </Show>
          </div>
          <Show
            when={!isText()}
            fallback={
              <pre class={`${s.raw} selectable`} dir="auto">
                <Unseen text={props.text} />
              </pre>
            }
          >
            <Show when={read().lead}>
              {(lead) => (
                <div class={s.lead}>
                  <Markdown text={lead()} />
                </div>
              )}
            </Show>
            <dl class={s.fields}>
              <For each={read().fields.map((field) => field.name)}>
                {(name) => (
                  <Show when={fieldOf(read(), name)}>
                    {(field) => (
                      <>
                        <dt data-name={name}>{LABELS[name]}</dt>
                        <dd data-name={name} data-none={field().isNone}>
                          <Value field={field()} directory={props.directory} />
                        </dd>
                      </>
                    )}
                  </Show>
                )}
              </For>
            </dl>
          </Show>
        </div>
      )}
    </Show>
  );
}

function Value(props: { field: ReportField; directory: string | undefined }): JSX.Element {
  const files = createMemo(() =>
    props.field.name === "keyFiles" || props.field.name === "filesChanged" ? reportedFiles(props.field.text) : undefined,
  );
  return (
    <Show when={!props.field.isNone && props.field.text !== ""} fallback={<span class={s.none}>{props.field.isNone ? "none" : "—"}</span>}>
      <Show when={files()} fallback={<Markdown text={props.field.text} />}>
        {(list) => (
          <ul class={s.files}>
            <For each={list()}>
              {(file) => (
                <li class="selectable">
                  <code>
                    <Path path={file.path} {...(props.directory === undefined ? {} : { base: props.directory })} />
                  </code>
                  <Show when={file.note}>
                    <span class={s.note}>{file.note.replaceAll("`", "")}</span>
                  </Show>
                </li>
              )}
            </For>
          </ul>
        )}
      </Show>
    </Show>
  );
}
