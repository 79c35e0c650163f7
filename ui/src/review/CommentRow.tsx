// Comments in a diff: those that were made, and the one that is being written.

import { Show, createSignal, onMount, type JSX } from "solid-js";
import { isComposing } from "../composer/commands";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Unseen } from "../parts/Unseen";
import type { Passage } from "../protocol.gen";
import type { HunkActions } from "./actions";
import type { CommentRow as Row, DraftRow } from "./diff";
import s from "./Comments.module.css";

export function linesInWords(passage: Passage): string {
  const lines = passage.first === passage.last ? `Line ${passage.first}` : `Lines ${passage.first}–${passage.last}`;
  return passage.side === "base" ? `${lines} before` : lines;
}

export function CommentRow(props: { row: Row; actions: HunkActions | undefined }): JSX.Element {
  const comment = () => props.row.comment;
  const [isEditing, setEditing] = createSignal(false);
  return (
    <article class={s.comment} aria-label={`Comment on ${linesInWords(comment().passage).toLowerCase()}`} data-sent={comment().sent !== undefined}>
      <Show when={props.row.isLoose}>
        <p class={s.quoted}>
          <span class={s.where}>{linesInWords(comment().passage)}, not shown any more</span>
          <code>
            <Unseen text={comment().passage.quoted} />
          </code>
        </p>
      </Show>
      <Show
        when={isEditing()}
        fallback={
          <>
            <p class={`${s.text} selectable`}>
              <Unseen text={comment().text} />
            </p>
            <footer class={s.foot}>
              <Show when={comment().sent === undefined} fallback={<span class={s.state}><Icon name="done" size={11} /> Sent</span>}>
                <span class={s.state}>Not sent yet</span>
                <Button kind="quiet" small onClick={() => setEditing(true)}>
                  Edit
                </Button>
                <Button kind="quiet" small onClick={() => props.actions?.editComment(comment(), "")}>
                  Delete
                </Button>
              </Show>
            </footer>
          </>
        }
      >
        <Editor
          label="Edit the comment"
          text={comment().text}
          save="Save"
          onSave={(text) => {
            props.actions?.editComment(comment(), text);
            setEditing(false);
          }}
          onCancel={() => setEditing(false)}
        />
      </Show>
    </article>
  );
}

export function Draft(props: { row: DraftRow; actions: HunkActions | undefined }): JSX.Element {
  return (
    <div class={s.comment} data-draft="true">
      <Editor
        label={`Comment on ${linesInWords(props.row.passage).toLowerCase()}`}
        text={props.actions?.draftText() ?? ""}
        save="Add comment"
        onInput={(text) => props.actions?.setDraftText(text)}
        onSave={(text) => props.actions?.saveComment(props.row.passage, text)}
        onCancel={() => props.actions?.cancelComment()}
      />
    </div>
  );
}

function Editor(props: {
  label: string;
  text: string;
  save: string;
  onInput?: (text: string) => void;
  onSave: (text: string) => void;
  onCancel: () => void;
}): JSX.Element {
  let field: HTMLTextAreaElement | undefined;
  const [isEmpty, setEmpty] = createSignal(props.text.trim() === "");
  const grow = () => {
    if (!field) return;
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 320)}px`;
  };
  onMount(() => {
    grow();
    field?.focus({ preventScroll: true });
  });
  const save = () => {
    const text = field?.value.trim() ?? "";
    if (text !== "") props.onSave(text);
  };
  return (
    <>
      <textarea
        ref={field}
        class={s.field}
        rows={2}
        aria-label={props.label}
        placeholder="What should be different here?"
        value={props.text}
        onInput={(event) => {
          setEmpty(event.currentTarget.value.trim() === "");
          props.onInput?.(event.currentTarget.value);
          grow();
        }}
        onKeyDown={(event) => {
          if (isComposing(event)) return;
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
          else if (event.key === "Escape") props.onCancel();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <footer class={s.foot}>
        <span class={s.state}>Kept until you send your comments</span>
        <Button kind="quiet" small onClick={() => props.onCancel()}>
          Cancel
        </Button>
        <Button small disabled={isEmpty()} title="Ctrl+Enter" onClick={save}>
          {props.save}
        </Button>
      </footer>
    </>
  );
}

