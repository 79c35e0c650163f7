// The queue of all requests of the session, oldest first, and what became of the last ones.

import { For, Show, createMemo, type JSX } from "solid-js";
import { Icon } from "../parts/Icon";
import type { SessionStore } from "../session/store";
import { RequestCard } from "./RequestCard";
import { SettledLine } from "./RequestRow";
import s from "./Requests.module.css";

export function Requests(props: { session: SessionStore }): JSX.Element {
  const ids = createMemo(() => props.session.state.requests.map((request) => request.id));
  const settled = createMemo(() => Object.values(props.session.state.settled).slice(-20).reverse());
  return (
    <div class={s.panel} role="region" aria-label="Permission requests">
      <Show
        when={ids().length > 0}
        fallback={
          <div class={s.empty}>
            <Icon name="shield" size={20} />
            <p class={s.emptyTitle}>Nobody waits for you</p>
            <p>When an agent wants to do what no rule covers, it is asked here.</p>
          </div>
        }
      >
        <div class={s.list}>
          <For each={ids()}>
            {(id, at) => (
              <Show when={props.session.state.requests.find((request) => request.id === id)}>
                {(request) => <RequestCard request={request()} place={at()} />}
              </Show>
            )}
          </For>
        </div>
      </Show>
      <Show when={settled().length > 0}>
        <h3 class={s.heading}>Answered</h3>
        <div class={s.history}>
          <For each={settled()}>{(entry) => <SettledLine entry={entry} withWhat />}</For>
        </div>
      </Show>
    </div>
  );
}
