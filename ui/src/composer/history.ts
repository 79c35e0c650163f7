// What was sent before, to be sent again. Pure: lists in, lists out; newest last.

const MOST = 100;
/** Longer texts are pasted files: nobody wants to meet them again. */
const LONGEST = 8000;

/** Where somebody is in the history, and what they had typed before they went there. */
export interface Browsing {
  /** Place in the list. */
  at: number;
  draft: string;
}

export function remember(list: readonly string[], text: string): string[] {
  const kept = text.trim();
  if (kept === "" || kept.length > LONGEST) return [...list];
  return [...list.filter((entry) => entry !== kept), kept].slice(-MOST);
}

/** One step back (-1) or forth (1); behind the newest stands the draft. `undefined`: there is no such step. */
export function stepThrough(
  list: readonly string[],
  browsing: Browsing | undefined,
  direction: -1 | 1,
  text: string,
): { text: string; browsing: Browsing | undefined } | undefined {
  const at = (browsing?.at ?? list.length) + direction;
  const draft = browsing?.draft ?? text;
  if (at < 0 || at > list.length || (browsing === undefined && direction === 1)) return undefined;
  if (at === list.length) return { text: draft, browsing: undefined };
  return { text: list[at] ?? "", browsing: { at, draft } };
}

/**
 * Whether an arrow key leads into the history: only where the caret can't move further that way, and while one steps
 * through it, at either end of the text.
 */
export function leadsAway(direction: -1 | 1, caret: { start: number; end: number }, length: number, isBrowsing: boolean): boolean {
  if (caret.start !== caret.end) return false;
  const atStart = caret.start === 0;
  const atEnd = caret.start === length;
  return isBrowsing ? atStart || atEnd : direction === -1 ? atStart : atEnd;
}

export function readHistory(stored: string): string[] {
  try {
    const value: unknown = JSON.parse(stored);
    return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === "string").slice(-MOST) : [];
  } catch {
    return [];
  }
}
