// Buttons that decide something arm a moment after they appear and after the window got the focus, so that a click meant
// for something else, or one that only brings the window forward, answers nothing.

import { createEffect, createSignal, on, onCleanup, onMount, type Accessor } from "solid-js";

export const ARM_AFTER_MS = 300;

/** `place`: changes when the buttons move for a reason of their own; they arm again then. */
export function useArmed(place: Accessor<number>): Accessor<boolean> {
  const [isArmed, setArmed] = createSignal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const disarm = () => {
    clearTimeout(timer);
    timer = undefined;
    setArmed(false);
  };
  const arm = () => {
    disarm();
    timer = setTimeout(() => setArmed(true), ARM_AFTER_MS);
  };

  // Where the desktop doesn't tell of the focus, a first press is as good a sign that the person is here. It answers
  // nothing itself.
  const onPress = () => {
    if (!isArmed() && timer === undefined) arm();
  };

  onMount(() => {
    // Without the focus nothing arms: the click that brings the window forward comes with the focus, and too early.
    if (document.hasFocus()) arm();
    window.addEventListener("pointerdown", onPress, true);
    window.addEventListener("focus", arm);
    window.addEventListener("blur", disarm);
  });
  createEffect(
    on(
      place,
      () => {
        if (document.hasFocus()) arm();
      },
      { defer: true },
    ),
  );
  onCleanup(() => {
    clearTimeout(timer);
    window.removeEventListener("pointerdown", onPress, true);
    window.removeEventListener("focus", arm);
    window.removeEventListener("blur", disarm);
  });
  return isArmed;
}
