// One role file while it is edited: the draft with its past, what the file would become, and what happened to the file on
// disk meanwhile. What is shown as the file comes from the core, and exactly that is saved.

import { createSignal, type Accessor } from "solid-js";
import { asRejected, type Bridge } from "../bridge";
import type { Rejected, RoleChange, RoleFields, RoleFile, RolePreview, RoleSource } from "../protocol.gen";
import { changedKeys, isSame, rebase } from "./draft";
import { begin, change, redo, undo, type Past } from "./history";

/** Values in controls, or the file's text where it can't be taken apart or the person wants it so. */
export type Draft = { kind: "fields"; fields: RoleFields } | { kind: "text"; text: string };

/** The file on disk is no longer the one that the draft started from. */
export interface Conflict {
  /** What it is now; absent: it was deleted. */
  now: RoleFile | undefined;
  /** What they changed, in words. */
  theirs: string[];
}

export interface Editor {
  /** The file that the draft started from; absent for a new role. */
  file: Accessor<RoleFile | undefined>;
  /** Where a new role will go. */
  home: Accessor<RoleSource>;
  setHome: (home: RoleSource) => void;
  draft: Accessor<Draft>;
  /** The draft's values; absent while the text is edited. */
  fields: Accessor<RoleFields | undefined>;
  /** `key`: what is being changed, so that typing is one step of undo. */
  setFields: (fields: RoleFields, key: string) => void;
  setText: (text: string) => void;
  /** Changes between controls and text. */
  showText: (text: boolean) => void;
  canUndo: Accessor<boolean>;
  canRedo: Accessor<boolean>;
  undo: () => void;
  redo: () => void;
  preview: Accessor<RolePreview | undefined>;
  /** Why the draft can't be written. */
  problem: Accessor<Rejected | undefined>;
  conflict: Accessor<Conflict | undefined>;
  isDirty: Accessor<boolean>;
  isSaving: Accessor<boolean>;
  isEditable: () => boolean;
  /** Answers whether it was saved. */
  save: () => Promise<boolean>;
  /** Looks whether the file changed on disk. */
  look: () => Promise<void>;
  takeTheirs: () => void;
  keepMine: () => void;
  dispose: () => void;
}

export interface EditorOptions {
  bridge: Bridge;
  project: string;
  /** Absent: a new role from `fields`. */
  file: RoleFile | undefined;
  fields?: RoleFields;
  home?: RoleSource;
  announce: (words: string) => void;
  onSaved: (file: RoleFile, isNew: boolean) => void;
}

/** How long typing rests before the file is made anew, in milliseconds. */
const REST = 60;

function draftOf(file: RoleFile | undefined, fields: RoleFields | undefined): Draft {
  const values = file ? file.fields : fields;
  return values ? { kind: "fields", fields: values } : { kind: "text", text: file?.text ?? "" };
}

export function createEditor(options: EditorOptions): Editor {
  const { bridge, project, announce } = options;
  const [file, setFile] = createSignal(options.file);
  const [home, setHome] = createSignal<RoleSource>(options.home ?? "project");
  const [past, setPast] = createSignal<Past<Draft>>(begin(draftOf(options.file, options.fields)));
  const [clean, setClean] = createSignal<Draft | undefined>(options.file ? draftOf(options.file, undefined) : undefined);
  const [preview, setPreview] = createSignal<RolePreview>();
  const [problem, setProblem] = createSignal<Rejected>();
  const [conflict, setConflict] = createSignal<Conflict>();
  const [isSaving, setSaving] = createSignal(false);
  let asked = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let disposed = false;

  const draft = () => past().now;
  const fields = () => {
    const now = draft();
    return now.kind === "fields" ? now.fields : undefined;
  };
  const isDirty = () => {
    const now = draft();
    const before = clean();
    if (before && before.kind !== now.kind) return preview()?.text !== file()?.text;
    return !isSame(now, before);
  };
  const isEditable = () => file()?.editable !== false && (file() === undefined || file()?.text !== undefined);

  /** Makes the file anew. Only the last one asked for is shown. */
  async function make(): Promise<RolePreview | undefined> {
    clearTimeout(timer);
    if (file() && file()?.text === undefined) return undefined;
    asked += 1;
    const number = asked;
    const now = draft();
    const wish: RoleChange = now.kind === "fields" ? { type: "fields", fields: now.fields } : { type: "text", text: now.text };
    try {
      const made = await bridge.rolePreview(project, file()?.text ?? null, wish);
      if (number !== asked || disposed) return undefined;
      setPreview(made);
      setProblem(undefined);
      return made;
    } catch (error) {
      if (number === asked && !disposed) setProblem(asRejected(error));
      return undefined;
    }
  }

  function later(): void {
    clearTimeout(timer);
    timer = setTimeout(() => void make(), REST);
  }

  function step(next: Draft, key: string): void {
    if (isSame(next, draft())) return;
    setPast((now) => change(now, next, key, Date.now()));
    later();
  }

  /** The draft goes on from another version of the file. */
  function goOnFrom(next: RoleFile, with_: Draft | undefined): void {
    setFile(next);
    setClean(draftOf(next, undefined));
    setConflict(undefined);
    if (with_) step(with_, "");
    void make();
  }

  function meet(now: RoleFile | undefined): void {
    const before = file();
    if (!before) return;
    if (now && now.fingerprint === before.fingerprint) {
      setConflict(undefined);
      return;
    }
    if (now && !isDirty()) {
      goOnFrom(now, draftOf(now, undefined));
      announce("The file changed on disk and was read again.");
      return;
    }
    if (conflict() && conflict()?.now?.fingerprint === now?.fingerprint) return;
    const theirs = now?.fields && before.fields ? changedKeys(before.fields, now.fields) : [];
    setConflict({ now, theirs });
    announce(now ? "The file was changed on disk. Your changes are kept." : "The file was deleted. Your changes are kept.");
  }

  async function save(): Promise<boolean> {
    if (isSaving()) return false;
    setSaving(true);
    try {
      const made = await make();
      if (!made) return false;
      const open = file();
      const written = draft();
      if (!open || (conflict() && conflict()?.now === undefined)) {
        const created = await bridge.roleCreate(project, open?.source ?? home(), made.text);
        saved(created, written, true);
        return true;
      }
      const result = await bridge.roleSave(project, open.path, open.fingerprint, made.text);
      if (result.outcome === "conflict") {
        meet(result.now);
        return false;
      }
      saved(result.file, written, false);
      return true;
    } catch (error) {
      setProblem(asRejected(error));
      return false;
    } finally {
      setSaving(false);
    }
  }

  function saved(next: RoleFile, written: Draft, isNew: boolean): void {
    setFile(next);
    // What was typed while it was being saved is not saved.
    setClean(written.kind === "fields" ? draftOf(next, undefined) : { kind: "text", text: written.text });
    if (isSame(draft(), written) && written.kind === "fields" && next.fields) {
      setPast((now) => ({ ...now, now: draftOf(next, undefined) }));
    }
    setConflict(undefined);
    options.onSaved(next, isNew);
    void make();
  }

  void make();
  return {
    file,
    home,
    setHome,
    draft,
    fields,
    setFields: (next, key) => step({ kind: "fields", fields: next }, key),
    setText: (text) => step({ kind: "text", text }, "text"),
    showText: (text) => {
      const made = preview();
      if (text && draft().kind === "fields") step({ kind: "text", text: made?.text ?? file()?.text ?? "" }, "");
      else if (!text && draft().kind === "text" && made?.fields) step({ kind: "fields", fields: made.fields }, "");
    },
    canUndo: () => past().before.length > 0,
    canRedo: () => past().after.length > 0,
    undo: () => {
      setPast(undo);
      later();
    },
    redo: () => {
      setPast(redo);
      later();
    },
    preview,
    problem,
    conflict,
    isDirty,
    isSaving,
    isEditable,
    save,
    look: async () => {
      const open = file();
      if (!open || isSaving() || open.source === "built_in") return;
      try {
        const now = await bridge.roleFile(project, open.path);
        if (file() === open && !isSaving()) meet(now);
      } catch (error) {
        if (file() === open && !isSaving() && asRejected(error).code === "not_found") meet(undefined);
      }
    },
    takeTheirs: () => {
      const now = conflict()?.now;
      if (now) goOnFrom(now, draftOf(now, undefined));
    },
    keepMine: () => {
      const now = conflict()?.now;
      const before = file();
      const mine = fields();
      if (!now || !before) return;
      if (mine && now.fields && before.fields) {
        const { fields: merged, both } = rebase(before.fields, mine, now.fields);
        goOnFrom(now, { kind: "fields", fields: merged });
        if (both.length > 0) announce(`Both changed ${both.join(", ")}; yours is kept. Nothing is saved yet.`);
      } else goOnFrom(now, undefined);
    },
    dispose: () => {
      disposed = true;
      clearTimeout(timer);
    },
  };
}
