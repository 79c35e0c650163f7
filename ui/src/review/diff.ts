// Diffs as rows to draw. Pure.

import type { FileDiff, Hunk, LineKind } from "../protocol.gen";

export type DiffRow =
  | { type: "hunk"; key: string; hunk: number; heading: string; range: string }
  | { type: "line"; key: string; hunk: number; at: number; kind: LineKind; old: number | undefined; now: number | undefined; text: string; noNewline: boolean };

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

export function diffRows(hunks: readonly Hunk[]): DiffRow[] {
  const rows: DiffRow[] = [];
  hunks.forEach((hunk, place) => {
    rows.push({
      type: "hunk",
      key: `h${place}`,
      hunk: place,
      heading: hunk.heading,
      range: `−${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines}`,
    });
    let old = hunk.old_start;
    let now = hunk.new_start;
    hunk.lines.forEach((line, at) => {
      rows.push({
        type: "line",
        key: `${place}.${at}`,
        hunk: place,
        at,
        kind: line.kind,
        old: line.kind === "added" ? undefined : old,
        now: line.kind === "removed" ? undefined : now,
        text: line.text,
        noNewline: line.no_newline === true,
      });
      if (line.kind !== "added") old += 1;
      if (line.kind !== "removed") now += 1;
    });
  });
  return rows;
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
  if (isImage(file.path)) return "An image. It is not drawn here yet.";
  if (file.binary) return "Not text. Nothing to compare line by line.";
  if (file.labels.length > 0) return `Only: ${file.labels.join(", ")}.`;
  if (file.kind === "renamed") return `Renamed from ${file.old_path ?? "another name"}, content unchanged.`;
  if (file.kind === "added") return "A new, empty file.";
  return "No line differs.";
}

export function isImage(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i.test(path);
}
