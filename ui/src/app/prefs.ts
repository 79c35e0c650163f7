// What the window remembers between starts: sizes, theme, zoom, folding. Kept by the web view, never sent anywhere.

import { createSignal, type Accessor } from "solid-js";

export type Theme = "system" | "light" | "dark" | "contrast";

/** A value that is read at the start and written with every change. Storage that fails is done without. */
export function remembered<T>(key: string, initial: T, isValid: (value: unknown) => value is T): [Accessor<T>, (value: T) => void] {
  const [value, setValue] = createSignal<T>(read(key, initial, isValid));
  return [
    value,
    (next) => {
      setValue(() => next);
      write(key, JSON.stringify(next));
    },
  ];
}

function read<T>(key: string, initial: T, isValid: (value: unknown) => value is T): T {
  try {
    const stored = localStorage.getItem(`offshoot.${key}`);
    if (stored === null) return initial;
    const value: unknown = JSON.parse(stored);
    return isValid(value) ? value : initial;
  } catch {
    return initial;
  }
}

export function write(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`offshoot.${key}`);
    else localStorage.setItem(`offshoot.${key}`, value);
  } catch {
    // A full or forbidden storage costs memory of sizes and drafts, nothing else.
  }
}

export function readText(key: string): string {
  try {
    return localStorage.getItem(`offshoot.${key}`) ?? "";
  } catch {
    return "";
  }
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isTheme = (value: unknown): value is Theme =>
  value === "system" || value === "light" || value === "dark" || value === "contrast";

/** At the first start: on a wide screen the diff gets a fair part of it. */
export const WIDTHS = {
  left: 284,
  right: Math.round(Math.min(680, Math.max(380, window.innerWidth * 0.3))),
};

export function createPrefs() {
  const [leftWidth, setLeftWidth] = remembered("left", WIDTHS.left, isNumber);
  const [rightWidth, setRightWidth] = remembered("right", WIDTHS.right, isNumber);
  const [leftOpen, setLeftOpen] = remembered("leftOpen", true, isBoolean);
  const [besideOpen, setBesideOpen] = remembered("rightOpen", true, isBoolean);
  // In a narrow window the inspector lies over the conversation: it is there only when asked for.
  const [isNarrow, setNarrow] = createSignal(false);
  const [overOpen, setOverOpen] = createSignal(false);
  const rightOpen = () => (isNarrow() ? overOpen() : besideOpen());
  const setRightOpen = (open: boolean) => (isNarrow() ? setOverOpen(open) : setBesideOpen(open));
  const [theme, setTheme] = remembered<Theme>("theme", "system", isTheme);
  const [zoom, setZoom] = remembered("zoom", 100, isNumber);
  const [hideFinished, setHideFinished] = remembered("hideFinished", false, isBoolean);
  const [reviewSplit, setReviewSplit] = remembered("reviewSplit", false, isBoolean);
  const [reviewWide, setReviewWide] = createSignal(false);
  return {
    reviewSplit,
    setReviewSplit,
    /** The review takes the conversation's place. */
    reviewWide,
    setReviewWide,
    leftWidth,
    setLeftWidth,
    rightWidth,
    setRightWidth,
    leftOpen,
    setLeftOpen,
    isNarrow,
    setNarrow,
    rightOpen,
    setRightOpen,
    theme,
    setTheme,
    zoom,
    setZoom,
    hideFinished,
    setHideFinished,
  };
}

export type Prefs = ReturnType<typeof createPrefs>;
