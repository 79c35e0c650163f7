// What stands under the last message: that the agent works, waits, failed, or that nothing was said yet.

import { Match, Show, Switch, type JSX } from "solid-js";
import { Spinner } from "../agents/StateMark";
import { useApp } from "../app/context";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Unseen } from "../parts/Unseen";
import { useNow } from "../parts/time";
import type { AgentView } from "../protocol.gen";
import type { SessionStore, Transcript } from "../session/store";
import { FirstMessage } from "./FirstMessage";
import s from "./StateRow.module.css";

export function StateRow(props: { session: SessionStore; agent: AgentView; transcript: Transcript }): JSX.Element {
  const app = useApp();
  const kind = () => props.agent.state.kind;
  const failure = () => {
    const state = props.agent.state;
    return state.kind === "failed" || state.kind === "idle_after_failure" ? state.message : undefined;
  };
  const runsCall = () => Object.values(props.transcript.data?.calls ?? {}).some((call) => call?.state === "running");
  const isEmpty = () => props.agent.messages === 0 && !props.agent.queue.some((input) => input.origin === "user");
  const resume = () => void app.send({ type: "resume", agent: props.agent.id });

  return (
    <Switch>
      <Match when={failure()}>
        {(message) => (
          <div class={s.card} data-tone="bad" role="alert">
            <Icon name="alert" size={15} />
            <div>
              <p class={s.title}>{kind() === "failed" ? "This agent could not go on" : "The turn failed"}</p>
              <p class={`${s.text} selectable`} dir="auto">
                <Unseen text={message()} />
              </p>
              <p class={s.text}>
                Everything above is kept.{" "}
                {kind() === "failed" ? "Resume it to try again from here." : "Write a message to go on from here."}
              </p>
              <Show when={kind() === "failed"}>
                <div class={s.answers}>
                  <Button small onClick={resume}>
                    Resume
                  </Button>
                </div>
              </Show>
            </div>
          </div>
        )}
      </Match>
      <Match when={kind() === "waiting_for_api"}>
        <Waiting agent={props.agent} />
      </Match>
      <Match when={kind() === "running" && !props.session.live(props.agent.id) && !runsCall()}>
        <p class={s.line}>
          <Spinner />
          Waiting for the model
        </p>
      </Match>
      <Match when={kind() === "interrupted" || kind() === "stopped"}>
        <div class={s.card}>
          <Icon name={kind() === "stopped" ? "stopped" : "interrupted"} size={15} />
          <div>
            <p class={s.title}>{kind() === "stopped" ? "Stopped" : "Interrupted when the program ended"}</p>
            <p class={s.text}>Its conversation and files are kept. It goes on from here when you resume it.</p>
            <div class={s.answers}>
              <Button small onClick={resume}>
                Resume
              </Button>
            </div>
          </div>
        </div>
      </Match>
      <Match when={kind() === "queued"}>
        <p class={s.line}>
          <Icon name="queued" size={13} />
          Waits for a free place to run
        </p>
      </Match>
      <Match when={isEmpty() && props.agent.kind === "root"}>
        <FirstMessage />
      </Match>
    </Switch>
  );
}

function Waiting(props: { agent: AgentView }): JSX.Element {
  const now = useNow();
  const seconds = () =>
    props.agent.state.kind === "waiting_for_api" ? Math.max(0, Math.ceil((Date.parse(props.agent.state.until) - now()) / 1000)) : 0;
  return (
    <p class={s.line} data-tone="wait">
      <Icon name="hourglass" size={13} />
      {props.agent.activity || "The provider asked to wait"}. Next try in {seconds()} s
    </p>
  );
}
