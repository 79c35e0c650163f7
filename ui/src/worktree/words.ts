// What is said of a worktree in the making. Pure.

import type { AgentView, SetupRan } from "../protocol.gen";

/** How many of a worktree's files are there; `all` is 0 when that isn't known. */
export interface MakingFiles {
  done: number;
  all: number;
}

export const isMaking = (agent: AgentView): boolean => agent.worktree?.state.kind === "making";

/** One line, and how far a bar reaches; no percentage when nobody can tell. */
export function wordsOf(files: MakingFiles | undefined, output: string): { text: string; percent: number | undefined } {
  if (output !== "") return { text: "All files are there; the setup runs.", percent: undefined };
  if (files === undefined) return { text: "Recording what the parent sees, or waiting for another worktree.", percent: undefined };
  if (files.all === 0) return { text: "Laying out the files.", percent: undefined };
  const percent = Math.floor((files.done * 100) / files.all);
  return { text: `${files.done.toLocaleString()} of ${files.all.toLocaleString()} files, ${percent} %`, percent };
}

/** How a command of the setup ended, in a few words. */
export function endOf(ran: SetupRan): string {
  if (ran.exit === 0) return "";
  return ran.exit === undefined ? "ended early" : `exit ${ran.exit}`;
}
