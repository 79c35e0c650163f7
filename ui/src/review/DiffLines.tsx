// The rows of a diff: line numbers of both sides, a sign, and the line, wrapped and never cut without a way to see it.

import { For, Match, Show, Switch, createMemo, createSignal, type JSX } from "solid-js";
import { Icon } from "../parts/Icon";
import { Unseen } from "../parts/Unseen";
import { hasUnseen } from "../parts/invisible";
import { plural } from "../parts/time";
import type { Hunk } from "../protocol.gen";
import type { HunkActions } from "./actions";
import type { Colours } from "./colours";
import { CommentRow, Draft } from "./CommentRow";
import type { DiffRow, LineRow, PairRow } from "./diff";
import { HunkHead } from "./HunkHead";
import { cutByWords } from "./tokens";
import { changedWords, type Stretch } from "./words";
import s from "./Diff.module.css";

const SIGN = { added: "+", removed: "−", context: "" } as const;
const WORD = { added: "added", removed: "removed", context: "" } as const;
/** A longer line is cut until it is asked for: wrapping half a megabyte stalls the window. */
const LONGEST = 2000;

/** What every row of one diff needs. */
export interface DiffContext {
  hunks: readonly Hunk[];
  colours: Colours;
  actions?: HunkActions | undefined;
}

export function DiffLine(props: { row: DiffRow; context: DiffContext }): JSX.Element {
  const isSelected = () => props.context.actions?.isSelected(props.row.key) === true;
  return (
    <Switch>
      <Match when={props.row.type === "hunk" && props.row}>
        {(row) => <HunkHead row={row()} actions={props.context.actions} isCurrent={isSelected()} />}
      </Match>
      <Match when={props.row.type === "line" && props.row}>
        {(row) => (
          <div
            class={s.line}
            data-kind={row().kind}
            data-current={isSelected()}
            onMouseDown={(event) => event.button === 0 && props.context.actions?.point(row().key, event.shiftKey)}
          >
            <span class={s.number}>{row().old ?? ""}</span>
            <span class={s.number}>{row().now ?? ""}</span>
            <Sign row={row()} context={props.context} />
            <Code row={row()} context={props.context} />
          </div>
        )}
      </Match>
      <Match when={props.row.type === "pair" && props.row}>{(row) => <Pair row={row()} context={props.context} />}</Match>
      <Match when={props.row.type === "gap" && props.row}>
        {(row) => (
          <button type="button" class={s.gap} onClick={() => props.context.actions?.openGap(row().gap)}>
            <Icon name="widen" size={12} />
            {row().count === undefined ? "Show the lines below" : `${plural(row().count ?? 0, "unchanged line")}`}
          </button>
        )}
      </Match>
      <Match when={props.row.type === "comment" && props.row}>
        {(row) => <CommentRow row={row()} actions={props.context.actions} />}
      </Match>
      <Match when={props.row.type === "draft" && props.row}>{(row) => <Draft row={row()} actions={props.context.actions} />}</Match>
    </Switch>
  );
}

function Pair(props: { row: PairRow; context: DiffContext }): JSX.Element {
  return (
    <div class={s.pair}>
      <Half line={props.row.old} side="old" context={props.context} />
      <Half line={props.row.now} side="now" context={props.context} />
    </div>
  );
}

function Half(props: { line: LineRow | undefined; side: "old" | "now"; context: DiffContext }): JSX.Element {
  return (
    <Show when={props.line} fallback={<div class={s.half} data-kind="none" aria-hidden="true" />}>
      {(line) => (
        <div
          class={s.half}
          data-kind={line().kind}
          data-current={props.context.actions?.isSelected(line().key) === true}
          onMouseDown={(event) => event.button === 0 && props.context.actions?.point(line().key, event.shiftKey)}
        >
          <span class={s.number}>{line()[props.side] ?? ""}</span>
          <Sign row={line()} context={props.context} />
          <Code row={line()} context={props.context} />
        </div>
      )}
    </Show>
  );
}

/** The sign; under the pointer, and at the cursor, what begins a comment. */
function Sign(props: { row: LineRow; context: DiffContext }): JSX.Element {
  return (
    <span class={s.sign}>
      <span aria-hidden="true">{SIGN[props.row.kind]}</span>
      <span class="sr-only">{WORD[props.row.kind]}</span>
      <Show when={props.context.actions}>
        {(actions) => (
          <button
            type="button"
            class={s.say}
            tabindex={-1}
            aria-label={`Comment on line ${props.row.now ?? props.row.old ?? ""}`}
            title="Comment (c)"
            onMouseDown={(event) => event.stopPropagation()}
            onClick={() => actions().beginComment(props.row.key)}
          >
            <Icon name="plus" size={11} />
          </button>
        )}
      </Show>
    </span>
  );
}

function Code(props: { row: LineRow; context: DiffContext }): JSX.Element {
  const [all, setAll] = createSignal(false);
  return (
    <code class={`${s.code} selectable`}>
      <Show
        when={props.row.text.length <= LONGEST || all()}
        fallback={
          <>
            {props.row.text.slice(0, LONGEST)}
            <button type="button" class={s.more} onClick={() => setAll(true)}>
              {(props.row.text.length - LONGEST).toLocaleString()} more characters
            </button>
          </>
        }
      >
        <Line row={props.row} context={props.context} />
      </Show>
      <Show when={props.row.noNewline}>
        <span class={s.note}>no line end</span>
      </Show>
    </code>
  );
}

function Line(props: { row: LineRow; context: DiffContext }): JSX.Element {
  const words = createMemo((): Stretch[] => {
    const { row, context } = props;
    const other = row.partner === undefined ? undefined : context.hunks[row.hunk]?.lines[row.partner];
    if (!other) return [];
    const changed = row.kind === "removed" ? changedWords(row.text, other.text) : changedWords(other.text, row.text);
    return (row.kind === "removed" ? changed?.old : changed?.now) ?? [];
  });
  const pieces = createMemo(() => cutByWords(props.row.text, props.context.colours(props.row.hunk, props.row.at), words()));
  return (
    <Show when={!hasUnseen(props.row.text)} fallback={<Unseen text={props.row.text} />}>
      <For each={pieces()}>
        {(piece) =>
          piece.class !== undefined || piece.isChanged ? (
            <span class={piece.class} classList={{ [s.word ?? ""]: piece.isChanged }}>
              {piece.text}
            </span>
          ) : (
            piece.text
          )
        }
      </For>
    </Show>
  );
}
