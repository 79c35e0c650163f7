// What stands in a conversation in which nothing was said yet: messages to begin with, and what the composer can do.

import { For, Show, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { Icon, type IconName } from "../parts/Icon";
import s from "./FirstMessage.module.css";

interface Starter {
  text: string;
  about: string;
  icon: IconName;
}

/** The demo model begins with its tour, whatever it is told first. */
const DEMO: Starter[] = [
  { text: "Show me around", about: "A tour: it plans, starts forks and a subagent, and asks for permission", icon: "play" },
];

const REAL: Starter[] = [
  {
    text: "Explain how this project is built: its parts, how they fit together, and where to start reading. Change nothing.",
    about: "Get to know the project",
    icon: "read",
  },
  {
    text: "Run the tests. If some fail, find out why and propose a fix for each before you change anything.",
    about: "See where it stands",
    icon: "command",
  },
  {
    text: "Split this into independent parts and start a fork for each, in its own worktree: ",
    about: "Work on several things at once",
    icon: "fork",
  },
];

const CAN: { keys: string; does: string }[] = [
  { keys: "/fork", does: "start a fork yourself: it knows everything that was said here" },
  { keys: "/agent explore: …", does: "start a subagent with a role: it begins fresh" },
  { keys: "@", does: "name an agent or a file" },
  { keys: "↑", does: "earlier messages, while the caret stands at the start" },
];

export function FirstMessage(): JSX.Element {
  const app = useApp();
  const isDemo = () => app.startup()?.demo === true;
  return (
    <div class={s.first}>
      <h2>{isDemo() ? "Try it with the demo model" : "What shall be done?"}</h2>
      <p class={s.lead}>
        <Show
          when={isDemo()}
          fallback="Describe a task below. The agent can split it: forks know everything that was said here, subagents start fresh with a role, and each can work in its own worktree."
        >
          A script answers in place of a model; the tools, the worktrees and the questions for your permission are real.
        </Show>
      </p>
      <ul class={s.starters} aria-label="Messages to begin with">
        <For each={isDemo() ? DEMO : REAL}>
          {(starter) => (
            <li>
              <button type="button" class={s.starter} onClick={() => app.propose({ text: starter.text, send: isDemo() })}>
                <Icon name={starter.icon} size={15} />
                <span class={s.words}>
                  <span class={s.text}>{isDemo() ? starter.text : starter.about}</span>
                  <span class={s.about}>{isDemo() ? starter.about : starter.text}</span>
                </span>
                <span class={s.what}>{isDemo() ? "Send" : "Write"}</span>
              </button>
            </li>
          )}
        </For>
      </ul>
      <dl class={s.can}>
        <For each={CAN}>
          {(entry) => (
            <>
              <dt>{entry.keys}</dt>
              <dd>{entry.does}</dd>
            </>
          )}
        </For>
      </dl>
    </div>
  );
}
