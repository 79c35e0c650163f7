// The file of an open role changed on disk: both sides are there, and nothing is written before a person chose.

import { Show, type JSX } from "solid-js";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import type { Conflict, Editor } from "./editor";
import s from "./EditorView.module.css";

export function ConflictBar(props: { editor: Editor; conflict: Conflict; showsTheirs: boolean; onShow: (shows: boolean) => void }): JSX.Element {
  const canMerge = () => props.editor.fields() !== undefined && props.conflict.now?.fields !== undefined;
  return (
    <div class={s.conflict} role="alert">
      <Icon name="alert" size={15} />
      <div class={s.words}>
        <Show
          when={props.conflict.now}
          fallback={
            <>
              <strong>The file was deleted.</strong> What you have here is kept; saving writes a new file.
            </>
          }
        >
          <strong>The file was changed on disk.</strong> Nothing of yours is lost, and nothing of theirs is overwritten.
          <Show when={props.conflict.theirs.length > 0}> They changed: {props.conflict.theirs.join(", ")}.</Show>
        </Show>
      </div>
      <Show when={props.conflict.now}>
        <Button small kind="quiet" aria-pressed={props.showsTheirs} onClick={() => props.onShow(!props.showsTheirs)}>
          {props.showsTheirs ? "Show mine" : "Show theirs"}
        </Button>
        <Button
          small
          onClick={() => {
            props.onShow(false);
            props.editor.takeTheirs();
          }}
          title="Your version stays one undo away"
        >
          Take theirs
        </Button>
        <Button
          small
          kind="primary"
          onClick={() => {
            props.onShow(false);
            props.editor.keepMine();
          }}
        >
          {canMerge() ? "Put mine on top of theirs" : "Keep mine"}
        </Button>
      </Show>
    </div>
  );
}
