// Finds words in the loaded part of a conversation, row by row. Pure.

import { stripAnsi } from "../parts/ansi";
import { MOST, fold, places } from "../parts/words";
import type { Row } from "./rows";
import { parseNotification } from "./notification";
import { readFrames } from "./framed";
import { callTarget } from "../session/calls";
import type { LiveMessage, TranscriptState } from "../session/transcript";

/** One place where the words stand: the row, and which of its places this is. */
export interface Match {
  row: string;
  nth: number;
}

/** Of a longer text only this much is searched. */
const LONGEST = 2_000_000;

/** What a person reads of a Markdown text, near enough to find and count words. */
export function readable(source: string): string {
  return source
    .replace(/\*\*|~~|^\s{0,3}(?:`{3,}|~{3,}).*$/gm, "")
    .replace(/`([^`\n]*)`/g, "$1")
    .replace(/\[([^\]\n]*)\]\([^)\n]*\)/g, "$1");
}

/** The texts that a row shows or unfolds; references, not copies. */
export function sourcesOf(row: Row, transcript: TranscriptState, live: LiveMessage | undefined): string[] {
  switch (row.type) {
    case "text":
    case "thinking": {
      const block = transcript.messages[row.index - transcript.first]?.blocks[row.block];
      if (block?.type === "text") return [block.text];
      if (block?.type === "thinking") return [block.thinking];
      return live?.index === row.index ? [live.blocks[row.block]?.text ?? ""] : [];
    }
    case "call":
      // Drawn as the agent that it started.
      if (row.call.name === "Agent") return [row.call.input];
      return [row.call.name, row.call.input, transcript.calls[row.call.id]?.result?.content ?? ""];
    case "plan":
      return [row.call.name, row.call.input, transcript.calls[row.call.id]?.result?.content ?? ""];
    case "reads":
      return row.calls.flatMap((call) => [call.name, call.input, transcript.calls[call.id]?.result?.content ?? ""]);
    case "queued":
      return [row.input.text];
    default:
      return [];
  }
}

function textOf(row: Row, sources: readonly string[]): string {
  if (row.type === "call" && row.call.name === "Agent") return callTarget(row.call.input);
  const whole = sources.join("\n").slice(0, LONGEST);
  if (row.type === "call" || row.type === "plan" || row.type === "reads") return stripAnsi(whole).replaceAll('\\"', '"').replaceAll("\\n", "\n");
  if (row.type !== "text") return whole;
  if (row.origin === "notification") return readable(parseNotification(whole).summary);
  if (row.origin === "directive" || row.origin === "brief") return readable(readFrames(whole).text);
  return row.origin === "model" ? readable(whole) : whole;
}

interface Known {
  sources: string[];
  text: string;
}

/** Remembers what each row says, so that a letter more in the query doesn't read the whole conversation again. */
export class FoundTexts {
  #known = new Map<string, Known>();

  /** All places of the words, from top to bottom. */
  find(rows: readonly Row[], query: string, transcript: TranscriptState, live: LiveMessage | undefined): Match[] {
    const words = fold(query);
    const matches: Match[] = [];
    const kept = new Map<string, Known>();
    for (const row of rows) {
      const sources = sourcesOf(row, transcript, live);
      if (sources.length === 0) continue;
      let known = this.#known.get(row.key);
      if (!known || known.sources.length !== sources.length || known.sources.some((source, at) => source !== sources[at])) {
        known = { sources, text: fold(textOf(row, sources)) };
      }
      kept.set(row.key, known);
      const count = places(known.text, words, MOST - matches.length).length;
      for (let nth = 0; nth < count; nth += 1) matches.push({ row: row.key, nth });
    }
    this.#known = kept;
    return matches;
  }
}
