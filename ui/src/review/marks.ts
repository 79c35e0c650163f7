// What a person thinks of changes, looked up for drawing. Pure.

import type { ChangedFile, Comment, Hunk, Mark, Rejection, ReviewFact, ReviewView, ReviewWish } from "../protocol.gen";

export const NO_REVIEW: ReviewView = {};

/** An agent's marks, ready to be asked. A file's own hash stands for all of it. */
export interface Marks {
  isAccepted(file: string, hunk?: string): boolean;
  isViewed(file: string, hunk?: string): boolean;
  /** The rejection of a hunk or file that is still there: it waits, or was refused. */
  rejection(hash: string): Rejection | undefined;
}

export function marksOf(review: ReviewView): Marks {
  const accepted = new Set(review.accepted);
  const viewed = new Set(review.viewed);
  const has = (set: Set<string>, file: string, hunk?: string) => set.has(file) || (hunk !== undefined && set.has(hunk));
  return {
    isAccepted: (file, hunk) => has(accepted, file, hunk),
    isViewed: (file, hunk) => has(viewed, file, hunk),
    rejection: (hash) => review.rejections?.find((rejection) => rejection.hash === hash && rejection.state.kind !== "done"),
  };
}

export const unsentOf = (review: ReviewView): Comment[] => (review.comments ?? []).filter((comment) => comment.sent === undefined);

/** What can be put back: carried out, the newest first. */
export const takenOut = (review: ReviewView): Rejection[] =>
  (review.rejections ?? []).filter((rejection) => rejection.state.kind === "done").reverse();

/**
 * The wishes that put a mark on a hunk, or take it off. A file whose hunks all have a mark has it, too; taking one off leaves
 * it on the others.
 */
export function markHunk(review: ReviewView, mark: Mark, on: boolean, file: ChangedFile, hunks: readonly Hunk[], hash: string): ReviewWish[] {
  const set = new Set((mark === "accepted" ? review.accepted : review.viewed) ?? []);
  const others = hunks.flatMap((hunk) => (hunk.hash !== undefined && hunk.hash !== hash ? [hunk.hash] : []));
  if (on) {
    const isLast = others.every((other) => set.has(other));
    return [{ kind: "mark", hashes: isLast ? [hash, file.hash] : [hash], mark, on }];
  }
  const wishes: ReviewWish[] = [{ kind: "mark", hashes: [hash, file.hash], mark, on }];
  if (set.has(file.hash) && others.length > 0) wishes.push({ kind: "mark", hashes: others, mark, on: true });
  return wishes;
}

/** The wish that puts a mark on whole files, or takes it off; `hunks` are those that are known. */
export function markFiles(mark: Mark, on: boolean, files: readonly ChangedFile[], hunks: readonly Hunk[] = []): ReviewWish {
  const known = hunks.flatMap((hunk) => (hunk.hash === undefined ? [] : [hunk.hash]));
  return { kind: "mark", hashes: [...files.map((file) => file.hash), ...known], mark, on };
}

/** Folds a fact of the review into an agent's, as the core does. */
export function foldReview(before: ReviewView | undefined, fact: ReviewFact): ReviewView {
  const review: ReviewView = { ...before };
  switch (fact.kind) {
    case "marked": {
      const key = fact.mark === "accepted" ? "accepted" : "viewed";
      const named = new Set(fact.hashes);
      const kept = (review[key] ?? []).filter((hash) => !named.has(hash));
      review[key] = fact.on ? [...kept, ...fact.hashes] : kept;
      return review;
    }
    case "rejected": {
      const { rejection } = fact;
      review.accepted = (review.accepted ?? []).filter((hash) => hash !== rejection.hash);
      review.rejections = [...(review.rejections ?? []).filter((other) => other.hash !== rejection.hash), rejection];
      return review;
    }
    case "rejection_changed":
      review.rejections = (review.rejections ?? []).map((other) => (other.merge === fact.merge ? { ...other, state: fact.state } : other));
      return review;
    case "rejection_withdrawn":
      review.rejections = (review.rejections ?? []).filter((other) => other.merge !== fact.merge);
      return review;
    case "commented":
      review.comments = [...(review.comments ?? []), fact.comment];
      return review;
    case "comment_edited":
      review.comments = (review.comments ?? []).flatMap((other) => {
        if (other.id !== fact.comment) return [other];
        return fact.text === "" ? [] : [{ ...other, text: fact.text }];
      });
      return review;
    case "comments_sent": {
      const sent = new Set(fact.comments);
      review.comments = (review.comments ?? []).map((other) => (sent.has(other.id) ? { ...other, sent: fact.input } : other));
      return review;
    }
  }
}

/** The message that carried comments was taken back unread. */
export function unsend(review: ReviewView | undefined, input: string): ReviewView | undefined {
  if (!review?.comments?.some((comment) => comment.sent === input)) return review;
  const comments = review.comments.map((comment) => {
    if (comment.sent !== input) return comment;
    const { sent: _, ...rest } = comment;
    return rest;
  });
  return { ...review, comments };
}
