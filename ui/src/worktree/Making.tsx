// A worktree in the making: how many of its files are there, what its setup writes, and a way to stop it.

import { Show, type JSX } from "solid-js";
import { Button } from "../parts/Button";
import { Output } from "../parts/Output";
import type { AgentView } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { useApp } from "../app/context";
import { isAtWork } from "../agents/state";
import { wordsOf } from "./words";
import s from "./Making.module.css";

export function Making(props: { session: SessionStore; agent: AgentView }): JSX.Element {
  const app = useApp();
  const files = () => props.session.making(props.agent.id);
  const output = () => props.session.setup(props.agent.id)?.text ?? "";
  const words = () => wordsOf(files(), output());
  return (
    <div class={s.making} role="status">
      <p class={s.title}>The worktree is being made</p>
      <p class={s.words}>{words().text}</p>
      <div
        class={s.track}
        role="progressbar"
        aria-label="Files in the worktree"
        aria-valuemin={0}
        aria-valuemax={100}
        {...(words().percent === undefined ? {} : { "aria-valuenow": words().percent })}
      >
        <div class={s.done} data-unknown={words().percent === undefined} style={{ width: `${words().percent ?? 100}%` }} />
      </div>
      <Show when={output() !== ""}>
        <div class={s.output}>
          <Output text={output()} tail />
        </div>
      </Show>
      <Show when={isAtWork(props.agent.state)}>
        <Button small onClick={() => void app.send({ type: "stop", agent: props.agent.id })}>
          Stop the agent
        </Button>
      </Show>
      <p class={s.note}>The agent is thinking already; its first look at a file waits. Stopped, it leaves nothing behind.</p>
    </div>
  );
}
