// A tool call: one line when closed; input, output, diff, duration and decision when open.

import { For, Match, Show, Switch, createMemo, createSignal, type JSX } from "solid-js";
import { Spinner } from "../agents/StateMark";
import { Icon, type IconName } from "../parts/Icon";
import { Output } from "../parts/Output";
import { Unseen } from "../parts/Unseen";
import { relativePath } from "../parts/paths";
import { span } from "../parts/time";
import type { AgentView, CallView } from "../protocol.gen";
import { TextDiff } from "../review/TextDiff";
import { countLines, parseUnified } from "../review/diff";
import { callTarget, faceOf, parseInput, readFailure, type CallFace } from "../session/calls";
import type { SessionStore, Transcript } from "../session/store";
import { useFound } from "./finding";
import type { CallRef } from "./rows";
import s from "./CallCard.module.css";

const ICONS: Record<CallFace, IconName> = {
  read: "read",
  edit: "edit",
  command: "command",
  agent: "fork",
  plan: "plan",
  message: "message",
  commit: "commit",
  web: "globe",
  other: "tool",
};

/** Fields of an edit that its diff shows better. */
const SHOWN_BY_DIFF: ReadonlySet<string> = new Set(["old_string", "new_string", "content", "edits"]);

export interface CallProps {
  call: CallRef;
  session: SessionStore;
  agent: AgentView;
  transcript: Transcript;
}

/** The call's state; a call still being written has none. */
export function callView(props: CallProps): CallView | undefined {
  return props.transcript.data?.calls[props.call.id];
}

export function CallCard(props: CallProps): JSX.Element {
  const [isOpen, setOpen] = createSignal(false);
  useFound(
    () => `c:${props.call.id}`,
    () => setOpen(true),
  );
  const view = () => callView(props);
  const result = () => view()?.result;
  const face = () => faceOf(props.call.name);
  const isCommand = () => face() === "command";
  const full = createMemo(() => callTarget(props.call.input));
  // A command is shown as it runs.
  const target = () => (isCommand() ? full() : relativePath(full(), props.agent.directory));
  const failure = createMemo(() => {
    const done = result();
    return done?.is_error ? readFailure(done.content) : undefined;
  });
  const live = () => (result() ? undefined : props.session.output(props.call.id));
  const diff = createMemo(() => {
    const detail = result()?.detail;
    return detail?.kind === "edited" ? parseUnified(detail.diff) : undefined;
  });

  const made = () => {
    const detail = result()?.detail;
    return detail?.kind === "committed" ? detail : undefined;
  };

  return (
    <div class={s.card} data-open={isOpen()} data-failed={result()?.is_error === true && result()?.code !== "interrupted"}>
      <button type="button" class={s.line} aria-expanded={isOpen()} onClick={() => setOpen(!isOpen())}>
        <Icon name={ICONS[face()]} size={14} class={s.icon} />
        <span class={isCommand() ? "sr-only" : s.name}>{props.call.name}</span>
        <span class={s.target} title={full()}>
          <Unseen text={target()} />
        </span>
        <Show when={diff()}>
          {(hunks) => (
            <span class={s.counts}>
              <span class={s.added}>+{countLines(hunks()).added}</span>
              <span class={s.removed}>−{countLines(hunks()).removed}</span>
            </span>
          )}
        </Show>
        <Show when={made()}>
          {(commit) => (
            <span class={s.counts}>
              <span class={s.added}>+{commit().insertions}</span>
              <span class={s.removed}>−{commit().deletions}</span>
            </span>
          )}
        </Show>
        <Status call={props.call} view={view()} />
        <Icon name="chevron" size={12} class={s.chevron} />
      </button>
      <Show when={!isOpen() && live()}>{(output) => <Output text={output().text} tail />}</Show>
      <Show when={isOpen()}>
        <div class={s.body}>
          <Input call={props.call} isCommand={isCommand()} without={diff() ? SHOWN_BY_DIFF : undefined} />
          <Show when={diff()}>{(hunks) => <TextDiff hunks={hunks()} path={target()} />}</Show>
          <Show when={live()}>{(output) => <Output text={output().text} tail />}</Show>
          <Show when={result()}>
            {(done) => (
              <>
                <Show when={failure()}>
                  {(said) => (
                    <p class={s.failure}>
                      <Icon name="failed" size={12} />
                      <span class="selectable" dir="auto">
                        <Unseen text={said().message} />
                      </span>
                    </p>
                  )}
                </Show>
                <Output
                  text={failure()?.output ?? done().content}
                  failed={done().is_error}
                  {...(done().full === undefined ? {} : { full: done().full as string })}
                />
                <Facts view={view()} />
              </>
            )}
          </Show>
        </div>
      </Show>
    </div>
  );
}

export function Status(props: { call: CallRef; view: CallView | undefined }): JSX.Element {
  const result = () => props.view?.result;
  const ran = () => {
    const detail = result()?.detail;
    return detail?.kind === "ran" ? detail : undefined;
  };
  const exit = () => ran()?.exit || undefined;
  const took = () => {
    const ms = result()?.duration_ms ?? 0;
    return ms < 100 ? "" : span(ms);
  };
  return (
    <span class={s.status}>
      <Switch>
        <Match when={props.call.isWriting}>
          <Spinner /> writing
        </Match>
        <Match when={props.view?.state === "waiting_for_permission"}>
          <span class={s.waits}>
            <Icon name="bell" size={12} /> waits for you
          </span>
        </Match>
        <Match when={props.view?.state === "running"}>
          <Spinner /> <span class="sr-only">running</span>
        </Match>
        <Match when={result()?.code === "permission_denied"}>
          <span class={s.bad}>
            <Icon name="shield" size={12} /> denied
          </span>
        </Match>
        <Match when={result()?.code === "interrupted"}>
          <span class={s.waits}>
            <Icon name="interrupted" size={12} /> interrupted
          </span>
          <span>{took()}</span>
        </Match>
        <Match when={result()?.is_error}>
          <span class={s.bad}>
            <Icon name="failed" size={12} /> {exit() === undefined ? "failed" : `exit ${exit()}`}
          </span>
          <span>{took()}</span>
        </Match>
        <Match when={exit() !== undefined}>
          <span class={s.bad}>exit {exit()}</span>
          <span>{took()}</span>
        </Match>
        <Match when={ran()?.exit === 0}>
          <span class={s.good}>
            <Icon name="done" size={12} /> exit 0
          </span>
          <span>{took()}</span>
        </Match>
        <Match when={result()}>
          <span>{took()}</span>
        </Match>
      </Switch>
    </span>
  );
}

/** The input as the model wrote it: a command as it stands, other fields by name. */
function Input(props: { call: CallRef; isCommand: boolean; without: ReadonlySet<string> | undefined }): JSX.Element {
  const input = createMemo(() => parseInput(props.call.input));
  const text = (name: string) => {
    const value = input()[name];
    return props.isCommand && typeof value === "string" ? value : "";
  };
  const fields = createMemo(() =>
    Object.entries(input()).filter(
      ([name]) => !props.without?.has(name) && !(text("command") !== "" && (name === "command" || (name === "description" && text(name) !== ""))),
    ),
  );
  const words = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
  return (
    <Show
      when={fields().length > 0 || text("command") !== ""}
      fallback={
        <pre class={s.raw}>
          <Unseen text={props.call.input} />
        </pre>
      }
    >
      <Show when={text("description")}>
        {(says) => (
          <p class={s.caption} dir="auto">
            {says()}
          </p>
        )}
      </Show>
      <Show when={text("command")}>
        {(command) => (
          <pre class={`${s.command} selectable`}>
            <Clipped text={command()} />
          </pre>
        )}
      </Show>
      <Show when={fields().length > 0}>
        <dl class={s.fields}>
          <For each={fields()}>
            {([name, value]) => (
              <>
                <dt>{name}</dt>
                <dd class="selectable">
                  <Clipped text={words(value)} />
                </dd>
              </>
            )}
          </For>
        </dl>
      </Show>
    </Show>
  );
}

/** A long value is cut until it is asked for. */
function Clipped(props: { text: string }): JSX.Element {
  const [all, setAll] = createSignal(false);
  const most = 1200;
  return (
    <>
      <Unseen text={all() ? props.text : props.text.slice(0, most)} />
      <Show when={!all() && props.text.length > most}>
        {" "}
        <button type="button" class={s.more} onClick={() => setAll(true)}>
          Show all ({props.text.length.toLocaleString()} characters)
        </button>
      </Show>
    </>
  );
}

function Facts(props: { view: CallView | undefined }): JSX.Element {
  const facts = () => {
    const result = props.view?.result;
    if (!result) return [];
    const list = [`Took ${span(result.duration_ms)}`];
    if (result.detail?.kind === "ran") {
      list.push(result.detail.exit === undefined ? "Ended by a signal" : `Exit status ${result.detail.exit}`);
      if (result.detail.confinement) list.push(result.detail.confinement);
    }
    if (result.detail?.kind === "committed") {
      const { commit, branch, files } = result.detail;
      list.push(`Commit ${commit.slice(0, 10)}${branch === undefined ? "" : ` on ${branch}`}`);
      list.push(files === 1 ? "1 file" : `${files} files`);
    }
    return list;
  };
  return <p class={s.facts}>{facts().join(" · ")}</p>;
}
