// The command palette: agents, sessions and actions by a few letters.

import { For, Show, createMemo, createSignal, type JSX } from "solid-js";
import { KIND_WORD, faceOfState, titleOf } from "../agents/state";
import { isComposing } from "../composer/commands";
import { Keys } from "../parts/Button";
import { Icon, type IconName } from "../parts/Icon";
import type { AppStore } from "../store";
import { useApp } from "./context";
import { matchScore } from "./match";
import s from "./Palette.module.css";

interface Entry {
  label: string;
  about: string;
  icon: IconName;
  keys?: string;
  run: () => void;
}

export function Palette(props: { onClose: () => void }): JSX.Element {
  const app = useApp();
  const [query, setQuery] = createSignal("");
  const [picked, setPicked] = createSignal(0);
  const entries = createMemo(() => allEntries(app));
  const found = createMemo(() =>
    entries()
      .map((entry) => ({ entry, score: matchScore(query(), `${entry.label} ${entry.about}`) }))
      .filter((match) => match.score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 60)
      .map((match) => match.entry),
  );
  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    props.onClose();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const count = found().length;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (count === 0) return;
      setPicked((at) => (at + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
      document.getElementById(`palette-${picked()}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") run(found()[picked()]);
    else return;
    event.preventDefault();
  };

  return (
    <div class={s.palette}>
      <div class={s.search}>
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          {...(found().length > 0 ? { "aria-activedescendant": `palette-${picked()}` } : {})}
          aria-label="Search commands, agents and sessions"
          placeholder="Search commands, agents, sessions"
          autofocus
          value={query()}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setPicked(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <p class={s.none} role="status" hidden={found().length > 0}>
        {found().length > 0 ? "" : `Nothing matches “${query()}”.`}
      </p>
      <ul class={s.list} role="listbox" id="palette-list" aria-label="Results" hidden={found().length === 0}>
        <For each={found()}>
          {(entry, at) => (
            <li
              role="option"
              id={`palette-${at()}`}
              aria-selected={picked() === at()}
              class={s.entry}
              onPointerMove={() => setPicked(at())}
              onClick={() => run(entry)}
            >
              <Icon name={entry.icon} size={15} />
              <span class={s.label}>{entry.label}</span>
              <span class={s.about}>{entry.about}</span>
              <Show when={entry.keys}>{(keys) => <Keys of={keys()} />}</Show>
            </li>
          )}
        </For>
      </ul>
    </div>
  );
}

function allEntries(app: AppStore): Entry[] {
  const session = app.session();
  const agent = app.agent();
  const list: Entry[] = [];
  for (const id of session?.state.order ?? []) {
    const other = session?.state.agents[id];
    if (!other) continue;
    list.push({
      label: session ? titleOf(session.state, other) : other.title,
      about: `${KIND_WORD[other.kind]} · ${faceOfState(other.state).word}`,
      icon: other.kind,
      run: () => app.select(id),
    });
  }
  list.push(
    { label: "New session", about: "In this project", icon: "plus", run: () => void app.newSession() },
    { label: "Open folder…", about: "Another project", icon: "folder", run: () => void app.pickFolder() },
    { label: "Show requests", about: "Permission requests of all agents", icon: "bell", run: () => app.showRequests() },
    { label: "Show review", about: "Changes of the selected agent", icon: "branch", run: () => show(app, "review") },
    { label: "Show tasks", about: "Plan and figures of the selected agent", icon: "plan", run: () => show(app, "tasks") },
    { label: "Roles", about: "What agents can be", icon: "subagent", run: () => app.setSheet("roles") },
    { label: "Settings", about: "Model, key, theme and zoom", icon: "settings", keys: "Ctrl ,", run: () => app.setSheet("settings") },
    { label: "Keyboard", about: "All keys", icon: "keyboard", keys: "?", run: () => app.setSheet("help") },
    { label: "Light theme", about: "Appearance", icon: "settings", run: () => app.prefs.setTheme("light") },
    { label: "Dark theme", about: "Appearance", icon: "settings", run: () => app.prefs.setTheme("dark") },
    { label: "High contrast theme", about: "Appearance", icon: "settings", run: () => app.prefs.setTheme("contrast") },
  );
  if (agent) {
    list.push(
      { label: "Interrupt", about: agent.title, icon: "interrupted", keys: "Esc", run: () => void app.send({ type: "interrupt", agent: agent.id }) },
      { label: "Stop", about: agent.title, icon: "stopped", run: () => void app.send({ type: "stop", agent: agent.id }) },
      { label: "Resume", about: agent.title, icon: "play", run: () => void app.send({ type: "resume", agent: agent.id }) },
    );
  }
  for (const summary of app.sessions()) {
    if (summary.id === session?.id) continue;
    list.push({ label: summary.title, about: "Session", icon: "message", run: () => void app.openSession(summary.id) });
  }
  return list;
}

function show(app: AppStore, tab: "review" | "tasks"): void {
  app.setTab(tab);
  app.prefs.setRightOpen(true);
}
