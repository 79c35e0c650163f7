// What stands above a conversation: the path from the root, the agent's state, what can be done with it, and for a
// child, what it is.

import { For, Show, createMemo, type JSX } from "solid-js";
import { StateMark } from "../agents/StateMark";
import { movable, sendToBackground } from "../agents/handOver";
import { KIND_WORD, elapsed, hue, isAtWork, isFinished, pathTo, titleOf } from "../agents/state";
import { useApp } from "../app/context";
import { inWords, shown, sumOf, within } from "../costs/money";
import { IconButton } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Menu, type MenuEntry } from "../parts/Menu";
import { clockSpan, useNow } from "../parts/time";
import type { AgentView, PermissionMode } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { conversationAsMarkdown } from "./markdown";
import s from "./AgentBar.module.css";

const MODES: { mode: PermissionMode; label: string; note: string }[] = [
  { mode: "default", label: "Ask", note: "What no rule covers is asked for" },
  { mode: "accept-edits", label: "Accept edits", note: "Edits inside the folder run, commands are asked for" },
  { mode: "plan", label: "Plan", note: "Reads only; changes nothing" },
  { mode: "dont-ask", label: "Don't ask", note: "What no rule allows is denied" },
  { mode: "bypass", label: "Bypass", note: "Everything runs unless a rule denies it" },
];

export function AgentBar(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  const app = useApp();
  const path = () => pathTo(props.session.state, props.agent.id);
  const parent = () => path().at(-2);
  const all = createMemo(() => sumOf(within(props.session.state, props.agent.id), app.prices()));
  const showCosts = () => {
    app.setTab("costs");
    app.prefs.setRightOpen(true);
  };
  const mode = () => (props.agent.kind === "root" ? props.session.state.mode : props.agent.mode);
  const modeLabel = () => MODES.find((entry) => entry.mode === mode())?.label ?? mode();

  return (
    <>
      <header class={s.bar}>
        <Show when={!app.prefs.leftOpen()}>
          <IconButton icon="sidebar" label="Show agents" onClick={() => app.prefs.setLeftOpen(true)} />
        </Show>
        <nav class={s.path} aria-label="Path from the root">
          <ol>
            <For each={path()}>
              {(agent, at) => (
                <li>
                  <Show when={at() > 0}>
                    <Icon name="chevron" size={12} class={s.step} />
                  </Show>
                  <button
                    type="button"
                    class={s.crumb}
                    aria-current={agent.id === props.agent.id ? "page" : undefined}
                    onClick={() => app.select(agent.id)}
                    title={titleOf(props.session.state, agent)}
                  >
                    {titleOf(props.session.state, agent)}
                  </button>
                </li>
              )}
            </For>
          </ol>
        </nav>
        <span class={s.state}>
          <StateMark state={props.agent.state} word />
          <Show when={isAtWork(props.agent.state)}>
            <Running agent={props.agent} />
          </Show>
        </span>
        <Show when={shown(all().cost)}>
          {(money) => (
            <button type="button" class={s.cost} title={`${inWords(all())}\n\nShow the costs`} aria-label={`Costs: ${money()}`} onClick={showCosts}>
              {money()}
            </button>
          )}
        </Show>
        <Menu
          label="Permission mode"
          class={s.mode}
          entries={MODES.map((entry) => ({
            label: entry.label,
            note: entry.note,
            checked: entry.mode === mode(),
            disabled: props.agent.kind !== "root",
            onSelect: () => void app.send({ type: "set_mode", mode: entry.mode }),
          }))}
        >
          <Icon name="shield" size={14} />
          <span class={s.modeWord} data-loud={mode() === "bypass"}>
            {modeLabel()}
          </span>
        </Menu>
        <Menu label="Agent actions" entries={actions(props, app)} />
        <Show when={!app.prefs.rightOpen()}>
          <IconButton icon="inspector" label="Show inspector" onClick={() => app.prefs.setRightOpen(true)} />
        </Show>
      </header>
      <Show when={props.agent.kind !== "root"}>
        <div class={s.child}>
          <span class={s.kind} style={{ color: hue(props.agent.color) }}>
            <Icon name={props.agent.kind} size={14} />
          </span>
          <span class={s.about}>
            <span class={s.looking} title={props.agent.title}>
              You are looking at a {KIND_WORD[props.agent.kind].toLowerCase()}: <em>{props.agent.title}</em>
            </span>
            <Show when={props.agent.role}>
              {(role) => (
                <span class={s.fact} title={`Role: ${role()}, model: ${props.agent.model}`}>
                  <span class="truncate">{role()}</span>
                </span>
              )}
            </Show>
            <Show when={props.agent.worktree} fallback={<span class={s.fact} title="In the shared folder, not in a worktree of its own"><span class="truncate">in the shared folder</span></span>}>
              {(worktree) => (
                <span class={s.fact} title={`${worktree().branch}\n${worktree().path}\nbase ${worktree().base.slice(0, 10)}${worktree().base_is_snapshot ? " (a snapshot of uncommitted work)" : ""}`}>
                  <Icon name="branch" size={12} />
                  <span class={`${s.branch} truncate`}>{worktree().branch}</span>
                  <Show when={worktree().state.kind === "removed"}> (removed)</Show>
                </span>
              )}
            </Show>
            <Show when={props.agent.background}>
              <span class={s.fact} title="In the background: nobody waits for it"><span class="truncate">in the background</span></span>
            </Show>
          </span>
          <Show when={parent()}>
            {(agent) => (
              <button type="button" class={s.up} onClick={() => app.select(agent().id)}>
                Back to {agent().kind === "root" ? "the root" : "its parent"}
              </button>
            )}
          </Show>
        </div>
      </Show>
    </>
  );
}

function Running(props: { agent: AgentView }): JSX.Element {
  const now = useNow();
  const until = () => (props.agent.state.kind === "waiting_for_api" ? Date.parse(props.agent.state.until) - now() : undefined);
  return (
    <span class={s.time}>
      <Show when={until()} fallback={clockSpan(elapsed(props.agent, now()) ?? 0)}>
        {(ms) => `retry in ${Math.max(0, Math.ceil(ms() / 1000))} s`}
      </Show>
    </span>
  );
}

function actions(props: { session: SessionStore; agent: AgentView }, app: ReturnType<typeof useApp>): MenuEntry[] {
  const { agent } = props;
  const canResume = agent.state.kind === "stopped" || agent.state.kind === "interrupted" || agent.state.kind === "failed";
  const moved = movable(props.session.state, agent);
  const loaded = props.session.transcript(agent.id).data;
  const copy = (text: string) => void navigator.clipboard.writeText(text).catch((error: unknown) => app.report(error));
  const rename: MenuEntry = { label: "Rename session…", icon: "edit", apart: true, onSelect: () => app.askRename({ id: props.session.id, title: props.session.state.title }) };
  const entries: MenuEntry[] = [
    { label: "Interrupt", icon: "interrupted", keys: "Esc", note: "Ends the turn; you can go on from there", disabled: !isAtWork(agent.state), onSelect: () => void app.send({ type: "interrupt", agent: agent.id }) },
    { label: "Stop", icon: "stopped", note: "Also everything below it, until you resume it", disabled: isFinished(agent.state) || agent.state.kind === "idle", onSelect: () => void app.send({ type: "stop", agent: agent.id }) },
    { label: "Resume", icon: "play", disabled: !canResume, onSelect: () => void app.send({ type: "resume", agent: agent.id }) },
    { label: moved.length > 1 ? `Send ${moved.length} to background` : "Send to background", icon: "down", disabled: moved.length === 0, onSelect: () => sendToBackground(app, moved) },
    { label: "Copy id", icon: "copy", apart: true, onSelect: () => copy(agent.id) },
    { label: "Copy conversation as Markdown", icon: "copy", note: "The loaded messages, with tool calls", disabled: !loaded, onSelect: () => loaded && copy(conversationAsMarkdown(titleOf(props.session.state, agent), loaded)) },
    { label: "Copy folder path", icon: "folder", onSelect: () => copy(agent.directory) },
  ];
  return agent.kind === "root" ? [...entries, rename] : entries;
}
