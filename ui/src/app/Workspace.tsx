// The three regions beside each other, with the bars between them.

import { Show, createComputed, createSignal, onCleanup, type JSX } from "solid-js";
import { Agents } from "../agents/Agents";
import { Conversation } from "../conversation/Conversation";
import { Inspector } from "../inspector/Inspector";
import { Split } from "../parts/Split";
import type { SessionStore } from "../session/store";
import { RoleStudio } from "../roles/RoleStudio";
import { Announcer } from "./Announcer";
import { useApp } from "./context";
import { WIDTHS } from "./prefs";
import s from "./Workspace.module.css";

/** What a screen reader names the window's content by. */
const titleOfWindow = (state: SessionStore["state"]) => state.title || "New session";

/** Below this width the inspector lies over the conversation instead of beside it. */
const NARROW = 1000;
const MIDDLE = 380;

export function Workspace(props: { session: SessionStore }): JSX.Element {
  const app = useApp();
  const { prefs } = app;
  const [width, setWidth] = createSignal(window.innerWidth);
  const measure = () => setWidth(window.innerWidth);
  window.addEventListener("resize", measure);
  onCleanup(() => window.removeEventListener("resize", measure));

  const scale = () => prefs.zoom() / 100;
  // Widths are remembered as they are at 100 %.
  const room = () => width() / scale();
  const { isNarrow } = prefs;
  createComputed(() => prefs.setNarrow(room() < NARROW));
  // In a small or much enlarged window the conversation keeps the larger part.
  const left = () => (prefs.leftOpen() ? Math.min(prefs.leftWidth(), 480, Math.max(160, room() * 0.4)) : 0);
  // Over the conversation there is more room for it than beside.
  const rightMax = () => Math.max(300, isNarrow() ? room() - 60 : room() - left() - MIDDLE);
  /** The review may take the conversation's place for a while. */
  const isWide = () => prefs.reviewWide() && prefs.rightOpen() && app.tab() === "review" && !app.studio.isOpen();
  const right = () => (isWide() ? room() - left() - 1 : Math.min(prefs.rightWidth(), rightMax()));

  return (
    <div class={s.workspace} data-narrow={isNarrow()}>
      <Show when={prefs.leftOpen()}>
        <div class={s.left} style={{ width: `${left() / 16}rem` }}>
          <Agents />
        </div>
        <Split
          label="Width of the agents"
          value={left()}
          min={200}
          max={480}
          grows="before"
          onChange={prefs.setLeftWidth}
          onReset={() => prefs.setLeftWidth(WIDTHS.left)}
        />
      </Show>
      <main class={s.middle} hidden={isWide()}>
        <h1 class="sr-only">{titleOfWindow(props.session.state)}</h1>
        <Announcer session={props.session} />
        <Show when={app.session()?.broken()}>
          {(problem) => (
            <div class={s.broken} role="alert">
              The connection to the session broke: {problem().message} Everything up to here is kept; reopen the session to go on.
            </div>
          )}
        </Show>
        <Show when={app.session()?.stuck()}>
          {(problem) => (
            <div class={s.broken} role="alert">
              {problem()} Agents wait and go on by themselves once it works again; nothing that was confirmed is lost.
            </div>
          )}
        </Show>
        <Show
          when={app.agent()}
          fallback={
            <section class={s.none} aria-label="Conversation">
              <p>Select an agent on the left.</p>
            </section>
          }
        >
          {(agent) => <Conversation session={props.session} agent={agent()} />}
        </Show>
        <Show when={app.studio.isOpen()}>
          <RoleStudio />
        </Show>
      </main>
      <Show when={prefs.rightOpen() && !app.studio.isOpen() && app.agent()}>
        {(agent) => (
          <>
            <Show when={!isNarrow() && !isWide()}>
              <Split
                label="Width of the inspector"
                value={right()}
                min={300}
                max={rightMax()}
                grows="after"
                onChange={prefs.setRightWidth}
                onReset={() => prefs.setRightWidth(WIDTHS.right)}
              />
            </Show>
            <div class={s.right} style={{ width: `${right() / 16}rem` }}>
              <Inspector session={props.session} agent={agent()} />
            </div>
          </>
        )}
      </Show>
    </div>
  );
}
