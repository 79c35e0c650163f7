// The right region: review, requests and tasks of the selected agent.

import { Tabs } from "@kobalte/core/tabs";
import { Show, createMemo, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { IconButton } from "../parts/Button";
import type { AgentView } from "../protocol.gen";
import { Requests } from "../requests/Requests";
import { Costs } from "../costs/Costs";
import { sumOf, within } from "../costs/money";
import { Changes } from "../review/Changes";
import type { SessionStore } from "../session/store";
import type { InspectorTab } from "../store";
import { Tasks } from "./Tasks";
import s from "./Inspector.module.css";

export function Inspector(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  const app = useApp();
  const waiting = () => props.session.state.requests.length;
  const missed = createMemo(() => sumOf(within(props.session.state, props.agent.id), undefined).misses);
  const files = () => props.agent.changes?.files ?? 0;
  const choose = (tab: InspectorTab) => {
    app.setTab(tab);
    // The person may have corrected a price.
    if (tab === "costs") void app.loadPrices();
  };
  return (
    <section class={s.region} aria-label="Inspector">
      <h2 class="sr-only">Inspector</h2>
      <Tabs class={s.tabs} value={app.tab()} onChange={(value) => choose(value as InspectorTab)}>
        <header class={s.head}>
          <Tabs.List class={s.list}>
            <Tabs.Trigger class={s.tab} value="review">
              Review
              <Show when={files() > 0}>
                <span class={s.count}>{files()}</span>
              </Show>
            </Tabs.Trigger>
            <Tabs.Trigger class={s.tab} value="requests">
              Requests
              <Show when={waiting() > 0}>
                <span class={s.badge}>
                  {waiting()}
                  <span class="sr-only"> waiting</span>
                </span>
              </Show>
            </Tabs.Trigger>
            <Tabs.Trigger class={s.tab} value="tasks">
              Tasks
            </Tabs.Trigger>
            <Tabs.Trigger class={s.tab} value="costs">
              Costs
              <Show when={missed() > 0}>
                <span class={s.count}>
                  {missed()}
                  <span class="sr-only"> missed the cache</span>
                </span>
              </Show>
            </Tabs.Trigger>
          </Tabs.List>
          <IconButton icon="inspector" label="Hide inspector" onClick={() => app.prefs.setRightOpen(false)} />
        </header>
        <Tabs.Content class={s.content} value="review">
          <Changes session={props.session} agent={props.agent} />
        </Tabs.Content>
        <Tabs.Content class={s.content} value="requests">
          <Requests session={props.session} />
        </Tabs.Content>
        <Tabs.Content class={s.content} value="tasks">
          <Tasks session={props.session} agent={props.agent} />
        </Tabs.Content>
        <Tabs.Content class={s.content} value="costs">
          <Costs session={props.session} agent={props.agent} />
        </Tabs.Content>
      </Tabs>
    </section>
  );
}
