// A request where it belongs in a conversation: the card while it waits, one line once it is answered or withdrawn.

import { Show, type JSX } from "solid-js";
import { Icon } from "../parts/Icon";
import type { Settled } from "../session/fold";
import type { SessionStore } from "../session/store";
import { RequestCard } from "./RequestCard";
import s from "./Requests.module.css";

export function RequestRow(props: { id: string; session: SessionStore }): JSX.Element {
  const pending = () => props.session.state.requests.find((request) => request.id === props.id);
  return (
    <Show
      when={pending()}
      fallback={<Show when={props.session.state.settled[props.id]}>{(entry) => <SettledLine entry={entry()} />}</Show>}
    >
      {(request) => <RequestCard request={request()} />}
    </Show>
  );
}

const WORDS = { allowed: "Allowed", denied: "Denied", withdrawn: "Withdrawn: nothing ran" } as const;

export function SettledLine(props: { entry: Settled; withWhat?: boolean }): JSX.Element {
  const what = () => {
    const { access, tool } = props.entry.request;
    if (access.kind === "command") return access.command;
    if (access.kind === "edit" || access.kind === "read") return access.path;
    return tool;
  };
  return (
    <p class={s.settled} data-how={props.entry.how}>
      <Icon name={props.entry.how === "allowed" ? "done" : props.entry.how === "denied" ? "failed" : "idle"} size={13} />
      <span class={s.settledWords}>
        {WORDS[props.entry.how]}
        <span class={s.detail}>
          {props.entry.how === "withdrawn" ? ", " : " "}
          {props.entry.detail}
        </span>
        <Show when={props.withWhat}>
          <code>{what()}</code>
        </Show>
      </span>
    </p>
  );
}
