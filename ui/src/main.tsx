// Starts the window: on the program's bridge, or, outside of the program, on a recorded session.

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

void chooseBridge().then((bridge) => {
  const root = document.getElementById("root");
  if (root) render(() => <App bridge={bridge} />, root);
});
