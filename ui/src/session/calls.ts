// What a tool call says about itself in one line, from its name and its input.

import type { RawJson, Todo, TodoStatus } from "../protocol.gen";

export { relativePath } from "../parts/paths";

/** How a call is drawn. */
export type CallFace = "read" | "edit" | "command" | "agent" | "plan" | "message" | "commit" | "web" | "other";

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
  Commit: "commit",
  WebFetch: "web",
};

export function faceOf(name: string): CallFace {
  return FACES[name] ?? "other";
}

/** The input's top-level fields; empty when it isn't a JSON object (yet). */
export function parseInput(input: RawJson): Record<string, unknown> {
  if (!input.trimEnd().endsWith("}")) return beginning(input);
  try {
    const value: unknown = JSON.parse(input);
    return isRecord(value) ? value : {};
  } catch {
    return beginning(input);
  }
}

/** The string fields at the start of an input that is still being written. */
function beginning(input: RawJson): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const match of input.slice(0, 2000).matchAll(/[{,]\s*"([a-z_]+)"\s*:\s*("(?:[^"\\]|\\.)*")/g)) {
    try {
      if (match[1] !== undefined && match[2] !== undefined) fields[match[1]] = JSON.parse(match[2]);
    } catch {
      // A half-written escape: the field is shown once it is whole.
    }
  }
  return fields;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const TARGETS = ["file_path", "command", "pattern", "path", "description", "prompt", "to", "task_id", "query", "url", "message"];
/** In the tree an agent's own words come first: what a command is for says more than its start. */
const ACTIVITY = ["description", "file_path", "command", "pattern", "path", "prompt"];

/** What the call is about: a path, a command, a pattern; never more than one line. */
export function callTarget(input: RawJson): string {
  return firstOf(TARGETS, input);
}

/** The call as an agent's activity. */
export function callLine(name: string, input: RawJson): string {
  return lineOf(`${name} ${firstOf(ACTIVITY, input)}`);
}

function firstOf(keys: readonly string[], input: RawJson): string {
  const fields = parseInput(input);
  for (const key of keys) {
    const value = fields[key];
    if (typeof value === "string" && value.trim() !== "") return value.slice(0, 1000).replace(/\s+/g, " ").trim().slice(0, 300);
  }
  return "";
}

const LONGEST_LINE = 120;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** A text on one line, cut to as much as the tree can show. */
export function lineOf(text: string): string {
  const line = text.slice(0, 4000).trim().split(/\s+/).join(" ");
  if (line.length <= LONGEST_LINE) return line;
  let cut = "";
  let count = 0;
  for (const { segment } of graphemes.segment(line)) {
    if (count === LONGEST_LINE) return `${cut}…`;
    cut += segment;
    count += 1;
  }
  return cut;
}

const STATUSES: ReadonlySet<unknown> = new Set<TodoStatus>(["pending", "in_progress", "completed"]);

/** The plan that a `TodoWrite` sets; `undefined` when its input is no such list (yet). */
export function planOf(input: RawJson): Todo[] | undefined {
  const list = parseInput(input)["todos"];
  if (!Array.isArray(list)) return undefined;
  const isTodo = (entry: unknown): entry is Todo =>
    isRecord(entry) && typeof entry["content"] === "string" && STATUSES.has(entry["status"]);
  return list.every(isTodo) ? list : undefined;
}

/** What a failed call says to people, and the output that stands below it in what the model reads. */
export function readFailure(content: string): { message: string; output: string } | undefined {
  const end = content.indexOf("\n");
  const line = end === -1 ? content : content.slice(0, end);
  if (!line.startsWith("{") || line.length > 8000) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value) || typeof value["code"] !== "string" || typeof value["message"] !== "string") return undefined;
    return { message: value["message"], output: end === -1 ? "" : content.slice(end + 1) };
  } catch {
    return undefined;
  }
}
