// Makes characters visible that a person can't see but a program obeys: controls, zero-width and bidirectional marks,
// variation and tag characters, look-alike spaces.

export interface Piece {
  text: string;
  /** Set for a character that would not be seen: its code and name. */
  unseen?: string;
}

const NAMES: Record<number, string> = {
  0x00: "NUL",
  0x07: "BEL",
  0x08: "BS",
  0x09: "TAB",
  0x0b: "VT",
  0x0c: "FF",
  0x0d: "CR",
  0x1b: "ESC",
  0x7f: "DEL",
  0x85: "NEL",
  0xa0: "NBSP",
  0xad: "SHY",
  0x34f: "CGJ",
  0x61c: "ALM",
  0x200b: "ZWSP",
  0x200c: "ZWNJ",
  0x200d: "ZWJ",
  0x200e: "LRM",
  0x200f: "RLM",
  0x2028: "LS",
  0x2029: "PS",
  0x202a: "LRE",
  0x202b: "RLE",
  0x202c: "PDF",
  0x202d: "LRO",
  0x202e: "RLO",
  0x2060: "WJ",
  0x2066: "LRI",
  0x2067: "RLI",
  0x2068: "FSI",
  0x2069: "PDI",
  0x3164: "HF",
  0xfeff: "BOM",
};

const UNSEEN =
  // Written as escapes throughout, so that this file itself can be read.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|\udb40[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Cuts a text into what can be seen as it is and what can't. Line ends and tabs stay. */
export function showUnseen(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > end) pieces.push({ text: text.slice(end, match.index) });
    pieces.push({ text: match[0], unseen: nameOf(match[0].codePointAt(0) ?? 0) });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}

export function hasUnseen(text: string): boolean {
  // Not `test`: it would leave its place in the pattern, and the next look at a text would begin there.
  return text.search(UNSEEN) >= 0;
}

function nameOf(code: number): string {
  return NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
