// The right region: review, requests and tasks of the selected agent.

import { Tabs } from "@kobalte/core/tabs";
import { Show, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { IconButton } from "../parts/Button";
import type { AgentView } from "../protocol.gen";
import { Requests } from "../requests/Requests";
import { Changes } from "../review/Changes";
import type { SessionStore } from "../session/store";
import type { InspectorTab } from "../store";
import { Tasks } from "./Tasks";
import s from "./Inspector.module.css";

export function Inspector(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  const app = useApp();
  const waiting = () => props.session.state.requests.length;
  const files = () => props.agent.changes?.files ?? 0;
  return (
    <section class={s.region} aria-label="Inspector">
      <h2 class="sr-only">Inspector</h2>
      <Tabs class={s.tabs} value={app.tab()} onChange={(value) => app.setTab(value as InspectorTab)}>
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
      </Tabs>
    </section>
  );
}
