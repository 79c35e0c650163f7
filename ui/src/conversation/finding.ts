// Finding words in a conversation: the places, the current one, its row in sight, and the marks on what is drawn.

import { createContext, createEffect, createMemo, createSignal, on, onCleanup, useContext, type Accessor } from "solid-js";
import { canMark, mark, rangesOf, unmark } from "../parts/marks";
import type { LiveMessage, TranscriptState } from "../session/transcript";
import { FoundTexts, type Match } from "./find";
import type { Row } from "./rows";

/** The row with the current place, which shows it even when it is folded. */
const FoundRow = createContext<Accessor<string | undefined>>();
export const FoundRowProvider = FoundRow.Provider;

/** Calls back when the row becomes the one with the current place. */
export function useFound(key: () => string, unfold: () => void): void {
  const found = useContext(FoundRow);
  createEffect(() => {
    if (found?.() === key()) unfold();
  });
}

export interface FindInput {
  rows: Accessor<Row[]>;
  transcript: () => TranscriptState | undefined;
  live: () => LiveMessage | undefined;
  box: () => HTMLElement | undefined;
  /** The first row in sight. */
  firstInSight: () => number;
  /** Brings a row into sight. */
  reveal: (row: number) => void;
}

export interface Find {
  isOpen: Accessor<boolean>;
  query: Accessor<string>;
  matches: Accessor<Match[]>;
  current: Accessor<number>;
  row: Accessor<string | undefined>;
  field: (field: HTMLInputElement) => void;
  setQuery: (query: string) => void;
  step: (direction: -1 | 1) => void;
  close: () => void;
}

export function useFind(input: FindInput): Find {
  const [isOpen, setOpen] = createSignal(false);
  const [query, setQuery] = createSignal("");
  const [current, setCurrent] = createSignal(0);
  const texts = new FoundTexts();
  let field: HTMLInputElement | undefined;
  let returnTo: Element | null = null;

  const matches = createMemo<Match[]>(() => {
    const data = input.transcript();
    if (!isOpen() || query().trim() === "" || !data) return [];
    return texts.find(input.rows(), query(), data, input.live());
  });
  const at = () => Math.min(current(), Math.max(0, matches().length - 1));
  const row = createMemo(() => matches()[at()]?.row);

  const rowOf = (match: Match | undefined) => input.rows().findIndex((candidate) => candidate.key === match?.row);
  let bringing: Match | undefined;
  const show = () => {
    const match = matches()[at()];
    const index = rowOf(match);
    if (!match || index < 0) return;
    bringing = match;
    input.reveal(index);
    schedule();
  };

  /** Marks what is drawn now; a row that has just come into sight is drawn a moment later. */
  let frame = 0;
  const schedule = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(paint);
  };
  const paint = () => {
    const box = input.box();
    if (!box || !isOpen()) return;
    const now = matches()[at()];
    const withMatches = new Set(matches().map((match) => match.row));
    const all: Range[] = [];
    let one: Range | undefined;
    for (const element of box.querySelectorAll<HTMLElement>("[data-key]")) {
      const key = element.dataset["key"] ?? "";
      const has = withMatches.has(key);
      const ranges = has ? rangesOf(element, query()) : [];
      const isCurrent = has && key === now?.row;
      // What isn't drawn, or can't be marked, is shown by its row.
      const byRow = has && (!canMark() || (isCurrent && ranges.length === 0));
      if (byRow) element.dataset["found"] = isCurrent ? "current" : "also";
      else delete element.dataset["found"];
      if (isCurrent) one = ranges[Math.min(now?.nth ?? 0, ranges.length - 1)];
      all.push(...ranges);
    }
    mark(all, one);
    if (one && now === bringing) into(box, one);
  };
  const into = (box: HTMLElement, range: Range) => {
    bringing = undefined;
    const place = range.getBoundingClientRect();
    const frameOf = box.getBoundingClientRect();
    if (place.height === 0) return;
    if (place.top < frameOf.top + 56 || place.bottom > frameOf.bottom - 24) box.scrollTop += place.top - frameOf.top - frameOf.height / 2;
  };

  createEffect(
    on(query, () => {
      const first = input.firstInSight();
      const next = matches().findIndex((match) => rowOf(match) >= first);
      setCurrent(next >= 0 ? next : Math.max(0, matches().length - 1));
      show();
    }, { defer: true }),
  );
  createEffect(on([matches, at], () => isOpen() && schedule()));

  const observer = typeof MutationObserver === "undefined" ? undefined : new MutationObserver(schedule);
  const open = () => {
    if (!isOpen()) returnTo = document.activeElement;
    const selected = window.getSelection()?.toString().trim() ?? "";
    setOpen(true);
    const box = input.box();
    if (box) observer?.observe(box, { childList: true, subtree: true, characterData: true });
    if (selected !== "" && selected.length <= 80 && !selected.includes("\n")) setQuery(selected);
    field?.focus();
    field?.select();
  };
  const close = () => {
    setOpen(false);
    observer?.disconnect();
    cancelAnimationFrame(frame);
    unmark();
    for (const element of input.box()?.querySelectorAll<HTMLElement>("[data-found]") ?? []) delete element.dataset["found"];
    if (returnTo instanceof HTMLElement) returnTo.focus({ preventScroll: true });
  };
  const step = (direction: -1 | 1) => {
    const count = matches().length;
    if (count === 0) return;
    setCurrent((at() + direction + count) % count);
    show();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const command = (event.ctrlKey || event.metaKey) && !event.altKey;
    if (event.target instanceof Element && event.target.closest('[role="dialog"]')) return;
    if (command && !event.shiftKey && event.key.toLowerCase() === "f") open();
    else if (isOpen() && ((command && event.key.toLowerCase() === "g") || event.key === "F3")) step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", onKeyDown);
  onCleanup(() => {
    document.removeEventListener("keydown", onKeyDown);
    if (isOpen()) close();
  });

  return {
    isOpen,
    query,
    matches,
    current: at,
    row,
    field: (element) => {
      field = element;
      queueMicrotask(() => {
        element.focus();
        element.select();
      });
    },
    setQuery,
    step,
    close,
  };
}
