// An open role: controls on the left, the file as it will be written on the right.

import { Match, Show, Switch, createSignal, onCleanup, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { Button, IconButton } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Unseen } from "../parts/Unseen";
import type { RoleFields } from "../protocol.gen";
import { Bins } from "./Bins";
import { ConflictBar } from "./ConflictBar";
import { Controls } from "./Controls";
import type { Editor } from "./editor";
import { FilePreview } from "./FilePreview";
import { FileText } from "./FileText";
import { History } from "./History";
import { roleHue } from "./hue";
import { Prompt } from "./Prompt";
import { NO_FIELDS, SOURCE_WORD } from "./studio";
import s from "./EditorView.module.css";

export function EditorView(props: { editor: Editor }): JSX.Element {
  const app = useApp();
  const { studio } = app;
  const { editor } = props;
  const [history, setHistory] = createSignal<string>();
  const [theirs, setTheirs] = createSignal(false);
  const name = () => editor.fields()?.name || editor.preview()?.fields?.name || editor.file()?.path.split(/[/\\]/).at(-1) || "New role";
  const color = () => (editor.fields() ?? editor.preview()?.fields)?.color;
  const source = () => editor.file()?.source ?? editor.home();
  const card = () => studio.board.cards.find((other) => other.path === editor.file()?.path);
  const canSave = () => editor.isEditable() && (editor.isDirty() || editor.file() === undefined) && !editor.isSaving() && (editor.file() !== undefined || editor.preview()?.loads === true) && editor.problem() === undefined;
  const canTry = () => editor.file() !== undefined && card()?.role !== undefined && card()?.role?.shadowed_by === undefined;

  const tryIt = async () => {
    if (editor.isDirty() && !(await editor.save())) return;
    const file = editor.file();
    const role = file?.fields?.name;
    if (file && role !== undefined) studio.askStart({ role, path: file.path, color: color(), isTrial: true });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) editor.undo();
    else if ((key === "z" && event.shiftKey) || key === "y") editor.redo();
    else if (key === "s") {
      if (canSave()) void editor.save();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener("keydown", onKeyDown, true);
  onCleanup(() => document.removeEventListener("keydown", onKeyDown, true));

  return (
    <div class={s.editor} role="group" aria-label={`Role ${name()}`}>
      <header class={s.head}>
        <IconButton icon="chevron" label="Back to the roles" onClick={() => studio.leave()} data-back />
        <span class={s.icon} style={{ color: roleHue(color()) }}>
          <Icon name="subagent" size={16} />
        </span>
        <h2 class={s.name} title={name()}>
          <Unseen text={name()} />
        </h2>
        <span class={s.source} title={editor.file()?.path}>
          {SOURCE_WORD[source()]}
          {editor.file() === undefined ? ", new" : ""}
        </span>
        <Show when={editor.isDirty() && editor.isEditable()}>
          <span class={s.dirty}>Not saved</span>
        </Show>
        <span class={s.space} />
        <Show when={editor.file()?.fields?.name}>
          {(role) => <IconButton icon="hourglass" label="History" onClick={() => setHistory(role())} />}
        </Show>
        <Show when={editor.isEditable()}>
          <IconButton icon="undo" label="Undo" disabled={!editor.canUndo()} onClick={() => editor.undo()} />
          <IconButton icon="redo" label="Redo" disabled={!editor.canRedo()} onClick={() => editor.redo()} />
          <Modes editor={editor} />
          <Button small disabled={!canTry()} title={canTry() ? "Run it in a session of its own" : "Save it first"} onClick={() => void tryIt()}>
            <Icon name="play" size={13} />
            {editor.isDirty() && canTry() ? "Save and try it" : "Try it"}
          </Button>
          <Button small kind="primary" disabled={!canSave()} title="Save (Ctrl S)" onClick={() => void editor.save()}>
            Save
          </Button>
        </Show>
      </header>
      <Show when={!editor.isEditable()}>
        <div class={s.locked}>
          <span>
            {source() === "built_in"
              ? "This role comes with Offshoot. Override it to change it."
              : source() === "plugin"
                ? "This role belongs to a plugin. Override it to change it."
                : "This file is a link, or not UTF-8, and can't be changed here."}
          </span>
          <Show when={card()?.role && card()}>
            {(own) => (
              <>
                <Show when={source() !== "project"}>
                  <Button small onClick={() => void studio.copy(own(), "project", false).then(() => studio.leave())}>
                    Copy to Project
                  </Button>
                </Show>
                <Show when={source() !== "user"}>
                  <Button small onClick={() => void studio.copy(own(), "user", false).then(() => studio.leave())}>
                    Copy to User
                  </Button>
                </Show>
              </>
            )}
          </Show>
        </div>
      </Show>
      <Show when={editor.conflict()}>
        {(conflict) => <ConflictBar editor={editor} conflict={conflict()} showsTheirs={theirs()} onShow={setTheirs} />}
      </Show>
      <div class={s.body}>
        <div class={s.form}>
          <Switch fallback={<FileText editor={editor} />}>
            <Match when={editor.fields() !== undefined}>
              <Form editor={editor} />
            </Match>
            <Match when={editor.file() && editor.file()?.text === undefined}>
              <p class={s.note}>This file is not UTF-8, so it is not shown. Save it as UTF-8 in a text editor first.</p>
            </Match>
          </Switch>
        </div>
        <FilePreview editor={editor} theirs={theirs() ? editor.conflict()?.now : undefined} />
      </div>
      <History role={history()} onClose={() => setHistory(undefined)} />
    </div>
  );
}

function Modes(props: { editor: Editor }): JSX.Element {
  const isText = () => props.editor.draft().kind === "text";
  const canForm = () => props.editor.preview()?.fields !== undefined;
  return (
    <div class={s.modes} role="group" aria-label="How to edit">
      <button type="button" aria-pressed={!isText()} disabled={isText() && !canForm()} title={isText() && !canForm() ? "The front matter can't be read yet" : "Edit with controls"} onClick={() => props.editor.showText(false)}>
        Controls
      </button>
      <button type="button" aria-pressed={isText()} title="Edit the file's text" onClick={() => props.editor.showText(true)}>
        Text
      </button>
    </div>
  );
}

function Form(props: { editor: Editor }): JSX.Element {
  const { studio } = useApp();
  const { editor } = props;
  const fields = () => editor.fields() ?? NO_FIELDS;
  const set = <K extends keyof RoleFields>(key: K, value: RoleFields[K]) => editor.setFields({ ...fields(), [key]: value }, key);
  /** The core names the entry that it can't write. */
  const problemOf = (key: string) => {
    const message = editor.problem()?.message;
    const named = message?.match(/^`([a-z_]+)`: /i)?.[1]?.toLowerCase();
    return named === key ? message?.slice(key.length + 4) : undefined;
  };
  return (
    <fieldset class={s.fields} disabled={!editor.isEditable()}>
      <section class={s.part} aria-label="Identity">
        <label class={s.field}>
          <span class={s.label}>Name</span>
          <input
            type="text"
            aria-label="Role name"
            spellcheck={false}
            value={fields().name}
            aria-invalid={problemOf("name") !== undefined}
            onInput={(event) => set("name", event.currentTarget.value)}
          />
        </label>
        <Show when={problemOf("name")}>{(words) => <p class={s.bad}>{words()}</p>}</Show>
        <label class={s.field}>
          <span class={s.label}>
            Description <span class={s.aside}>when to use it; agents read this</span>
          </span>
          <textarea
            rows={2}
            aria-label="Description"
            spellcheck={false}
            value={fields().description}
            aria-invalid={problemOf("description") !== undefined}
            onInput={(event) => set("description", event.currentTarget.value)}
          />
        </label>
        <Show when={problemOf("description")}>{(words) => <p class={s.bad}>{words()}</p>}</Show>
      </section>
      <section class={s.part} aria-label="Tools of the role">
        <Bins editor={editor} tools={studio.board.tools} />
      </section>
      <section class={s.part} aria-label="Behaviour">
        <h3 class={s.heading}>Behaviour</h3>
        <Controls editor={editor} problemOf={problemOf} />
      </section>
      <section class={s.part} aria-label="Prompt">
        <Prompt editor={editor} />
      </section>
    </fieldset>
  );
}
