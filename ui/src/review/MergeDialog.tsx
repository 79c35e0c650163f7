// Bringing changes home: whose, which of them, in which form; what would happen; and doing exactly that.

import { For, Match, Show, Switch, createEffect, createMemo, createResource, createSignal, on, type JSX } from "solid-js";
import { hue, titleOf } from "../agents/state";
import { useApp } from "../app/context";
import { asRejected } from "../bridge";
import { isComposing } from "../composer/commands";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Icon } from "../parts/Icon";
import { plural } from "../parts/time";
import type { AgentId, AgentView, MergeConflict, MergePreview, MergeSelection, Rejected } from "../protocol.gen";
import type { SessionStore } from "../session/store";
import { ConflictView } from "./ConflictView";
import { FileRow } from "./FileRow";
import { HOWS, acceptedOf, firstChoice, hasHistory, howOf, together, type HowKind } from "./merge";
import s from "./MergeDialog.module.css";

export function MergeDialog(props: { session: SessionStore }): JSX.Element {
  const app = useApp();
  const agent = () => {
    const id = app.merging()?.[0];
    return id === undefined ? undefined : props.session.state.agents[id];
  };
  return (
    <Dialog open={agent() !== undefined} onClose={() => app.askMerge(undefined)} title="Merge into your checkout" wide>
      <Show when={agent()}>{(one) => <Merge session={props.session} agent={one()} agents={app.merging() ?? []} onClose={() => app.askMerge(undefined)} />}</Show>
    </Dialog>
  );
}

function Merge(props: { session: SessionStore; agent: AgentView; agents: AgentId[]; onClose: () => void }): JSX.Element {
  const app = useApp();
  const candidates = createMemo(() => together(props.session.state, props.agent));
  const begun = firstChoice(props.session.state, props.agent);
  const [agents, setAgents] = createSignal<AgentId[]>(props.agents.length > 1 ? props.agents : begun.agents);
  const [selection, setSelection] = createSignal<MergeSelection>(begun.selection);
  const [how, setHow] = createSignal<HowKind>("apply");
  const [message, setMessage] = createSignal("");
  const [isBusy, setBusy] = createSignal(false);
  const [problem, setProblem] = createSignal<Rejected>();
  const accepted = () => candidates().reduce((sum, one) => sum + (agents().includes(one.id) ? acceptedOf(one) : 0), 0);
  const chosen = () => candidates().flatMap((one) => (agents().includes(one.id) ? [one.id] : []));
  const [open, setOpen] = createSignal<MergeConflict>();
  const [preview, { refetch, mutate }] = createResource(
    () => (chosen().length > 0 ? { agents: chosen(), selection: selection() } : undefined),
    ({ agents: whose, selection: which }) => app.bridge.mergePreview(props.session.id, whose, which),
  );
  const shown = () => (preview.state === "ready" || preview.state === "refreshing" ? preview.latest : undefined);
  const form = () => HOWS.find((one) => one.kind === how()) ?? HOWS[0];
  const toggle = (id: AgentId) => setAgents((before) => (before.includes(id) ? before.filter((other) => other !== id) : [...before, id]));
  // Marks that are set meanwhile change what was accepted.
  createEffect(on(accepted, () => selection().kind === "accepted" && void refetch(), { defer: true }));

  const go = async (of: MergePreview) => {
    if (isBusy()) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await app.bridge.mergeApply(props.session.id, of.merge, of.conflicts.length > 0, howOf(how(), message()));
      props.onClose();
    } catch (error) {
      setProblem(asRejected(error));
      void refetch();
    } finally {
      setBusy(false);
    }
  };
  const savePatch = async (of: MergePreview) => {
    setProblem(undefined);
    try {
      await app.bridge.mergePatch(props.session.id, of.merge);
    } catch (error) {
      setProblem(asRejected(error));
    }
  };

  const chosenForm = () => (
    <>
      <Show when={candidates().length > 1}>
        <fieldset class={s.whose}>
          <legend>Whose changes</legend>
          <For each={candidates()}>
            {(one) => (
              <label class={s.one}>
                <input type="checkbox" checked={agents().includes(one.id)} onChange={() => toggle(one.id)} />
                <span style={{ color: hue(one.color) }}>
                  <Icon name={one.kind} size={14} />
                </span>
                <span class={s.title}>{titleOf(props.session.state, one)}</span>
                <span class={s.figures}>
                  {plural(one.changes?.files ?? 0, "file")}
                  <Show when={acceptedOf(one) > 0}>
                    <span class={s.accepted}>{acceptedOf(one)} accepted</span>
                  </Show>
                </span>
              </label>
            )}
          </For>
        </fieldset>
      </Show>
      <div class={s.choices}>
        <div class={s.segments} role="radiogroup" aria-label="Which changes">
          <Segment
            label="Accepted" isOn={selection().kind === "accepted"} disabled={accepted() === 0} onSelect={() => {
              setSelection({ kind: "accepted" });
              if (hasHistory(how())) setHow("squash");
            }}
          />
          <Segment label="Everything" isOn={selection().kind === "all"} onSelect={() => setSelection({ kind: "all" })} />
        </div>
        <div class={s.segments} role="radiogroup" aria-label="In which form">
          <For each={HOWS}>{(one) => <Segment label={one.label} title={one.note} isOn={how() === one.kind} disabled={hasHistory(one.kind) && selection().kind !== "all"} onSelect={() => setHow(one.kind)} />}</For>
        </div>
      </div>
      <Show when={form()?.hasMessage}>
        <textarea
          class={s.message}
          aria-label="Commit message"
          rows={2}
          placeholder={candidates().flatMap((one) => (agents().includes(one.id) ? [titleOf(props.session.state, one)] : [])).join("; ")}
          value={message()}
          onInput={(event) => setMessage(event.currentTarget.value)}
          onKeyDown={(event) => {
            const of = shown();
            if (isComposing(event) || event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !of) return;
            event.preventDefault();
            void go(of);
          }}
        />
      </Show>
      <Switch fallback={<p class={s.note}>Merging in memory…</p>}>
        <Match when={chosen().length === 0}>
          <p class={s.note}>Choose whose changes shall come home.</p>
        </Match>
        <Match when={preview.state === "errored"}>
          <Problem of={asRejected(preview.error)} />
        </Match>
        <Match when={shown()}>
          {(of) => (
            <>
              <p class={s.note} role="status">
                <Show when={of().files.length > 0} fallback="Nothing would change in ">
                  {plural(of().files.length, "file")} will change{how() === "apply" ? ", uncommitted," : ""} in{" "}
                </Show>
                <code>{of().target}</code>
              </p>
              <div class={s.files} role="list" aria-label="Files that will change">
                <For each={of().files}>
                  {(file) => (
                    <div role="listitem">
                      <FileRow file={file} />
                    </div>
                  )}
                </For>
              </div>
              <Show when={of().conflicts.length > 0}>
                <Conflicts session={props.session} of={of().conflicts} onOpen={setOpen} />
              </Show>
              <Show when={problem()}>{(rejected) => <Problem of={rejected()} />}</Show>
              <div class={s.answers}>
                <span class={s.aside}>
                  <Button kind="quiet" disabled={of().files.length === 0} onClick={() => void savePatch(of())}>
                    Save as patch…
                  </Button>
                </span>
                <Button kind="quiet" onClick={() => props.onClose()}>
                  Cancel
                </Button>
                <Button kind="primary" disabled={isBusy() || preview.loading || of().files.length === 0 || (hasHistory(how()) && of().conflicts.length > 0)} onClick={() => void go(of())}>
                  {of().conflicts.length > 0 ? `${form()?.verb ?? ""}, without the conflicts` : (form()?.verb ?? "")}
                </Button>
              </div>
            </>
          )}
        </Match>
      </Switch>
    </>
  );
  return (
    <div class={s.merge}>
      <Show when={open()} fallback={chosenForm()}>
        {(conflict) => (
          <ConflictView
            session={props.session}
            merge={shown()?.merge ?? ""}
            conflict={conflict()}
            onBack={() => setOpen(undefined)}
            onSettled={(next) => {
              mutate(next);
              setOpen(undefined);
            }}
          />
        )}
      </Show>
    </div>
  );
}

function Segment(props: { label: string; title?: string; isOn: boolean; disabled?: boolean; onSelect: () => void }): JSX.Element {
  return (
    <button
      type="button"
      role="radio"
      class={s.segment}
      aria-checked={props.isOn}
      disabled={props.disabled === true}
      title={props.title ?? props.label}
      onClick={() => props.onSelect()}
    >
      {props.label}
    </button>
  );
}

function Conflicts(props: { session: SessionStore; of: MergeConflict[]; onOpen: (conflict: MergeConflict) => void }): JSX.Element {
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
            <Show when={conflict.resolvable}>
              <Button small onClick={() => props.onOpen(conflict)}>
                Settle…
              </Button>
            </Show>
          </p>
        )}
      </For>
    </section>
  );
}

export function Problem(props: { of: Rejected }): JSX.Element {
  return (
    <p class={s.problem} role="alert">
      <Icon name="alert" size={14} />
      <span>
        {props.of.message} {props.of.hint}
      </span>
    </p>
  );
}
