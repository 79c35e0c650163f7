// The roles there are, by where they come from, with what is wrong with them. Read only.

import { For, Match, Show, Switch, createMemo, createResource, type JSX } from "solid-js";
import { hue } from "../agents/state";
import { useApp } from "../app/context";
import { asRejected } from "../bridge";
import { Icon } from "../parts/Icon";
import { plural } from "../parts/time";
import type { RoleSource, RoleSummary, RoleWarning } from "../protocol.gen";
import s from "./Roles.module.css";

const SOURCES: { source: RoleSource; title: string; about: string }[] = [
  { source: "project", title: "Project", about: "shared with everybody who works on it" },
  { source: "user", title: "User", about: "yours, in every project" },
  { source: "built_in", title: "Built-in", about: "come with Offshoot" },
  { source: "plugin", title: "Plugins", about: "from installed plugins" },
];

export function Roles(): JSX.Element {
  const app = useApp();
  const [found] = createResource(() => app.project() ?? undefined, (project) => app.bridge.roles(project));
  const known = () => (found.state === "ready" ? found() : undefined);
  const groups = createMemo(() =>
    SOURCES.map((group) => ({ ...group, roles: (known()?.roles ?? []).filter((role) => role.source === group.source) })).filter(
      (group) => group.roles.length > 0,
    ),
  );
  const warningsOf = (path: string) => (known()?.warnings ?? []).filter((warning) => warning.path === path);
  const orphans = () => (known()?.warnings ?? []).filter((warning) => !known()?.roles.some((role) => role.path === warning.path));

  return (
    <div class={s.roles} role="region" aria-label="Roles">
      <Switch>
        <Match when={found.state === "errored"}>
          <div class={s.note} role="alert">
            <p>The roles could not be read: {asRejected(found.error).message}</p>
            <p>{asRejected(found.error).hint}</p>
          </div>
        </Match>
        <Match when={known() === undefined}>
          <p class={s.note}>Reading the roles…</p>
        </Match>
        <Match when={groups().length === 0}>
          <p class={s.note}>There are no roles here.</p>
        </Match>
      </Switch>
      <For each={groups()}>
        {(group) => (
          <section class={s.group}>
            <h3>
              {group.title} <span>{group.about}</span>
            </h3>
            <For each={group.roles}>{(role) => <RoleRow role={role} warnings={warningsOf(role.path)} />}</For>
          </section>
        )}
      </For>
      <Show when={orphans().length > 0}>
        <section class={s.group}>
          <h3>Not loaded</h3>
          <For each={orphans()}>{(warning) => <WarningLine warning={warning} withPath />}</For>
        </section>
      </Show>
    </div>
  );
}

function RoleRow(props: { role: RoleSummary; warnings: RoleWarning[] }): JSX.Element {
  const facts = () => [
    props.role.model ?? "parent's model",
    props.role.tools === undefined ? "all tools" : plural(props.role.tools.length, "tool"),
  ];
  return (
    <article class={s.role} data-shadowed={props.role.shadowed_by !== undefined}>
      <span class={s.icon} style={{ color: hue(props.role.color) }}>
        <Icon name="subagent" size={15} />
      </span>
      <div class={s.body}>
        <p class={s.name}>
          {props.role.name}
          <span class={s.facts} title={props.role.tools?.join(", ")}>
            {facts().join(" · ")}
          </span>
        </p>
        <p class={s.description}>{props.role.description}</p>
        <Show when={props.role.shadowed_by}>
          {(path) => <p class={s.shadow}>Hidden by {path()}</p>}
        </Show>
        <For each={props.warnings}>{(warning) => <WarningLine warning={warning} />}</For>
      </div>
    </article>
  );
}

function WarningLine(props: { warning: RoleWarning; withPath?: boolean }): JSX.Element {
  return (
    <p class={s.warning}>
      <Icon name="alert" size={13} />
      <span>
        {props.withPath ? `${props.warning.path}: ` : ""}
        {props.warning.line > 0 ? `Line ${props.warning.line}: ` : ""}
        {props.warning.message}
      </span>
    </p>
  );
}
