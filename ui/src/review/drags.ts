// What is dragged out of a review and the tree: a fork onto where it comes home, a hunk or a file onto the message.

import { createContext, useContext } from "solid-js";
import { createDrag, type Dragging, type Target } from "../parts/drag";
import type { AgentId, ChangedFile, Hunk } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import type { AppStore } from "../store";
import { homeOf, together } from "./merge";

export type Dragged = { kind: "fork"; agent: AgentId } | { kind: "context"; text: string };

export const DragContext = createContext<Dragging<Dragged>>();

/** Dragging in the open session; without one, nothing is dragged. */
export const useDragging = (): Dragging<Dragged> | undefined => useContext(DragContext);

const COMPOSER = "composer";

/** What the frame around a target says, by its id. */
export const FRAMES: Record<string, string> = { [COMPOSER]: "Drop to attach it", home: "Drop to see the merge" };

const rowOf = (agent: AgentId) =>
  [...document.querySelectorAll<HTMLElement>('[aria-label="Agents"] [data-agent]')].find((row) => row.dataset["agent"] === agent) ?? null;

export function createDragging(app: AppStore, session: SessionStore): Dragging<Dragged> {
  const targets = (item: Dragged): Target[] => {
    if (item.kind === "context") {
      return [{ id: COMPOSER, label: "Message", element: () => document.querySelector('[aria-label="Message"]')?.closest("form, section > div") ?? document.querySelector('[aria-label="Message"]') }];
    }
    const agent = session.state.agents[item.agent];
    if (!agent) return [];
    const home = homeOf(session.state, agent);
    const others = together(session.state, agent).filter((other) => other.id !== agent.id);
    return [
      { id: "home", label: `Merge into ${session.state.agents[home]?.title ?? "the parent"}`, element: () => rowOf(home) },
      ...others.map((other) => ({ id: other.id, label: `Merge together with ${other.title}`, element: () => rowOf(other.id) })),
    ];
  };
  const drop = (item: Dragged, target: string) => {
    if (item.kind === "context") app.propose({ text: item.text, send: false });
    else app.askMerge(target === "home" ? [item.agent] : [item.agent, target]);
  };
  return createDrag<Dragged>({ targets, drop, announce: () => undefined });
}

const SIGN = { added: "+", removed: "-", context: " " } as const;
/** More lines of a file aren't attached: the model can read it. */
const MOST = 400;

/** Hunks as a message quotes them. */
export function quoted(file: ChangedFile, agent: string, hunks: readonly Hunk[]): string {
  const lines = hunks.flatMap((hunk) => [
    `@@ -${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines} @@ ${hunk.heading}`.trimEnd(),
    ...hunk.lines.map((line) => `${SIGN[line.kind]}${line.text}`),
  ]);
  const shown = lines.slice(0, MOST);
  if (lines.length > MOST) shown.push(`… ${lines.length - MOST} more lines`);
  const longest = Math.max(2, ...shown.map((line) => /`{3,}/.exec(line)?.[0].length ?? 0));
  const fence = "`".repeat(longest + 1);
  const head = `Changes of “${agent}” in \`${file.path}\``;
  return shown.length === 0 ? `${head}.` : `${head}:\n\n${fence}diff\n${shown.join("\n")}\n${fence}`;
}
