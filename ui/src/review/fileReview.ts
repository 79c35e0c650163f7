// One file under review: cursor, selection, folding, the comment that is being written, and what the keys do.

import { batch, createEffect, createMemo, createSignal, on, type Accessor } from "solid-js";
import type { AppStore } from "../store";
import type { AgentView, ChangedFile, Comment, FileDiff, Hunk, Passage, Rejection, ReviewWish, SessionId } from "../protocol.gen";
import type { HunkActions, HunkState } from "./actions";
import type { Dragging } from "../parts/drag";
import { quoted, type Dragged } from "./drags";
import { diffRows, passageOf, type Context, type DiffRow, type LineRow } from "./diff";
import { NO_REVIEW, markFiles, markHunk, marksOf } from "./marks";

export interface FileReview {
  rows: Accessor<DiffRow[]>;
  actions: HunkActions;
  /** The row that the cursor is on. */
  cursor: Accessor<string | undefined>;
  /** Moves to the next or previous hunk. Answers whether there was one. */
  toHunk(by: 1 | -1): boolean;
  toLine(by: 1 | -1, extend: boolean): void;
  isFileAccepted: Accessor<boolean>;
  isFileViewed: Accessor<boolean>;
  fileRejection: Accessor<Rejection | undefined>;
  acceptFile(): void;
  rejectFile(): void;
  viewFile(): void;
  /** What a message quotes of the file. */
  quote(): string;
  /** Handles a key; answers whether it meant something. */
  key(event: KeyboardEvent): boolean;
}

export interface Reviewed {
  app: AppStore;
  dragging: Dragging<Dragged> | undefined;
  session: SessionId;
  agent: Accessor<AgentView>;
  file: Accessor<ChangedFile>;
  diff: Accessor<FileDiff | undefined>;
  isSplit: Accessor<boolean>;
  /** Brings a row into sight. */
  show: (key: string) => void;
  /** There is nothing more in this file in that direction. */
  leave: (by: 1 | -1) => void;
}

export function createFileReview(of: Reviewed): FileReview {
  const [cursor, setCursor] = createSignal<string>();
  const [anchor, setAnchor] = createSignal<string>();
  const [draft, setDraft] = createSignal<Passage>();
  const [draftText, setDraftText] = createSignal("");
  // Viewed hunks are folded unless the person says otherwise.
  const [unfolded, setUnfolded] = createSignal<ReadonlyMap<string, boolean>>(new Map());

  const hunks = () => of.diff()?.hunks ?? [];
  const review = () => of.agent().review ?? NO_REVIEW;
  const marks = createMemo(() => marksOf(review()));
  const hashOf = (hunk: number) => hunks()[hunk]?.hash ?? "";
  const isFolded = (hunk: Hunk) => {
    const hash = hunk.hash ?? "";
    return unfolded().get(hash) ?? marks().isViewed(of.file().hash, hash);
  };
  const [lines_, setLines] = createSignal<{ hash: string; lines: string[] }>();
  const [openGaps, setOpenGaps] = createSignal<ReadonlySet<number>>(new Set());
  /** New and deleted files are all hunk. */
  const context = createMemo((): Context | undefined => {
    const { kind, hash } = of.file();
    if (kind === "added" || kind === "deleted") return undefined;
    const read = lines_();
    return { lines: read?.hash === hash ? read.lines : undefined, open: openGaps() };
  });
  const openGap = async (gap: number) => {
    const { hash, path } = of.file();
    try {
      if (lines_()?.hash !== hash) {
        const bytes = await of.app.bridge.fileContent(of.session, of.agent().id, path, "now");
        const lines = new TextDecoder().decode(bytes).split("\n");
        if (lines.at(-1) === "") lines.pop();
        setLines({ hash, lines });
      }
      setOpenGaps((before) => new Set(before).add(gap));
    } catch (error) {
      of.app.report(error);
    }
  };
  const comments = createMemo(() => (review().comments ?? []).filter((comment) => comment.passage.path === of.file().path));
  const rows = createMemo(() =>
    of.diff() === undefined ? [] : diffRows(hunks(), { split: of.isSplit(), isFolded, comments: comments(), draft: draft(), context: context() }),
  );
  const lines = createMemo(() => rows().flatMap((row): LineRow[] => (row.type === "line" ? [row] : row.type === "pair" ? pairLines(row) : [])));
  /** Where the cursor can be, in order. */
  const stops = createMemo(() =>
    rows().flatMap((row): string[] => (row.type === "hunk" ? [row.key] : row.type === "line" ? [row.key] : row.type === "pair" ? pairLines(row).map((line) => line.key) : [])),
  );
  /** A pair's lines are drawn in its row. */
  const rowKey = (stop: string) => (stops().includes(stop) && of.isSplit() ? (rows().find((row) => row.type === "pair" && (row.old?.key === stop || row.now?.key === stop))?.key ?? stop) : stop);

  const selection = createMemo((): ReadonlySet<string> => {
    const [from, to] = [anchor() ?? cursor(), cursor()];
    if (from === undefined || to === undefined) return new Set();
    const all = lines();
    const [a, b] = [all.findIndex((line) => line.key === from), all.findIndex((line) => line.key === to)];
    if (a < 0 || b < 0) return new Set([to]);
    return new Set(all.slice(Math.min(a, b), Math.max(a, b) + 1).map((line) => line.key));
  });

  // Another file: nothing of the one before. What was being written about it is dropped only when it is empty.
  createEffect(
    on(
      () => `${of.agent().id}:${of.file().path}`,
      () =>
        batch(() => {
          setCursor(undefined);
          setAnchor(undefined);
          setDraft(undefined);
          setDraftText("");
          setUnfolded(new Map());
          setOpenGaps(new Set<number>());
        }),
      { defer: true },
    ),
  );
  // The hunk under the cursor may have gone: the next one takes its place.
  createEffect(
    on(stops, (now, before) => {
      const at = cursor();
      // While the diff is read again there is nothing to stand on.
      if (at === undefined || now.length === 0 || now.includes(at) || !before) return;
      const place = Math.min(before.indexOf(at), now.length - 1);
      const next = now.slice(Math.max(0, place)).find((stop) => stop.startsWith("hunk:")) ?? now.findLast((stop) => stop.startsWith("hunk:"));
      batch(() => {
        setCursor(next);
        setAnchor(undefined);
      });
    }),
  );

  const wish = (wanted: ReviewWish) => of.app.send({ type: "review", agent: of.agent().id, wish: wanted });
  const wishes = async (all: ReviewWish[]) => {
    for (const one of all) if (!(await wish(one))) return;
  };
  const move = (to: string | undefined) => {
    if (to === undefined) return;
    batch(() => {
      setCursor(to);
      setAnchor(undefined);
    });
    of.show(rowKey(to));
  };
  const stateOf = (hunk: number): HunkState => {
    const hash = hashOf(hunk);
    const file = of.file().hash;
    return {
      isAccepted: marks().isAccepted(file, hash),
      isViewed: marks().isViewed(file, hash),
      rejection: marks().rejection(hash) ?? marks().rejection(file),
    };
  };
  const currentHunk = (): number | undefined => {
    const at = cursor();
    const row = rows().find((candidate) => candidate.key === at);
    if (row && "hunk" in row) return row.hunk;
    return lines().find((line) => line.key === at)?.hunk ?? (hunks().length > 0 ? 0 : undefined);
  };

  const actions: HunkActions = {
    stateOf,
    accept(hunk) {
      const on_ = !stateOf(hunk).isAccepted;
      void wishes(markHunk(review(), "accepted", on_, of.file(), hunks(), hashOf(hunk)));
    },
    reject(hunk) {
      if (stateOf(hunk).rejection) return;
      void wish({ kind: "reject", path: of.file().path, hash: hashOf(hunk) });
    },
    view(hunk) {
      const hash = hashOf(hunk);
      setUnfolded((before) => new Map([...before].filter(([other]) => other !== hash)));
      void wishes(markHunk(review(), "viewed", !stateOf(hunk).isViewed, of.file(), hunks(), hash));
    },
    fold(hunk) {
      const one = hunks()[hunk];
      if (one) setUnfolded((before) => new Map(before).set(one.hash ?? "", !isFolded(one)));
    },
    attach(hunk) {
      const one = hunks()[hunk];
      if (one) of.app.propose({ text: quoted(of.file(), of.agent().title, [one]), send: false });
    },
    drag(hunk, event) {
      const one = hunks()[hunk];
      if (one) of.dragging?.onPointerDown(event, { kind: "context", text: quoted(of.file(), of.agent().title, [one]) }, `A hunk of ${of.file().path}`);
    },
    openGap: (gap) => void openGap(gap),
    takeBack: (rejection) => void wish({ kind: "unreject", merge: rejection.merge }),
    point(key, extend) {
      batch(() => {
        if (extend) setAnchor((before) => before ?? cursor());
        else setAnchor(undefined);
        setCursor(key);
      });
    },
    isSelected: (key) => selection().has(key) || cursor() === key,
    beginComment(key) {
      const chosen = selection().has(key) ? lines().filter((line) => selection().has(line.key)) : lines().filter((line) => line.key === key);
      const passage = passageOf(of.file().path, hunks(), chosen);
      if (!passage) return;
      batch(() => {
        if (!selection().has(key)) {
          setCursor(key);
          setAnchor(undefined);
        }
        setDraft(passage);
      });
      queueMicrotask(() => of.show("draft"));
    },
    saveComment(passage, text) {
      void wish({ kind: "comment", passage, text }).then((isKept) => {
        if (!isKept) return;
        batch(() => {
          setDraft(undefined);
          setDraftText("");
        });
        refocus();
      });
    },
    cancelComment() {
      batch(() => {
        setDraft(undefined);
        setDraftText("");
      });
      refocus();
    },
    editComment: (comment: Comment, text) => void wish({ kind: "edit_comment", comment: comment.id, text }),
    draftText,
    setDraftText,
  };

  const review_: FileReview = {
    rows,
    actions,
    cursor,
    toHunk(by) {
      const heads = stops().flatMap((stop, place) => (stop.startsWith("hunk:") ? [{ stop, place }] : []));
      const at = stops().indexOf(cursor() ?? "");
      const next = by === 1 ? heads.find((head) => head.place > at) : heads.findLast((head) => head.place < at);
      if (next) move(next.stop);
      return next !== undefined;
    },
    toLine(by, extend) {
      const all = stops();
      const at = all.indexOf(cursor() ?? "");
      const next = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))];
      if (next === undefined) return;
      if (!extend) return move(next);
      if (next.startsWith("hunk:")) return;
      batch(() => {
        setAnchor((before) => before ?? cursor());
        setCursor(next);
      });
      of.show(rowKey(next));
    },
    isFileAccepted: () => {
      const file = of.file().hash;
      return marks().isAccepted(file) || (hunks().length > 0 && hunks().every((hunk) => marks().isAccepted(file, hunk.hash)));
    },
    isFileViewed: () => {
      const file = of.file().hash;
      return marks().isViewed(file) || (hunks().length > 0 && hunks().every((hunk) => marks().isViewed(file, hunk.hash)));
    },
    fileRejection: () => marks().rejection(of.file().hash),
    acceptFile: () => void wish(markFiles("accepted", !review_.isFileAccepted(), [of.file()], hunks())),
    rejectFile: () => {
      if (!review_.fileRejection()) void wish({ kind: "reject", path: of.file().path, hash: of.file().hash });
    },
    viewFile: () => void wish(markFiles("viewed", !review_.isFileViewed(), [of.file()], hunks())),
    quote: () => quoted(of.file(), of.agent().title, hunks()),
    key(event) {
      const hunk = currentHunk();
      switch (event.key) {
        case "j":
        case "J":
          review_.toLine(1, event.shiftKey);
          return true;
        case "k":
        case "K":
          review_.toLine(-1, event.shiftKey);
          return true;
        case "n":
          if (!review_.toHunk(1)) of.leave(1);
          return true;
        case "p":
          if (!review_.toHunk(-1)) of.leave(-1);
          return true;
        case "a":
          if (hunk === undefined) review_.acceptFile();
          else actions.accept(hunk);
          return true;
        case "x":
          if (hunk === undefined) review_.rejectFile();
          else actions.reject(hunk);
          return true;
        case "v":
          if (hunk === undefined) review_.viewFile();
          else actions.view(hunk);
          return true;
        case "t":
          if (hunk === undefined) of.app.propose({ text: review_.quote(), send: false });
          else actions.attach(hunk);
          return true;
        case "T":
          of.app.propose({ text: review_.quote(), send: false });
          return true;
        case "A":
          review_.acceptFile();
          return true;
        case "X":
          review_.rejectFile();
          return true;
        case "V":
          review_.viewFile();
          return true;
        case "c": {
          const at = cursor();
          const line = lines().find((candidate) => candidate.key === at) ?? lines().find((candidate) => candidate.hunk === hunk && candidate.kind !== "context");
          if (line) actions.beginComment(line.key);
          return line !== undefined;
        }
        default:
          return false;
      }
    },
  };
  return review_;
}

function pairLines(row: Extract<DiffRow, { type: "pair" }>): LineRow[] {
  if (row.old && row.now && row.old.key !== row.now.key) return [row.old, row.now];
  const one = row.now ?? row.old;
  return one ? [one] : [];
}

/** The keys of the review go on where they were. */
function refocus(): void {
  document.querySelector<HTMLElement>('[aria-label="Changes"]')?.focus();
}
