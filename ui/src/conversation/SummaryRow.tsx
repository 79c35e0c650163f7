// Where a conversation goes on behind a summary of it.

import { For, Show, createSignal, type JSX } from "solid-js";
import { Icon } from "../parts/Icon";
import { Markdown } from "../parts/Markdown";
import { Unseen } from "../parts/Unseen";
import { plural } from "../parts/time";
import type { Block } from "../protocol.gen";
import { useFound } from "./finding";
import { readFrames } from "./framed";
import s from "./SummaryRow.module.css";

/** How many messages a summary stands for, and its words. */
export function readSummary(text: string): { messages: number; summary: string } {
  const found = /^<conversation-summary messages="(\d+)">\n[^\n]*\n\n([\s\S]*?)\n<\/conversation-summary>\s*$/.exec(text);
  return found ? { messages: Number(found[1]), summary: found[2] ?? "" } : { messages: 0, summary: text };
}

export function SummaryRow(props: { row: string; text: string; blocks: readonly Block[] }): JSX.Element {
  const [isOpen, setOpen] = createSignal(false);
  useFound(
    () => props.row,
    () => setOpen(true),
  );
  const read = () => readSummary(props.text);
  const carried = () =>
    props.blocks.slice(1).flatMap((block) => (block.type !== "text" ? [] : [readFrames(block.text).frames[0]?.text ?? block.text]));
  return (
    <section class={s.summary} aria-label="Compacted">
      <button type="button" class={s.divider} aria-expanded={isOpen()} onClick={() => setOpen(!isOpen())}>
        <span class={s.words}>
          <Icon name="chevron" size={12} class={s.chevron} />
          Compacted: {plural(read().messages, "message")} → summary
        </span>
      </button>
      <Show when={isOpen()}>
        <div class={`${s.text} selectable`}>
          <Markdown text={read().summary} />
          <details class={s.carried}>
            <summary>What else the model was given</summary>
            <For each={carried()}>
              {(text) => (
                <pre>
                  <Unseen text={text} />
                </pre>
              )}
            </For>
          </details>
        </div>
      </Show>
    </section>
  );
}
