// A role file on the board.

import { For, Show, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { IconButton } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Menu, type MenuEntry } from "../parts/Menu";
import { plural } from "../parts/time";
import { Unseen } from "../parts/Unseen";
import type { RoleCard } from "../protocol.gen";
import type { Dragging } from "../parts/drag";
import { roleHue } from "./hue";
import { NO_FIELDS, SOURCE_WORD, cardName } from "./studio";
import s from "./Card.module.css";

/** Warnings on a card; the rest are at their lines when it is opened. */
const SHOWN = 3;

export function Card(props: { card: RoleCard; drag: Dragging<RoleCard> }): JSX.Element {
  const app = useApp();
  const { studio } = app;
  const name = () => cardName(props.card);
  const role = () => props.card.role;
  const winner = () => {
    const path = role()?.shadowed_by;
    return path === undefined ? undefined : studio.card(path);
  };
  const hidden = () => studio.hiddenBy(props.card.path);
  const isHeld = () => props.drag.state()?.item.path === props.card.path;
  // Hundreds of menus take long to make, and only the one in reach is ever used.
  const [isNear, setNear] = createSignal(false);
  let more: HTMLSpanElement | undefined;
  const openMenu = () => {
    setNear(true);
    queueMicrotask(() => {
      const trigger = more?.querySelector("button");
      trigger?.focus();
      trigger?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    });
  };
  const facts = () => {
    const now = role();
    if (!now) return [];
    return [now.model ?? "parent's model", now.tools === undefined ? "all tools" : plural(now.tools.filter((tool) => tool !== "*").length, "tool")];
  };

  return (
    <article
      class={s.card}
      aria-label={name()}
      data-shadowed={role()?.shadowed_by !== undefined}
      data-broken={role() === undefined}
      data-held={isHeld()}
      style={{ "--hue": roleHue(role()?.color) }}
      onPointerEnter={() => setNear(true)}
      onFocusIn={() => setNear(true)}
      onPointerDown={(event) => props.drag.onPointerDown(event, props.card, name())}
    >
      <div class={s.top}>
        <span class={s.grip} data-grip aria-hidden="true" title="Drag to another column, the message or the tree">
          <Icon name={role() ? "subagent" : "alert"} size={15} />
        </span>
        <button
          type="button"
          class={s.name}
          aria-roledescription="draggable role"
          aria-pressed={isHeld() ? true : undefined}
          title={props.card.path}
          onClick={() => void studio.edit(props.card.path)}
          onKeyDown={(event) => props.drag.onKeyDown(event, props.card, name())}
        >
          <Unseen text={name()} />
        </button>
        <span ref={more} class={s.more} data-still>
          <Show when={isNear()} fallback={<IconButton icon="menu" label={`Actions for ${name()}`} aria-haspopup="menu" tabindex={-1} onClick={openMenu} />}>
            <Menu label={`Actions for ${name()}`} entries={actions(props.card)} />
          </Show>
        </span>
      </div>
      <Show when={role()}>
        {(now) => (
          <p class={s.description} title={now().description}>
            <Unseen text={now().description} />
          </p>
        )}
      </Show>
      <Show when={facts().length > 0}>
        <p class={s.facts}>
          <For each={facts()}>{(fact) => <span title={fact === facts()[1] ? role()?.tools?.join(", ") : undefined}>{fact}</span>}</For>
        </p>
      </Show>
      <Show when={winner()}>{(other) => <p class={s.note}>Overridden by {SOURCE_WORD[other().source]}</p>}</Show>
      <Show when={hidden().length > 0}>
        <p class={s.note}>Overrides {[...new Set(hidden().map((card) => SOURCE_WORD[card.source]))].join(", ")}</p>
      </Show>
      <For each={props.card.warnings.slice(0, SHOWN)}>
        {(warning) => (
          <p class={s.warning}>
            <Icon name="alert" size={13} />
            <span>
              {warning.line > 0 ? `Line ${warning.line}: ` : ""}
              <Unseen text={warning.message} />
            </span>
          </p>
        )}
      </For>
      <Show when={props.card.warnings.length > SHOWN}>
        <p class={s.note}>{plural(props.card.warnings.length - SHOWN, "more problem")}</p>
      </Show>
    </article>
  );
}

/** Everything that dragging does, and more. */
function actions(card: RoleCard): MenuEntry[] {
  const app = useApp();
  const { studio } = app;
  const role = () => card.role;
  const canStart = () => role() !== undefined && role()?.shadowed_by === undefined;
  const start = (isTrial: boolean) => studio.askStart({ role: cardName(card), path: card.path, color: role()?.color, isTrial });
  const entries: MenuEntry[] = [
    { label: card.editable ? "Edit" : "Look at it", icon: card.editable ? "edit" : "read", onSelect: () => void studio.edit(card.path) },
    { label: "Start a subagent…", icon: "play", disabled: !canStart(), onSelect: () => start(false) },
    { label: "Try it…", icon: "message", note: "In a session of its own", disabled: !canStart(), onSelect: () => start(true) },
  ];
  let apart = true;
  for (const to of ["project", "user"] as const) {
    if (to === card.source) continue;
    entries.push({ label: `Copy to ${SOURCE_WORD[to]}`, icon: "copy", apart, disabled: role() === undefined, onSelect: () => void studio.copy(card, to, false) });
    apart = false;
    if (card.editable) entries.push({ label: `Move to ${SOURCE_WORD[to]}`, icon: "external", disabled: role() === undefined, onSelect: () => void studio.copy(card, to, true) });
  }
  entries.push({
    label: "New role from this",
    icon: "plus",
    disabled: role() === undefined,
    onSelect: () => {
      void app.bridge
        .roleFile(app.project() ?? "", card.path)
        .then((file) => studio.create({ ...(file.fields ?? NO_FIELDS), name: `${(file.fields?.name ?? "role").slice(0, 59)}-copy` }, card.source === "user" ? "user" : "project"))
        .catch((error: unknown) => app.report(error));
    },
  });
  // With the one that hides it, or that it hides, at first; any other can be chosen there.
  const other = studio.card(role()?.shadowed_by ?? "") ?? studio.hiddenBy(card.path)[0] ?? studio.board.cards.find((near) => near.path !== card.path);
  if (other) entries.push({ label: "Compare…", icon: "tree", note: `With ${cardName(other)}, or another`, onSelect: () => studio.compare([other.path, card.path]) });
  if (card.editable) entries.push({ label: "Delete", icon: "trash", note: "Can be undone", apart: true, onSelect: () => void studio.remove(card) });
  return entries;
}
