// The line above a hunk: where it is, how it stands, and what can be done with it.

import { Show, type JSX } from "solid-js";
import { Icon } from "../parts/Icon";
import type { HunkRow } from "./diff";
import type { HunkActions } from "./actions";
import s from "./Diff.module.css";

export function HunkHead(props: { row: HunkRow; actions: HunkActions | undefined; isCurrent: boolean }): JSX.Element {
  const state = () => props.actions?.stateOf(props.row.hunk);
  return (
    <div
      class={s.hunk}
      data-hunk={props.row.hunk}
      data-current={props.isCurrent}
      data-state={state()?.rejection ? "rejected" : state()?.isAccepted ? "accepted" : undefined}
      onMouseDown={() => props.actions?.point(props.row.key)}
      onPointerDown={(event) => props.actions?.drag(props.row.hunk, event)}
    >
      <Show when={props.actions && state()}>
        <button
          type="button"
          class={s.fold}
          tabindex={-1}
          data-open={props.row.folded === 0}
          aria-label={props.row.folded === 0 ? "Fold the hunk" : "Unfold the hunk"}
          onClick={() => props.actions?.fold(props.row.hunk)}
        >
          <Icon name="chevron" size={12} />
        </button>
      </Show>
      <span class={s.range}>{props.row.range}</span>
      <span class={s.heading}>{props.row.heading}</span>
      <Show when={props.row.folded > 0}>
        <span class={s.foldedNote}>{props.row.folded} lines</span>
      </Show>
      <Show when={props.actions && state()}>
        {(now) => (
          <span class={s.acts}>
            <Show
              when={now().rejection}
              fallback={
                <>
                  <Act icon="done" label="Accept hunk" keys="a" pressed={now().isAccepted} tone="good" onClick={() => props.actions?.accept(props.row.hunk)} />
                  <Act icon="failed" label="Reject hunk" keys="x" tone="bad" onClick={() => props.actions?.reject(props.row.hunk)} />
                  <Act icon="message" label="Attach hunk to the message" keys="t" onClick={() => props.actions?.attach(props.row.hunk)} />
                  <Act icon="eye" label="Hunk viewed" keys="v" pressed={now().isViewed} onClick={() => props.actions?.view(props.row.hunk)} />
                </>
              }
            >
              {(rejection) => (
                <span class={s.rejected} role="status">
                  {rejection().state.kind === "queued" ? "Goes at the end of the turn" : "Not taken out"}
                  <button type="button" class={s.takeBack} onClick={() => props.actions?.takeBack(rejection())}>
                    {rejection().state.kind === "queued" ? "Keep it" : "Dismiss"}
                  </button>
                </span>
              )}
            </Show>
          </span>
        )}
      </Show>
    </div>
  );
}

function Act(props: { icon: "done" | "failed" | "eye" | "message"; label: string; keys: string; pressed?: boolean; tone?: "good" | "bad"; onClick: () => void }): JSX.Element {
  return (
    <button
      type="button"
      class={s.act}
      data-tone={props.tone}
      aria-label={props.label}
      title={`${props.label} (${props.keys})`}
      {...(props.pressed === undefined ? {} : { "aria-pressed": props.pressed })}
      onClick={() => props.onClick()}
    >
      <Icon name={props.icon} size={13} />
    </button>
  );
}
