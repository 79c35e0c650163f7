// Syntax colours for the lines of a diff, hunk by hunk and only for hunks that come into sight.

import { highlightLines, languageOf, type Token } from "../parts/highlight";
import type { Hunk } from "../protocol.gen";

/** Lines coloured in one go. A construct that spans the cut (a long comment) loses its colour, not its text. */
const CHUNK = 200;

export type Colours = (hunk: number, at: number) => Token[] | undefined;

/** A function that answers a line's tokens; `undefined`: draw it plain. Work is done when first asked, then kept. */
export function diffColours(hunks: readonly Hunk[], path: string): Colours {
  const language = languageOf(path);
  if (language === undefined) return () => undefined;
  const done = new Map<string, (Token[] | undefined)[]>();
  return (place, at) => {
    const hunk = hunks[place];
    if (!hunk) return undefined;
    const chunk = Math.floor(at / CHUNK);
    const key = `${place}.${chunk}`;
    let lines = done.get(key);
    if (!lines) {
      lines = colourChunk(hunk, chunk * CHUNK, language);
      done.set(key, lines);
    }
    return lines[at - chunk * CHUNK];
  };
}

/** Both sides are coloured as the text they are: a removed line must not confuse what follows. */
function colourChunk(hunk: Hunk, start: number, language: string): (Token[] | undefined)[] {
  const lines = hunk.lines.slice(start, start + CHUNK);
  const now = lines.filter((line) => line.kind !== "removed");
  const old = lines.filter((line) => line.kind !== "added");
  const nowTokens = highlightLines(now.map((line) => line.text).join("\n"), language);
  const oldTokens = highlightLines(old.map((line) => line.text).join("\n"), language);
  let nowAt = 0;
  let oldAt = 0;
  return lines.map((line) => {
    if (line.kind === "removed") {
      oldAt += 1;
      return oldTokens?.[oldAt - 1];
    }
    if (line.kind === "context") oldAt += 1;
    nowAt += 1;
    return nowTokens?.[nowAt - 1];
  });
}
