// Shows one scene in a browser: `?scene=review&theme=dark`. Says when it can be looked at.

import { render } from "solid-js/web";
import { App } from "../app/App";
import { recordedBridge, type RecordedBridge } from "../bridge.recorded";
import { act, settled } from "./act";
import { SCENES, type Scene } from "./scenes";

/** The scene's bridge, with what the window remembers put in place. */
export function prepare(scene: Scene, theme?: string): RecordedBridge {
  localStorage.clear();
  for (const [key, value] of Object.entries(scene.remembered ?? {})) localStorage.setItem(`offshoot.${key}`, value);
  if (theme !== undefined) localStorage.setItem("offshoot.theme", JSON.stringify(theme));
  return recordedBridge(scene.recording(), scene.playback ?? { speed: 0 });
}

export async function show(name: string, root: HTMLElement): Promise<void> {
  const scene = SCENES[name];
  if (!scene) throw new Error(`There is no scene ${name}. There are: ${Object.keys(SCENES).join(", ")}`);
  const bridge = prepare(scene, new URLSearchParams(location.search).get("theme") ?? undefined);
  render(() => <App bridge={scene.bridge?.(bridge) ?? bridge} />, root);
  const page = document.documentElement;
  try {
    await document.fonts.ready;
    await act(scene.acts ?? []);
    // What is far away from where one looks is drawn a little later.
    for (let frame = 0; frame < 8; frame += 1) await settled();
    scene.live?.(bridge);
    page.dataset["scene"] = "ready";
  } catch (error) {
    page.dataset["scene"] = error instanceof Error ? error.message : String(error);
  }
}

/** What there is: links for people, names for tools. */
export function listScenes(root: HTMLElement): void {
  const names = Object.keys(SCENES);
  render(() => <ul>{names.map((name) => <li><a href={`?scene=${name}`}>{name}</a></li>)}</ul>, root);
  document.documentElement.dataset["scenes"] = names.join(" ");
}
