// The role studio: the board, the role that is open, and what can be done with a role. It outlives the session that is
// looked at, so that a draft is not lost when another one opens.

import { createMemo, createSignal, type Accessor } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { asRejected, type Bridge } from "../bridge";
import type { Rejected, RoleBoard, RoleCard, RoleFields, RoleSource } from "../protocol.gen";
import { createEditor, type Editor } from "./editor";

/** Something that was done to files and can be taken back. */
export interface Done {
  words: string;
  undo: () => Promise<void>;
}

/** A role that waits for its brief. */
export interface Start {
  role: string;
  /** Its file, which says where it works by default. */
  path: string;
  color: string | undefined;
  /** In a session of its own. */
  isTrial: boolean;
}

/** What the studio needs of the window. */
export interface StudioOptions {
  bridge: Bridge;
  project: Accessor<string | null>;
  report: (error: unknown) => void;
}

export interface Studio {
  isOpen: Accessor<boolean>;
  setOpen: (open: boolean) => void;
  board: RoleBoard;
  isLoaded: Accessor<boolean>;
  problem: Accessor<Rejected | undefined>;
  editor: Accessor<Editor | undefined>;
  done: Accessor<Done | undefined>;
  start: Accessor<Start | undefined>;
  /** The paths of two roles that are compared. */
  compared: Accessor<readonly [string, string] | undefined>;
  /** What screen readers are told. */
  words: Accessor<string>;
  /** What waits for an answer about unsaved changes. */
  leaving: Accessor<(() => void) | undefined>;
  announce: (words: string) => void;
  refresh: () => Promise<void>;
  /** Looks at the disk once: board and open file. */
  look: () => Promise<void>;
  edit: (path: string) => Promise<void>;
  create: (fields: RoleFields, home: RoleSource) => void;
  /** Closes the editor, or asks first. */
  leave: (then?: () => void) => void;
  stay: () => void;
  discard: () => void;
  copy: (card: RoleCard, to: RoleSource, moves: boolean) => Promise<void>;
  remove: (card: RoleCard) => Promise<void>;
  undoDone: () => Promise<void>;
  dismissDone: () => void;
  askStart: (start: Start | undefined) => void;
  compare: (paths: readonly [string, string] | undefined) => void;
  card: (path: string) => RoleCard | undefined;
  /** The cards that a card hides. */
  hiddenBy: (path: string) => readonly RoleCard[];
}

/** How long undo is offered, in milliseconds. */
const LASTS = 30_000;

export const SOURCE_WORD: Record<RoleSource, string> = {
  project: "Project",
  user: "User",
  plugin: "Plugins",
  built_in: "Built-in",
};

const EMPTY: RoleBoard = {
  cards: [],
  warnings: [],
  project_folder: "",
  user_folder: "",
  tools: [],
  colors: [],
  models: [],
  max_turns: 200,
};

export const NO_FIELDS: RoleFields = {
  name: "",
  description: "",
  disallowed_tools: [],
  background: false,
  isolation: "shared",
  without_instructions: false,
  body: "",
};

/** The name on a card; a file that is no role goes by its file name. */
export function cardName(card: RoleCard): string {
  return card.role?.name ?? card.path.split(/[/\\]/).at(-1) ?? card.path;
}

export function createStudio(options: StudioOptions): Studio {
  const { bridge } = options;
  const [isOpen, setOpen] = createSignal(false);
  const [board, setBoard] = createStore<RoleBoard>(structuredClone(EMPTY));
  const [loaded, setLoaded] = createSignal<string>();
  const [problem, setProblem] = createSignal<Rejected>();
  const [editor, setEditor] = createSignal<Editor>();
  const [done, setDone] = createSignal<Done>();
  const [start, setStart] = createSignal<Start>();
  const [compared, compare] = createSignal<readonly [string, string]>();
  const [words, setWords] = createSignal("");
  const [leaving, setLeaving] = createSignal<() => void>();

  const announce = (next: string) => {
    // The same words twice are told twice only if they differ.
    setWords((before) => (before === next ? `${next}\u00a0` : next));
  };

  const byPath = createMemo(() => new Map(board.cards.map((card) => [card.path, card])));
  const hidden = createMemo(() => {
    const found = new Map<string, RoleCard[]>();
    for (const card of board.cards) {
      const winner = card.role?.shadowed_by;
      if (winner !== undefined) found.set(winner, [...(found.get(winner) ?? []), card]);
    }
    return found;
  });

  async function refresh(): Promise<void> {
    const project = options.project();
    if (project === null) return;
    try {
      const found = await bridge.roleBoard(project);
      if (options.project() !== project) return;
      setBoard(reconcile(found, { key: "path" }));
      setLoaded(project);
      setProblem(undefined);
    } catch (error) {
      setProblem(asRejected(error));
    }
  }

  function show(next: Editor | undefined): void {
    editor()?.dispose();
    setEditor(next);
  }

  function leave(then?: () => void): void {
    const go = () => {
      setLeaving(undefined);
      show(undefined);
      then?.();
    };
    if (editor()?.isDirty() && editor()?.isEditable()) setLeaving(() => go);
    else go();
  }

  /** Does something to files; what goes wrong becomes a notice. */
  async function act(work: (project: string) => Promise<void>): Promise<void> {
    const project = options.project();
    if (project === null) return;
    try {
      await work(project);
    } catch (error) {
      options.report(error);
      announce(asRejected(error).message);
    }
    await refresh();
  }

  function tell(next: Done): void {
    setDone(next);
    setTimeout(() => done() === next && setDone(undefined), LASTS);
    announce(`${next.words} It can be undone.`);
  }

  return {
    isOpen,
    setOpen: (open) => {
      setOpen(open);
      if (open) void refresh();
    },
    board,
    isLoaded: () => loaded() !== undefined && loaded() === options.project(),
    problem,
    editor,
    done,
    start,
    compared,
    words,
    leaving,
    announce,
    refresh,
    look: async () => {
      await Promise.all([refresh(), editor()?.look()]);
    },
    edit: (path) =>
      act(async (project) => {
        const file = await bridge.roleFile(project, path);
        leave(() => show(createEditor({ bridge, project, file, announce, onSaved: (next) => {
          announce(`${next.fields?.name ?? "The role"} is saved.`);
          void refresh();
        } })));
      }),
    create: (fields, home) => {
      const project = options.project();
      if (project === null) return;
      leave(() => show(createEditor({ bridge, project, file: undefined, fields, home, announce, onSaved: (next) => {
        announce(`${next.fields?.name ?? "The role"} is saved.`);
        void refresh();
      } })));
    },
    leave,
    stay: () => setLeaving(undefined),
    discard: () => leaving()?.(),
    copy: (card, to, moves) =>
      act(async (project) => {
        const copied = await bridge.roleCopy(project, card.path, to, moves);
        const verb = copied.trashed === undefined ? "Copied" : "Moved";
        tell({
          words: `${verb} “${cardName(card)}” to ${SOURCE_WORD[to]}.`,
          undo: async () => {
            // First back, then away: a failure in between leaves one too many, not one too few.
            if (copied.trashed !== undefined) await bridge.roleRestore(project, copied.trashed);
            await bridge.roleDelete(project, copied.path);
          },
        });
      }),
    remove: (card) =>
      act(async (project) => {
        const trashed = await bridge.roleDelete(project, card.path);
        tell({
          words: `Deleted “${cardName(card)}”.`,
          undo: async () => {
            await bridge.roleRestore(project, trashed);
          },
        });
      }),
    undoDone: () =>
      act(async () => {
        const last = done();
        setDone(undefined);
        await last?.undo();
        announce("Undone.");
      }),
    dismissDone: () => setDone(undefined),
    askStart: setStart,
    compare,
    card: (path) => byPath().get(path),
    hiddenBy: (path) => hidden().get(path) ?? [],
  };
}
