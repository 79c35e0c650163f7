// Writes the argument of an entry, with a check and examples while it is typed.

import { For, Show, createEffect, createResource, createSignal, onCleanup, onMount, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { isComposing } from "../composer/commands";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Unseen } from "../parts/Unseen";
import { joinEntry } from "./draft";
import s from "./RuleEditor.module.css";

const EXAMPLE: Record<string, string> = { Bash: "git diff *", Edit: "/src/**", Write: "/docs/**", Read: "/docs/**", WebFetch: "domain:docs.rs" };

export function RuleEditor(props: { tool: string; argument: string; onDone: (argument: string) => void; onCancel: () => void }): JSX.Element {
  const app = useApp();
  const [text, setText] = createSignal(props.argument);
  const [asked, setAsked] = createSignal<string>();
  let field: HTMLInputElement | undefined;
  let isOver = false;

  onMount(() => {
    field?.focus();
    field?.select();
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  createEffect(() => {
    const entry = joinEntry(props.tool, text());
    clearTimeout(timer);
    timer = setTimeout(() => setAsked(entry), 120);
  });
  onCleanup(() => clearTimeout(timer));
  const [rule] = createResource(asked, (entry) => app.bridge.roleRule(app.project() ?? "", entry));
  const checked = () => (text().trim() !== "" && rule.state === "ready" ? rule() : undefined);
  const isBad = () => checked()?.valid === false;

  const finish = (act: () => void) => {
    if (isOver) return;
    isOver = true;
    act();
  };

  return (
    <div class={s.rule} data-still>
      <label class={s.line} data-bad={isBad()}>
        <span>{props.tool}(</span>
        <input
          ref={field}
          type="text"
          aria-label={`Rule for ${props.tool}`}
          spellcheck={false}
          placeholder={EXAMPLE[props.tool] ?? "argument"}
          value={text()}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (isComposing(event)) return;
            if (event.key === "Enter" && !isBad()) finish(() => props.onDone(text()));
            else if (event.key === "Escape") finish(() => props.onCancel());
            else return;
            event.preventDefault();
            event.stopPropagation();
          }}
        />
        <span>)</span>
      </label>
      <Show when={checked()}>
        {(now) => (
          <div class={s.check}>
            <Show when={now().problem}>
              <p class={s.problem}>
                <Icon name="alert" size={12} />
                {now().problem}
              </p>
            </Show>
            <For each={now().matches}>
              {(call) => (
                <p class={s.yes}>
                  <Icon name="done" size={12} />
                  <span class="sr-only">speaks of</span>
                  <code>
                    <Unseen text={call} />
                  </code>
                </p>
              )}
            </For>
            <For each={now().misses}>
              {(call) => (
                <p class={s.no}>
                  <Icon name="failed" size={12} />
                  <span class="sr-only">does not speak of</span>
                  <code>
                    <Unseen text={call} />
                  </code>
                </p>
              )}
            </For>
          </div>
        )}
      </Show>
      <div class={s.answers}>
        <Button small kind="primary" disabled={isBad() || (text().trim() === "" && props.argument === "")} onClick={() => finish(() => props.onDone(text()))}>
          {text().trim() === "" && props.argument !== "" ? "Remove the rule" : "Set"}
        </Button>
        <Button small kind="quiet" onClick={() => finish(() => props.onCancel())}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
