// What an element's `title` says, drawn by the window instead of by the toolkit: in its theme and size, whole, at once
// beside the pointer's element, and also for whoever goes through the window by keyboard. While it is shown, the
// attribute is away, so that the toolkit doesn't draw it a second time.

import { Show, createEffect, createSignal, onCleanup, type JSX } from "solid-js";
import s from "./Tips.module.css";

/** How long the pointer or the focus rests on something before it is explained. */
const REST_MS = 500;
/** Going on to the next thing within this time, one waits no longer. */
const WARM_MS = 400;
const GAP = 6;

interface Tip {
  on: Element;
  text: string;
}

export function Tips(): JSX.Element {
  const [tip, setTip] = createSignal<Tip>();
  let taken: Tip | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hiddenAt = Number.NEGATIVE_INFINITY;

  const give = () => {
    clearTimeout(timer);
    if (tip()) hiddenAt = performance.now();
    setTip(undefined);
    if (taken && !taken.on.hasAttribute("title")) taken.on.setAttribute("title", taken.text);
    taken = undefined;
  };
  const take = (on: Element) => {
    if (taken?.on === on) return;
    give();
    const text = on.getAttribute("title") ?? "";
    if (text.trim() === "") return;
    on.removeAttribute("title");
    const mine = { on, text };
    taken = mine;
    const isWarm = performance.now() - hiddenAt < WARM_MS;
    timer = setTimeout(() => on.isConnected && setTip(mine), isWarm ? 60 : REST_MS);
  };
  const titled = (target: EventTarget | null) => (target instanceof Element ? target.closest("[title]") : null);
  const onOver = (event: PointerEvent) => {
    if (event.pointerType === "touch") return;
    if (taken && event.target instanceof Node && taken.on.contains(event.target)) {
      // An element inside may have words of its own.
      const inner = titled(event.target);
      if (!inner || !taken.on.contains(inner)) return;
    }
    const next = titled(event.target);
    if (next) take(next);
    else give();
  };
  const onFocus = (event: FocusEvent) => {
    const next = event.target instanceof Element && event.target.matches("[title]:focus-visible") ? event.target : null;
    if (next) take(next);
  };
  const onKey = (event: KeyboardEvent) => {
    // Escape puts the words away and is still heard by whoever it is for; other keys go on with the work.
    if (!["Shift", "Control", "Alt", "Meta", "Tab"].includes(event.key)) give();
  };
  const listen = { capture: true, passive: true };
  document.addEventListener("pointerover", onOver, listen);
  document.addEventListener("focusin", onFocus, listen);
  document.addEventListener("keydown", onKey, listen);
  for (const type of ["pointerdown", "focusout", "scroll", "wheel"]) document.addEventListener(type, give, listen);
  document.documentElement.addEventListener("pointerleave", give);
  onCleanup(() => {
    give();
    document.removeEventListener("pointerover", onOver, listen);
    document.removeEventListener("focusin", onFocus, listen);
    document.removeEventListener("keydown", onKey, listen);
    for (const type of ["pointerdown", "focusout", "scroll", "wheel"]) document.removeEventListener(type, give, listen);
    document.documentElement.removeEventListener("pointerleave", give);
  });

  return <Show when={tip()}>{(now) => <Bubble tip={now()} />}</Show>;
}

function Bubble(props: { tip: Tip }): JSX.Element {
  let bubble: HTMLDivElement | undefined;
  createEffect(() => {
    if (!bubble) return;
    const at = props.tip.on.getBoundingClientRect();
    const { width, height } = bubble.getBoundingClientRect();
    const room = document.documentElement.clientHeight;
    const below = at.bottom + GAP;
    const top = below + height <= room - GAP ? below : Math.max(GAP, at.top - GAP - height);
    const most = document.documentElement.clientWidth - width - GAP;
    bubble.style.top = `${top}px`;
    bubble.style.left = `${Math.max(GAP, Math.min(most, at.left + at.width / 2 - width / 2))}px`;
  });
  // Screen readers are told by the element itself.
  return (
    <div ref={bubble} class={s.tip} data-tip aria-hidden="true" dir="auto">
      {props.tip.text}
    </div>
  );
}
