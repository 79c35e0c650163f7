// Where a message is written. It grows with its text, keeps drafts, and never takes an input method's Enter for a wish
// to send.

import { For, Show, createEffect, createMemo, createResource, createSignal, on, type JSX } from "solid-js";
import { isAtWork } from "../agents/state";
import { useApp } from "../app/context";
import { readText, write } from "../app/prefs";
import { Icon } from "../parts/Icon";
import { plural } from "../parts/time";
import type { AgentView } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { completions, delegates, isComposing, readWish, type Completion } from "./commands";
import s from "./Composer.module.css";

export function Composer(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  const app = useApp();
  const [text, setText] = createSignal("");
  const [isolated, setIsolated] = createSignal(true);
  const [problem, setProblem] = createSignal<string>();
  const [isSending, setSending] = createSignal(false);
  const [picked, setPicked] = createSignal(0);
  const [dismissed, setDismissed] = createSignal<string>();
  let field: HTMLTextAreaElement | undefined;

  const key = () => `draft.${props.session.id}.${props.agent.id}`;
  const point = () => (app.forkPoint()?.agent === props.agent.id ? app.forkPoint() : undefined);
  const isForking = () => point() !== undefined;
  const [roles] = createResource(
    () => (text().startsWith("/agent") ? props.session.state.project : undefined),
    (project) => app.bridge.roles(project).then((found) => found.roles.filter((role) => role.shadowed_by === undefined)),
  );
  const menu = createMemo<Completion[]>(() =>
    dismissed() === text() || isForking() ? [] : completions(text(), roles.state === "ready" ? roles() : []),
  );
  const isMenuOpen = () => menu().length > 0;
  const runs = () => isAtWork(props.agent.state);

  const grow = () => {
    if (!field) return;
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, Math.round(window.innerHeight * 0.4))}px`;
  };
  const change = (next: string) => {
    setText(next);
    setProblem(undefined);
    setPicked(0);
    write(key(), next === "" ? undefined : next);
    queueMicrotask(grow);
  };

  // Another agent, another draft.
  createEffect(
    on(key, (current) => {
      setText(readText(current));
      setProblem(undefined);
      queueMicrotask(grow);
    }),
  );
  createEffect(on(point, (now) => now && field?.focus(), { defer: true }));

  const send = async () => {
    if (isSending()) return;
    const draft = text();
    const source = isForking() && !/^\/fork\s/.test(draft) ? `/fork ${draft}` : draft;
    const wish = readWish(source, {
      agent: props.agent.id,
      isolation: isolated() ? "worktree" : "shared",
      messages: point()?.messages,
    });
    if (wish.kind === "nothing") return;
    if (wish.kind === "problem") {
      setProblem(wish.message);
      return;
    }
    if (wish.kind === "sheet") {
      change("");
      if (wish.sheet === "review") {
        app.setTab("review");
        app.prefs.setRightOpen(true);
      } else app.setSheet(wish.sheet);
      return;
    }
    const draftKey = key();
    setSending(true);
    const accepted = await app.send(wish.command);
    setSending(false);
    // A text that was not accepted stays where it was typed; one typed meanwhile is not thrown away.
    if (!accepted) return;
    app.setForkPoint(undefined);
    if (readText(draftKey) === draft) write(draftKey, undefined);
    if (key() === draftKey && text() === draft) change("");
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (isMenuOpen()) {
      const list = menu();
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        setPicked((at) => (at + (event.key === "ArrowDown" ? 1 : list.length - 1)) % list.length);
        return;
      }
      const choice = list[picked()];
      if ((event.key === "Tab" || event.key === "Enter") && !event.shiftKey && choice && choice.text !== text()) {
        event.preventDefault();
        change(choice.text);
        return;
      }
      if (event.key === "Escape") {
        event.preventDefault();
        setDismissed(text());
        return;
      }
    }
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      void send();
    } else if (event.key === "Escape") {
      if (isForking()) app.setForkPoint(undefined);
      else if (runs()) void app.send({ type: "interrupt", agent: props.agent.id });
    } else if (event.key === "ArrowUp" && text() === "") {
      const last = props.agent.queue.findLast((input) => input.origin === "user");
      if (!last) return;
      // A queued message is taken back into the composer, to be corrected.
      event.preventDefault();
      void app.send({ type: "withdraw_input", agent: props.agent.id, input: last.id }).then((done) => done && change(last.text));
    }
  };

  const placeholder = () => {
    if (isForking()) return "What shall the fork do?";
    if (props.agent.kind === "root") return runs() ? "Add a message; it is taken in at the next step" : "Describe a task, or / for commands";
    return `Message this ${props.agent.kind}`;
  };

  return (
    <div class={s.place}>
      <Show when={isMenuOpen()}>
        <ul class={s.menu} role="listbox" id="composer-menu" aria-label="Commands">
          <For each={menu()}>
            {(entry, at) => (
              <li
                role="option"
                id={`composer-option-${at()}`}
                aria-selected={picked() === at()}
                class={s.option}
                onPointerEnter={() => setPicked(at())}
                onPointerDown={(event) => {
                  event.preventDefault();
                  change(entry.text);
                  field?.focus();
                }}
              >
                <span class={s.optionName}>{entry.label}</span>
                <span class={s.optionAbout}>{entry.about}</span>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <div class={s.box} data-problem={problem() !== undefined}>
        <Show when={point()}>
          {(from) => (
            <div class={s.chip}>
              <Icon name="fork" size={13} />
              Fork that inherits the first {plural(from().messages, "message")}
              <button type="button" aria-label="Don't fork" title="Don't fork (Esc)" onClick={() => app.setForkPoint(undefined)}>
                <Icon name="close" size={12} />
              </button>
            </div>
          )}
        </Show>
        <textarea
          ref={field}
          class={s.field}
          rows={1}
          aria-label="Message"
          aria-describedby={problem() === undefined ? undefined : "composer-problem"}
          placeholder={placeholder()}
          value={text()}
          spellcheck={false}
          {...(isMenuOpen() ? { "aria-controls": "composer-menu", "aria-activedescendant": `composer-option-${picked()}` } : {})}
          onInput={(event) => change(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <div class={s.foot}>
          <Show when={isForking() || delegates(text())} fallback={<span class={s.hint}>{hint(props.agent, runs())}</span>}>
            <label class={s.check}>
              <input type="checkbox" checked={isolated()} onChange={(event) => setIsolated(event.currentTarget.checked)} />
              In its own worktree
            </label>
          </Show>
          <Show when={runs()}>
            <button type="button" class={s.stop} title="Interrupt (Esc)" onClick={() => void app.send({ type: "interrupt", agent: props.agent.id })}>
              <span class={s.square} aria-hidden="true" />
              Interrupt
            </button>
          </Show>
          <button type="button" class={s.send} aria-label="Send" title="Send (Enter)" disabled={text().trim() === "" || isSending()} onClick={() => void send()}>
            <Icon name="send" size={15} />
          </button>
        </div>
      </div>
      <Show when={problem()}>
        {(words) => (
          <p class={s.problem} id="composer-problem" role="alert">
            {words()}
          </p>
        )}
      </Show>
    </div>
  );
}

function hint(agent: AgentView, runs: boolean): string {
  if (runs) return "Enter queues, Esc interrupts";
  return agent.kind === "root" ? "Enter sends, Shift Enter breaks the line" : "Enter continues it with this message";
}
