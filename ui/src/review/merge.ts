// What can be merged together, and how it is said. Pure.

import type { AgentId, AgentView, MergeHow, MergeSelection } from "../protocol.gen";
import type { SessionState } from "../session/fold";

export type HowKind = MergeHow["kind"];

export interface How {
  kind: HowKind;
  label: string;
  note: string;
  /** The word on the button. */
  verb: string;
  hasMessage: boolean;
}

export const HOWS: readonly How[] = [
  { kind: "apply", label: "Into my files", note: "Uncommitted, beside what you have changed yourself", verb: "Apply to my checkout", hasMessage: false },
  { kind: "squash", label: "One commit", note: "On the branch that is checked out", verb: "Commit", hasMessage: true },
  { kind: "merge", label: "Merge commit", note: "The forks' own commits come along, behind a commit with two parents", verb: "Merge", hasMessage: true },
  { kind: "rebase", label: "Rebase", note: "The forks' commits, one after the other, behind yours", verb: "Rebase", hasMessage: false },
  { kind: "cherry_pick", label: "Cherry-pick", note: "As rebase; each commit names the one that it was picked from", verb: "Cherry-pick", hasMessage: false },
];

/** The forms that take all of a fork's changes: only those have a history. */
export const hasHistory = (kind: HowKind): boolean => kind === "merge" || kind === "rebase" || kind === "cherry_pick";

export const howOf = (kind: HowKind, message: string): MergeHow => (kind === "squash" || kind === "merge" ? { kind, message } : { kind });

const isLive = (agent: AgentView | undefined) => agent?.worktree?.state.kind === "live";

/** Whose checkout an agent's changes come home to: that of its nearest ancestor with a worktree, else the root's. */
export function homeOf(state: SessionState, agent: AgentView): AgentId {
  let at = agent.parent;
  let last = agent.id;
  while (at !== undefined) {
    if (isLive(state.agents[at])) return at;
    last = at;
    at = state.agents[at]?.parent;
  }
  return last;
}

/** The agents whose changes can come home together with this one's, itself among them. */
export function together(state: SessionState, agent: AgentView): AgentView[] {
  const home = homeOf(state, agent);
  return state.order.flatMap((id) => {
    const other = state.agents[id];
    if (!other || !isLive(other) || homeOf(state, other) !== home || other.id === home) return [];
    return other.id === agent.id || (other.changes?.files ?? 0) > 0 ? [other] : [];
  });
}

export const acceptedOf = (agent: AgentView): number => agent.review?.accepted?.length ?? 0;

/** What a merge begins with: what was accepted, of all who have something accepted; else everything of this one. */
export function firstChoice(state: SessionState, agent: AgentView): { agents: AgentId[]; selection: MergeSelection } {
  const all = together(state, agent);
  const accepted = all.filter((other) => acceptedOf(other) > 0);
  if (accepted.length > 0) return { agents: accepted.map((other) => other.id), selection: { kind: "accepted" } };
  return { agents: [agent.id], selection: { kind: "all" } };
}
