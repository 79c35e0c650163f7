// The studio in the window: over the conversation, beside the tree and above the composer, so that a role can be dropped
// on either.

import { Show, createSignal, onCleanup, onMount, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { Button, IconButton } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Board } from "./Board";
import { Compare } from "./Compare";
import { EditorView } from "./EditorView";
import { StartDialog } from "./StartDialog";
import s from "./RoleStudio.module.css";

/** How often the disk is looked at while the studio is in sight, in milliseconds. */
const LOOK = 1000;

export function RoleStudio(): JSX.Element {
  const app = useApp();
  const { studio } = app;
  const [below, setBelow] = createSignal(0);
  let place: HTMLElement | undefined;

  onMount(() => {
    void studio.look();
    const timer = setInterval(() => {
      if (!document.hidden) void studio.look();
    }, LOOK);
    onCleanup(() => clearInterval(timer));

    // The composer stays in sight under the board.
    const composer = document.querySelector('[aria-label="Message"]')?.parentElement;
    if (!composer || typeof ResizeObserver === "undefined") return;
    const measure = () => {
      const middle = place?.parentElement?.getBoundingClientRect();
      if (middle) setBelow(Math.max(0, Math.round(middle.bottom - composer.getBoundingClientRect().top + 6)));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(composer);
    if (place?.parentElement) observer.observe(place.parentElement);
    onCleanup(() => observer.disconnect());
    measure();
  });

  const close = () => studio.leave(() => studio.setOpen(false));

  return (
    <section ref={place} class={s.studio} aria-label="Roles" style={{ bottom: `${studio.editor() ? 0 : below()}px` }}>
      <Show when={studio.editor()} keyed fallback={<Board onClose={close} />}>
        {(editor) => <EditorView editor={editor} />}
      </Show>
      <Show when={!studio.editor() && studio.done()}>
        {(done) => (
          <div class={s.done}>
            <span>{done().words}</span>
            <Button small onClick={() => void studio.undoDone()}>
              Undo
            </Button>
            <IconButton icon="close" label="Dismiss" onClick={() => studio.dismissDone()} />
          </div>
        )}
      </Show>
      <div class="sr-only" role="status" aria-live="assertive" aria-atomic="true">
        {studio.words()}
      </div>
      <Dialog open={studio.leaving() !== undefined} onClose={() => studio.stay()} title="Unsaved changes">
        <div class={s.question}>
          <p>This role has changes that are not saved.</p>
          <div class={s.answers}>
            <Button kind="quiet" onClick={() => studio.stay()}>
              Keep editing
            </Button>
            <Button onClick={() => studio.discard()}>Discard changes</Button>
            <Button
              kind="primary"
              onClick={() => {
                const go = studio.leaving();
                void studio.editor()?.save().then((saved) => (saved ? go?.() : studio.stay()));
              }}
            >
              Save
            </Button>
          </div>
        </div>
      </Dialog>
      <StartDialog />
      <Compare />
    </section>
  );
}
