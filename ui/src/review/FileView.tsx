// The diff of one file, drawn only where it is in sight.

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
import { diffRows, nothingToShow } from "./diff";
import { DiffLine } from "./DiffLines";
import s from "./Changes.module.css";

export function FileView(props: { session: SessionStore; agent: AgentView; file: ChangedFile }): JSX.Element {
  const app = useApp();
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
  const rows = createMemo(() => diffRows(shown()?.hunks ?? []));
  const keys = createMemo(() => rows().map((row) => row.key));
  const byKey = createMemo(() => new Map(rows().map((row) => [row.key, row])));
  const colours = createMemo(() => diffColours(shown()?.hunks ?? [], props.file.path));

  const jump = (by: 1 | -1) => {
    if (!handle) return;
    const top = handle.findItemIndex(handle.scrollOffset + 2);
    const hunks = rows().flatMap((row, at) => (row.type === "hunk" ? [at] : []));
    const target = by === 1 ? hunks.find((at) => at > top) : hunks.findLast((at) => at < top);
    if (target !== undefined) handle.scrollToIndex(target, { align: "start" });
  };

  return (
    <>
      <div class={s.fileHead}>
        <span class={s.filePath}>
          <Unseen text={props.file.path} />
        </span>
        <span class={s.nav}>
          <IconButton icon="up" label="Previous hunk (p)" onClick={() => jump(-1)} disabled={(shown()?.hunks.length ?? 0) < 2} />
          <IconButton icon="down" label="Next hunk (n)" onClick={() => jump(1)} disabled={(shown()?.hunks.length ?? 0) < 2} />
        </span>
      </div>
      <div
        class={s.lines}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          if (event.key === "n") jump(1);
          else if (event.key === "p") jump(-1);
        }}
      >
        <Switch
          fallback={
            <VirtualList class={s.lines} keys={keys()} itemSize={19} handle={(next) => (handle = next)} label={`Diff of ${props.file.path}`}>
              {(key) => <Show when={byKey().get(key)}>{(row) => <DiffLine row={row()} colours={colours()} />}</Show>}
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
          <Match when={shown() && nothingToShow(shown() ?? { file: props.file, hunks: [] })}>{(words) => <p class={s.note}>{words()}</p>}</Match>
        </Switch>
      </div>
    </>
  );
}
