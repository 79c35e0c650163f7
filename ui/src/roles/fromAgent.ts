// A role made of how an agent worked: what it was asked, which tools it used, with which model.

import type { AgentView, Conversation, RoleFields } from "../protocol.gen";
import { NO_FIELDS } from "./studio";

/** Tools that a child of an agent never has. */
const NOT_FOR_CHILDREN = new Set(["Agent", "SendMessage", "TeamTaskCreate", "TeamTaskList", "TeamTaskUpdate"]);

/** Most characters of what it was asked. */
const MOST = 4000;

export function roleOf(agent: AgentView, conversation: Conversation): RoleFields {
  const used = new Set<string>();
  let asked = "";
  for (const message of conversation.messages) {
    for (const block of message.blocks) {
      if (block.type === "call" && !NOT_FOR_CHILDREN.has(block.name)) used.add(block.name);
      // What a person or a parent asked it for, not what the program told it.
      if (block.type === "text" && asked === "" && (block.origin === "user" || block.origin === "brief" || block.origin === "directive")) asked = block.text.trim();
    }
  }
  const quoted = asked.slice(0, MOST).replace(/^/gm, "> ");
  return {
    ...NO_FIELDS,
    description: `Works as “${agent.title}” did. Say when to use it.`,
    ...(used.size > 0 ? { tools: [...used].sort() } : {}),
    model: agent.model,
    ...(agent.color === undefined ? {} : { color: agent.color }),
    isolation: agent.worktree ? "worktree" : "shared",
    body: asked === "" ? "You …" : `You do work like this, which you were made from:\n\n${quoted}`,
  };
}

/** A name that a role can have, made of a title. */
export function nameOf(title: string): string {
  const name = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  return [...name].slice(0, 40).join("").replace(/-+$/, "");
}
