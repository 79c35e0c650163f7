// Undo and redo over whole values. Pure; changes of one thing in quick succession are one step.

export interface Past<T> {
  readonly now: T;
  readonly before: readonly T[];
  readonly after: readonly T[];
  /** What was changed last, and when (milliseconds): typing on extends the step. */
  readonly last: { key: string; at: number } | undefined;
}

const MOST = 200;
/** How long a pause ends a step, in milliseconds. */
const PAUSE = 900;

export function begin<T>(now: T): Past<T> {
  return { now, before: [], after: [], last: undefined };
}

/** `key`: what is being changed; an empty one is always a step of its own. */
export function change<T>(past: Past<T>, now: T, key: string, at: number): Past<T> {
  const goesOn = key !== "" && past.last?.key === key && at - past.last.at < PAUSE;
  const before = goesOn ? past.before : [...past.before.slice(1 - MOST), past.now];
  return { now, before, after: [], last: { key, at } };
}

export function undo<T>(past: Past<T>): Past<T> {
  const now = past.before.at(-1);
  if (now === undefined) return past;
  return { now, before: past.before.slice(0, -1), after: [past.now, ...past.after], last: undefined };
}

export function redo<T>(past: Past<T>): Past<T> {
  const now = past.after[0];
  if (now === undefined) return past;
  return { now, before: [...past.before, past.now], after: past.after.slice(1), last: undefined };
}
