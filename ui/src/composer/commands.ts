// What a text in the composer asks for. Pure: text in, wish out.

import type { AgentId, Command, Isolation } from "../protocol.gen";

export interface SlashCommand {
  name: string;
  usage: string;
  about: string;
}

export const SLASH: SlashCommand[] = [
  { name: "/fork", usage: "/fork directive", about: "A fork that knows everything said here" },
  { name: "/agent", usage: "/agent role: brief", about: "A subagent that starts fresh with a role" },
  { name: "/compact", usage: "/compact what to keep", about: "Go on behind a summary, to make room" },
  { name: "/model", usage: "/model name", about: "Let another model answer this agent" },
  { name: "/roles", usage: "/roles", about: "The roles there are" },
  { name: "/review", usage: "/review", about: "The changes of this agent" },
  { name: "/help", usage: "/help", about: "Keys and commands" },
];

export type Wish =
  | { kind: "nothing" }
  | { kind: "command"; command: Command }
  /** A command that costs something: asked about first. */
  | { kind: "confirm"; command: Command; question: string; answer: string }
  | { kind: "sheet"; sheet: "help" | "roles" | "review" }
  | { kind: "problem"; message: string };

export interface Context {
  agent: AgentId;
  isolation: Isolation;
  /** How many messages a fork inherits; absent: all. */
  messages: number | undefined;
  /** How many messages the agent's conversation has. */
  length: number;
}

/** From how many messages on a lost cache is worth a question. */
const LONG = 20;

/** Whether the text starts something that can have a worktree of its own. */
export function delegates(text: string): boolean {
  return /^\s*\/(?:fork|agent)(?:\s|$)/.test(text);
}

export function readWish(text: string, context: Context): Wish {
  const trimmed = text.trim();
  if (trimmed === "") return { kind: "nothing" };
  const slash = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(trimmed);
  // A path such as `/etc/hosts` is a text.
  if (!slash) return { kind: "command", command: { type: "send_message", agent: context.agent, text: trimmed } };
  const rest = slash[2]?.trim() ?? "";
  switch (slash[1]) {
    case "help":
      return { kind: "sheet", sheet: "help" };
    case "roles":
      return { kind: "sheet", sheet: "roles" };
    case "review":
      return { kind: "sheet", sheet: "review" };
    case "compact":
      return { kind: "command", command: { type: "compact", agent: context.agent, instructions: rest } };
    case "model": {
      if (rest === "" || /\s/.test(rest)) return { kind: "problem", message: "Name one model: /model sonnet" };
      const command: Command = { type: "set_model", agent: context.agent, model: rest };
      if (context.length < LONG) return { kind: "command", command };
      return {
        kind: "confirm",
        command,
        question: `This conversation has ${context.length} messages. Another model reads all of them anew: what the provider had cached is lost, and reasoning that only the old model can read is left out.`,
        answer: `Change to ${rest}`,
      };
    }
    case "fork": {
      if (rest === "") return { kind: "problem", message: "Say what the fork shall do: /fork fix the parser" };
      const command: Command = { type: "fork", agent: context.agent, directive: rest, isolation: context.isolation };
      if (context.messages !== undefined) command.messages = context.messages;
      return { kind: "command", command };
    }
    case "agent": {
      const parts = /^([\p{L}\p{N}_:.-]+?)\s*:\s+([\s\S]+)$/u.exec(rest) ?? /^([\p{L}\p{N}_.-]+)\s*:([\s\S]+)$/u.exec(rest);
      const role = parts?.[1];
      const brief = parts?.[2]?.trim();
      if (!role || !brief) return { kind: "problem", message: "Name a role and what it shall do: /agent explore: find the callers" };
      return { kind: "command", command: { type: "start_subagent", role, brief, isolation: context.isolation } };
    }
    default:
      return { kind: "problem", message: `There is no command /${slash[1]}. Type /help to see what there is.` };
  }
}

export interface Completion {
  /** What stands in the text afterwards. */
  text: string;
  /** Where the caret stands afterwards; absent: at the end. */
  caret?: number;
  label: string;
  about: string;
}

/** What the text could become: commands, and behind `/agent` the roles. */
export function completions(text: string, roles: readonly { name: string; description: string }[]): Completion[] {
  if (/^\/[a-z]*$/.test(text)) {
    return SLASH.filter((command) => command.name.startsWith(text)).map((command) => ({
      text: command.usage === command.name ? command.name : `${command.name} `,
      label: command.usage,
      about: command.about,
    }));
  }
  const role = /^\/agent\s+([^\s:]*)$/.exec(text);
  if (role) {
    return roles
      .filter((candidate) => candidate.name.startsWith(role[1] ?? ""))
      .map((candidate) => ({ text: `/agent ${candidate.name}: `, label: candidate.name, about: candidate.description }));
  }
  return [];
}

/** Enter that confirms an input method's candidate is not a wish to send; some say so only by the key code 229. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}
