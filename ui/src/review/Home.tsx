// What was brought home of an agent's changes, taking it out again, and putting the worktree away.

import { Show, createMemo, createSignal, type JSX } from "solid-js";
import { isAtWork } from "../agents/state";
import { useApp } from "../app/context";
import { asRejected } from "../bridge";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { plural } from "../parts/time";
import type { AgentView, AppliedView, Rejected } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { acceptedOf } from "./merge";
import { Problem } from "./MergeDialog";
import s from "./Home.module.css";

export function Home(props: { session: SessionStore; agent: AgentView; hasChanges: boolean }): JSX.Element {
  const app = useApp();
  const [problem, setProblem] = createSignal<Rejected>();
  const isLive = () => props.agent.worktree?.state.kind === "live";
  const last = createMemo<AppliedView | undefined>(() => {
    const all = props.session.state.applied.filter((applied) => applied.agents.includes(props.agent.id));
    return all.findLast((applied) => !applied.undone);
  });
  const undo = async (applied: AppliedView) => {
    setProblem(undefined);
    try {
      await app.bridge.mergeUndo(props.session.id, applied.merge);
    } catch (error) {
      setProblem(asRejected(error));
    }
  };
  return (
    <>
      <div class={s.bar}>
        <Show when={last()}>
          {(applied) => (
            <span class={s.applied} role="status">
              <Icon name="done" size={12} />
              {applied().commit === undefined ? "Applied" : "Committed"} {plural(applied().changes.files, "file")}
              <Button kind="quiet" small onClick={() => void undo(applied())}>
                Undo
              </Button>
            </span>
          )}
        </Show>
        <Show
          when={isLive()}
          fallback={
            <Button kind="quiet" small onClick={() => void app.send({ type: "restore_worktree", agent: props.agent.id })}>
              Restore
            </Button>
          }
        >
          <Button
            kind="quiet"
            small
            disabled={isAtWork(props.agent.state)}
            title="Keeps everything under a ref and frees the folder"
            onClick={() => void app.send({ type: "archive_worktree", agent: props.agent.id })}
          >
            Archive
          </Button>
          <Button
            small
            {...(acceptedOf(props.agent) > 0 ? { kind: "primary" as const } : {})}
            disabled={!props.hasChanges}
            title="What would change, and what conflicts (m)"
            onClick={() => app.askMerge([props.agent.id])}
          >
            {acceptedOf(props.agent) > 0 ? "Apply accepted…" : "Merge…"}
          </Button>
        </Show>
      </div>
      <Show when={problem()}>{(rejected) => <Problem of={rejected()} />}</Show>
    </>
  );
}
