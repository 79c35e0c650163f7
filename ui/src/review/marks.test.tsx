import { fireEvent, screen, waitFor, within } from "@solidjs/testing-library";
import { beforeEach, expect, test } from "vitest";
import type { ChangedFile, Comment, Hunk, Passage } from "../protocol.gen";
import { showDemo } from "../testing";
import { diffRows, parseUnified, passageOf, type LineRow } from "./diff";
import { foldReview, markHunk, marksOf, unsend } from "./marks";
import { cutByWords } from "./tokens";
import { changedWords } from "./words";

const words = (old: string, now: string) => {
  const changed = changedWords(old, now);
  return changed && [changed.old.map(([a, b]) => old.slice(a, b)), changed.now.map(([a, b]) => now.slice(a, b))];
};

test("the words that changed in a line are found, and lines with little in common are left alone", () => {
  expect(words("let tide = read(old);", "let tide = write(new);")).toEqual([["read", "old"], ["write", "new"]]);
  expect(words("if year % 4 == 0 { 366 }", "if is_leap(year) { 366 }")?.[1]).toContain("is_leap(");
  expect(words("a b c d e f", "a x y d e f")).toEqual([["b c"], ["x y"]]);
  expect(words("return 1;", "throw new Error(`${name} is not here`);")).toBeUndefined();
  expect(words("same", "same")).toBeUndefined();
  expect(changedWords("x".repeat(2000), "y")).toBeUndefined();
});

test("colours and changed words lie over each other without losing a letter", () => {
  const tokens = [{ text: "let ", class: "k" }, { text: "x = 1", class: "" }];
  const pieces = cutByWords("let x = 1", tokens, [[2, 5]]);
  expect(pieces.map((piece) => [piece.text, piece.isChanged])).toEqual([["le", false], ["t ", true], ["x", true], [" = 1", false]]);
  expect(cutByWords("plain", undefined, []).map((piece) => piece.text)).toEqual(["plain"]);
});

const HUNKS: Hunk[] = parseUnified("@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n@@ -20,2 +20,3 @@\n x\n+y\n z\n").map((hunk, at) => ({ ...hunk, hash: `h${at}` }));
const FILE = { path: "f", hash: "file" } as ChangedFile;
const comment = (id: string, passage: Partial<Passage>): Comment => ({
  id,
  base: "b",
  text: id,
  passage: { path: "f", side: "now", first: 1, last: 1, quoted: "a", ...passage },
});

test("comments stand below their lines on either side, and those whose lines are gone come first", () => {
  const comments = [
    comment("new", { first: 2, last: 2, quoted: "c" }),
    comment("old", { side: "base", first: 2, last: 2, quoted: "b" }),
    comment("moved", { first: 90, last: 91, quoted: "w\ny" }),
    comment("gone", { quoted: "nothing like it" }),
  ];
  const order = diffRows(HUNKS, { comments }).map((row) => (row.type === "line" ? row.text : row.type === "comment" ? row.comment.id : row.type));
  expect(order).toEqual(["gone", "hunk", "a", "b", "old", "c", "new", "d", "hunk", "x", "y", "moved", "z"]);
  const split = diffRows(HUNKS, { comments, split: true }).map((row) => (row.type === "comment" ? row.comment.id : row.type));
  expect(split).toEqual(["gone", "hunk", "pair", "pair", "old", "new", "pair", "hunk", "pair", "pair", "moved", "pair"]);
});

test("unchanged lines between the hunks are drawn when they are asked for, with the numbers of both sides", () => {
  const lines = Array.from({ length: 24 }, (_, at) => `line ${at + 1}`);
  const closed = diffRows(HUNKS, { context: { lines: undefined, open: new Set() } });
  expect(closed.flatMap((row) => (row.type === "gap" ? [row.count] : []))).toEqual([16, undefined]);
  const open = diffRows(HUNKS, { context: { lines, open: new Set([1, 2]) } });
  const shown = open.flatMap((row) => (row.type === "line" && row.hunk === -1 ? [[row.old, row.now, row.text]] : []));
  expect(shown[0]).toEqual([4, 4, "line 4"]);
  expect(shown.slice(-2)).toEqual([[22, 23, "line 23"], [23, 24, "line 24"]]);
  expect(open.some((row) => row.type === "gap")).toBe(false);
});

test("a selection is a passage of the side that its last line is on", () => {
  const lines = diffRows(HUNKS).filter((row): row is LineRow => row.type === "line");
  expect(passageOf("f", HUNKS, lines.slice(0, 2))).toEqual({ path: "f", side: "base", first: 1, last: 2, quoted: "a\nb", hunk: "h0" });
  expect(passageOf("f", HUNKS, lines.slice(1, 4))).toEqual({ path: "f", side: "now", first: 2, last: 3, quoted: "c\nd", hunk: "h0" });
});

test("a file has a mark when all its hunks have it, and the others keep it when one loses it", () => {
  const [first] = markHunk({}, "accepted", true, FILE, HUNKS, "h0");
  expect(first).toMatchObject({ hashes: ["h0"], on: true });
  const [last] = markHunk({ accepted: ["h0"] }, "accepted", true, FILE, HUNKS, "h1");
  expect(last).toMatchObject({ hashes: ["h1", "file"], on: true });
  const off = markHunk({ accepted: ["file"] }, "accepted", false, FILE, HUNKS, "h1");
  expect(off).toEqual([
    { kind: "mark", hashes: ["h1", "file"], mark: "accepted", on: false },
    { kind: "mark", hashes: ["h0"], mark: "accepted", on: true },
  ]);
});

test("facts of a review are folded as the core folds them", () => {
  let review = foldReview(undefined, { kind: "marked", hashes: ["a", "b"], mark: "accepted", on: true });
  review = foldReview(review, { kind: "rejected", rejection: { merge: "m", path: "f", hash: "a", state: { kind: "queued" } } });
  expect(review.accepted).toEqual(["b"]);
  expect(marksOf(review).rejection("a")?.merge).toBe("m");
  review = foldReview(review, { kind: "rejection_changed", merge: "m", state: { kind: "done" } });
  expect(marksOf(review).rejection("a")).toBeUndefined();
  review = foldReview(review, { kind: "commented", comment: comment("c", {}) });
  review = foldReview(review, { kind: "comments_sent", comments: ["c"], input: "i" });
  expect(unsend(review, "i")?.comments?.[0]?.sent).toBeUndefined();
  review = foldReview(review, { kind: "comment_edited", comment: "c", text: "" });
  expect(review.comments).toEqual([]);
});

beforeEach(() => localStorage.clear());

test("a review by keyboard alone: accept, view, comment, send, reject, put back", async () => {
  const bridge = showDemo(13_000);
  fireEvent.click(await screen.findByRole("treeitem", { name: /leap-year/ }));
  fireEvent.click(screen.getByRole("tab", { name: /Review/ }));
  const panel = await screen.findByRole("region", { name: "Changes" });
  await within(panel).findAllByRole("button", { name: "Accept hunk" });
  const press = (key: string, shiftKey = false) => fireEvent.keyDown(panel, { key, shiftKey });
  press("n");
  press("a");
  expect((await within(panel).findAllByRole("button", { name: "Accept hunk", pressed: true })).length).toBeGreaterThan(0);
  press("j");
  press("c");
  const field = await within(panel).findByRole("textbox", { name: /^Comment on line/ });
  fireEvent.input(field, { target: { value: "Say why." } });
  fireEvent.keyDown(field, { key: "Enter", ctrlKey: true });
  expect(await within(panel).findByRole("article", { name: /^Comment on line/ })).toBeTruthy();
  press("s");
  await waitFor(() => expect(bridge.sent.at(-1)).toMatchObject({ type: "review", wish: { kind: "send_comments" } }));
  expect(await within(panel).findByText("Sent")).toBeTruthy();
  press("v");
  expect(await within(panel).findByText(/\d+ lines/)).toBeTruthy();
  press("n");
  press("x");
  await waitFor(() => expect(bridge.sent.some((command) => command.type === "review" && command.wish.kind === "reject")).toBe(true));
});
