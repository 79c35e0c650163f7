// Review: what differs in an agent's worktree, as a list of files and the diff of the one that is looked at.

import { For, Match, Show, Switch, createEffect, createMemo, createResource, createSignal, on, type JSX } from "solid-js";
import { hue } from "../agents/state";
import { asRejected } from "../bridge";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { VirtualList } from "../parts/VirtualList";
import { plural } from "../parts/time";
import type { AgentView, ChangedFile } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { useApp } from "../app/context";
import { Making } from "../worktree/Making";
import { isMaking } from "../worktree/words";
import { FileRow } from "./FileRow";
import { FileView } from "./FileView";
import type { FileReview } from "./fileReview";
import { Home } from "./Home";
import { NO_REVIEW, marksOf, takenOut } from "./marks";
import { RadarView } from "./Radar";
import { ReviewBar, TakenOut } from "./ReviewBar";
import s from "./Changes.module.css";

/** What is looked at first: not what a program wrote, nor what can't be read. */
const isWorthReading = (file: ChangedFile) => !file.binary && !file.labels.includes("generated") && file.added + file.removed < 5000;

export function Changes(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  const app = useApp();
  const source = () => ({
    agent: props.agent.id,
    version: props.session.changesVersion(props.agent.id),
    hasWorktree: props.agent.worktree !== undefined,
    isMaking: isMaking(props.agent),
  });
  const isPutAway = () => {
    const state = props.agent.worktree?.state;
    return state?.kind === "removed" && state.kept_as !== undefined;
  };
  const [summary, { refetch }] = createResource(
    () => (source().hasWorktree && !source().isMaking && !isPutAway() ? source() : undefined),
    ({ agent }) => app.bridge.changes(props.session.id, agent),
  );
  const [path, setPath] = createSignal<string>();
  // The list stays while it is read again; another agent's never shows.
  const [shownFor, setShownFor] = createSignal<string>();
  createEffect(
    on(
      () => props.agent.id,
      () => {
        setPath(undefined);
        setShownFor(undefined);
      },
    ),
  );
  createEffect(() => {
    if (summary.state === "ready") setShownFor(props.agent.id);
  });
  const latest = () => (summary.state === "ready" || summary.state === "refreshing" ? summary.latest : undefined);
  const files = () => (shownFor() === props.agent.id ? (latest()?.files ?? []) : []);
  const file = createMemo<ChangedFile | undefined>(() => {
    const wanted = path();
    const list = files();
    return list.find((candidate) => candidate.path === wanted) ?? list.find(isWorthReading) ?? list[0];
  });
  const move = (by: number) => {
    const list = files();
    const at = list.findIndex((candidate) => candidate.path === file()?.path);
    const next = list[Math.min(list.length - 1, Math.max(0, at + by))];
    if (next) setPath(next.path);
  };
  let review: FileReview | undefined;
  const widen = () => app.prefs.setReviewWide(!app.prefs.reviewWide());
  const split = () => app.prefs.setReviewSplit(!app.prefs.reviewSplit());
  const onKey = (event: KeyboardEvent): boolean => {
    if (event.key === "]") move(1);
    else if (event.key === "[") move(-1);
    else if (event.key === "d") split();
    else if (event.key === "w") widen();
    else if (event.key === "m" && files().length > 0) app.askMerge([props.agent.id]);
    else if (event.key === "s") void app.send({ type: "review", agent: props.agent.id, wish: { kind: "send_comments" } });
    else if (event.key === "u") {
      const last = takenOut(props.agent.review ?? NO_REVIEW)[0];
      if (last) void app.send({ type: "review", agent: props.agent.id, wish: { kind: "unreject", merge: last.merge } });
    } else return review?.key(event) ?? false;
    return true;
  };

  return (
    <div
      class={s.panel}
      role="region"
      aria-label="Changes"
      tabindex={-1}
      onKeyDown={(event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return;
        // What a dialog above this panel hears isn't meant for it.
        if (event.target instanceof Element && event.target.closest('[role="dialog"]')) return;
        if (onKey(event)) event.preventDefault();
      }}
    >
      <Switch
        fallback={
          <>
            <Head agent={props.agent} count={latest()?.count} />
            <Home session={props.session} agent={props.agent} hasChanges={files().length > 0} />
            <ReviewBar
              agent={props.agent}
              files={files()}
              isSplit={app.prefs.reviewSplit()}
              isWide={app.prefs.reviewWide()}
              onSplit={split}
              onWide={widen}
            />
            <TakenOut agent={props.agent} />
            <FileList agent={props.agent} files={files()} selected={file()?.path} onSelect={setPath} />
            <Show when={file()}>
              {(chosen) => (
                <FileView
                  session={props.session}
                  agent={props.agent}
                  file={chosen()}
                  isSplit={app.prefs.reviewSplit()}
                  bind={(bound) => (review = bound)}
                  onLeave={move}
                />
              )}
            </Show>
          </>
        }
      >
        <Match when={!source().hasWorktree}>
          <Empty
            title="No worktree of its own"
            text={`${props.agent.kind === "root" ? "The root" : "This agent"} works in the shared folder. What agents change in their own worktrees is reviewed here.`}
          />
          <RadarView session={props.session} />
          <Elsewhere session={props.session} />
        </Match>
        <Match when={source().isMaking}>
          <Making session={props.session} agent={props.agent} />
        </Match>
        <Match when={isPutAway()}>
          <Empty title="Put away" text="The worktree is gone from the disk; everything that was in it is kept in the repository." />
          <Home session={props.session} agent={props.agent} hasChanges={false} />
        </Match>
        <Match when={summary.state === "errored"}>
          <div class={s.empty} role="alert">
            <Icon name="alert" size={20} />
            <p class={s.emptyTitle}>The changes could not be read</p>
            <p>{asRejected(summary.error).message}</p>
            <p>The worktree is as it was. {asRejected(summary.error).hint}</p>
            <Button onClick={() => void refetch()}>Try again</Button>
          </div>
        </Match>
        <Match when={shownFor() !== props.agent.id}>
          <p class={s.reading}>Reading the changes…</p>
        </Match>
        <Match when={files().length === 0}>
          <Empty title="Nothing changed yet" text="What this agent changes in its worktree appears here: committed or not, tracked or not." />
          <TakenOut agent={props.agent} />
        </Match>
      </Switch>
    </div>
  );
}

function Head(props: { agent: AgentView; count: { files: number; added: number; removed: number } | undefined }): JSX.Element {
  return (
    <div class={s.head}>
      <Show when={props.count}>
        {(count) => (
          <span class={s.sum}>
            {plural(count().files, "file")}
            <span class={s.added}>+{count().added.toLocaleString()}</span>
            <span class={s.removed}>−{count().removed.toLocaleString()}</span>
          </span>
        )}
      </Show>
      <Show when={props.agent.worktree}>
        {(worktree) => (
          <span class={s.branch} title={`${worktree().branch}\n${worktree().path}`}>
            <Icon name="branch" size={12} />
            <span class="truncate">{worktree().branch}</span>
          </span>
        )}
      </Show>
    </div>
  );
}

function FileList(props: {
  agent: AgentView;
  files: ChangedFile[];
  selected: string | undefined;
  onSelect: (path: string) => void;
}): JSX.Element {
  const marks = createMemo(() => marksOf(props.agent.review ?? NO_REVIEW));
  const comments = createMemo(() => {
    const counts = new Map<string, number>();
    for (const { passage } of props.agent.review?.comments ?? []) counts.set(passage.path, (counts.get(passage.path) ?? 0) + 1);
    return counts;
  });
  const paths = createMemo(() => props.files.map((file) => file.path));
  const byPath = createMemo(() => new Map(props.files.map((file) => [file.path, file])));
  const row = (path: string) => (
    <Show when={byPath().get(path)}>
      {(file) => (
        <FileRow
          file={file()}
          isSelected={props.selected === path}
          onSelect={() => props.onSelect(path)}
          isAccepted={marks().isAccepted(file().hash)}
          isViewed={marks().isViewed(file().hash)}
          comments={comments().get(path) ?? 0}
        />
      )}
    </Show>
  );
  return (
    <Show when={paths().length > 80} fallback={<div class={s.files}><For each={paths()}>{row}</For></div>}>
      <VirtualList class={s.manyFiles} keys={paths()} itemSize={28} label="Changed files">
        {row}
      </VirtualList>
    </Show>
  );
}

/** The agents that have changes to review. */
function Elsewhere(props: { session: SessionStore }): JSX.Element {
  const app = useApp();
  const ids = createMemo(() => {
    const { order, agents } = props.session.state;
    return order.filter((id) => (agents[id]?.changes?.files ?? 0) > 0);
  });
  return (
    <Show when={ids().length > 0}>
      <div class={s.elsewhere}>
        <h3>Changes to review</h3>
        <For each={ids()}>
          {(id) => (
            <Show when={props.session.state.agents[id]}>
              {(agent) => (
                <button type="button" class={s.file} onClick={() => app.select(id)}>
                  <span style={{ color: hue(agent().color) }}>
                    <Icon name={agent().kind} size={14} />
                  </span>
                  <span class={s.name}>
                    <span class={s.base}>{agent().title}</span>
                    <span class={s.folder}>{plural(agent().changes?.files ?? 0, "file")}</span>
                  </span>
                  <span class={s.counts}>
                    <span class={s.added}>+{(agent().changes?.added ?? 0).toLocaleString()}</span>
                    <span class={s.removed}>−{(agent().changes?.removed ?? 0).toLocaleString()}</span>
                  </span>
                </button>
              )}
            </Show>
          )}
        </For>
      </div>
    </Show>
  );
}

function Empty(props: { title: string; text: string }): JSX.Element {
  return (
    <div class={s.empty}>
      <Icon name="branch" size={20} />
      <p class={s.emptyTitle}>{props.title}</p>
      <p>{props.text}</p>
    </div>
  );
}
