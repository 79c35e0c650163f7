// An agent's state in a word, a shape and a tone.

import type { AgentId, AgentKind, AgentState, AgentView } from "../protocol.gen";
import type { IconName } from "../parts/Icon";
import { shortenPaths } from "../parts/paths";
import { gist } from "../report/report";
import type { SessionState } from "../session/fold";

export type Tone = "live" | "wait" | "bad" | "done" | "quiet";

export interface Face {
  word: string;
  icon: IconName | "spinner";
  tone: Tone;
}

export function faceOfState(state: AgentState): Face {
  switch (state.kind) {
    case "queued":
      return { word: "Queued", icon: "queued", tone: "quiet" };
    case "running":
      return { word: "Running", icon: "spinner", tone: "live" };
    case "waiting_for_permission":
      return { word: "Waiting for you", icon: "bell", tone: "wait" };
    case "waiting_for_api":
      return { word: "Waiting for API", icon: "hourglass", tone: "wait" };
    case "idle":
      return { word: "Idle", icon: "idle", tone: "quiet" };
    case "idle_after_failure":
      return { word: "Turn failed", icon: "alert", tone: "bad" };
    case "completed":
      return { word: "Done", icon: "done", tone: "done" };
    case "failed":
      return { word: "Failed", icon: "failed", tone: "bad" };
    case "stopped":
      return { word: "Stopped", icon: "stopped", tone: "quiet" };
    case "interrupted":
      return { word: "Interrupted", icon: "interrupted", tone: "wait" };
  }
}

export const KIND_WORD: Record<AgentKind, string> = {
  root: "Root",
  fork: "Fork",
  subagent: "Subagent",
  teammate: "Teammate",
};

export function isFinished(state: AgentState): boolean {
  return state.kind === "completed" || state.kind === "failed" || state.kind === "stopped";
}

export function isAtWork(state: AgentState): boolean {
  return state.kind === "running" || state.kind === "waiting_for_permission" || state.kind === "waiting_for_api";
}

/** How long the last turn took, or has taken so far, in milliseconds. */
export function elapsed(agent: AgentView, now: number): number | undefined {
  if (agent.started_at === undefined) return undefined;
  const start = Date.parse(agent.started_at);
  const ended = agent.ended_at === undefined ? undefined : Date.parse(agent.ended_at);
  if (isAtWork(agent.state) || ended === undefined || ended < start) return now - start;
  return ended - start;
}

export function tokens(agent: AgentView): number {
  const { input, cache_read, cache_write, output } = agent.usage;
  return input + cache_read + cache_write + output;
}

/** An agent's title; the root stands for its session. */
export function titleOf(state: SessionState, agent: AgentView): string {
  return (agent.kind === "root" && state.title) || agent.title || (agent.kind === "root" ? "New session" : KIND_WORD[agent.kind]);
}

/** One line of what an agent does, without the marks of Markdown. */
export function plainLine(text: string): string {
  return text.replace(/\*\*|__|`/g, "").replace(/^(?:#+|>|[-*])\s+/, "");
}

/**
 * What an agent's row says beside its state: why it failed, what its report comes down to, or what it does, with paths as
 * seen from its folder. `full` leaves the paths whole.
 */
export function activityOf(agent: AgentView): { short: string; full: string } {
  const same = (line: string) => ({ short: line, full: line });
  if (agent.state.kind === "failed" || agent.state.kind === "idle_after_failure") return same(agent.state.message);
  if (agent.state.kind === "completed" && agent.outcome?.kind === "completed") return same(gist(agent.outcome.report).slice(0, 300));
  if (agent.worktree?.state.kind === "making" && agent.activity === "") return same("Its worktree is being made");
  return { short: plainLine(shortenPaths(agent.activity, agent.directory)), full: plainLine(agent.activity) };
}

/** From the root to the agent. */
export function pathTo(state: SessionState, id: AgentId): AgentView[] {
  const path: AgentView[] = [];
  let agent = state.agents[id];
  // A child is created after its parent, so a circle can't be; the bound is for a broken log.
  while (agent && path.length < 50) {
    path.unshift(agent);
    agent = agent.parent === undefined ? undefined : state.agents[agent.parent];
  }
  return path;
}

const HUES = new Set(["red", "orange", "yellow", "green", "teal", "blue", "purple", "pink", "gray"]);

/** The colour of a role as a token; an unknown name is nobody's problem. */
export function hue(color: string | undefined): string {
  const name = color === "cyan" ? "teal" : color === "grey" ? "gray" : color === "magenta" ? "pink" : color;
  return name !== undefined && HUES.has(name) ? `var(--hue-${name})` : "var(--text-2)";
}
