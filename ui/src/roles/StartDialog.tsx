// Asks for the brief of a subagent that starts with a role: beside the others, or in a session of its own.

import { Show, createEffect, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { isComposing } from "../composer/commands";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Icon } from "../parts/Icon";
import { roleHue } from "./hue";
import s from "./RoleStudio.module.css";

export function StartDialog(): JSX.Element {
  const app = useApp();
  const { studio } = app;
  const [brief, setBrief] = createSignal("");
  const [isolated, setIsolated] = createSignal(false);
  const [isBusy, setBusy] = createSignal(false);
  const close = () => studio.askStart(undefined);

  // Where it works is the role's to say, until a person says otherwise.
  createEffect(() => {
    const start = studio.start();
    setIsolated(false);
    if (!start) return;
    void app.bridge
      .roleFile(app.project() ?? "", start.path)
      .then((file) => studio.start() === start && setIsolated(file.fields?.isolation === "worktree"))
      .catch((error: unknown) => app.report(error));
  });

  /** The agent comes as an event, soon after the wish for it is accepted. */
  const follow = (before: ReadonlySet<string>, left = 40) => {
    const started = app.session()?.state.order.find((id) => !before.has(id));
    if (started !== undefined) app.select(started);
    else if (left > 0) setTimeout(() => follow(before, left - 1), 50);
  };

  const go = async () => {
    const start = studio.start();
    if (!start || brief().trim() === "" || isBusy()) return;
    setBusy(true);
    try {
      if (start.isTrial) {
        const before = app.session()?.id;
        await app.newSession();
        // What went wrong is told already.
        if (app.session()?.id === before) return;
        await app.send({ type: "rename", title: `Try ${start.role}` });
      }
      const before = new Set(app.session()?.state.order ?? []);
      const isolation = isolated() ? "worktree" : "shared";
      if (!(await app.send({ type: "start_subagent", role: start.role, brief: brief().trim(), isolation }))) return;
      setBrief("");
      close();
      studio.announce(`${start.role} is started.`);
      studio.leave(() => {
        studio.setOpen(false);
        follow(before);
      });
    } finally {
      setBusy(false);
    }
  };

  return (
    <Dialog open={studio.start() !== undefined} onClose={close} title={studio.start()?.isTrial ? "Try it" : "Start a subagent"}>
      <Show when={studio.start()}>
        {(start) => (
          <div class={s.question}>
            <p class={s.who}>
              <span style={{ color: roleHue(start().color) }}>
                <Icon name="subagent" size={15} />
              </span>
              <strong>{start().role}</strong>
              <span class={s.about}>{start().isTrial ? "in a session of its own; yours stays as it is" : "as a child of this session"}</span>
            </p>
            <textarea
              class={s.brief}
              aria-label="Brief"
              placeholder="What shall it do? It knows nothing of this conversation."
              rows={5}
              ref={(field) => requestAnimationFrame(() => field.focus())}
              spellcheck={false}
              value={brief()}
              onInput={(event) => setBrief(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (isComposing(event) || event.key !== "Enter" || event.shiftKey) return;
                event.preventDefault();
                void go();
              }}
            />
            <label class={s.check}>
              <input type="checkbox" checked={isolated()} onChange={(event) => setIsolated(event.currentTarget.checked)} />
              In its own worktree
            </label>
            <div class={s.answers}>
              <Button kind="quiet" onClick={close}>
                Cancel
              </Button>
              <Button kind="primary" disabled={brief().trim() === "" || isBusy()} onClick={() => void go()}>
                Start
              </Button>
            </div>
          </div>
        )}
      </Show>
    </Dialog>
  );
}
