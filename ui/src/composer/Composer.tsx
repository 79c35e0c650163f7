// Where a message is written. It grows with its text, keeps drafts, and never takes an input method's Enter for a wish
// to send.

import { For, Show, createEffect, createMemo, createResource, createSignal, on, onCleanup, type JSX } from "solid-js";
import { isAtWork } from "../agents/state";
import { useApp } from "../app/context";
import { readText, write } from "../app/prefs";
import { Icon } from "../parts/Icon";
import { bytes, plural } from "../parts/time";
import type { AgentView } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { Confirm, type Asked } from "./Confirm";
import { completions, delegates, isComposing, readWish, type Completion } from "./commands";
import { leadsAway, readHistory, remember, stepThrough, type Browsing } from "./history";
import { isWelcome, takeFiles } from "./dropped";
import { fileMentions, mentionAt, mentions } from "./mentions";
import { LONG, expand, keepApart, readPastes, stillUsed, type Pastes } from "./pastes";
import s from "./Composer.module.css";

/** Up to so many characters a text is measured, and saved with every key. */
const MEASURED = 12_000;

export function Composer(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  const app = useApp();
  const [text, setText] = createSignal("");
  const [isolated, setIsolated] = createSignal(true);
  const [problem, setProblem] = createSignal<string>();
  const [isSending, setSending] = createSignal(false);
  const [picked, setPicked] = createSignal(0);
  const [dismissed, setDismissed] = createSignal<string>();
  const [caret, setCaret] = createSignal(0);
  const [browsing, setBrowsing] = createSignal<Browsing>();
  const [pastes, setPastes] = createSignal<Pastes>({});
  let field: HTMLTextAreaElement | undefined;

  const key = () => `draft.${props.session.id}.${props.agent.id}`;
  const pastesKey = (of: string) => of.replace(/^draft/, "pastes");
  const point = () => (app.forkPoint()?.agent === props.agent.id ? app.forkPoint() : undefined);
  const isForking = () => point() !== undefined;
  const [roles] = createResource(
    () => (text().startsWith("/agent") ? props.session.state.project : undefined),
    (project) => app.bridge.roles(project).then((found) => found.roles.filter((role) => role.shadowed_by === undefined)),
  );
  const agents = createMemo(() => {
    const { order, agents: byId } = props.session.state;
    return order.flatMap((id) => (id !== props.agent.id && byId[id] && byId[id].kind !== "root" ? [byId[id]] : []));
  });
  const letters = createMemo(() => mentionAt(text(), caret())?.query);
  const [files] = createResource(letters, (typed) => app.bridge.files(props.session.id, props.agent.id, typed).catch(() => []), { initialValue: [] });
  const menu = createMemo<Completion[]>(() => {
    if (dismissed() === text()) return [];
    const found = isForking() ? [] : completions(text(), roles.state === "ready" ? roles() : []);
    if (found.length > 0) return found;
    return [...mentions(text(), caret(), agents()), ...fileMentions(text(), caret(), files.latest ?? [])];
  });
  const pasted = createMemo(() => Object.entries(stillUsed(text(), pastes())));
  const isMenuOpen = () => menu().length > 0;
  const runs = () => isAtWork(props.agent.state);

  const grow = () => {
    if (!field) return;
    const most = Math.round(window.innerHeight * 0.4);
    // A long text fills the place anyway, and measuring it takes long.
    if (text().length > MEASURED) {
      field.style.height = `${most}px`;
      return;
    }
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, most)}px`;
  };
  let unsaved: { key: string; text: string } | undefined;
  let saving: ReturnType<typeof setTimeout> | undefined;
  const save = () => {
    clearTimeout(saving);
    if (unsaved) write(unsaved.key, unsaved.text === "" ? undefined : unsaved.text);
    unsaved = undefined;
  };
  const change = (next: string, at = next.length) => {
    setText(next);
    setCaret(at);
    setProblem(undefined);
    setPicked(0);
    unsaved = { key: key(), text: next };
    clearTimeout(saving);
    // Writing a long draft with every key would be felt.
    if (next.length > MEASURED) saving = setTimeout(save, 400);
    else save();
    queueMicrotask(grow);
  };
  const keepPastes = (next: Pastes) => {
    setPastes(next);
    write(pastesKey(key()), Object.keys(next).length === 0 ? undefined : JSON.stringify(next));
  };
  /** A text from elsewhere as it may stand in the field. */
  const take = (long: string, always = false): string => {
    const taken = keepApart(long, stillUsed(text(), pastes()), always);
    if (taken.text !== long) keepPastes(taken.pastes);
    return taken.text;
  };
  /** Puts a text where the caret is. */
  const insert = (more: string) => {
    const [start, end] = field ? [field.selectionStart, field.selectionEnd] : [text().length, text().length];
    replace(text().slice(0, start) + more + text().slice(end), start + more.length);
  };
  const attach = async (list: readonly File[]) => {
    const taken = await takeFiles(list);
    for (const file of taken.files) insert(`${text() === "" || text().endsWith("\n") ? "" : "\n"}${file.name}: ${take(file.text, true)}\n`);
    setProblem(taken.problems.length > 0 ? taken.problems.join(" ") : undefined);
  };
  const [isOver, setOver] = createSignal(false);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const list = [...(event.dataTransfer?.files ?? [])];
    if (list.length > 0) void attach(list);
    else insert(take((event.dataTransfer?.getData("text/plain") ?? "").replace(/\r\n?/g, "\n")));
  };
  const onPaste = (event: ClipboardEvent) => {
    const list = [...(event.clipboardData?.files ?? [])];
    if (list.length > 0) {
      event.preventDefault();
      void attach(list);
      return;
    }
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (!field || pasted.length < LONG) return;
    event.preventDefault();
    insert(take(pasted.replace(/\r\n?/g, "\n")));
  };
  const removePaste = (number: number) => {
    const { [number]: removed, ...rest } = pastes();
    if (removed === undefined) return;
    replace(expand(text(), { [number]: "" }));
    keepPastes(rest);
  };
  /** Puts a text in place of the present one, with the caret where it belongs. */
  const replace = (next: string, at = next.length) => {
    change(next, at);
    if (!field) return;
    field.value = next;
    field.setSelectionRange(at, at);
    field.focus();
  };
  window.addEventListener("pagehide", save);
  onCleanup(() => {
    save();
    window.removeEventListener("pagehide", save);
  });

  // Another agent, another draft.
  createEffect(
    on(key, (current) => {
      save();
      setText(readText(current));
      setPastes(readPastes(readText(pastesKey(current))));
      setBrowsing(undefined);
      setProblem(undefined);
      queueMicrotask(grow);
    }),
  );
  createEffect(
    on(app.proposal, (proposal) => {
      if (!proposal) return;
      app.propose(undefined);
      const draft = text();
      if (proposal.send && draft.trim() === "") {
        replace(proposal.text);
        void send();
        return;
      }
      const taken = take(proposal.text);
      replace(draft.trim() === "" ? taken : `${taken.trimEnd()}\n\n${draft}`);
    }),
  );
  createEffect(on(point, (now) => now && field?.focus(), { defer: true }));

  const [asked, setAsked] = createSignal<Asked>();
  const confirm = (question: string, answer: string): Promise<boolean> =>
    new Promise((resolve) => {
      const reply = (yes: boolean) => {
        setAsked(undefined);
        resolve(yes);
      };
      setAsked({ question, answer, reply });
    });

  const send = async () => {
    if (isSending()) return;
    const draft = text();
    const whole = expand(draft, pastes());
    const source = isForking() && !/^\/fork\s/.test(whole) ? `/fork ${whole}` : whole;
    const wish = readWish(source, {
      agent: props.agent.id,
      isolation: isolated() ? "worktree" : "shared",
      messages: point()?.messages,
      length: props.agent.messages,
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
    if (wish.kind === "confirm" && !(await confirm(wish.question, wish.answer))) return;
    const draftKey = key();
    save();
    setSending(true);
    const accepted = await app.send(wish.command);
    setSending(false);
    // A text that was not accepted stays where it was typed; one typed meanwhile is not thrown away.
    if (!accepted) return;
    app.setForkPoint(undefined);
    setBrowsing(undefined);
    const past = `history.${props.session.state.project}`;
    write(past, JSON.stringify(remember(readHistory(readText(past)), whole)));
    if (readText(draftKey) === draft) {
      write(draftKey, undefined);
      write(pastesKey(draftKey), undefined);
    }
    if (key() === draftKey && text() === draft) {
      change("");
      setPastes({});
    }
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
        replace(choice.text, choice.caret);
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
    } else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey) {
      onArrow(event, event.key === "ArrowUp" ? -1 : 1);
    }
  };

  const onArrow = (event: KeyboardEvent, direction: -1 | 1) => {
    const queued = text() === "" && direction === -1 && !browsing() ? props.agent.queue.findLast((input) => input.origin === "user") : undefined;
    if (queued) {
      // A queued message is taken back into the composer, to be corrected.
      event.preventDefault();
      void app.send({ type: "withdraw_input", agent: props.agent.id, input: queued.id }).then((done) => done && replace(take(queued.text)));
      return;
    }
    if (!field) return;
    const list = readHistory(readText(`history.${props.session.state.project}`));
    const now = browsing();
    // What was changed is a new text.
    const isBrowsing = now !== undefined && list[now.at] === text();
    if (!leadsAway(direction, { start: field.selectionStart, end: field.selectionEnd }, text().length, isBrowsing)) return;
    const next = stepThrough(list, isBrowsing ? now : undefined, direction, text());
    if (!next) return;
    event.preventDefault();
    replace(next.text);
    setBrowsing(next.browsing);
    setDismissed(next.text);
  };

  const placeholder = () => {
    if (isForking()) return "What shall the fork do?";
    if (props.agent.kind === "root") return runs() ? "Add a message; it is taken in at the next step" : "Describe a task, / for commands, @ for agents and files";
    return `Message this ${props.agent.kind}`;
  };

  return (
    <div class={s.place}>
      <Confirm asked={asked()} />
      <Show when={isMenuOpen()}>
        <ul class={s.menu} role="listbox" id="composer-menu" aria-label={menu()[0]?.caret === undefined ? "Commands" : "Agents and files"}>
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
                  replace(entry.text, entry.caret);
                }}
              >
                <span class={s.optionName} data-mention={entry.caret !== undefined}>{entry.label}</span>
                <span class={s.optionAbout}>{entry.about}</span>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <div
        class={s.box}
        data-problem={problem() !== undefined}
        data-over={isOver()}
        onDragOver={(event) => setOver(isWelcome(event.dataTransfer))}
        onDragLeave={(event) => !(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)) && setOver(false)}
        onDrop={onDrop}
      >
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
        <Show when={pasted().length > 0}>
          <ul class={s.pastes} aria-label="Pasted texts">
            <For each={pasted()}>
              {([number, long]) => (
                <li class={s.chip} title={`${long.slice(0, 600)}…`}>
                  <Icon name="file" size={13} />
                  Pasted text {number}, {bytes(long.length)}
                  <button type="button" aria-label={`Remove pasted text ${number}`} title="Remove" onClick={() => removePaste(Number(number))}>
                    <Icon name="close" size={12} />
                  </button>
                </li>
              )}
            </For>
          </ul>
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
          onInput={(event) => change(event.currentTarget.value, event.currentTarget.selectionStart)}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onBlur={save}
          onPaste={onPaste}
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
