// Consecutive reads and searches, folded into one line.

import { For, Show, createSignal, type JSX } from "solid-js";
import { Spinner } from "../agents/StateMark";
import { Icon } from "../parts/Icon";
import { plural } from "../parts/time";
import type { AgentView } from "../protocol.gen";
import { callTarget } from "../session/calls";
import type { SessionStore, Transcript } from "../session/store";
import { CallCard } from "./CallCard";
import { useFound } from "./finding";
import type { CallRef } from "./rows";
import s from "./ReadsCard.module.css";

export function ReadsCard(props: { calls: CallRef[]; session: SessionStore; agent: AgentView; transcript: Transcript }): JSX.Element {
  const [isOpen, setOpen] = createSignal(false);
  useFound(
    () => `c:${props.calls[0]?.id ?? ""}`,
    () => setOpen(true),
  );
  const views = () => props.calls.map((call) => props.transcript.data?.calls[call.id]);
  const isRunning = () => props.calls.some((call, at) => call.isWriting || views()[at]?.state === "running");
  const failed = () => views().filter((view) => view?.result?.is_error).length;
  const words = () => {
    const reads = props.calls.filter((call) => call.name === "Read").length;
    const searches = props.calls.length - reads;
    const parts = [];
    if (reads > 0) parts.push(`Read ${plural(reads, "file")}`);
    if (searches > 0) parts.push(reads > 0 ? `${plural(searches, "search", "searches")}` : `Searched ${plural(searches, "time")}`);
    return parts.join(", ");
  };
  const names = () =>
    [...new Set(props.calls.map((call) => callTarget(call.input)))]
      .map((target) => target.slice(target.lastIndexOf("/") + 1))
      .join(", ");
  const paths = () => [...new Set(props.calls.map((call) => callTarget(call.input)))].join("\n");

  return (
    <div class={s.reads}>
      <button type="button" class={s.line} aria-expanded={isOpen()} onClick={() => setOpen(!isOpen())}>
        <Show when={isRunning()} fallback={<Icon name="read" size={14} class={s.icon} />}>
          <Spinner />
        </Show>
        <span class={s.words}>{words()}</span>
        <span class={s.names} title={paths()}>
          {names()}
        </span>
        <Show when={failed() > 0}>
          <span class={s.bad}>{failed()} failed</span>
        </Show>
        <Icon name="chevron" size={12} class={s.chevron} />
      </button>
      <Show when={isOpen()}>
        <div class={s.list}>
          <For each={props.calls.map((call) => call.id)}>
            {(id) => (
              <Show when={props.calls.find((call) => call.id === id)}>
                {(call) => <CallCard session={props.session} agent={props.agent} transcript={props.transcript} call={call()} />}
              </Show>
            )}
          </For>
        </div>
      </Show>
    </div>
  );
}
