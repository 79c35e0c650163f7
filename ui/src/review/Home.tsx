// Bringing an agent's changes home: what would happen, doing it, taking it out again, and putting the worktree away.

import { For, Match, Show, Switch, createMemo, createResource, createSignal, type JSX } from "solid-js";
import { isAtWork } from "../agents/state";
import { useApp } from "../app/context";
import { asRejected } from "../bridge";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Icon } from "../parts/Icon";
import { plural } from "../parts/time";
import type { AgentView, AppliedView, MergeConflict, MergePreview, Rejected } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { FileRow } from "./FileRow";
import s from "./Home.module.css";

export function Home(props: { session: SessionStore; agent: AgentView; hasChanges: boolean }): JSX.Element {
  const app = useApp();
  const [isOpen, setOpen] = createSignal(false);
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
              Applied {plural(applied().changes.files, "file")}
              <Show when={applied().commit === undefined}>
                <Button kind="quiet" small onClick={() => void undo(applied())}>
                  Undo
                </Button>
              </Show>
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
          <Button small disabled={!props.hasChanges} onClick={() => setOpen(true)}>
            Apply…
          </Button>
        </Show>
      </div>
      <Show when={problem()}>{(rejected) => <Problem of={rejected()} />}</Show>
      <Dialog open={isOpen()} onClose={() => setOpen(false)} title={`Apply the changes of “${props.agent.title}”`} wide>
        <Preview session={props.session} agent={props.agent} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

/** Read when the dialog opens, and again when something changed in between. */
function Preview(props: { session: SessionStore; agent: AgentView; onClose: () => void }): JSX.Element {
  const app = useApp();
  const [preview, { refetch }] = createResource(() => app.bridge.mergePreview(props.session.id, [props.agent.id], { kind: "all" }));
  const [isBusy, setBusy] = createSignal(false);
  const [problem, setProblem] = createSignal<Rejected>();
  const apply = async (shown: MergePreview) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await app.bridge.mergeApply(props.session.id, shown.merge, shown.conflicts.length > 0);
      props.onClose();
    } catch (error) {
      setProblem(asRejected(error));
      void refetch();
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class={s.preview}>
      <Switch fallback={<p class={s.note}>Merging in memory…</p>}>
        <Match when={preview.state === "errored"}>
          <Problem of={asRejected(preview.error)} />
        </Match>
        <Match when={preview.latest}>
          {(shown) => (
            <>
              <p class={s.note}>
                <Show when={shown().files.length > 0} fallback="Nothing would change in ">
                  {plural(shown().files.length, "file")} will change, uncommitted, in{" "}
                </Show>
                <code>{shown().target}</code>
              </p>
              <div class={s.files} role="list" aria-label="Files that will change">
                <For each={shown().files}>
                  {(file) => (
                    <div role="listitem">
                      <FileRow file={file} />
                    </div>
                  )}
                </For>
              </div>
              <Show when={shown().conflicts.length > 0}>
                <Conflicts session={props.session} of={shown().conflicts} />
              </Show>
              <Show when={problem()}>{(rejected) => <Problem of={rejected()} />}</Show>
              <div class={s.answers}>
                <Button kind="quiet" onClick={() => props.onClose()}>
                  Cancel
                </Button>
                <Button
                  kind="primary"
                  disabled={isBusy() || preview.loading || shown().files.length === 0}
                  onClick={() => void apply(shown())}
                >
                  {shown().conflicts.length > 0 ? "Apply the others to my checkout" : "Apply to my checkout"}
                </Button>
              </div>
            </>
          )}
        </Match>
      </Switch>
    </div>
  );
}

function Conflicts(props: { session: SessionStore; of: MergeConflict[] }): JSX.Element {
  const side = (conflict: MergeConflict) =>
    conflict.other === undefined ? "your checkout" : `“${props.session.state.agents[conflict.other]?.title ?? conflict.other}”`;
  return (
    <section class={s.conflicts} aria-label="Conflicts">
      <h3>
        <Icon name="alert" size={14} /> {plural(props.of.length, "file")} in conflict; left as {props.of.length === 1 ? "it is" : "they are"}
      </h3>
      <For each={props.of}>
        {(conflict) => (
          <p>
            <code>{conflict.path}</code>
            <span>
              with {side(conflict)}: {conflict.reason}
            </span>
          </p>
        )}
      </For>
    </section>
  );
}

function Problem(props: { of: Rejected }): JSX.Element {
  return (
    <p class={s.problem} role="alert">
      <Icon name="alert" size={14} />
      <span>
        {props.of.message} {props.of.hint}
      </span>
    </p>
  );
}
