// The single values of a role: model, permission, turns, background, isolation, instructions, colour.

import { For, Show, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import type { PermissionMode, RoleFields } from "../protocol.gen";
import { withValue } from "./draft";
import type { Editor } from "./editor";
import { roleHue } from "./hue";
import { Select } from "./Select";
import { NO_FIELDS } from "./studio";
import s from "./Controls.module.css";

const MODES: { mode: PermissionMode; label: string; note: string }[] = [
  { mode: "default", label: "Default", note: "asks for everything that isn't allowed" },
  { mode: "accept-edits", label: "Accept edits", note: "edits in its own directory run without asking" },
  { mode: "plan", label: "Plan", note: "only reads" },
  { mode: "dont-ask", label: "Don't ask", note: "refuses what it would have to ask for" },
  { mode: "bypass", label: "Bypass", note: "asks for nothing; never wider than its parent" },
];

export function Controls(props: { editor: Editor; problemOf: (key: string) => string | undefined }): JSX.Element {
  const { studio } = useApp();
  const { editor } = props;
  const [other, setOther] = createSignal(false);
  const fields = () => editor.fields() ?? NO_FIELDS;
  const set = <K extends keyof RoleFields>(key: K, value: RoleFields[K] | undefined) => editor.setFields(withValue(fields(), key, value), key);
  const isOther = () => other() || (fields().model !== undefined && !studio.board.models.includes(fields().model ?? "") && fields().model !== "inherit");
  const model = () => (isOther() ? "other" : (fields().model ?? ""));
  const mode = () => MODES.find((entry) => entry.mode === fields().permission);

  return (
    <div class={s.grid}>
      <div class={s.field}>
        <span class={s.label}>Model</span>
        <Select
          label="Model"
          value={model()}
          onChange={(value) => {
            setOther(value === "other");
            if (value !== "other") set("model", value === "" ? undefined : value);
          }}
        >
          <option value="">The parent's</option>
          <Show when={fields().model === "inherit"}>
            <option value="inherit">inherit</option>
          </Show>
          <For each={studio.board.models}>{(alias) => <option value={alias}>{alias}</option>}</For>
          <option value="other">Another…</option>
        </Select>
        <Show when={isOther()}>
          <input
            type="text"
            aria-label="Model id"
            placeholder="model id"
            spellcheck={false}
            value={fields().model ?? ""}
            onInput={(event) => set("model", event.currentTarget.value.trim() === "" ? undefined : event.currentTarget.value.trim())}
          />
        </Show>
        <Show when={props.problemOf("model")}>{(words) => <span class={s.bad}>{words()}</span>}</Show>
      </div>
      <div class={s.field}>
        <span class={s.label}>Permission mode</span>
        <Select label="Permission mode" value={fields().permission ?? ""} onChange={(value) => set("permission", MODES.find((entry) => entry.mode === value)?.mode)}>
          <option value="">The parent's</option>
          <For each={MODES}>{(entry) => <option value={entry.mode}>{entry.label}</option>}</For>
        </Select>
        <span class={s.note} data-careful={fields().permission === "bypass"}>
          {mode()?.note ?? "as its parent"}
        </span>
      </div>
      <label class={s.field}>
        <span class={s.label}>Most turns</span>
        <input
          type="text"
          inputmode="numeric"
          aria-label="Most turns"
          placeholder="50"
          maxlength={4}
          value={fields().max_turns ?? ""}
          onInput={(event) => {
            const digits = event.currentTarget.value.replace(/\D/g, "");
            if (digits !== event.currentTarget.value) event.currentTarget.value = digits;
            set("max_turns", digits === "" ? undefined : Number(digits));
          }}
        />
        <Show when={props.problemOf("max_turns")} fallback={<span class={s.note}>model calls of one run, at most {studio.board.max_turns}</span>}>
          {(words) => <span class={s.bad}>{words()}</span>}
        </Show>
      </label>
      <div class={s.field}>
        <span class={s.label}>Works in</span>
        <div class={s.segments} role="group" aria-label="Works in">
          <button type="button" aria-pressed={fields().isolation === "shared"} title="In its parent's folder" onClick={() => set("isolation", "shared")}>
            Shared
          </button>
          <button type="button" aria-pressed={fields().isolation === "worktree"} title="In a git worktree of its own" onClick={() => set("isolation", "worktree")}>
            Own worktree
          </button>
        </div>
      </div>
      <div class={s.checks}>
        <label class={s.check}>
          <input type="checkbox" checked={fields().background} onChange={(event) => set("background", event.currentTarget.checked)} />
          <span>
            Runs in the background <span class={s.aside}>its parent goes on meanwhile</span>
          </span>
        </label>
        <label class={s.check}>
          <input type="checkbox" checked={!fields().without_instructions} onChange={(event) => set("without_instructions", !event.currentTarget.checked)} />
          <span>
            Reads the project's instructions <span class={s.aside}>AGENTS.md, CLAUDE.md</span>
          </span>
        </label>
      </div>
      <div class={s.colours} role="radiogroup" aria-label="Colour">
        <span class={s.label}>Colour</span>
        <div class={s.swatches}>
          <label class={s.swatch} data-none title="No colour">
            <input type="radio" name="role-colour" aria-label="No colour" checked={fields().color === undefined} onChange={() => set("color", undefined)} />
          </label>
          <For each={studio.board.colors}>
            {(color) => (
              <label class={s.swatch} title={color} style={{ "--hue": swatch(color) }}>
                <input type="radio" name="role-colour" aria-label={color} checked={fields().color === color} onChange={() => set("color", color)} />
              </label>
            )}
          </For>
        </div>
      </div>
    </div>
  );
}

/** Colours that share a token of the window are told apart here. */
function swatch(color: string): string {
  const shift: Record<string, string> = {
    amber: "color-mix(in srgb, var(--hue-yellow) 60%, var(--hue-orange))",
    lime: "color-mix(in srgb, var(--hue-green) 60%, var(--hue-yellow))",
    cyan: "color-mix(in srgb, var(--hue-teal) 60%, var(--hue-blue))",
    indigo: "color-mix(in srgb, var(--hue-blue) 60%, var(--hue-purple))",
    violet: "color-mix(in srgb, var(--hue-purple) 75%, var(--hue-pink))",
    magenta: "color-mix(in srgb, var(--hue-pink) 70%, var(--hue-purple))",
  };
  return shift[color] ?? roleHue(color);
}
