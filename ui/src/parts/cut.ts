// Cuts long output to a head and a tail, and into pieces that a list can draw. Pure.

const HEAD_LINES = 60;
const TAIL_LINES = 60;
const HEAD_CHARS = 12_000;
const TAIL_CHARS = 12_000;

export interface Cut {
  head: string;
  /** Empty when nothing was cut. */
  tail: string;
  cutLines: number;
  cutChars: number;
}

export function cutOutput(text: string): Cut {
  const headEnd = Math.min(lineEnd(text, HEAD_LINES), HEAD_CHARS);
  const tailStart = Math.max(lineStart(text, TAIL_LINES), text.length - TAIL_CHARS);
  if (headEnd >= tailStart) return { head: text, tail: "", cutLines: 0, cutChars: 0 };
  const cut = text.slice(headEnd, tailStart);
  return { head: text.slice(0, headEnd), tail: text.slice(tailStart), cutLines: count(cut), cutChars: cut.length };
}

/** The last lines, for output that still runs. */
export function lastLines(text: string, lines: number): string {
  const bounded = text.slice(-6000);
  return bounded.slice(lineStart(bounded.replace(/\n$/, ""), lines));
}

/** Pieces of at most `most` characters and about forty lines, cut at line ends where there are any. */
export function pieces(text: string, most = 4000): string[] {
  const list: string[] = [];
  for (let at = 0; at < text.length; ) {
    // Only ever the next stretch is searched: one line may be megabytes long.
    const next = text.slice(at, at + most);
    let length = lineEnd(next, 40);
    if (length === next.length && at + length < text.length) length = next.lastIndexOf("\n") + 1 || next.length;
    list.push(next.slice(0, length));
    at += length;
  }
  return list;
}

function lineEnd(text: string, lines: number): number {
  let at = -1;
  for (let i = 0; i < lines; i += 1) {
    at = text.indexOf("\n", at + 1);
    if (at === -1) return text.length;
  }
  return at + 1;
}

function lineStart(text: string, lines: number): number {
  let at = text.length;
  for (let i = 0; i < lines; i += 1) {
    if (at <= 0) return 0;
    at = text.lastIndexOf("\n", at - 1);
    if (at === -1) return 0;
  }
  return at + 1;
}

function count(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
