// Names of agents and files in a message, after `@`. Pure.

import type { AgentView } from "../protocol.gen";
import type { Completion } from "./commands";

const LONGEST = 60;
const MOST = 8;

/** The mention that is being written at the caret: from its `@` on. */
export function mentionAt(text: string, caret: number): { start: number; query: string } | undefined {
  const near = text.slice(Math.max(0, caret - LONGEST), caret);
  const found = /(?:^|[\s([{"'])@([^\s@"]*)$/u.exec(near);
  if (found?.[1] === undefined) return undefined;
  // The window of letters that was looked at begins in the middle of a word.
  if (found.index === 0 && near[0] === "@" && caret > LONGEST && !/[\s([{"']/.test(text[caret - LONGEST - 1] ?? " ")) return undefined;
  return { start: caret - found[1].length - 1, query: found[1] };
}

type Named = Pick<AgentView, "id" | "title" | "kind" | "role">;

/** Agents whose title has the letters, those with a word that begins so first. */
export function mentions(text: string, caret: number, agents: readonly Named[]): Completion[] {
  const at = mentionAt(text, caret);
  if (!at) return [];
  const query = at.query.toLowerCase();
  const rank = (agent: Named): number => {
    const title = agent.title.toLowerCase();
    if (query === "" || title.startsWith(query)) return 2;
    if (title.split(/\s+/).some((word) => word.startsWith(query))) return 1;
    return title.includes(query) || agent.role?.toLowerCase().startsWith(query) ? 0 : -1;
  };
  return agents
    .map((agent, place) => ({ agent, place, rank: rank(agent) }))
    .filter((match) => match.rank >= 0 && match.agent.title !== "")
    .sort((a, b) => b.rank - a.rank || a.place - b.place)
    .slice(0, MOST)
    .map(({ agent }) => {
      const isOne = agents.filter((other) => other.title === agent.title).length === 1;
      // The model reaches an agent by its title when only one has it, else by its id.
      const name = isOne ? `@"${agent.title.replaceAll('"', "'")}"` : `@${agent.id}`;
      const before = `${text.slice(0, at.start)}${name} `;
      const rest = text.slice(caret).replace(/^ /, "");
      return { text: before + rest, caret: before.length, label: agent.title, about: `${agent.kind}${agent.role ? `, ${agent.role}` : ""}` };
    });
}

/** Files that fit, as they were found: best first. A path with a space stands in quotes. */
export function fileMentions(text: string, caret: number, files: readonly string[]): Completion[] {
  const at = mentionAt(text, caret);
  if (!at) return [];
  return files.slice(0, MOST).map((path) => {
    const before = `${text.slice(0, at.start)}${/[\s"]/.test(path) ? `@"${path}"` : `@${path}`} `;
    const name = path.slice(path.lastIndexOf("/") + 1);
    return { text: before + text.slice(caret).replace(/^ /, ""), caret: before.length, label: name, about: path.slice(0, -name.length - 1) };
  });
}
