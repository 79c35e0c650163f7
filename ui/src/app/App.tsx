// The window: what is opened, and the regions or the first start around it.

import { Match, Show, Switch, createEffect, onCleanup, onMount, type JSX } from "solid-js";
import type { Bridge } from "../bridge";
import { Tips } from "../parts/Tips";
import { createApp } from "../store";
import { Dialogs } from "./Dialogs";
import { Notices } from "./Notices";
import { Start } from "./Start";
import { Workspace } from "./Workspace";
import { AppContext, SessionContext } from "./context";
import { globalKey } from "./keys";
import s from "./App.module.css";

export function App(props: { bridge: Bridge }): JSX.Element {
  const app = createApp(props.bridge);
  onMount(() => void app.start());
  onCleanup(() => app.session()?.close());

  const dark = window.matchMedia?.("(prefers-color-scheme: dark)");
  const paint = () => {
    const theme = app.prefs.theme();
    document.documentElement.dataset["theme"] = theme === "system" ? (dark?.matches ? "dark" : "light") : theme;
  };
  createEffect(paint);
  dark?.addEventListener("change", paint);
  createEffect(() => (document.documentElement.style.fontSize = `${(16 * app.prefs.zoom()) / 100}px`));

  const onKeyDown = (event: KeyboardEvent) => globalKey(app, event);
  // The page never leaves: links ask first, and nothing is taken from a drop.
  const onClick = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!link) return;
    event.preventDefault();
    app.askLink(link.getAttribute("href") ?? undefined);
  };
  const refuse = (event: DragEvent) => event.preventDefault();
  document.addEventListener("keydown", onKeyDown);
  document.addEventListener("click", onClick, true);
  document.addEventListener("auxclick", onClick, true);
  document.addEventListener("dragover", refuse);
  document.addEventListener("drop", refuse);
  onCleanup(() => {
    dark?.removeEventListener("change", paint);
    document.removeEventListener("keydown", onKeyDown);
    document.removeEventListener("click", onClick, true);
    document.removeEventListener("auxclick", onClick, true);
    document.removeEventListener("dragover", refuse);
    document.removeEventListener("drop", refuse);
  });

  return (
    <AppContext.Provider value={app}>
      <Switch fallback={<Start />}>
        <Match when={app.session()} keyed>
          {(session) => (
            <SessionContext.Provider value={session}>
              <Workspace session={session} />
            </SessionContext.Provider>
          )}
        </Match>
        <Match when={app.busy()}>
          {(words) => (
            <main class={s.busy} aria-busy="true">
              <h1>{words()}…</h1>
            </main>
          )}
        </Match>
      </Switch>
      <Notices />
      <Dialogs />
      <Tips />
      <Show when={app.session() && app.busy()}>{(words) => <p class={s.toast}>{words()}…</p>}</Show>
    </AppContext.Provider>
  );
}
