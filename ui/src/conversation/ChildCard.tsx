// A call that started an agent: leads to it, and shows how it stands.

import { Show, createMemo, type JSX } from "solid-js";
import { StateMark } from "../agents/StateMark";
import { KIND_WORD, activityOf, elapsed, hue, isAtWork } from "../agents/state";
import { useApp } from "../app/context";
import { Icon } from "../parts/Icon";
import { clockSpan, plural } from "../parts/time";
import type { AgentView } from "../protocol.gen";
import { parseInput } from "../session/calls";
import { CallCard, callView, type CallProps } from "./CallCard";
import s from "./ChildCard.module.css";

export function ChildCard(props: CallProps): JSX.Element {
  const app = useApp();
  const child = createMemo<AgentView | undefined>(() => {
    const detail = callView(props)?.result?.detail;
    const agents = props.session.state.agents;
    if (detail?.kind === "delegated") return agents[detail.agent];
    // A foreground child is known before its call's result.
    const id = props.session.state.order.find((candidate) => agents[candidate]?.call === props.call.id && agents[candidate]?.parent === props.agent.id);
    return id === undefined ? undefined : agents[id];
  });
  const line = () => {
    const agent = child();
    if (!agent) return "";
    if (agent.state.kind === "running" && props.session.live(agent.id)) return "Writing…";
    return activityOf(agent).short;
  };
  const full = () => {
    const agent = child();
    return agent && activityOf(agent).full;
  };
  const prompt = () => {
    const fields = parseInput(props.call.input);
    const text = fields["description"] ?? fields["prompt"];
    return typeof text === "string" ? text : "";
  };

  return (
    <Show when={child()} fallback={<CallCard {...props} />}>
      {(agent) => (
        <button type="button" class={s.card} onClick={() => app.select(agent().id)} aria-label={`Open ${KIND_WORD[agent().kind].toLowerCase()}: ${agent().title}`}>
          <span class={s.kind} style={{ color: hue(agent().color) }}>
            <Icon name={agent().kind} size={16} />
          </span>
          <span class={s.body}>
            <span class={s.title}>
              <span class="truncate" title={agent().title || prompt()}>
                {agent().title || prompt()}
              </span>
            </span>
            <span class={s.second}>
              <span class={s.word}>{KIND_WORD[agent().kind]}</span>
              <Show when={agent().worktree}>
                {(worktree) => (
                  <span class={s.branch} title={worktree().path}>
                    <Icon name="branch" size={11} />
                    <span class="truncate">{worktree().branch}</span>
                  </span>
                )}
              </Show>
              <Show when={line()}>
                <span class="truncate" title={full()}>
                  {line()}
                </span>
              </Show>
            </span>
          </span>
          <span class={s.side}>
            <StateMark state={agent().state} word />
            <span class={s.figures}>
              <Show when={agent().changes}>
                {(changes) => (
                  <span title={plural(changes().files, "changed file")}>
                    <span class={s.added}>+{changes().added}</span> <span class={s.removed}>−{changes().removed}</span>
                  </span>
                )}
              </Show>
              <Show when={!isAtWork(agent().state) && elapsed(agent(), 0)}>{(ms) => clockSpan(ms())}</Show>
            </span>
          </span>
          <Icon name="chevron" size={13} class={s.go} />
        </button>
      )}
    </Show>
  );
}
