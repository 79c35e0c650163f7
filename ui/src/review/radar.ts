// Which worktrees can't come home together, kept up to date while a session is looked at.

import { createContext, createEffect, createMemo, createSignal, on, onCleanup, useContext, type Accessor } from "solid-js";
import type { Bridge } from "../bridge";
import type { AgentId, Clash } from "../protocol.gen";
import type { SessionState } from "../session/fold";
import type { SessionStore } from "../session/store";

/** How long nothing must have changed before it is looked at again, in milliseconds. */
const PAUSE = 700;

export interface Radar {
  clashes: Accessor<readonly Clash[]>;
  /** The clashes that an agent is a side of. */
  of(agent: AgentId): readonly Clash[];
}

export const RadarContext = createContext<Radar>();

const NONE: Radar = { clashes: () => [], of: () => [] };

/** The radar of the open session; without one, an empty one. */
export const useRadar = (): Radar => useContext(RadarContext) ?? NONE;

/** The agents whose changes could still come home. */
export function comingHome(state: SessionState): AgentId[] {
  return state.order.filter((id) => {
    const agent = state.agents[id];
    return agent?.worktree?.state.kind === "live" && (agent.changes?.files ?? 0) > 0;
  });
}

export function createRadar(bridge: Bridge, session: SessionStore): Radar {
  const [clashes, setClashes] = createSignal<readonly Clash[]>([]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLooking = false;
  let again = false;

  const look = async () => {
    if (isLooking) {
      again = true;
      return;
    }
    isLooking = true;
    try {
      setClashes(await bridge.conflicts(session.id));
    } catch {
      // A worktree may be on its way out; the next change asks again, and a merge tells what is wrong.
    } finally {
      isLooking = false;
      if (again) {
        again = false;
        void look();
      }
    }
  };
  /** Everything that can make a difference: worktrees, changes in them, and what was brought home or said at home. */
  const version = createMemo(() => {
    const { state } = session;
    const ids = comingHome(state);
    const turns = state.order.map((id) => state.agents[id]?.ended_at ?? "");
    const home = state.applied.map((applied) => `${applied.merge}${applied.undone}`);
    return ids.length === 0 ? "" : [...ids.map((id) => `${id}:${session.changesVersion(id)}`), ...turns, ...home].join();
  });
  createEffect(
    on(version, (now) => {
      clearTimeout(timer);
      if (now === "") setClashes([]);
      else timer = setTimeout(() => void look(), PAUSE);
    }),
  );
  onCleanup(() => clearTimeout(timer));
  return { clashes, of: (agent) => clashes().filter((clash) => clash.agent === agent || clash.other === agent) };
}
