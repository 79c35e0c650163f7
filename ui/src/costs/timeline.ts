// Who ran when, and who waited for whom. Pure.

import type { AgentId, AgentView } from "../protocol.gen";

/** A stretch of a lane, in percent of the whole. */
export interface Stretch {
  from: number;
  to: number;
}

export interface Lane {
  id: AgentId;
  /** How deep below the first, from 0. */
  level: number;
  /** From its making to its last end. */
  life: Stretch;
  /** When it was at work. */
  turns: Stretch[];
  /** When it waited for a child. */
  waits: Stretch[];
  /** Milliseconds at work. */
  worked: number;
}

export interface Lanes {
  lanes: Lane[];
  /** Milliseconds of the whole. */
  length: number;
}

/** The lanes of agents that stand in the order of their creation. `now` ends what is under way. */
export function lanes(agents: readonly AgentView[], now: number): Lanes {
  const turnsOf = (agent: AgentView) =>
    agent.turns.map((turn) => ({ from: Date.parse(turn.started_at), to: turn.ended_at === undefined ? now : Date.parse(turn.ended_at) }));
  const endOf = (agent: AgentView) => Math.max(Date.parse(agent.created_at), ...turnsOf(agent).map((turn) => turn.to));
  const begin = Math.min(...agents.map((agent) => Date.parse(agent.created_at)));
  const length = Math.max(1, Math.max(...agents.map(endOf)) - begin);
  const place = (ms: number) => Math.min(100, Math.max(0, ((ms - begin) / length) * 100));
  const stretch = ({ from, to }: Stretch): Stretch => ({ from: place(from), to: place(to) });
  const levels = new Map<AgentId, number>();
  return {
    length,
    lanes: agents.map((agent) => {
      const level = agent.parent === undefined ? 0 : (levels.get(agent.parent) ?? -1) + 1;
      levels.set(agent.id, level);
      const turns = turnsOf(agent);
      // One that nobody waits for any more was waited for until then, which isn't known: it isn't drawn.
      const awaited = agents.filter((child) => child.parent === agent.id && !child.background);
      return {
        id: agent.id,
        level,
        life: stretch({ from: Date.parse(agent.created_at), to: endOf(agent) }),
        turns: turns.map(stretch),
        waits: awaited.map((child) => stretch({ from: Date.parse(child.created_at), to: endOf(child) })),
        worked: turns.reduce((sum, turn) => sum + turn.to - turn.from, 0),
      };
    }),
  };
}
