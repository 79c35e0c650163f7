// The one clock of the window: running times and spinners move on its beats and nowhere else, all in the same frame, and
// without anybody who listens nothing ticks. Every frame that is painted costs: in a web view without a graphics card
// some fifty milliseconds of a processor core, so that spinners that turn by a style-sheet animation would cost half a
// core for as long as anything is at work.

/** Two steps a second are a sign of life that doesn't draw the eye. */
const BEAT_MS = 500;

const listeners = new Set<(beat: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let beat = 0;

/** Calls `listener` with every beat until the returned function is called. Even beats are a second apart. */
export function onBeat(listener: (beat: number) => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    // Nobody looks at a window that is hidden.
    if (document.hidden) return;
    beat += 1;
    for (const each of listeners) each(beat);
  }, BEAT_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
