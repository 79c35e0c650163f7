// Who ran when, and who waited for whom. Pure.

import type { AgentId, AgentView } from "../protocol.gen";

export interface Lane {
  id: AgentId;
  /** How deep below the first, from 0. */
  level: number;
  /** Places of its beginning, its work and its end, in percent of the whole. */
  created: number;
  started: number | undefined;
  ended: number;
  /** Whether the parent's call waits for it, or waited. */
  isAwaited: boolean;
}

export interface Lanes {
  lanes: Lane[];
  /** Milliseconds of the whole. */
  length: number;
}

/** The lanes of agents that stand in the order of their creation. */
export function lanes(agents: readonly AgentView[], now: number, isAtWork: (agent: AgentView) => boolean): Lanes {
  const time = (at: string | undefined) => (at === undefined ? undefined : Date.parse(at));
  const end = (agent: AgentView) => (isAtWork(agent) ? now : (time(agent.ended_at) ?? time(agent.started_at) ?? Date.parse(agent.created_at)));
  const begin = Math.min(...agents.map((agent) => Date.parse(agent.created_at)));
  const last = Math.max(begin + 1, ...agents.map(end));
  const length = last - begin;
  const place = (ms: number) => Math.min(100, Math.max(0, ((ms - begin) / length) * 100));
  const levels = new Map<AgentId, number>();
  return {
    length,
    lanes: agents.map((agent) => {
      const level = agent.parent === undefined ? 0 : (levels.get(agent.parent) ?? -1) + 1;
      levels.set(agent.id, level);
      const started = time(agent.started_at);
      return {
        id: agent.id,
        level,
        created: place(Date.parse(agent.created_at)),
        started: started === undefined ? undefined : place(started),
        ended: place(end(agent)),
        isAwaited: agent.parent !== undefined && !agent.background,
      };
    }),
  };
}
