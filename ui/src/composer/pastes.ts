// Long pasted texts. In the field stands a short mark in their place, because laying out and measuring a text of
// hundreds of kilobytes with every key takes seconds; it is sent whole. Pure.

/** From here on a pasted text is kept apart. */
export const LONG = 10_000;

/** Pasted texts by the number in their mark. */
export type Pastes = Record<number, string>;

const MARK = /\[Pasted text (\d{1,4}): [\d,. \u00a0\u202f’']+ (?:lines|characters)\]/g;

/** Puts a text in place: as it is, or, when it is long or `always`, as a mark and an entry. */
export function keepApart(text: string, pastes: Pastes, always = false): { text: string; pastes: Pastes } {
  if (text.length < LONG && !always) return { text, pastes };
  const number = Math.max(0, ...Object.keys(pastes).map(Number)) + 1;
  return { text: markOf(number, text), pastes: { ...pastes, [number]: text } };
}

function markOf(number: number, text: string): string {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  const size = lines > 1 ? `${lines.toLocaleString("en")} lines` : `${text.length.toLocaleString("en")} characters`;
  return `[Pasted text ${number}: ${size}]`;
}

/** The text as it is sent. A mark that stands for nothing is text. */
export function expand(text: string, pastes: Pastes): string {
  return text.replace(MARK, (mark, number: string) => pastes[Number(number)] ?? mark);
}

/** The pasted texts whose marks still stand in the text. */
export function stillUsed(text: string, pastes: Pastes): Pastes {
  const used: Pastes = {};
  for (const [, number] of text.matchAll(MARK)) {
    const paste = pastes[Number(number)];
    if (paste !== undefined) used[Number(number)] = paste;
  }
  return used;
}

export function readPastes(stored: string): Pastes {
  try {
    const value: unknown = JSON.parse(stored);
    if (typeof value !== "object" || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => /^\d+$/.test(entry[0]) && typeof entry[1] === "string"));
  } catch {
    return {};
  }
}
