// Marks words in what is drawn, without touching it: by the web view's own highlights. Where it has none, nothing is
// marked here, and who asks marks the whole row instead.

import { fold, places } from "./words";

const ALL = "found";
const CURRENT = "found-current";
/** More in one row aren't marked. */
const MOST = 500;

export function canMark(): boolean {
  return typeof CSS !== "undefined" && "highlights" in CSS && typeof Highlight !== "undefined";
}

/** The places of the words below an element, also those that lie across several elements of a line. */
export function rangesOf(root: Element, query: string): Range[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes: { node: Text; start: number }[] = [];
  let text = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!(node instanceof Text)) continue;
    nodes.push({ node, start: text.length });
    text += node.data;
  }
  const words = fold(query);
  let at = 0;
  return places(fold(text), words, MOST).map((start) => {
    const range = document.createRange();
    const end = start + words.length;
    while (at + 1 < nodes.length && (nodes[at + 1]?.start ?? 0) <= start) at += 1;
    const first = nodes[at];
    let last = at;
    while (last + 1 < nodes.length && (nodes[last + 1]?.start ?? 0) < end) last += 1;
    const final = nodes[last];
    if (first && final) {
      range.setStart(first.node, start - first.start);
      range.setEnd(final.node, end - final.start);
    }
    return range;
  });
}

export function mark(all: readonly Range[], current: Range | undefined): void {
  if (!canMark()) return;
  CSS.highlights.set(ALL, new Highlight(...all));
  const one = new Highlight(...(current ? [current] : []));
  one.priority = 1;
  CSS.highlights.set(CURRENT, one);
}

export function unmark(): void {
  if (!canMark()) return;
  CSS.highlights.delete(ALL);
  CSS.highlights.delete(CURRENT);
}
