// What can be done in the diff of a file that is under review. Diffs elsewhere have none of it.

import type { Comment, Passage, Rejection } from "../protocol.gen";

export interface HunkState {
  isAccepted: boolean;
  isViewed: boolean;
  /** It is to be taken out and still there. */
  rejection: Rejection | undefined;
}

export interface HunkActions {
  stateOf(hunk: number): HunkState;
  accept(hunk: number): void;
  reject(hunk: number): void;
  view(hunk: number): void;
  fold(hunk: number): void;
  /** Reads and draws the unchanged lines there. */
  openGap(gap: number): void;
  takeBack(rejection: Rejection): void;
  /** Puts a hunk into the message that is being written. */
  attach(hunk: number): void;
  /** Begins to drag it there. */
  drag(hunk: number, event: PointerEvent): void;
  /** Moves the cursor to a row. */
  point(key: string, extend?: boolean): void;
  isSelected(key: string): boolean;
  /** Begins a comment on the selected lines. */
  beginComment(key: string): void;
  saveComment(passage: Passage, text: string): void;
  cancelComment(): void;
  editComment(comment: Comment, text: string): void;
  /** What is being written, so that it survives scrolling away. */
  draftText(): string;
  setDraftText(text: string): void;
}
