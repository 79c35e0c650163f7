// From the foreground to the background: which agents a call waits for, and letting it go on without them.

import type { AgentId, AgentView } from "../protocol.gen";
import type { SessionState } from "../session/fold";
import type { AppStore } from "../store";
import { isFinished } from "./state";

/** Whether its parent's call waits for it. */
export function isWaitedFor(agent: AgentView): boolean {
  return agent.kind !== "root" && !agent.background && !isFinished(agent.state) && agent.state.kind !== "interrupted";
}

/** What a wish at this agent would send to the background: itself if it is waited for, else those that it waits for. */
export function movable(state: SessionState, agent: AgentView): AgentView[] {
  return isWaitedFor(agent) ? [agent] : waitedFor(state, agent.id);
}

/** The children that calls of this agent wait for. */
export function waitedFor(state: SessionState, parent: AgentId): AgentView[] {
  return state.order.flatMap((id) => {
    const agent = state.agents[id];
    return agent?.parent === parent && isWaitedFor(agent) ? [agent] : [];
  });
}

/** They go on as they are; whoever waited for them goes on, too. */
export function sendToBackground(app: AppStore, agents: readonly AgentView[]): void {
  for (const agent of agents) void app.send({ type: "send_to_background", agent: agent.id });
}
