// The diff of one file under review, drawn only where it is in sight.

import { Match, Show, Switch, createMemo, createResource, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { asRejected } from "../bridge";
import { Button, IconButton } from "../parts/Button";
import { Unseen } from "../parts/Unseen";
import { VirtualList, type ListHandle } from "../parts/VirtualList";
import { bytes } from "../parts/time";
import type { AgentView, ChangedFile } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { diffColours } from "./colours";
import { isImage, nothingToShow } from "./diff";
import { Images } from "./Images";
import { DiffLine, type DiffContext } from "./DiffLines";
import { useDragging } from "./drags";
import { createFileReview, type FileReview } from "./fileReview";
import s from "./Changes.module.css";

export function FileView(props: {
  session: SessionStore;
  agent: AgentView;
  file: ChangedFile;
  isSplit: boolean;
  /** Whoever hears keys for the whole panel. */
  bind: (review: FileReview) => void;
  onLeave: (by: 1 | -1) => void;
}): JSX.Element {
  const app = useApp();
  const dragging = useDragging();
  const [whole, setWhole] = createSignal<string>();
  let handle: ListHandle | undefined;

  // The hash changes when, and only when, the diff does.
  const source = createMemo(
    () => ({ agent: props.agent.id, path: props.file.path, hash: props.file.hash, whole: whole() === props.file.hash }),
    undefined,
    { equals: (a, b) => a.agent === b.agent && a.path === b.path && a.hash === b.hash && a.whole === b.whole },
  );
  const [diff, { refetch }] = createResource(source, ({ agent, path, whole: all }) => app.bridge.fileDiff(props.session.id, agent, path, all));
  const isCurrent = () => (diff.state === "ready" || diff.state === "refreshing") && diff.latest?.file.path === props.file.path;
  const shown = () => (isCurrent() ? diff.latest : undefined);
  const hunks = () => shown()?.hunks ?? [];
  const colours = createMemo(() => diffColours(hunks(), props.file.path));
  const review = createFileReview({
    app,
    dragging,
    session: props.session.id,
    agent: () => props.agent,
    file: () => props.file,
    diff: shown,
    isSplit: () => props.isSplit,
    show(key) {
      const at = keys().indexOf(key);
      if (!handle || at < 0) return;
      const top = handle.getItemOffset(at);
      const bottom = top + handle.getItemSize(at);
      const from = handle.scrollOffset;
      // A hunk comes with its lines; a single line only has to be in sight.
      if (key.startsWith("hunk:")) handle.scrollToIndex(at, { align: "start" });
      else if (top < from || bottom > from + handle.viewportSize) handle.scrollToIndex(at, { align: "center" });
    },
    leave: (by) => props.onLeave(by),
  });
  props.bind(review);
  const keys = createMemo(() => review.rows().map((row) => row.key));
  const byKey = createMemo(() => new Map(review.rows().map((row) => [row.key, row])));
  const context: DiffContext = {
    get hunks() {
      return hunks();
    },
    get colours() {
      return colours();
    },
    actions: review.actions,
  };

  return (
    <>
      <div class={s.fileHead} onPointerDown={(event) => dragging?.onPointerDown(event, { kind: "context", text: review.quote() }, props.file.path)}>
        <span class={s.filePath}>
          <Unseen text={props.file.path} />
        </span>
        <span class={s.nav}>
          <IconButton icon="message" label="Attach to the message (T)" onClick={() => app.propose({ text: review.quote(), send: false })} />
          <IconButton icon="up" label="Previous hunk (p)" onClick={() => review.toHunk(-1)} disabled={hunks().length < 2} />
          <IconButton icon="down" label="Next hunk (n)" onClick={() => review.toHunk(1)} disabled={hunks().length < 2} />
        </span>
        <Show
          when={review.fileRejection()}
          fallback={
            <span class={s.fileActs}>
              <IconButton icon="done" label="Accept file (A)" pressed={review.isFileAccepted()} onClick={() => review.acceptFile()} />
              <IconButton icon="failed" label="Reject file (X)" onClick={() => review.rejectFile()} />
              <IconButton icon="eye" label="File viewed (V)" pressed={review.isFileViewed()} onClick={() => review.viewFile()} />
            </span>
          }
        >
          {(rejection) => (
            <span class={s.fileRejected} role="status">
              {rejection().state.kind === "queued" ? "Goes at the end of the turn" : "Not taken out"}
              <Button kind="quiet" small onClick={() => review.actions.takeBack(rejection())}>
                {rejection().state.kind === "queued" ? "Keep it" : "Dismiss"}
              </Button>
            </span>
          )}
        </Show>
      </div>
      <div class={s.lines}>
        <Switch
          fallback={
            <VirtualList class={s.lines} keys={keys()} itemSize={19} handle={(next) => (handle = next)} label={`Diff of ${props.file.path}`}>
              {(key) => <Show when={byKey().get(key)}>{(row) => <DiffLine row={row()} context={context} />}</Show>}
            </VirtualList>
          }
        >
          <Match when={diff.state === "errored"}>
            <div class={s.note} role="alert">
              <p>{asRejected(diff.error).message}</p>
              <p>{asRejected(diff.error).hint}</p>
              <Button small onClick={() => void refetch()}>
                Try again
              </Button>
            </div>
          </Match>
          <Match when={!isCurrent()}>
            <p class={s.note}>Reading the diff…</p>
          </Match>
          <Match when={shown()?.too_large !== undefined && shown()?.hunks.length === 0}>
            <div class={s.note}>
              <p>This file is large ({bytes(shown()?.too_large ?? 0)}), so its diff was not read.</p>
              <Button small onClick={() => setWhole(props.file.hash)}>
                Load anyway
              </Button>
            </div>
          </Match>
          <Match when={shown() !== undefined && isImage(props.file.path) && (shown()?.file.binary ?? false)}>
            <Images session={props.session} agent={props.agent.id} file={props.file} />
          </Match>
          <Match when={shown() && nothingToShow(shown() ?? { file: props.file, hunks: [] })}>{(words) => <p class={s.note}>{words()}</p>}</Match>
        </Switch>
      </div>
    </>
  );
}
