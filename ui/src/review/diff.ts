// Diffs as rows to draw. Pure.

import type { Comment, DiffLine, DiffSide, FileDiff, Hunk, LineKind, Passage } from "../protocol.gen";

export interface HunkRow {
  type: "hunk";
  key: string;
  hunk: number;
  heading: string;
  range: string;
  /** How many of its lines are not drawn because it is folded. */
  folded: number;
}

export interface LineRow {
  type: "line";
  key: string;
  hunk: number;
  /** Its place in the hunk. */
  at: number;
  kind: LineKind;
  old: number | undefined;
  now: number | undefined;
  text: string;
  noNewline: boolean;
  /** The place of the line that it replaced, or that replaced it. */
  partner: number | undefined;
}

/** Both sides beside each other; one of them may be empty. */
export interface PairRow {
  type: "pair";
  key: string;
  hunk: number;
  old: LineRow | undefined;
  now: LineRow | undefined;
}

export interface CommentRow {
  type: "comment";
  key: string;
  comment: Comment;
  /** Its lines are not among those that are shown. */
  isLoose: boolean;
}

/** Where a comment is being written. */
export interface DraftRow {
  type: "draft";
  key: string;
  passage: Passage;
}

/** Lines that nobody changed, not drawn. */
export interface GapRow {
  type: "gap";
  key: string;
  gap: number;
  /** How many; unknown behind the last hunk until the file was read. */
  count: number | undefined;
}

/** The unchanged lines of a file, and which of them are drawn. */
export interface Context {
  /** The file's lines now, once they were read. */
  lines: readonly string[] | undefined;
  /** Gaps that were opened: the one before each hunk has its number, the last one is behind all. */
  open: ReadonlySet<number>;
}

export type DiffRow = HunkRow | LineRow | PairRow | CommentRow | DraftRow | GapRow;

export interface RowOptions {
  split?: boolean;
  isFolded?: (hunk: Hunk) => boolean;
  comments?: readonly Comment[];
  draft?: Passage | undefined;
  /** Absent: there is nothing between the hunks (a new file, a piece of text). */
  context?: Context | undefined;
}

/** Reads a unified diff without file headers. Lines it can't place are left out. */
export function parseUnified(diff: string): Hunk[] {
  const hunks: Hunk[] = [];
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/.exec(line);
    if (head) {
      hunks.push({
        old_start: Number(head[1]),
        old_lines: Number(head[2] ?? 1),
        new_start: Number(head[3]),
        new_lines: Number(head[4] ?? 1),
        heading: head[5] ?? "",
        lines: [],
      });
      continue;
    }
    const hunk = hunks.at(-1);
    if (!hunk) continue;
    if (line.startsWith("+")) hunk.lines.push({ kind: "added", text: line.slice(1) });
    else if (line.startsWith("-")) hunk.lines.push({ kind: "removed", text: line.slice(1) });
    else if (line.startsWith("\\")) {
      const last = hunk.lines.at(-1);
      if (last) last.no_newline = true;
    } else hunk.lines.push({ kind: "context", text: line.startsWith(" ") ? line.slice(1) : line });
  }
  return hunks;
}

export function diffRows(hunks: readonly Hunk[], options: RowOptions = {}): DiffRow[] {
  const rows: DiffRow[] = [];
  const notes = new Map<string, (CommentRow | DraftRow)[]>();
  const lines = hunks.map(linesOf);
  const gaps = options.context ? gapsOf(hunks, options.context) : [];
  const all = [...lines.flat(), ...gaps.flatMap((gap) => gap.lines)];
  const put = (row: CommentRow | DraftRow, passage: Passage): boolean => {
    const target = placeOf(passage, all);
    if (target) notes.set(target.key, [...(notes.get(target.key) ?? []), row]);
    return target !== undefined;
  };
  for (const comment of options.comments ?? []) {
    const row: CommentRow = { type: "comment", key: `c:${comment.id}`, comment, isLoose: false };
    if (!put(row, comment.passage)) rows.push({ ...row, isLoose: true });
  }
  if (options.draft) put({ type: "draft", key: "draft", passage: options.draft }, options.draft);

  const pushLines = (own: readonly LineRow[]) => {
    if (options.split) {
      for (const pair of pairs(own)) {
        rows.push(pair);
        const said = [pair.old, pair.now].flatMap((line) => (line ? (notes.get(line.key) ?? []) : []));
        rows.push(...new Set(said));
      }
    } else {
      for (const line of own) rows.push(line, ...(notes.get(line.key) ?? []));
    }
  };
  const pushGap = (gap: Gap | undefined) => {
    if (!gap) return;
    if (gap.lines.length > 0) pushLines(gap.lines);
    else if (gap.count !== 0) rows.push({ type: "gap", key: `gap:${gap.number}`, gap: gap.number, count: gap.count });
  };
  hunks.forEach((hunk, place) => {
    pushGap(gaps[place]);
    const isFolded = options.isFolded?.(hunk) === true;
    rows.push({
      type: "hunk",
      key: `hunk:${hunk.hash ?? place}`,
      hunk: place,
      heading: hunk.heading,
      range: `−${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines}`,
      folded: isFolded ? hunk.lines.length : 0,
    });
    const own = lines[place] ?? [];
    if (isFolded) {
      for (const line of own) rows.push(...(notes.get(line.key) ?? []));
    } else pushLines(own);
  });
  pushGap(gaps[hunks.length]);
  return rows;
}

interface Gap {
  number: number;
  count: number | undefined;
  /** Its lines, when it is open. */
  lines: LineRow[];
}

/** What lies before, between and behind the hunks. */
function gapsOf(hunks: readonly Hunk[], context: Context): Gap[] {
  const gaps: Gap[] = [];
  let old = 1;
  let now = 1;
  const add = (end: number | undefined) => {
    const number = gaps.length;
    const total = end ?? (context.lines ? context.lines.length + 1 : undefined);
    const count = total === undefined ? undefined : Math.max(0, total - now);
    const isOpen = context.open.has(number) && context.lines !== undefined && count !== undefined;
    const lines: LineRow[] = [];
    for (let at = 0; isOpen && at < count; at += 1) {
      lines.push({
        type: "line",
        key: `gap${number}.${now + at}`,
        hunk: -1,
        at: now + at - 1,
        kind: "context",
        old: old + at,
        now: now + at,
        text: context.lines?.[now + at - 1] ?? "",
        noNewline: false,
        partner: undefined,
      });
    }
    gaps.push({ number, count, lines });
  };
  for (const hunk of hunks) {
    add(Math.max(1, hunk.new_start));
    old = hunk.old_start + hunk.old_lines;
    now = hunk.new_start + hunk.new_lines;
  }
  if (hunks.length > 0) add(undefined);
  return gaps;
}

function linesOf(hunk: Hunk, place: number): LineRow[] {
  const partners = partnersOf(hunk.lines);
  let old = hunk.old_start;
  let now = hunk.new_start;
  return hunk.lines.map((line, at) => {
    const row: LineRow = {
      type: "line",
      key: `${hunk.hash ?? place}.${at}`,
      hunk: place,
      at,
      kind: line.kind,
      old: line.kind === "added" ? undefined : old,
      now: line.kind === "removed" ? undefined : now,
      text: line.text,
      noNewline: line.no_newline === true,
      partner: partners.get(at),
    };
    if (line.kind !== "added") old += 1;
    if (line.kind !== "removed") now += 1;
    return row;
  });
}

/** Of lines that were removed and added in the same place, which belong to each other. */
function partnersOf(lines: readonly DiffLine[]): Map<number, number> {
  const partners = new Map<number, number>();
  for (let at = 0; at < lines.length; ) {
    const removed = run(lines, at, "removed");
    const added = run(lines, at + removed, "added");
    for (let n = 0; n < Math.min(removed, added); n += 1) {
      partners.set(at + n, at + removed + n);
      partners.set(at + removed + n, at + n);
    }
    at += Math.max(1, removed + added);
  }
  return partners;
}

function run(lines: readonly DiffLine[], from: number, kind: LineKind): number {
  let length = 0;
  while (lines[from + length]?.kind === kind) length += 1;
  return length;
}

/** A hunk's lines side by side. */
function pairs(lines: readonly LineRow[]): PairRow[] {
  const found: PairRow[] = [];
  const add = (old: LineRow | undefined, now: LineRow | undefined) => {
    const first = old ?? now;
    if (first) found.push({ type: "pair", key: `s${first.key}`, hunk: first.hunk, old, now });
  };
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (line?.kind === "context") {
      add(line, line);
      at += 1;
      continue;
    }
    const removed: LineRow[] = [];
    const added: LineRow[] = [];
    for (; lines[at]?.kind === "removed"; at += 1) removed.push(lines[at] as LineRow);
    for (; lines[at]?.kind === "added"; at += 1) added.push(lines[at] as LineRow);
    for (let n = 0; n < Math.max(removed.length, added.length); n += 1) add(removed[n], added[n]);
  }
  return found;
}

const numberOn = (line: LineRow, side: DiffSide) => (side === "now" ? line.now : line.old);

/** The line that a passage ends with: the nearest one with the same text. */
function placeOf(passage: Passage, lines: readonly LineRow[]): LineRow | undefined {
  const wanted = passage.quoted.split("\n").at(-1) ?? "";
  let best: { line: LineRow; far: number } | undefined;
  for (const line of lines) {
    const number = numberOn(line, passage.side);
    if (number === undefined || line.text !== wanted) continue;
    const far = Math.abs(number - passage.last);
    if (!best || far < best.far) best = { line, far };
  }
  return best?.line;
}

/** What a comment on these lines is about. Lines of both sides: those of the side that the last one is on. */
export function passageOf(path: string, hunks: readonly Hunk[], lines: readonly LineRow[]): Passage | undefined {
  const last = lines.at(-1);
  if (!last) return undefined;
  const side: DiffSide = last.kind === "removed" ? "base" : "now";
  const own = lines.filter((line) => numberOn(line, side) !== undefined);
  const numbers = own.map((line) => numberOn(line, side) ?? 0);
  const passage: Passage = {
    path,
    side,
    first: Math.min(...numbers),
    last: Math.max(...numbers),
    quoted: own.map((line) => line.text).join("\n"),
  };
  const hash = hunks[last.hunk]?.hash;
  if (hash !== undefined) passage.hunk = hash;
  return passage;
}

export function countLines(hunks: readonly Hunk[]): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const hunk of hunks) {
    for (const line of hunk.lines) {
      if (line.kind === "added") added += 1;
      else if (line.kind === "removed") removed += 1;
    }
  }
  return { added, removed };
}

/** Why a file has no lines to show, in words; `undefined` when it has. */
export function nothingToShow(diff: FileDiff): string | undefined {
  if (diff.hunks.length > 0 || diff.too_large !== undefined) return undefined;
  const { file } = diff;
  if (file.binary) return "Not text. Nothing to compare line by line.";
  if (file.labels.length > 0) return `Only: ${file.labels.join(", ")}.`;
  if (file.kind === "renamed") return `Renamed from ${file.old_path ?? "another name"}, content unchanged.`;
  if (file.kind === "added") return "A new, empty file.";
  return "No line differs.";
}

export function isImage(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i.test(path);
}
