// Times, spans and amounts as people read them, and one clock for all that shows a running time.

import { createSignal, onCleanup, type Accessor } from "solid-js";
import { onBeat } from "./beat";

const [now, setNow] = createSignal(Date.now());

/** The time, by the second, as long as somebody reads it: without readers nothing ticks. */
export function useNow(): Accessor<number> {
  setNow(Date.now());
  onCleanup(onBeat((beat) => beat % 2 === 0 && setNow(Date.now())));
  return now;
}

/** `0:07`, `12:40`, `1:02:09`. */
export function clockSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** `40 ms`, `3.1 s`, `2 min 4 s`. */
export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.round((ms % 60_000) / 1000);
  return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`;
}

/** `980`, `14.2k`, `3.1M`. */
export function amount(count: number): string {
  if (count < 1000) return String(count);
  if (count < 99_950) return `${(count / 1000).toFixed(1).replace(/\.0$/, "")}k`;
  if (count < 999_500) return `${Math.round(count / 1000)}k`;
  return `${(count / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`;
}

/** `just now`, `5 min ago`, `yesterday`, `12 Nov`. */
export function ago(at: string, from: number): string {
  const then = Date.parse(at);
  if (Number.isNaN(then)) return "";
  const minutes = Math.floor((from - then) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  if (minutes < 48 * 60) return "yesterday";
  const date = new Date(then);
  const sameYear = date.getFullYear() === new Date(from).getFullYear();
  return date.toLocaleDateString(undefined, { day: "numeric", month: "short", ...(sameYear ? {} : { year: "numeric" }) });
}

/** `4.8 MB`. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1000).toFixed(0)} KB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}
