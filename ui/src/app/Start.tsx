// The first start: choose a folder, or try the demo on a sample repository.

import { Show, createResource, type JSX } from "solid-js";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { foundWords, PROVIDERS } from "../settings/providers";
import { useApp } from "./context";
import s from "./Start.module.css";

export function Start(): JSX.Element {
  const app = useApp();
  const isDemo = () => app.startup()?.demo === true;
  // Servers on this computer are looked for only when nothing else is set up, and nothing waits for them.
  const [locals] = createResource(isDemo, () => app.bridge.modelSetup().then((setup) => setup.local, () => []));
  return (
    <main class={s.page}>
      <div class={s.card}>
        <span class={s.logo} aria-hidden="true">
          <Icon name="root" size={28} />
        </span>
        <h1>Offshoot</h1>
        <p class={s.lead}>
          One conversation that grows a tree of agents. Each can work in its own git worktree; you answer their requests and
          review what they changed.
        </p>
        <Show when={app.problem()}>
          {(problem) => (
            <div class={s.problem} role="alert">
              <Icon name="alert" size={15} />
              <div>
                <p>{problem().message}</p>
                <p class={s.hint}>{problem().hint || "Nothing was changed. Try again, or choose another folder."}</p>
              </div>
            </div>
          )}
        </Show>
        <div class={s.choices}>
          <Button kind={isDemo() ? "plain" : "primary"} onClick={() => void app.pickFolder()}>
            <Icon name="folder" size={15} />
            Open a folder…
          </Button>
          <Button kind={isDemo() ? "primary" : "plain"} onClick={() => void app.openDemo()}>
            <Icon name="play" size={15} />
            Try the sample repository
          </Button>
        </div>
        <Show when={app.startup()}>
          {(about) => (
            <p class={s.model}>
              <Show
                when={about().demo}
                fallback={
                  <>
                    Model: <strong>{about().model}</strong>{" "}
                    <Show when={about().local !== true}>from {PROVIDERS[about().provider].label},</Show> {foundWords(about())}.
                  </>
                }
              >
                <strong>Demo model.</strong> No model is set up, so a script plays the agents. Nothing leaves this computer and
                nothing is charged.
              </Show>{" "}
              <Show when={about().demo && locals()?.[0]}>{(server) => <>{server().name} runs on this computer. </>}</Show>
              <Button small kind="quiet" onClick={() => app.setSheet("settings")}>
                {about().demo ? "Set up a model…" : "Another model…"}
              </Button>
            </p>
          )}
        </Show>
        <Show when={app.startup()}>{(about) => <p class={s.version}>Version {about().version}</p>}</Show>
      </div>
    </main>
  );
}
