// Whether a conversation keeps to its end. Pure. Only a person leaves the end; the end itself moves away all the time:
// rows are measured, requests come and go, the composer grows, the window is made smaller.

/** A moment of a scrolling box, in pixels. */
export interface ScrollPlace {
  offset: number;
  /** Of all that can be scrolled. */
  size: number;
  /** Of what is in sight. */
  viewport: number;
}

/** Nearer than this is at the end. */
export const NEAR = 24;

export function isNearEnd(place: ScrollPlace): boolean {
  return place.offset + place.viewport >= place.size - NEAR;
}

/**
 * Whether the end is kept after a scroll from `before` to `now`. `isPushed` says that a person turned a wheel, pressed a
 * key or dragged upwards just now. Without that only a move up in a box that stayed as it was is a person's (a scroll bar
 * tells nobody): where the content shrinks or the box grows, the browser itself moves the offset up.
 */
export function keepsEnd(isKept: boolean, before: ScrollPlace | undefined, now: ScrollPlace, isPushed: boolean): boolean {
  const movedUp = before !== undefined && now.offset < before.offset - 1;
  if (movedUp && isPushed) return isNearEnd(now) && now.size <= now.viewport + NEAR;
  if (isNearEnd(now)) return true;
  if (!isKept) return false;
  const isSameBox = before !== undefined && now.size === before.size && now.viewport === before.viewport;
  return !(movedUp && isSameBox);
}

const UP_KEYS = new Set(["ArrowUp", "PageUp", "Home"]);

/** Whether the event is a person's push upwards. */
export function pushesUp(event: Event): boolean {
  if (event instanceof WheelEvent) return event.deltaY < 0;
  if (event instanceof KeyboardEvent) return UP_KEYS.has(event.key) || (event.key === " " && event.shiftKey);
  return event.type === "touchmove";
}
