// A strip per agent: when it was made, when it worked, and whether its parent waited for it. A click leads to the agent.

import { For, Show, createMemo, type JSX } from "solid-js";
import { KIND_WORD, faceOfState, hue, isAtWork, titleOf } from "../agents/state";
import { useApp } from "../app/context";
import { plural, span, useNow } from "../parts/time";
import type { AgentView } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { within } from "./money";
import { lanes, type Lane } from "./timeline";
import s from "./Timeline.module.css";

/** More would be no picture any more; the tree has them all. */
const MOST = 40;

export function Timeline(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  const family = createMemo(() => within(props.session.state, props.agent.id).slice(0, MOST));
  const isLive = () => family().some((agent) => isAtWork(agent.state));
  return (
    <Show when={family().length > 1}>
      <h3 class={s.heading}>Who ran when</h3>
      <Show when={isLive()} fallback={<Strips session={props.session} agents={family()} selected={props.agent.id} now={0} />}>
        <Live session={props.session} agents={family()} selected={props.agent.id} />
      </Show>
    </Show>
  );
}

interface StripsProps {
  session: SessionStore;
  agents: AgentView[];
  selected: string;
}

function Live(props: StripsProps): JSX.Element {
  const now = useNow();
  return <Strips session={props.session} agents={props.agents} selected={props.selected} now={now()} />;
}

function Strips(props: StripsProps & { now: number }): JSX.Element {
  const app = useApp();
  const drawn = createMemo(() => lanes(props.agents, props.now));
  const agentOf = (lane: Lane) => props.session.state.agents[lane.id];
  return (
    <ol class={s.strips}>
      <For each={drawn().lanes}>
        {(lane) => (
          <Show when={agentOf(lane)}>
            {(agent) => (
              <li>
                <button
                  type="button"
                  class={s.strip}
                  aria-current={lane.id === props.selected}
                  title={inWords(agent(), lane)}
                  onClick={() => app.select(lane.id)}
                >
                  <span class={s.name} title={titleOf(props.session.state, agent())} style={{ "padding-left": `${(lane.level * 10) / 16}rem` }}>
                    {titleOf(props.session.state, agent())}
                  </span>
                  <span class={s.lane}>
                    <span class={s.life} style={{ left: `${lane.life.from}%`, width: `${lane.life.to - lane.life.from}%` }} />
                    <For each={lane.turns}>
                      {(turn) => (
                        <span
                          class={s.turn}
                          data-state={agent().state.kind}
                          style={{ left: `${Math.min(99.2, turn.from)}%`, width: `${Math.max(0.8, turn.to - turn.from)}%`, background: hue(agent().color) }}
                        />
                      )}
                    </For>
                    <For each={lane.waits}>
                      {(wait) => <span class={s.wait} style={{ left: `${wait.from}%`, width: `${wait.to - wait.from}%` }} />}
                    </For>
                  </span>
                </button>
              </li>
            )}
          </Show>
        )}
      </For>
      <li class={s.scale} aria-hidden="true">
        <span>0</span>
        <span>{span(drawn().length)}</span>
      </li>
    </ol>
  );
}

function inWords(agent: AgentView, lane: Lane): string {
  return [
    `${KIND_WORD[agent.kind]}, ${faceOfState(agent.state).word}`,
    lane.turns.length === 0 ? "It has not begun" : `At work for ${span(lane.worked)} in ${plural(lane.turns.length, "turn")}`,
    ...(lane.waits.length > 0 ? [`It waited for ${plural(lane.waits.length, "agent")} meanwhile`] : []),
  ].join("\n");
}
