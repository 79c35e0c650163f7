// A role while it is edited: which tool is in which bin, and what moving one does to the file's values. Pure.
//
// The file has two lists. `tools` says what the role has (absent, or with `*`: everything); an entry with an argument in
// it also lets such calls run without asking. `disallowed_tools` takes away. There is no list of what asks: a tool that
// is merely in `tools` asks as the permission mode says. The bins are drawn from that and lead back to it.

import type { RoleFields, RoleTool } from "../protocol.gen";

export type Bin = "allowed" | "ask" | "denied";
/** Where a chip can be dropped; the palette takes it out of the role. */
export type Spot = Bin | "palette";

export const BINS: readonly Bin[] = ["allowed", "ask", "denied"];
export const BIN_WORD: Record<Spot, string> = { allowed: "Allowed", ask: "Ask", denied: "Denied", palette: "Tools" };

export interface Chip {
  /** `<list>:<place in it>`; of implied chips `implied:<tool>`. */
  id: string;
  bin: Bin;
  /** As written. */
  entry: string;
  tool: string;
  argument: string | undefined;
  /** Why it is there although no entry says so: the role has all tools, or only some calls of it run unasked. */
  implied: "all" | "rest" | undefined;
}

/** What a chip that is dropped, or a tool of the palette, is. */
export interface Carried {
  entry: string;
  from: Spot;
  /** Which entry of the list it is; absent for tools of the palette and implied chips. */
  at?: number;
}

export interface Placed {
  fields: RoleFields;
  /** Set when the wish needs an argument first: which calls run without asking? */
  needs?: string;
  /** What the person should know about what was done. */
  note?: string;
}

/** `Bash(git diff *)` is the tool `Bash` and the argument `git diff *`; `Bash(*)` says no more than `Bash`. */
export function splitEntry(entry: string): { tool: string; argument: string | undefined } {
  const open = entry.indexOf("(");
  if (open < 0 || !entry.endsWith(")")) return { tool: entry.trim(), argument: undefined };
  const argument = entry.slice(open + 1, -1).trim();
  return { tool: entry.slice(0, open).trim(), argument: argument === "" || argument === "*" ? undefined : argument };
}

export function joinEntry(tool: string, argument: string | undefined): string {
  return argument === undefined || argument.trim() === "" ? tool : `${tool}(${argument.trim()})`;
}

export function hasAllTools(fields: RoleFields): boolean {
  return fields.tools === undefined || fields.tools.includes("*");
}

/** Whether an entry without argument speaks of the tool, as the core reads it. */
export function covers(entry: string, tool: string): boolean {
  if (entry === tool || entry === "*") return true;
  if (!entry.startsWith("mcp__") || !tool.startsWith("mcp__")) return false;
  const server = entry.replace(/\*$/, "").replace(/__$/, "");
  return server === "mcp" || tool.startsWith(`${server}__`);
}

function isDenied(fields: RoleFields, tool: string): boolean {
  return fields.disallowed_tools.some((entry) => {
    const denied = splitEntry(entry);
    return denied.argument === undefined && (covers(denied.tool, tool) || denied.tool.toLowerCase() === tool.toLowerCase());
  });
}

/** Whether the role has the tool, asked or not. */
export function isAvailable(fields: RoleFields, tool: string): boolean {
  if (isDenied(fields, tool)) return false;
  return fields.tools === undefined || fields.tools.some((entry) => covers(splitEntry(entry).tool, tool));
}

function asks(tools: readonly RoleTool[], tool: string): boolean {
  return tools.find((known) => known.name === tool)?.asks ?? true;
}

export function chipsOf(fields: RoleFields, tools: readonly RoleTool[]): Record<Bin, Chip[]> {
  const bins: Record<Bin, Chip[]> = { allowed: [], ask: [], denied: [] };
  fields.tools?.forEach((entry, at) => {
    if (entry === "*") return;
    const { tool, argument } = splitEntry(entry);
    const bin: Bin = argument !== undefined || !asks(tools, tool) ? "allowed" : "ask";
    bins[bin].push({ id: `tools:${at}`, bin, entry, tool, argument, implied: undefined });
  });
  fields.disallowed_tools.forEach((entry, at) => {
    const { tool, argument } = splitEntry(entry);
    bins.denied.push({ id: `denied:${at}`, bin: "denied", entry, tool, argument, implied: undefined });
  });
  const isListed = (tool: string) => fields.tools?.some((entry) => entry !== "*" && splitEntry(entry).argument === undefined && splitEntry(entry).tool === tool);
  const imply = (tool: string, implied: "all" | "rest") => {
    if (isListed(tool) || isDenied(fields, tool)) return;
    const bin: Bin = asks(tools, tool) ? "ask" : "allowed";
    if (bins[bin].some((chip) => chip.implied !== undefined && chip.tool === tool)) return;
    bins[bin].push({ id: `implied:${tool}`, bin, entry: tool, tool, argument: undefined, implied });
  };
  if (hasAllTools(fields)) for (const tool of tools) imply(tool.name, "all");
  else for (const chip of [...bins.allowed]) if (chip.argument !== undefined) imply(chip.tool, "rest");
  return bins;
}

function without(list: readonly string[], at: number | undefined): string[] {
  return list.filter((_, place) => place !== at);
}

/** The list with a tool in it that it would else not give. */
function giving(fields: RoleFields, tool: string): RoleFields {
  if (fields.tools === undefined || fields.tools.some((entry) => covers(splitEntry(entry).tool, tool))) return fields;
  return { ...fields, tools: [...fields.tools, tool] };
}

function undenied(fields: RoleFields, tool: string): RoleFields {
  const rest = fields.disallowed_tools.filter((entry) => entry !== tool);
  return rest.length === fields.disallowed_tools.length ? fields : { ...fields, disallowed_tools: rest };
}

/** What dropping something somewhere does. */
export function place(fields: RoleFields, tools: readonly RoleTool[], carried: Carried, to: Spot): Placed {
  if (carried.from === to && to !== "palette") return { fields };
  const { tool, argument } = splitEntry(carried.entry);
  const taken = takenOut(fields, carried);
  switch (to) {
    case "palette":
      if (carried.at !== undefined) return { fields: taken };
      return carried.from === "palette"
        ? { fields }
        : { fields, note: hasAllTools(fields) ? `${tool} is there because the role has all tools. Deny it, or list the tools.` : `${tool} is there because of its rule. Remove the rule.` };
    case "denied": {
      if (taken.disallowed_tools.includes(carried.entry)) return { fields: taken, note: `${carried.entry} is denied already.` };
      // A tool that is denied as a whole is given by no entry any more.
      const left = argument === undefined ? taken.tools?.filter((entry) => splitEntry(entry).tool !== tool) : taken.tools;
      const next = { ...taken, disallowed_tools: [...taken.disallowed_tools, carried.entry] };
      return { fields: left === undefined ? next : { ...next, tools: left } };
    }
    case "ask": {
      const next = giving(undenied(taken, tool), tool);
      if (!asks(tools, tool)) return { fields: next, note: `${tool} only reads, so it never asks. It is in Allowed.` };
      if (argument !== undefined && carried.from !== "palette") {
        return { fields: next, note: `All calls of ${tool} without a rule of their own ask; ${argument} is among them again.` };
      }
      return { fields: next };
    }
    case "allowed": {
      if (argument !== undefined) return { fields: withRule(taken, tool, argument) };
      if (asks(tools, tool)) return { fields, needs: tool };
      return { fields: giving(undenied(taken, tool), tool) };
    }
  }
}

function takenOut(fields: RoleFields, carried: Carried): RoleFields {
  if (carried.at === undefined) return fields;
  if (carried.from === "denied") return { ...fields, disallowed_tools: without(fields.disallowed_tools, carried.at) };
  return fields.tools === undefined ? fields : { ...fields, tools: without(fields.tools, carried.at) };
}

/** Lets calls of a tool run without asking. */
export function withRule(fields: RoleFields, tool: string, argument: string): RoleFields {
  const entry = joinEntry(tool, argument);
  const open = undenied(fields, tool);
  // Next to all tools a rule needs `*`: a list of the rule alone would take everything else away.
  const list = open.tools ?? ["*"];
  if (list.includes(entry)) return open;
  const last = list.findLastIndex((other) => splitEntry(other).tool === tool);
  const at = last < 0 ? list.length : last + 1;
  return { ...open, tools: [...list.slice(0, at), entry, ...list.slice(at)] };
}

/** Another argument for a chip; none makes it the bare tool. */
export function withArgument(fields: RoleFields, chip: Chip, argument: string): RoleFields {
  const [list, place] = chip.id.split(":");
  const entry = joinEntry(chip.tool, argument);
  const swap = (entries: readonly string[]) => {
    const others = entries.filter((_, at) => at !== Number(place));
    return others.includes(entry) ? others : entries.map((old, at) => (at === Number(place) ? entry : old));
  };
  if (list === "denied") return { ...fields, disallowed_tools: swap(fields.disallowed_tools) };
  if (list === "tools" && fields.tools) return { ...fields, tools: swap(fields.tools) };
  return fields;
}

/** All tools, or a list of those that the role has now. Rules stay. */
export function withAllTools(fields: RoleFields, tools: readonly RoleTool[], all: boolean): RoleFields {
  const rules = (fields.tools ?? []).filter((entry) => splitEntry(entry).argument !== undefined);
  if (all) {
    const { tools: _, ...rest } = fields;
    return rules.length > 0 ? { ...rest, tools: ["*", ...rules] } : rest;
  }
  const names = tools.map((tool) => tool.name).filter((tool) => !isDenied(fields, tool));
  return { ...fields, tools: [...names, ...rules] };
}

/** The values with one of them set, or gone. */
export function withValue<K extends keyof RoleFields>(fields: RoleFields, key: K, value: RoleFields[K] | undefined): RoleFields {
  const next = { ...fields };
  if (value === undefined) delete next[key];
  else next[key] = value;
  return next;
}

/** Whether two plain values are the same, whatever the order of their keys. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a, sorted) === JSON.stringify(b, sorted);
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const KEYS: Record<keyof RoleFields, string> = {
  name: "name",
  description: "description",
  tools: "tools",
  disallowed_tools: "denied tools",
  model: "model",
  max_turns: "turns",
  permission: "permission",
  background: "background",
  isolation: "isolation",
  color: "colour",
  without_instructions: "instructions",
  body: "prompt",
};

export interface Rebased {
  fields: RoleFields;
  /** What both sides changed, in words; mine is kept. */
  both: string[];
}

/** My changes to `base`, made to `theirs`. */
export function rebase(base: RoleFields, mine: RoleFields, theirs: RoleFields): Rebased {
  let fields: RoleFields = { ...theirs };
  const both: string[] = [];
  for (const key of Object.keys(KEYS) as (keyof RoleFields)[]) {
    if (isSame(base[key], mine[key])) continue;
    if (!isSame(base[key], theirs[key]) && !isSame(mine[key], theirs[key])) both.push(KEYS[key]);
    fields = withValue(fields, key, mine[key]);
  }
  return { fields, both };
}

/** What changed between two versions, in words. */
export function changedKeys(a: RoleFields, b: RoleFields): string[] {
  return (Object.keys(KEYS) as (keyof RoleFields)[]).filter((key) => !isSame(a[key], b[key])).map((key) => KEYS[key]);
}
