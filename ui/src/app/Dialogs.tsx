// Everything that lies above the window: palette, help, settings, and the questions before a link opens or a folder is
// trusted.

import { For, Show, onMount, type JSX } from "solid-js";
import { Button, Keys } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Unseen } from "../parts/Unseen";
import type { SessionSummary } from "../protocol.gen";
import { Settings } from "../settings/Settings";
import { Palette } from "./Palette";
import type { TrustAsked } from "../store";
import { useApp } from "./context";
import { KEYS } from "./keys";
import s from "./Dialogs.module.css";

export function Dialogs(): JSX.Element {
  const app = useApp();
  const close = () => app.setSheet(undefined);
  return (
    <>
      <Dialog open={app.sheet() === "palette"} onClose={close} title="Command palette" bare wide>
        <Palette onClose={close} />
      </Dialog>
      <Dialog open={app.sheet() === "help"} onClose={close} title="Keyboard" wide>
        <div class={s.help}>
          <For each={KEYS}>
            {(group) => (
              <section>
                <h3>{group.title}</h3>
                <dl>
                  <For each={group.keys}>
                    {(entry) => (
                      <>
                        <dt>{entry.does}</dt>
                        <dd>
                          <Keys of={entry.keys} />
                        </dd>
                      </>
                    )}
                  </For>
                </dl>
              </section>
            )}
          </For>
        </div>
      </Dialog>
      <Dialog open={app.sheet() === "settings"} onClose={close} title="Settings">
        <Settings />
      </Dialog>
      <Dialog open={app.renaming() !== undefined} onClose={() => app.askRename(undefined)} title="Rename session">
        <Show when={app.renaming()}>{(session) => <Rename session={session()} />}</Show>
      </Dialog>
      <Dialog open={app.link() !== undefined} onClose={() => app.askLink(undefined)} title="Open this link?">
        <LinkQuestion url={app.link() ?? ""} />
      </Dialog>
      <Dialog open={app.trustAsked() !== undefined} onClose={() => app.trustAsked()?.answer(undefined)} title="Trust this folder?">
        <Show when={app.trustAsked()}>{(asked) => <TrustDialog asked={asked()} />}</Show>
      </Dialog>
    </>
  );
}

function Rename(props: { session: Pick<SessionSummary, "id" | "title"> }): JSX.Element {
  const app = useApp();
  let field: HTMLInputElement | undefined;
  const rename = async () => {
    const title = field?.value.trim() ?? "";
    if (title !== "" && (await app.renameSession(props.session.id, title))) app.askRename(undefined);
  };
  onMount(() => requestAnimationFrame(() => field?.select()));
  return (
    <form
      class={s.question}
      onSubmit={(event) => {
        event.preventDefault();
        void rename();
      }}
    >
      <input ref={field} type="text" class={s.field} aria-label="Title" value={props.session.title} />
      <div class={s.answers}>
        <Button kind="quiet" onClick={() => app.askRename(undefined)}>
          Cancel
        </Button>
        <Button kind="primary" type="submit">
          Rename
        </Button>
      </div>
    </form>
  );
}

function LinkQuestion(props: { url: string }): JSX.Element {
  const app = useApp();
  const host = () => {
    try {
      return new URL(props.url).host || props.url;
    } catch {
      return props.url;
    }
  };
  const open = () => {
    const url = props.url;
    app.askLink(undefined);
    void app.bridge.openExternal(url).catch((error: unknown) => app.report(error));
  };
  return (
    <div class={s.question}>
      <p>
        It opens in your browser and goes to <strong>{host()}</strong>.
      </p>
      <pre class="selectable" tabindex={0}>
        <Unseen text={props.url} />
      </pre>
      <div class={s.answers}>
        <Button kind="quiet" onClick={() => app.askLink(undefined)}>
          Cancel
        </Button>
        <Button kind="primary" onClick={open}>
          Open in browser
        </Button>
      </div>
    </div>
  );
}

function TrustDialog(props: { asked: TrustAsked }): JSX.Element {
  const lines = () => props.asked.question.would_activate;
  return (
    <div class={s.question}>
      <p>
        Files in <strong><Unseen text={props.asked.question.place} /></strong> ask for more than to be read. Trust the folder only if
        you know who wrote them.
      </p>
      <Show when={lines().length > 0} fallback={<p class={s.note}>Right now they ask for nothing.</p>}>
        <p class={s.note}>If you trust it, this becomes active:</p>
        <ul class={`${s.active} selectable`} aria-label="What becomes active">
          <For each={lines()}>
            {(line) => (
              <li>
                <Unseen text={line} />
              </li>
            )}
          </For>
        </ul>
      </Show>
      <p class={s.note}>
        Without trust you can work here all the same: these are ignored, and only its rules that forbid or ask hold. It counts for
        sessions that you begin or open from now on; the settings can change it.
      </p>
      <div class={s.answers}>
        <Button onClick={() => props.asked.answer(false)}>{props.asked.question.trust === "unknown" ? "Open without trusting" : "Don't trust"}</Button>
        <Button kind="primary" onClick={() => props.asked.answer(true)}>
          Trust
        </Button>
      </div>
    </div>
  );
}
