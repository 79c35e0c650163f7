// Which words of a replaced line changed. Pure.

/** A stretch of a line, in UTF-16 units: from, and up to. */
export type Stretch = [number, number];

/** Longer lines aren't compared word by word. */
const LONGEST = 1000;
/** Most words of a side. The comparison takes the product of both. */
const MOST = 300;

/** Words, spaces, and every other character by itself. */
function split(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** What differs between two lines, on each side; nothing when they have too little in common for it to help. */
export function changedWords(old: string, now: string): { old: Stretch[]; now: Stretch[] } | undefined {
  if (old === now || old.length > LONGEST || now.length > LONGEST) return undefined;
  const a = split(old);
  const b = split(now);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const left = a.slice(start, a.length - end);
  const right = b.slice(start, b.length - end);
  if (left.length > MOST || right.length > MOST) return undefined;
  const kept = common(left, right);
  const same = [...a.slice(0, start), ...a.slice(a.length - end), ...kept.map((pair) => left[pair[0]] ?? "")].join("").trim().length;
  // Two lines that share little but spaces and brackets are two lines, not one that changed.
  if (same * 3 < Math.max(old.trim().length, now.trim().length)) return undefined;
  return {
    old: stretches(a, start, left.length, new Set(kept.map((pair) => pair[0]))),
    now: stretches(b, start, right.length, new Set(kept.map((pair) => pair[1]))),
  };
}

/** The longest common subsequence, as pairs of places. */
function common(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      table[at] = a[i] === b[j] ? (table[at + width + 1] ?? 0) + 1 : Math.max(table[at + width] ?? 0, table[at + 1] ?? 0);
    }
  }
  const pairs: [number, number][] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const at = i * width + j;
    if (a[i] === b[j]) {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    } else if ((table[at + width] ?? 0) >= (table[at + 1] ?? 0)) i += 1;
    else j += 1;
  }
  return pairs;
}

/** The changed words as stretches of the line; a single space between two of them is one of them. */
function stretches(words: readonly string[], start: number, length: number, kept: ReadonlySet<number>): Stretch[] {
  const found: Stretch[] = [];
  let at = words.slice(0, start).join("").length;
  for (let place = 0; place < length; place += 1) {
    const word = words[start + place] ?? "";
    if (!kept.has(place)) {
      const last = found.at(-1);
      if (last?.[1] === at) last[1] = at + word.length;
      else found.push([at, at + word.length]);
    }
    at += word.length;
  }
  const merged: Stretch[] = [];
  const line = words.join("");
  for (const stretch of found) {
    const last = merged.at(-1);
    if (last && stretch[0] - last[1] <= 1 && line.slice(last[1], stretch[0]).trim() === "") last[1] = stretch[1];
    else merged.push([...stretch]);
  }
  return merged;
}
