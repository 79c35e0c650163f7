// Settings: the model, and how the window looks. What else concerns agents is in the settings files.

import { For, Show, createSignal, type JSX } from "solid-js";
import { useApp } from "../app/context";
import { Button } from "../parts/Button";
import type { Theme } from "../app/prefs";
import { Model } from "./Model";
import { diagnostics } from "./diagnostics";
import { foundWords, PROVIDERS } from "./providers";
import s from "./Settings.module.css";

const THEMES: { theme: Theme; label: string }[] = [
  { theme: "system", label: "As the system" },
  { theme: "light", label: "Light" },
  { theme: "dark", label: "Dark" },
  { theme: "contrast", label: "High contrast" },
];

export function Settings(): JSX.Element {
  const app = useApp();
  const [copied, setCopied] = createSignal(false);
  const copy = async () => {
    const about = app.startup();
    if (!about) return;
    const size = `${window.innerWidth} × ${window.innerHeight} at ${window.devicePixelRatio}`;
    const page = { agent: navigator.userAgent, size, zoom: app.prefs.zoom(), theme: app.prefs.theme() };
    try {
      await navigator.clipboard.writeText(diagnostics(about, app.session()?.state, page));
      setCopied(true);
    } catch (error) {
      app.report(error);
    }
  };
  return (
    <div class={s.settings}>
      <Model />
      <fieldset class={s.field}>
        <legend>Theme</legend>
        <div class={s.choices}>
          <For each={THEMES}>
            {(entry) => (
              <label class={s.choice} data-checked={app.prefs.theme() === entry.theme}>
                <input type="radio" name="theme" checked={app.prefs.theme() === entry.theme} onChange={() => app.prefs.setTheme(entry.theme)} />
                {entry.label}
              </label>
            )}
          </For>
        </div>
      </fieldset>
      <label class={s.field}>
        <span class={s.legend}>Zoom</span>
        <span class={s.zoom}>
          <input
            type="range"
            min="80"
            max="200"
            step="10"
            value={app.prefs.zoom()}
            onInput={(event) => app.prefs.setZoom(Number(event.currentTarget.value))}
          />
          <output class="num">{app.prefs.zoom()} %</output>
        </span>
      </label>
      <Show when={app.project()}>
        <div class={s.field}>
          <span class={s.legend}>Folder</span>
          <Button
            small
            onClick={() => {
              app.setSheet(undefined);
              void app.reviewTrust();
            }}
          >
            Trust this folder or not…
          </Button>
        </div>
      </Show>
      <dl class={s.about}>
        <dt>Version</dt>
        <dd>{app.startup()?.version}</dd>
        <dt>Model</dt>
        <dd>
          <Show when={app.startup()}>
            {(about) => (about().demo ? PROVIDERS.demo.label : `${about().model}, ${foundWords(about())}`)}
          </Show>
        </dd>
        <dt>Data</dt>
        <dd class="selectable">{app.startup()?.dataDir}</dd>
      </dl>
      <p class={s.copy}>
        <Button small onClick={() => void copy()}>
          Copy diagnostics
        </Button>
        <span role="status">{copied() ? "Copied: versions and figures, no keys and no texts." : ""}</span>
      </p>
    </div>
  );
}
