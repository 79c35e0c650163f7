// Asks for the name of a new role and whose it is. Nothing is written before it is saved.

import { For, Show, createEffect, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { isComposing } from "../composer/commands";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { SOURCE_WORD } from "./studio";
import type { Template } from "./templates";
import s from "./RoleStudio.module.css";

export function NewRole(props: { template: Template | undefined; onClose: () => void }): JSX.Element {
  const { studio } = useApp();
  const [name, setName] = createSignal("");
  const [home, setHome] = createSignal<"project" | "user">("project");
  createEffect(() => {
    const template = props.template;
    if (template) setName(template.id === "blank" ? "" : template.id);
  });
  const isTaken = () => studio.board.cards.some((card) => card.source === home() && card.role?.name === name().trim());
  const go = () => {
    const template = props.template;
    if (!template || name().trim() === "" || isTaken()) return;
    props.onClose();
    studio.create({ ...template.fields, name: name().trim() }, home());
  };
  return (
    <Dialog open={props.template !== undefined} onClose={() => props.onClose()} title={`New role: ${props.template?.title.toLowerCase() ?? ""}`}>
      <div class={s.question}>
        <label class={s.field}>
          Name
          <input
            type="text"
            aria-label="Name"
            ref={(field) => requestAnimationFrame(() => field.focus())}
            spellcheck={false}
            placeholder="reviewer"
            maxlength={64}
            value={name()}
            onInput={(event) => setName(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (isComposing(event) || event.key !== "Enter") return;
              event.preventDefault();
              go();
            }}
          />
        </label>
        <Show when={isTaken()}>
          <p class={s.bad} role="alert">
            There is a role of that name there already.
          </p>
        </Show>
        <fieldset class={s.choices}>
          <legend>For</legend>
          <For each={["project", "user"] as const}>
            {(source) => (
              <label class={s.choice} data-checked={home() === source}>
                <input type="radio" name="home" checked={home() === source} onChange={() => setHome(source)} />
                <span>
                  {SOURCE_WORD[source]}
                  <span class={s.path}>{source === "project" ? studio.board.project_folder : studio.board.user_folder}</span>
                </span>
              </label>
            )}
          </For>
        </fieldset>
        <div class={s.answers}>
          <Button kind="quiet" onClick={() => props.onClose()}>
            Cancel
          </Button>
          <Button kind="primary" disabled={name().trim() === "" || isTaken()} onClick={go}>
            Make it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
