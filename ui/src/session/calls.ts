// What a tool call says about itself in one line, from its name and its input.

import type { RawJson } from "../protocol.gen";

/** How a call is drawn. */
export type CallFace = "read" | "edit" | "command" | "agent" | "plan" | "message" | "other";

const FACES: Record<string, CallFace> = {
  Read: "read",
  Grep: "read",
  Glob: "read",
  List: "read",
  LS: "read",
  Edit: "edit",
  MultiEdit: "edit",
  Write: "edit",
  Bash: "command",
  Agent: "agent",
  TodoWrite: "plan",
  SendMessage: "message",
};

export function faceOf(name: string): CallFace {
  return FACES[name] ?? "other";
}

/** The input's top-level fields; empty when it isn't a JSON object (yet). */
export function parseInput(input: RawJson): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(input);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const TARGETS = ["file_path", "path", "command", "pattern", "description", "prompt", "to", "task_id", "query", "url"];

/** What the call is about: a path, a command, a pattern; never more than one line. */
export function callTarget(name: string, input: RawJson): string {
  const fields = parseInput(input);
  const keys = name === "Grep" || name === "Glob" ? ["pattern", ...TARGETS] : TARGETS;
  for (const key of keys) {
    const value = fields[key];
    if (typeof value === "string" && value.trim() !== "") return oneLine(value);
  }
  return "";
}

export function callLine(name: string, input: RawJson): string {
  const target = callTarget(name, input);
  return target === "" ? name : `${name} ${target}`;
}

function oneLine(text: string): string {
  return text.slice(0, 400).replace(/\s+/g, " ").trim().slice(0, 200);
}

/** The path as seen from `base`, when it lies below it. */
export function relativePath(path: string, base: string): string {
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1) : path;
}
