// The board: a column per source, a card per role file. Dragging a card to another column copies it there, on the
// composer or the tree it starts an agent.

import { For, Show, createMemo, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { matchScore } from "../app/match";
import { IconButton } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Menu } from "../parts/Menu";
import type { RoleCard, RoleSource } from "../protocol.gen";
import { Card } from "./Card";
import { createDrag, type Target } from "../parts/drag";
import { nameOf, roleOf } from "./fromAgent";
import { Ghost } from "../parts/Ghost";
import { OUTSIDE } from "./outside";
import { NewRole } from "./NewRole";
import { SOURCE_WORD, cardName } from "./studio";
import { TEMPLATES, type Template } from "./templates";
import s from "./Board.module.css";

const COLUMNS: { source: RoleSource; about: string; empty: string }[] = [
  { source: "project", about: "shared with everybody who works on it", empty: "No roles of the project yet. Drag a card here to override it for everybody, or make a new one." },
  { source: "user", about: "yours, in every project", empty: "No roles of your own yet. Drag a card here to have your own version of it." },
  { source: "plugin", about: "from installed plugins", empty: "No plugin brings roles." },
  { source: "built_in", about: "come with Offshoot", empty: "None." },
];

/** The columns that files are written to. */
const WRITABLE: readonly RoleSource[] = ["project", "user"];

export function Board(props: { onClose: () => void }): JSX.Element {
  const app = useApp();
  const { studio } = app;
  const [filter, setFilter] = createSignal("");
  const [template, setTemplate] = createSignal<Template>();
  let region: HTMLDivElement | undefined;

  const matches = (card: RoleCard) =>
    filter().trim() === "" || matchScore(filter(), `${cardName(card)} ${card.role?.description ?? ""} ${card.role?.model ?? ""}`) > 0;
  const columns = createMemo(() =>
    COLUMNS.map((column) => {
      const all = studio.board.cards.filter((card) => card.source === column.source);
      // What is wrong first, then what counts, then what is hidden by a stronger one.
      const rank = (card: RoleCard) => (card.role === undefined ? 0 : card.role.shadowed_by === undefined ? 1 : 2);
      return { ...column, count: all.length, cards: all.filter(matches).sort((a, b) => rank(a) - rank(b)) };
    }),
  );

  const fromAgent = async () => {
    const agent = app.agent();
    const session = app.session();
    if (!agent || !session) return;
    try {
      const conversation = await app.bridge.conversation(session.id, agent.id, null, 400);
      setTemplate({ id: nameOf(agent.title), title: "From an agent", about: agent.title, fields: roleOf(agent, conversation) });
    } catch (error) {
      app.report(error);
    }
  };

  const columnElement = (source: RoleSource) => () => region?.querySelector(`[data-column="${source}"]`) ?? null;
  const targets = (card: RoleCard): Target[] => {
    const list: Target[] = [];
    for (const source of WRITABLE) {
      if (source !== card.source && card.role) list.push({ id: source, label: `Copy to ${SOURCE_WORD[source]}`, element: columnElement(source) });
    }
    if (card.role && card.role.shadowed_by === undefined && app.session()) {
      list.push(
        { id: "composer", label: "Message: start a subagent", element: () => document.querySelector('[aria-label="Message"]')?.parentElement ?? null },
        { id: "tree", label: "Agents: start a subagent", element: () => document.querySelector('[aria-label="Agents"] [role="tree"]') },
      );
    }
    return list;
  };
  const drag = createDrag<RoleCard>({
    targets,
    announce: studio.announce,
    altWord: "moves it instead of copying",
    drop: (card, target, alt) => {
      if (target === "composer" || target === "tree") {
        studio.askStart({ role: cardName(card), path: card.path, color: card.role?.color, isTrial: false });
      } else if (target === "project" || target === "user") void studio.copy(card, target, alt && card.editable);
    },
  });
  const dragged = () => drag.state();
  const columnState = (source: RoleSource) => {
    const now = dragged();
    if (!now) return undefined;
    if (now.over === source) return "over";
    return now.targets.some((target) => target.id === source) ? "possible" : "off";
  };

  return (
    <div ref={region} class={s.board}>
      <header class={s.head}>
        <h2>Roles</h2>
        <label class={s.search}>
          <Icon name="search" size={13} />
          <input
            type="search"
            aria-label="Filter roles"
            placeholder="Filter roles"
            value={filter()}
            onInput={(event) => setFilter(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Escape" && setFilter("")}
          />
        </label>
        <span class={s.space} />
        <Menu
          label="New role"
          class={s.create}
          entries={[
            ...TEMPLATES.map((entry, at) => ({ label: entry.title, note: entry.about, apart: at === 1, onSelect: () => setTemplate(entry) })),
            { label: "From the selected agent", note: app.agent()?.title ?? "None is selected", apart: true, disabled: app.agent() === undefined, onSelect: () => void fromAgent() },
          ]}
        >
          <Icon name="plus" size={14} />
          New role
          <Icon name="down" size={11} />
        </Menu>
        <IconButton icon="close" label="Close roles" onClick={() => props.onClose()} />
      </header>
      <Show when={studio.problem()}>
        {(problem) => (
          <p class={s.problem} role="alert">
            The roles could not be read: {problem().message} {problem().hint}
          </p>
        )}
      </Show>
      <For each={studio.board.warnings}>
        {(warning) => (
          <p class={s.warning}>
            <Icon name="alert" size={13} />
            <span>
              {warning.path}: {warning.message}
            </span>
          </p>
        )}
      </For>
      <div class={s.columns}>
        <For each={columns()}>
          {(column) => (
            <section class={s.column} aria-label={SOURCE_WORD[column.source]} data-column={column.source} data-drop={columnState(column.source)}>
              <h3 class={s.title}>
                {SOURCE_WORD[column.source]}
                <span class={s.count}>{column.count}</span>
                <span class={s.what}>{column.about}</span>
              </h3>
              <div class={s.cards}>
                <For each={column.cards}>{(card) => <Card card={card} drag={drag} />}</For>
                <Show when={column.cards.length === 0 && studio.isLoaded()}>
                  <p class={s.empty}>{column.count > 0 ? `None matches “${filter()}”.` : column.empty}</p>
                </Show>
                <Show when={!studio.isLoaded() && !studio.problem()}>
                  <p class={s.empty}>Reading…</p>
                </Show>
              </div>
              <Show when={columnState(column.source) === "over" && dragged()}>
                {(now) => <p class={s.verb}>{now().alt && now().item.editable ? "Move here" : "Copy here as an override"}</p>}
              </Show>
            </section>
          )}
        </For>
      </div>
      <Ghost drag={dragged()} frames={OUTSIDE} />
      <NewRole template={template()} onClose={() => setTemplate(undefined)} />
    </div>
  );
}
