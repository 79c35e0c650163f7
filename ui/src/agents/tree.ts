// Which rows of the tree are shown, in which order, and where a key leads. Pure.

import type { AgentId, TaskId } from "../protocol.gen";
import type { SessionState } from "../session/fold";
import { isFinished } from "./state";

export interface TreeNode {
  /** An agent's id, or that of a shell command in the background, which is a leaf below its agent. */
  id: AgentId | TaskId;
  kind: "agent" | "shell";
  level: number;
  hasChildren: boolean;
  /** Place among its siblings, from 1, and their number. */
  position: number;
  siblings: number;
}

export interface TreeOptions {
  filter: string;
  hideFinished: boolean;
  collapsed: ReadonlySet<AgentId>;
  /** Is always shown, with all above it. */
  selected: AgentId | undefined;
}

export function treeNodes(state: SessionState, options: TreeOptions): TreeNode[] {
  const children = new Map<AgentId | undefined, AgentId[]>();
  for (const id of state.order) {
    const parent = state.agents[id]?.parent;
    const list = children.get(parent);
    if (list) list.push(id);
    else children.set(parent, [id]);
  }
  const words = options.filter.trim().toLowerCase();
  const shown = new Set<AgentId>();
  const decide = (id: AgentId): boolean => {
    const agent = state.agents[id];
    if (!agent) return false;
    let any = false;
    for (const child of children.get(id) ?? []) any = decide(child) || any;
    const matches = words === "" || `${agent.title} ${agent.role ?? ""} ${agent.kind}`.toLowerCase().includes(words);
    const kept = !options.hideFinished || agent.kind === "root" || !isFinished(agent.state);
    const isShown = any || id === options.selected || (matches && kept);
    if (isShown) shown.add(id);
    return isShown;
  };
  for (const root of children.get(undefined) ?? []) decide(root);

  const nodes: TreeNode[] = [];
  const siblingsAt = (parent: AgentId | undefined, agents: number): number =>
    agents + (words === "" ? state.shells.filter((shell) => shell.agent === parent && !shell.outcome).length : 0);
  const walk = (parent: AgentId | undefined, level: number): void => {
    const list = (children.get(parent) ?? []).filter((id) => shown.has(id));
    list.forEach((id, index) => {
      const below = (children.get(id) ?? []).filter((child) => shown.has(child)).length;
      const shells = words === "" ? state.shells.filter((shell) => shell.agent === id && !shell.outcome) : [];
      const hasChildren = below + shells.length > 0;
      nodes.push({ id, kind: "agent", level, hasChildren, position: index + 1, siblings: siblingsAt(parent, list.length) });
      if (!hasChildren || (words === "" && options.collapsed.has(id))) return;
      walk(id, level + 1);
      shells.forEach((shell, at) =>
        nodes.push({ id: shell.id, kind: "shell", level: level + 1, hasChildren: false, position: below + at + 1, siblings: below + shells.length }),
      );
    });
  };
  walk(undefined, 1);
  return nodes;
}

export type TreeMove = { focus: AgentId } | { toggle: AgentId; open: boolean } | undefined;

/** The keys of a tree, as the ARIA practices have them. */
export function treeKey(key: string, nodes: readonly TreeNode[], focused: AgentId, collapsed: ReadonlySet<AgentId>): TreeMove {
  const at = nodes.findIndex((node) => node.id === focused);
  const node = nodes[at];
  if (!node) return nodes[0] ? { focus: nodes[0].id } : undefined;
  const focus = (target: TreeNode | undefined): TreeMove => (target ? { focus: target.id } : undefined);
  switch (key) {
    case "ArrowDown":
      return focus(nodes[at + 1]);
    case "ArrowUp":
      return focus(nodes[at - 1]);
    case "Home":
      return focus(nodes[0]);
    case "End":
      return focus(nodes.at(-1));
    case "ArrowRight":
      if (!node.hasChildren) return undefined;
      return collapsed.has(node.id) ? { toggle: node.id, open: true } : focus(nodes[at + 1]);
    case "ArrowLeft":
      if (node.hasChildren && !collapsed.has(node.id)) return { toggle: node.id, open: false };
      return focus(nodes.slice(0, at).findLast((candidate) => candidate.level < node.level));
    default:
      return undefined;
  }
}

/** What stands at a collapsed node about all below it. */
export function rollUp(state: SessionState, id: AgentId): { running: number; waiting: number; files: number } {
  const sum = { running: 0, waiting: 0, files: 0 };
  const below = new Set<AgentId>([id]);
  for (const other of state.order) {
    const agent = state.agents[other];
    if (!agent || agent.parent === undefined || !below.has(agent.parent)) continue;
    below.add(other);
    if (agent.state.kind === "running") sum.running += 1;
    if (agent.state.kind === "waiting_for_permission") sum.waiting += 1;
    sum.files += agent.changes?.files ?? 0;
  }
  return sum;
}
