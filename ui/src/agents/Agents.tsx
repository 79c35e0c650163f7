// The left region: sessions, and under the open one the tree of its agents.

import { For, Show, createMemo, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { Button, IconButton } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Menu } from "../parts/Menu";
import { ago } from "../parts/time";
import type { SessionSummary } from "../protocol.gen";
import { Tree } from "./Tree";
import s from "./Agents.module.css";

export function Agents(): JSX.Element {
  const app = useApp();
  const [filter, setFilter] = createSignal("");
  const others = createMemo(() => {
    const words = filter().trim().toLowerCase();
    return app.sessions().filter((summary) => summary.id !== app.session()?.id && summary.title.toLowerCase().includes(words));
  });
  const name = () => app.project()?.split("/").filter(Boolean).at(-1) ?? "No project";

  const exportOpen = () => {
    const open = app.session();
    if (open) void app.exportSession(open.id);
  };

  return (
    <section class={s.region} aria-label="Agents">
      <header class={s.head}>
        <Menu
          label="Project"
          class={s.project}
          entries={[
            { label: "Open folder…", icon: "folder", onSelect: () => void app.pickFolder() },
            { label: "Sample repository", note: "Try things out without a project of your own", icon: "play", onSelect: () => void app.openDemo() },
            { label: "Import session…", icon: "file", apart: true, onSelect: () => void app.importSession() },
            { label: "Export this session…", icon: "external", onSelect: () => exportOpen() },
            { label: "Roles", icon: "subagent", apart: true, onSelect: () => app.setSheet("roles") },
            { label: "Settings", icon: "settings", keys: "Ctrl ,", onSelect: () => app.setSheet("settings") },
            { label: "Keyboard", icon: "keyboard", keys: "?", onSelect: () => app.setSheet("help") },
          ]}
        >
          <span class={s.logo} aria-hidden="true">
            <Icon name="root" size={15} />
          </span>
          <span class="truncate" title={app.project() ?? undefined}>
            {name()}
          </span>
          <Icon name="down" size={12} />
        </Menu>
        <IconButton icon="plus" label="New session" onClick={() => void app.newSession()} />
      </header>

      <div class={s.filter}>
        <Icon name="search" size={13} />
        <input
          type="search"
          placeholder="Filter agents and sessions"
          aria-label="Filter agents and sessions"
          value={filter()}
          onInput={(event) => setFilter(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && setFilter("")}
        />
        <button
          type="button"
          class={s.toggle}
          aria-pressed={app.prefs.hideFinished()}
          title={app.prefs.hideFinished() ? "Show finished agents" : "Hide finished agents"}
          onClick={() => app.prefs.setHideFinished(!app.prefs.hideFinished())}
        >
          <Icon name="done" size={13} />
          <span class="sr-only">Hide finished agents</span>
        </button>
      </div>

      <div class={s.scroll}>
        <Show when={app.session()} keyed>
          {(session) => <Tree session={session} filter={filter()} />}
        </Show>
        <Show when={others().length > 0}>
          <h2 class={s.heading}>Other sessions</h2>
          <ul>
            <For each={others()}>{(summary) => <SessionRow summary={summary} />}</For>
          </ul>
        </Show>
      </div>

      <Show when={app.startup()?.demo}>
        <footer class={s.demo}>
          <Icon name="play" size={13} />
          <span>
            <strong>Demo model.</strong> A script answers; nothing leaves this computer.
          </span>
        </footer>
      </Show>
    </section>
  );
}

function SessionRow(props: { summary: SessionSummary }): JSX.Element {
  const app = useApp();
  const [asks, setAsks] = createSignal(false);
  return (
    <li class={s.other}>
      <Show
        when={!asks()}
        fallback={
          <div class={s.confirm} role="group" aria-label={`Delete ${props.summary.title}?`}>
            <p>Delete this session? Its transcripts go; branches and files stay.</p>
            <div class={s.answers}>
              <Button small onClick={() => void app.deleteSession(props.summary.id)}>
                Delete
              </Button>
              <Button small kind="quiet" onClick={() => setAsks(false)}>
                Keep
              </Button>
            </div>
          </div>
        }
      >
        <button type="button" class={s.open} onClick={() => void app.openSession(props.summary.id)}>
          <span class="truncate" title={props.summary.title}>
            {props.summary.title}
          </span>
          <span class={s.when}>{ago(props.summary.updated_at, Date.now())}</span>
        </button>
        <span class={s.more}>
          <Menu
            label={`Actions for ${props.summary.title}`}
            entries={[
              { label: "Open", icon: "message", onSelect: () => void app.openSession(props.summary.id) },
              { label: "Rename…", icon: "edit", onSelect: () => app.askRename(props.summary) },
              { label: "Export…", icon: "external", onSelect: () => void app.exportSession(props.summary.id) },
              { label: "Delete…", icon: "close", apart: true, onSelect: () => setAsks(true) },
            ]}
          />
        </span>
      </Show>
    </li>
  );
}
