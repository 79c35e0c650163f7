// The command palette: agents, sessions and actions by a few letters.

import { For, Show, createMemo, createSignal, type JSX } from "solid-js";
import { isComposing } from "../composer/commands";
import { Keys } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { useApp } from "./context";
import { allEntries, type Entry } from "./entries";
import { matchScore } from "./match";
import s from "./Palette.module.css";

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
