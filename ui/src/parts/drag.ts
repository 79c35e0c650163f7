// Dragging by pointer or by keys, with the same targets and the same words. Pointer events only: the drag and drop of
// HTML doesn't work in every web view.
//
// By keys: Space takes hold, arrows choose a target, Space or Enter drops, Escape lets go. What happens is announced.

import { createSignal, onCleanup, type Accessor } from "solid-js";

export interface Target {
  id: string;
  /** For the announcement: "Allowed", "User". */
  label: string;
  element: () => Element | null;
}

export interface Drag<T> {
  item: T;
  label: string;
  by: "pointer" | "keys";
  x: number;
  y: number;
  /** Which target it would be dropped on. */
  over: string | undefined;
  /** Alt: moves instead of copying. */
  alt: boolean;
  targets: readonly Target[];
}

export interface DragOptions<T> {
  targets: (item: T) => Target[];
  drop: (item: T, target: string, alt: boolean) => void;
  announce: (words: string) => void;
  /** What Alt does, for the announcement; absent: nothing. */
  altWord?: string;
}

export interface Dragging<T> {
  state: Accessor<Drag<T> | undefined>;
  onPointerDown: (event: PointerEvent, item: T, label: string) => void;
  onKeyDown: (event: KeyboardEvent, item: T, label: string) => void;
  /** Lets go without dropping. */
  cancel: () => void;
}

/** How far the pointer goes, in pixels, before a press is a drag. */
const THRESHOLD = 5;
/** How near to an edge, in pixels, a drag scrolls. */
const EDGE = 36;

export function createDrag<T>(options: DragOptions<T>): Dragging<T> {
  const [state, setState] = createSignal<Drag<T>>();
  let release: (() => void) | undefined;

  const set = (change: Partial<Drag<T>>) => setState((now) => now && { ...now, ...change });

  function end(): void {
    release?.();
    release = undefined;
    setState(undefined);
  }

  function cancel(): void {
    const drag = state();
    end();
    if (drag) options.announce(`${drag.label} let go. Nothing changed.`);
  }

  function drop(): void {
    const drag = state();
    end();
    if (!drag) return;
    if (drag.over === undefined) options.announce(`${drag.label} let go. Nothing changed.`);
    else options.drop(drag.item, drag.over, drag.alt);
  }

  function onPointerDown(event: PointerEvent, item: T, label: string): void {
    if (event.button !== 0 || !event.isPrimary) return;
    const from = event.target instanceof Element ? event.target : null;
    // Buttons, fields and menus in a card keep their own meaning; touch scrolls but for the grip.
    if (from?.closest("input, textarea, select, [data-still]")) return;
    if (event.pointerType === "touch" && !from?.closest("[data-grip]")) return;
    cancel();
    const start = { x: event.clientX, y: event.clientY, id: event.pointerId };
    const move = (next: PointerEvent) => {
      if (next.pointerId !== start.id) return;
      // The button was let go where nobody could hear it.
      if (next.buttons === 0) return cancel();
      if (!state()) {
        if (Math.hypot(next.clientX - start.x, next.clientY - start.y) < THRESHOLD) return;
        setState({ item, label, by: "pointer", x: 0, y: 0, over: undefined, alt: false, targets: options.targets(item) });
        document.body.dataset["dragging"] = "true";
        window.getSelection()?.removeAllRanges();
      }
      next.preventDefault();
      const over = targetAt(state()?.targets ?? [], next.clientX, next.clientY);
      set({ x: next.clientX, y: next.clientY, over, alt: next.altKey });
      scrollNear(next.clientX, next.clientY);
    };
    const up = (next: PointerEvent) => {
      if (next.pointerId !== start.id) return;
      if (!state()) return end();
      set({ over: targetAt(state()?.targets ?? [], next.clientX, next.clientY), alt: next.altKey });
      swallowClick();
      drop();
    };
    const key = (next: KeyboardEvent) => {
      if (!state()) return;
      if (next.key === "Escape") {
        next.preventDefault();
        next.stopPropagation();
        swallowClick();
        cancel();
      } else if (next.key === "Alt") {
        next.preventDefault();
        set({ alt: next.type === "keydown" });
      }
    };
    const abort = () => cancel();
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
    window.addEventListener("pointercancel", abort);
    window.addEventListener("blur", abort);
    window.addEventListener("keydown", key, true);
    window.addEventListener("keyup", key, true);
    release = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
      window.removeEventListener("pointercancel", abort);
      window.removeEventListener("blur", abort);
      window.removeEventListener("keydown", key, true);
      window.removeEventListener("keyup", key, true);
      delete document.body.dataset["dragging"];
    };
  }

  function onKeyDown(event: KeyboardEvent, item: T, label: string): void {
    const drag = state();
    if (drag?.by !== "keys") {
      if (event.key !== " " || drag || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      take(event.currentTarget, item, label);
      return;
    }
    switch (event.key) {
      case "ArrowRight":
      case "ArrowDown":
        step(1);
        break;
      case "ArrowLeft":
      case "ArrowUp":
        step(-1);
        break;
      case " ":
      case "Enter":
        drop();
        break;
      case "m":
      case "M":
        if (options.altWord === undefined) return;
        set({ alt: !drag.alt });
        say();
        break;
      case "Escape":
        cancel();
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  function take(element: EventTarget | null, item: T, label: string): void {
    const targets = options.targets(item);
    setState({ item, label, by: "keys", x: 0, y: 0, over: targets[0]?.id, alt: false, targets });
    const lost = () => cancel();
    element?.addEventListener("blur", lost);
    release = () => element?.removeEventListener("blur", lost);
    const alt = options.altWord === undefined ? "" : `, M ${options.altWord}`;
    const first = targets[0] ? `Target ${targets[0].label}. ` : "There is nowhere to drop it. ";
    options.announce(`${label} taken. ${first}Arrows choose, Space drops${alt}, Escape lets go.`);
  }

  function step(by: number): void {
    const drag = state();
    if (!drag || drag.targets.length === 0) return;
    const at = drag.targets.findIndex((target) => target.id === drag.over);
    const next = drag.targets[(at + by + drag.targets.length) % drag.targets.length];
    set({ over: next?.id });
    next?.element()?.scrollIntoView({ block: "nearest", inline: "nearest" });
    say();
  }

  function say(): void {
    const drag = state();
    const target = drag?.targets.find((other) => other.id === drag.over);
    if (drag && target) options.announce(`${target.label}${drag.alt ? `, ${options.altWord ?? ""}` : ""}.`);
  }

  onCleanup(end);
  return { state, onPointerDown, onKeyDown, cancel };
}

/** The smallest target under a point. */
export function targetAt(targets: readonly Target[], x: number, y: number): string | undefined {
  let best: { id: string; area: number } | undefined;
  for (const target of targets) {
    const box = target.element()?.getBoundingClientRect();
    if (!box || x < box.left || x > box.right || y < box.top || y > box.bottom) continue;
    const area = box.width * box.height;
    if (!best || area < best.area) best = { id: target.id, area };
  }
  return best?.id;
}

/** The click that follows letting go is none. */
function swallowClick(): void {
  const swallow = (event: MouseEvent) => {
    event.preventDefault();
    event.stopPropagation();
  };
  window.addEventListener("click", swallow, { capture: true, once: true });
  // It comes at once or not at all.
  setTimeout(() => window.removeEventListener("click", swallow, true), 0);
}

function scrollNear(x: number, y: number): void {
  for (let at = document.elementFromPoint?.(x, y) ?? null; at; at = at.parentElement) {
    if (at.scrollHeight <= at.clientHeight + 1 || !/auto|scroll/.test(getComputedStyle(at).overflowY)) continue;
    const box = at.getBoundingClientRect();
    if (y < box.top + EDGE) at.scrollTop -= 14;
    else if (y > box.bottom - EDGE) at.scrollTop += 14;
    return;
  }
}
