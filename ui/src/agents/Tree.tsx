// The tree of a session's agents. One row is in the tab order; arrows move, Enter and click select.

import { For, Show, createMemo, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { hitRate, inWords, shown, sumOf, within } from "../costs/money";
import { prompt } from "../costs/usage";
import { Icon } from "../parts/Icon";
import { amount, clockSpan, plural, useNow } from "../parts/time";
import type { AgentId, AgentView, ShellView } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { StateMark } from "./StateMark";
import { activityOf, KIND_WORD, elapsed, faceOfState, hue, isAtWork, titleOf } from "./state";
import { rollUp, treeKey, treeNodes, type TreeNode } from "./tree";
import s from "./Tree.module.css";

export function Tree(props: { session: SessionStore; filter: string }): JSX.Element {
  const app = useApp();
  const [collapsed, setCollapsed] = createSignal<ReadonlySet<AgentId>>(new Set());
  const [focused, setFocused] = createSignal<AgentId>();
  let list: HTMLDivElement | undefined;

  const nodes = createMemo(() =>
    treeNodes(props.session.state, {
      filter: props.filter,
      hideFinished: app.prefs.hideFinished(),
      collapsed: collapsed(),
      selected: app.selected(),
    }),
  );
  const byId = createMemo(() => new Map(nodes().map((node) => [node.id, node])));
  const ids = createMemo(() => nodes().map((node) => node.id));
  const tabStop = () => {
    const id = focused() ?? app.selected();
    return id !== undefined && byId().has(id) ? id : ids()[0];
  };

  const toggle = (id: AgentId, open: boolean) =>
    setCollapsed((before) => {
      const next = new Set(before);
      if (open) next.delete(id);
      else next.add(id);
      return next;
    });

  /** Agents are looked at; of a shell command, its agent's tasks. */
  const choose = (id: string) => {
    const shell = props.session.state.shells.find((candidate) => candidate.id === id);
    app.select(shell ? shell.agent : id);
    if (!shell) return;
    app.setTab("tasks");
    app.prefs.setRightOpen(true);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const id = tabStop();
    if (id === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      choose(id);
      event.preventDefault();
      return;
    }
    const move = treeKey(event.key, nodes(), id, collapsed());
    if (!move) return;
    event.preventDefault();
    if ("toggle" in move) toggle(move.toggle, move.open);
    else {
      setFocused(move.focus);
      const rows = list?.querySelectorAll<HTMLElement>("[data-agent]") ?? [];
      [...rows].find((row) => row.dataset["agent"] === move.focus)?.focus();
    }
  };

  return (
    <div ref={list} role="tree" aria-label="Agents of this session" class={s.tree} onKeyDown={onKeyDown}>
      <For each={ids()}>
        {(id) => (
          <Show
            when={props.session.state.agents[id]}
            fallback={
              <Show when={props.session.state.shells.find((shell) => shell.id === id)}>
                {(shell) => (
                  <ShellRow
                    shell={shell()}
                    node={byId().get(id)}
                    isTabStop={tabStop() === id}
                    onFocus={() => setFocused(id)}
                    onSelect={() => choose(id)}
                  />
                )}
              </Show>
            }
          >
            {(agent) => (
              <Row
                agent={agent()}
                node={byId().get(id)}
                session={props.session}
                isSelected={app.selected() === id}
                isTabStop={tabStop() === id}
                isOpen={!collapsed().has(id)}
                onToggle={(open) => toggle(id, open)}
                onFocus={() => setFocused(id)}
                onSelect={() => app.select(id)}
              />
            )}
          </Show>
        )}
      </For>
      <Show when={ids().length === 0}>
        <p class={s.none}>No agent matches “{props.filter}”.</p>
      </Show>
    </div>
  );
}

interface RowProps {
  agent: AgentView;
  node: TreeNode | undefined;
  session: SessionStore;
  isSelected: boolean;
  isTabStop: boolean;
  isOpen: boolean;
  onToggle: (open: boolean) => void;
  onFocus: () => void;
  onSelect: () => void;
}

function Row(props: RowProps): JSX.Element {
  const app = useApp();
  const face = () => faceOfState(props.agent.state);
  const title = () => titleOf(props.session.state, props.agent);
  const level = () => props.node?.level ?? 1;
  const requests = createMemo(
    () => props.session.state.requests.filter((request) => request.asker.at(-1)?.agent === props.agent.id).length,
  );
  const below = createMemo(() => rollUp(props.session.state, props.agent.id));
  const isFolded = () => props.node?.hasChildren === true && !props.isOpen;
  const files = () => (isFolded() ? below().files : 0) + (props.agent.changes?.files ?? 0);
  const waiting = () => requests() + (isFolded() ? below().waiting : 0);
  const isWriting = () => props.agent.state.kind === "running" && props.session.live(props.agent.id) !== undefined;
  const activity = createMemo(() => activityOf(props.agent));
  const line = () => (isWriting() ? "Writing…" : activity().short);

  return (
    <div
      role="treeitem"
      data-agent={props.agent.id}
      class={s.row}
      aria-level={level()}
      aria-posinset={props.node?.position ?? 1}
      aria-setsize={props.node?.siblings ?? 1}
      aria-selected={props.isSelected}
      {...(props.node?.hasChildren ? { "aria-expanded": props.isOpen } : {})}
      aria-label={`${KIND_WORD[props.agent.kind]}: ${title()}, ${face().word}`}
      tabindex={props.isTabStop ? 0 : -1}
      style={{ "padding-left": `${((level() - 1) * 14 + 4) / 16}rem`, "--level": level() }}
      onClick={() => props.onSelect()}
      onFocus={() => props.onFocus()}
    >
      <button
        type="button"
        class={s.fold}
        tabindex={-1}
        aria-hidden="true"
        data-open={props.isOpen}
        data-shown={props.node?.hasChildren === true}
        onClick={(event) => {
          event.stopPropagation();
          props.onToggle(!props.isOpen);
        }}
      >
        <Icon name="chevron" size={12} />
      </button>
      <span class={s.kind} style={{ color: hue(props.agent.color) }} title={props.agent.role ?? KIND_WORD[props.agent.kind]}>
        <Icon name={props.agent.kind} size={15} />
      </span>
      <span class={s.body}>
        <span class={s.first}>
          <span class={s.title} title={title()}>
            {title()}
          </span>
          <Show when={waiting() > 0}>
            <button
              type="button"
              class={s.asks}
              tabindex={-1}
              title={`${plural(waiting(), "request waits", "requests wait")} for you`}
              onClick={() => app.showRequests()}
            >
              {waiting()}
              <span class="sr-only"> waiting for you</span>
            </button>
          </Show>
          <Show when={files() > 0}>
            <span class={s.files} title={`${plural(files(), "changed file")}`}>
              <Icon name="file" size={11} />
              {files()}
            </span>
          </Show>
          <StateMark state={props.agent.state} />
        </span>
        <span class={s.second}>
          <span class={s.word} data-tone={face().tone}>
            {face().word}
          </span>
          <span class={s.line} title={isWriting() ? undefined : activity().full}>
            {line()}
          </span>
          <Figures agent={props.agent} counted={isFolded() ? within(props.session.state, props.agent.id) : [props.agent]} />
        </span>
      </span>
    </div>
  );
}

function ShellRow(props: { shell: ShellView; node: TreeNode | undefined; isTabStop: boolean; onFocus: () => void; onSelect: () => void }): JSX.Element {
  const level = () => props.node?.level ?? 2;
  const now = useNow();
  return (
    <div
      role="treeitem"
      data-agent={props.shell.id}
      class={s.row}
      aria-level={level()}
      aria-posinset={props.node?.position ?? 1}
      aria-setsize={props.node?.siblings ?? 1}
      aria-selected="false"
      aria-label={`Command: ${props.shell.command}, Running`}
      tabindex={props.isTabStop ? 0 : -1}
      style={{ "padding-left": `${((level() - 1) * 14 + 4) / 16}rem`, "--level": level() }}
      onClick={() => props.onSelect()}
      onFocus={() => props.onFocus()}
    >
      <span class={s.fold} aria-hidden="true" />
      <span class={s.kind} title="Command in the background">
        <Icon name="command" size={14} />
      </span>
      <span class={`${s.body} ${s.first}`}>
        <code class={s.command} title={props.shell.command}>
          {props.shell.command}
        </code>
        <span class={s.figures}>{clockSpan(now() - Date.parse(props.shell.started_at))}</span>
        <StateMark state={{ kind: "running" }} />
      </span>
    </div>
  );
}

/** What stands at a folded row is about all below it, too. */
function Figures(props: { agent: AgentView; counted: readonly AgentView[] }): JSX.Element {
  const app = useApp();
  const sum = createMemo(() => sumOf(props.counted, app.prices()));
  const all = () => prompt(sum().usage) + sum().usage.output;
  return (
    <span class={s.figures}>
      <Show when={isAtWork(props.agent.state)} fallback={<Elapsed agent={props.agent} now={0} />}>
        <Ticking agent={props.agent} />
      </Show>
      <Show when={all() > 0}>
        <span class={s.cost} title={inWords(sum())}>
          <span>{amount(all())}</span>
          <Show when={hitRate(sum().usage) ?? 0}>{(rate) => <span class={s.rate}>{rate()} %</span>}</Show>
          <Show when={sum().cost.picodollars > 0 || sum().cost.unknown > 0}>
            <span data-missed={sum().misses > 0}>{sum().cost.picodollars > 0 ? shown(sum().cost) : "$?"}</span>
          </Show>
        </span>
      </Show>
    </span>
  );
}

function Ticking(props: { agent: AgentView }): JSX.Element {
  const now = useNow();
  return <Elapsed agent={props.agent} now={now()} />;
}

function Elapsed(props: { agent: AgentView; now: number }): JSX.Element {
  return <Show when={elapsed(props.agent, props.now)}>{(ms) => <span title="Time of the last turn">{clockSpan(ms())}</span>}</Show>;
}
