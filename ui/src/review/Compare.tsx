// The same file in up to four forks beside each other, each against what it started from; hunks are picked across them.

import { For, Show, createMemo, createResource, createSignal, type JSX } from "solid-js";
import { hue, titleOf } from "../agents/state";
import { useApp } from "../app/context";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Icon } from "../parts/Icon";
import type { AgentId, AgentView, ChangedFile } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import type { FileReview } from "./fileReview";
import { FileView } from "./FileView";
import { acceptedOf } from "./merge";
import { comingHome } from "./radar";
import s from "./Compare.module.css";

const MOST = 4;

export function CompareDialog(props: { session: SessionStore }): JSX.Element {
  const app = useApp();
  return (
    <Dialog open={app.comparing() !== undefined} onClose={() => app.askCompare(undefined)} title="Compare forks" wide>
      <Show when={app.comparing()}>
        <Compare session={props.session} />
      </Show>
    </Dialog>
  );
}

function Compare(props: { session: SessionStore }): JSX.Element {
  const app = useApp();
  const chosen = createMemo(() => (app.comparing() ?? []).flatMap((id) => props.session.state.agents[id] ?? []));
  const others = () => comingHome(props.session.state).filter((id) => !app.comparing()?.includes(id));
  const [path, setPath] = createSignal<string>();
  const [lists] = createResource(
    () => chosen().map((agent) => ({ id: agent.id, version: props.session.changesVersion(agent.id) })),
    async (wanted) => new Map(await Promise.all(wanted.map(async ({ id }) => [id, (await app.bridge.changes(props.session.id, id)).files] as const))),
  );
  const filesOf = (id: AgentId) => lists.latest?.get(id) ?? [];
  /** Files that several changed come first: there is something to compare. */
  const paths = createMemo(() => {
    const counts = new Map<string, number>();
    for (const agent of chosen()) for (const file of filesOf(agent.id)) counts.set(file.path, (counts.get(file.path) ?? 0) + 1);
    return [...counts].sort(([a, n], [b, m]) => m - n || a.localeCompare(b)).map(([name, count]) => ({ name, count }));
  });
  const current = () => paths().find((entry) => entry.name === path())?.name ?? paths()[0]?.name;
  const move = (by: number) => {
    const at = paths().findIndex((entry) => entry.name === current());
    const next = paths()[Math.min(paths().length - 1, Math.max(0, at + by))];
    if (next) setPath(next.name);
  };
  const remove = (id: AgentId) => app.askCompare((app.comparing() ?? []).filter((other) => other !== id));
  const accepted = () => chosen().reduce((sum, agent) => sum + acceptedOf(agent), 0);
  const merge = () => {
    const ids = chosen().flatMap((agent) => (acceptedOf(agent) > 0 ? [agent.id] : []));
    app.askCompare(undefined);
    // A dialog that closes gives the focus back; one that opens in the same moment would lose it and close, too.
    setTimeout(() => app.askMerge(ids));
  };
  return (
    <div class={s.compare} data-needs="screen">
      <div class={s.bar}>
        <label class={s.file}>
          <span class="sr-only">File</span>
          <select aria-label="File" value={current() ?? ""} onChange={(event) => setPath(event.currentTarget.value)}>
            <For each={paths()}>{(entry) => <option value={entry.name}>{entry.count > 1 ? `${entry.name} (${entry.count} forks)` : entry.name}</option>}</For>
          </select>
        </label>
        <Show when={chosen().length < MOST && others().length > 0}>
          <label class={s.file}>
            <span class="sr-only">Add a fork</span>
            <select
              aria-label="Add a fork"
              value=""
              onChange={(event) => {
                app.askCompare([...(app.comparing() ?? []), event.currentTarget.value]);
                event.currentTarget.value = "";
              }}
            >
              <option value="">Add a fork…</option>
              <For each={others()}>{(id) => <option value={id}>{props.session.state.agents[id]?.title ?? id}</option>}</For>
            </select>
          </label>
        </Show>
        <span class={s.gap} />
        <Button kind="primary" disabled={accepted() === 0} onClick={merge}>
          Apply accepted…
        </Button>
      </div>
      <div class={s.columns} style={{ "--columns": chosen().length }}>
        <For each={chosen()}>
          {(agent) => (
            <Column
              session={props.session}
              agent={agent}
              file={filesOf(agent.id).find((file) => file.path === current())}
              path={current()}
              onRemove={() => remove(agent.id)}
              onLeave={move}
            />
          )}
        </For>
      </div>
    </div>
  );
}

function Column(props: {
  session: SessionStore;
  agent: AgentView;
  file: ChangedFile | undefined;
  path: string | undefined;
  onRemove: () => void;
  onLeave: (by: 1 | -1) => void;
}): JSX.Element {
  let review: FileReview | undefined;
  return (
    <section
      class={s.column}
      aria-label={`Changes of ${props.agent.title}`}
      tabindex={0}
      onKeyDown={(event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (event.target instanceof HTMLTextAreaElement) return;
        if (review?.key(event)) event.preventDefault();
      }}
    >
      <header class={s.who}>
        <span style={{ color: hue(props.agent.color) }}>
          <Icon name={props.agent.kind} size={14} />
        </span>
        <strong>{titleOf(props.session.state, props.agent)}</strong>
        <Show when={acceptedOf(props.agent) > 0}>
          <span class={s.accepted}>{acceptedOf(props.agent)} accepted</span>
        </Show>
        <Button kind="quiet" small onClick={() => props.onRemove()}>
          Remove
        </Button>
      </header>
      <Show when={props.file} fallback={<p class={s.none}>{props.path === undefined ? "Nothing changed." : "This fork left the file as it was."}</p>}>
        {(file) => (
          <FileView session={props.session} agent={props.agent} file={file()} isSplit={false} bind={(bound) => (review = bound)} onLeave={props.onLeave} />
        )}
      </Show>
    </section>
  );
}
