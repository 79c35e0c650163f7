// A permission request: who asks, what exactly, why, where, and the answers. An answer is bound to the request's id.

import { For, Match, Show, Switch, createMemo, createSignal, type JSX } from "solid-js";
import { KIND_WORD } from "../agents/state";
import { useApp } from "../app/context";
import { Button, Keys } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Path } from "../parts/Path";
import { Unseen } from "../parts/Unseen";
import { hasUnseen } from "../parts/invisible";
import { shortenPaths } from "../parts/paths";
import type { Answer, PermissionRequest } from "../protocol.gen";
import { TextDiff } from "../review/TextDiff";
import { parseUnified } from "../review/diff";
import { parseInput, relativePath } from "../session/calls";
import { useArmed } from "./arming";
import s from "./RequestCard.module.css";

export function RequestCard(props: {
  request: PermissionRequest;
  /** Where it stands in its list. */
  place?: number;
}): JSX.Element {
  const app = useApp();
  const isArmed = useArmed(() => props.place ?? 0);
  const [isSending, setSending] = createSignal(false);
  /** What is being written, below the answers: they stay where they are. */
  const [writing, open] = createSignal<"telling" | "widening" | undefined>();
  const isTelling = () => writing() === "telling";
  const isWidening = () => writing() === "widening";
  const [reason, setReason] = createSignal("");
  const [written, setWritten] = createSignal("");
  const [showRules, setShowRules] = createSignal(false);
  let card: HTMLDivElement | undefined;

  const asker = () => props.request.asker.at(-1);
  const rules = () => props.request.suggested_rules;
  const canAnswer = () => isArmed() && !isSending();

  const answer = async (value: Answer) => {
    if (!canAnswer()) return;
    setSending(true);
    // What follows is an event; only a rejected answer makes the buttons usable again.
    const accepted = await app.send({ type: "answer", request: props.request.id, answer: value });
    if (!accepted) setSending(false);
  };
  const deny = () => {
    const words = reason().trim();
    void answer(words === "" ? { kind: "deny" } : { kind: "deny", reason: words });
  };

  const widen = () => {
    setWritten(rules().join("\n"));
    open("widening");
  };
  /** The rules as the person left them, one a line. */
  const edited = () =>
    written()
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== card || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.key === "a") void answer({ kind: "allow_once" });
    else if (event.key === "d") void answer({ kind: "deny" });
    else return;
    event.preventDefault();
  };

  return (
    <div
      ref={card}
      class={s.card}
      role="group"
      aria-label={`Request from ${asker()?.title ?? "an agent"}: ${props.request.tool}`}
      data-request={props.request.id}
      data-armed={isArmed()}
      tabindex={0}
      onKeyDown={onKeyDown}
    >
      <p class={s.who}>
        <Icon name="bell" size={14} class={s.bell} />
        <For each={props.request.asker}>
          {(step, at) => (
            <>
              <Show when={at() > 0}>
                <Icon name="chevron" size={11} class={s.step} />
              </Show>
              <button type="button" class={s.asker} title={`${KIND_WORD[step.kind]}: ${step.title}`} onClick={() => app.select(step.agent)}>
                <span class={s.name} data-long={step.title.length > 90}>
                  {step.title}
                </span>
              </button>
            </>
          )}
        </For>
        <Show when={props.request.role}>{(role) => <span class={s.role}>{role()}</span>}</Show>
      </p>
      <p class={s.what}>{question(props.request)}</p>
      <What request={props.request} />
      <dl class={s.facts}>
        <dt>Why</dt>
        <dd title={props.request.reason}>
          <Unseen text={shortenPaths(props.request.reason, props.request.directory)} />
        </dd>
        <dt>Where</dt>
        <dd class={s.where}>
          <span class={s.folder} title={props.request.directory}>
            <Path path={placeOf(props.request)} />
          </span>
          <span class={s.isolated}>{props.request.isolated ? "its own worktree" : "the shared folder, not a worktree"}</span>
        </dd>
      </dl>
      <div class={s.answers}>
        <Button kind="primary" aria-disabled={!canAnswer()} onClick={() => void answer({ kind: "allow_once" })}>
          Allow once
        </Button>
        <Button data-denies aria-disabled={!canAnswer()} onClick={() => void answer({ kind: "deny" })}>
          Deny
        </Button>
        <Show when={rules().length > 0}>
          <Button
            aria-disabled={!canAnswer()}
            title={rules().join("\n")}
            onClick={() => void answer({ kind: "allow_for_agent", rules: rules() })}
          >
            Allow for this agent
          </Button>
        </Show>
        <Button data-denies kind="quiet" aria-expanded={isTelling()} onClick={() => open("telling")}>
          Deny and tell why
        </Button>
        <Show when={rules().length > 0}>
          <Button
            aria-disabled={!canAnswer()}
            title={rules().join("\n")}
            onClick={() => void answer({ kind: "allow_for_subtree", rules: rules() })}
          >
            Allow for this subtree
          </Button>
          <Button aria-expanded={isWidening()} onClick={widen}>
            Always allow …
          </Button>
        </Show>
      </div>
      <Show when={isTelling()}>
        <textarea
          class={s.reason}
          rows={2}
          aria-label="What the agent is told"
          placeholder="What should it do instead?"
          value={reason()}
          ref={(field) => queueMicrotask(() => field.focus())}
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
              event.preventDefault();
              deny();
            }
            if (event.key === "Escape") {
              event.stopPropagation();
              open(undefined);
              card?.focus();
            }
          }}
        />
        <div class={s.confirm}>
          <Button kind="primary" aria-disabled={!canAnswer()} onClick={deny}>
            Deny and tell
          </Button>
          <Button kind="quiet" onClick={() => open(undefined)}>
            Back
          </Button>
        </div>
      </Show>
      <Show when={isWidening()}>
        <label class={s.widen}>
          <span>Rules to allow always, one a line</span>
          <textarea
            class={`${s.reason} ${s.mono}`}
            rows={Math.min(Math.max(rules().length, 1), 6)}
            spellcheck={false}
            value={written()}
            ref={(field) => queueMicrotask(() => field.focus())}
            onInput={(event) => setWritten(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") {
                event.stopPropagation();
                open(undefined);
                card?.focus();
              }
            }}
          />
        </label>
        <Show when={hasUnseen(written())}>
          <p class={s.careful}>
            <Icon name="alert" size={13} /> The rules contain characters that can't be seen.
          </p>
        </Show>
        <p class={s.saved}>
          Always: saved in <code>.offshoot/settings.local.json</code> of the project's main checkout, for all its sessions.
        </p>
        <div class={s.confirm}>
          <Button
            kind="primary"
            aria-disabled={!canAnswer() || edited().length === 0}
            onClick={() => edited().length > 0 && void answer({ kind: "allow_always", rules: edited() })}
          >
            Always allow
          </Button>
          <Button
            aria-disabled={!canAnswer() || edited().length === 0}
            onClick={() => edited().length > 0 && void answer({ kind: "allow_for_session", rules: edited() })}
          >
            Allow for this session
          </Button>
          <Button kind="quiet" onClick={() => open(undefined)}>
            Back
          </Button>
        </div>
      </Show>
      <div class={s.foot}>
        <Show when={rules().length > 0 && !isTelling() && !isWidening()}>
          <button type="button" class={s.rulesToggle} aria-expanded={showRules()} onClick={() => setShowRules(!showRules())}>
            <Icon name="chevron" size={11} class={s.chevron} />
            More than once would allow {rules().length === 1 ? "this rule" : `these ${rules().length} rules`}
          </button>
        </Show>
        <span class={s.hint}>
          <Keys of="a" /> allow <Keys of="d" /> deny, with this in focus
        </span>
        <Show when={showRules() && !isTelling() && !isWidening()}>
          <ul class={s.rules}>
            <For each={rules()}>
              {(rule) => (
                <li>
                  <code>
                    <Unseen text={rule} />
                  </code>
                </li>
              )}
            </For>
          </ul>
        </Show>
      </div>
    </div>
  );
}

/** The end of a long path says which folder it is; the whole is told when the pointer rests on it. */
function placeOf(request: PermissionRequest): string {
  const parts = request.directory.split("/");
  return parts.length > 4 ? `…/${parts.slice(-2).join("/")}` : request.directory;
}

function question(request: PermissionRequest): string {
  switch (request.access.kind) {
    case "command":
      return "May it run this command?";
    case "edit":
      return "May it change this file?";
    case "read":
      return "May it read this?";
    case "delegate":
      return request.access.role === "fork" ? "May it start a fork?" : `May it start an agent with the role ${request.access.role}?`;
    case "own":
      return `May it use ${request.tool}?`;
  }
}

function What(props: { request: PermissionRequest }): JSX.Element {
  const access = () => props.request.access;
  const command = () => {
    const value = access();
    return value.kind === "command" && value.command;
  };
  const edit = () => {
    const value = access();
    return value.kind === "edit" && value;
  };
  const read = () => {
    const value = access();
    return value.kind === "read" && value.path;
  };
  const says = createMemo(() => {
    const text = parseInput(props.request.input)["description"];
    return access().kind === "command" && typeof text === "string" ? text : "";
  });
  return (
    <>
      <Switch
        fallback={
          <pre class={`${s.exact} selectable`}>
            <Unseen text={props.request.input} />
          </pre>
        }
      >
        <Match when={command()}>
          {(text) => (
            <>
              <pre class={`${s.exact} selectable`}>
                <Unseen text={text()} />
              </pre>
              <Show when={hasUnseen(text())}>
                <p class={s.careful}>
                  <Icon name="alert" size={13} /> It contains characters that can't be seen. They are boxed above.
                </p>
              </Show>
            </>
          )}
        </Match>
        <Match when={read()}>
          {(path) => (
            <pre class={`${s.exact} selectable`}>
              <Unseen text={path()} />
            </pre>
          )}
        </Match>
        <Match when={edit()}>
          {(value) => (
            <>
              <p class={s.path}>
                <Path path={relativePath(value().path, props.request.directory)} />
              </p>
              <Show
                when={value().diff}
                fallback={
                  <pre class={`${s.exact} selectable`}>
                    <Unseen text={props.request.input} />
                  </pre>
                }
              >
                {(diff) => (
                  <div class={s.diff}>
                    <TextDiff hunks={parseUnified(diff())} path={value().path} whole />
                  </div>
                )}
              </Show>
            </>
          )}
        </Match>
      </Switch>
      <Show when={says()}>
        <p class={s.says}>
          The agent says: <q>{says()}</q>
        </p>
      </Show>
    </>
  );
}
