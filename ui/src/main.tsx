// Starts the window: on the program's bridge, or, outside of the program, on a recorded session or one of the scenes.

import { render } from "solid-js/web";
import { App } from "./app/App";
import { isInWindow, windowBridge, type Bridge } from "./bridge";
import "./styles/base.css";

async function chooseBridge(): Promise<Bridge> {
  if (isInWindow()) return windowBridge();
  // Built into the program, this branch and the recording are left out.
  if (import.meta.env.DEV || import.meta.env.MODE === "recorded") {
    const { recordedBridge } = await import("./bridge.recorded");
    const { default: recording } = await import("./recordings/demo.json");
    const query = new URLSearchParams(location.search);
    const number = (name: string) => (query.has(name) ? Number(query.get(name)) : undefined);
    const skipTo = number("at");
    const speed = number("speed");
    return recordedBridge(recording as import("./bridge.recorded").Recording, {
      ...(skipTo === undefined ? {} : { skipTo }),
      ...(speed === undefined ? {} : { speed }),
      ...(query.has("roles") ? { roles: query.get("roles") ?? "" } : {}),
    });
  }
  throw new Error("This page belongs into Offshoot's window.");
}

async function start(root: HTMLElement): Promise<void> {
  const query = new URLSearchParams(location.search);
  if ((query.has("scene") || query.has("scenes")) && (import.meta.env.DEV || import.meta.env.MODE === "recorded")) {
    const { listScenes, show } = await import("./scenes/show");
    const scene = query.get("scene");
    if (scene === null) listScenes(root);
    else await show(scene, root);
    return;
  }
  const bridge = await chooseBridge();
  render(() => <App bridge={bridge} />, root);
}

const root = document.getElementById("root");
if (root) void start(root);
