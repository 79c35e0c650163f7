// Keys that work everywhere in the window.

import { pathTo } from "../agents/state";
import type { AppStore } from "../store";

export interface KeyHelp {
  keys: string;
  does: string;
}

export const KEYS: { title: string; keys: KeyHelp[] }[] = [
  {
    title: "Everywhere",
    keys: [
      { keys: "Ctrl K", does: "Command palette" },
      { keys: "?", does: "This sheet" },
      { keys: "Ctrl F", does: "Find in the conversation" },
      { keys: "Ctrl ,", does: "Settings" },
      { keys: "Ctrl B", does: "Show or hide the agents" },
      { keys: "Ctrl J", does: "Show or hide the inspector" },
      { keys: "Alt 1 2 3", does: "Go to agents, message, inspector" },
      { keys: "Alt ↑", does: "Go to the parent agent" },
      { keys: "Ctrl + − 0", does: "Zoom" },
    ],
  },
  {
    title: "Message",
    keys: [
      { keys: "Enter", does: "Send" },
      { keys: "Shift Enter", does: "Break the line" },
      { keys: "Esc", does: "Interrupt the turn" },
      { keys: "↑ ↓", does: "Earlier messages, at the start and end of the text" },
      { keys: "↑", does: "In an empty message: take back the queued one" },
      { keys: "/", does: "Commands" },
      { keys: "@", does: "Agents and files" },
    ],
  },
  {
    title: "Agents",
    keys: [
      { keys: "↑ ↓", does: "Move" },
      { keys: "← →", does: "Fold and unfold" },
      { keys: "Enter", does: "Look at the agent" },
    ],
  },
  {
    title: "A request that has the focus",
    keys: [
      { keys: "a", does: "Allow once" },
      { keys: "d", does: "Deny" },
    ],
  },
  {
    title: "Review",
    keys: [
      { keys: "n p", does: "Next and previous hunk" },
      { keys: "[ ]", does: "Previous and next file" },
    ],
  },
];

export function globalKey(app: AppStore, event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
  const command = event.ctrlKey || event.metaKey;
  const action = command && !event.altKey ? commandKey(app, event.key) : event.altKey && !command ? altKey(app, event) : plainKey(app, event);
  if (!action) return;
  event.preventDefault();
  action();
}

function commandKey(app: AppStore, key: string): (() => void) | undefined {
  const { prefs } = app;
  switch (key.toLowerCase()) {
    case "k":
      return () => app.setSheet(app.sheet() === "palette" ? undefined : "palette");
    case ",":
      return () => app.setSheet("settings");
    case "b":
      return () => prefs.setLeftOpen(!prefs.leftOpen());
    case "j":
      return () => prefs.setRightOpen(!prefs.rightOpen());
    case "+":
    case "=":
      return () => zoomBy(app, 10);
    case "-":
      return () => zoomBy(app, -10);
    case "0":
      return () => prefs.setZoom(100);
    default:
      return undefined;
  }
}

/** Between 80 and 200 %. */
export function zoomBy(app: AppStore, percent: number): void {
  app.prefs.setZoom(Math.min(200, Math.max(80, app.prefs.zoom() + percent)));
}

function altKey(app: AppStore, event: KeyboardEvent): (() => void) | undefined {
  switch (event.key) {
    case "1":
      return () => focusIn('[aria-label="Agents"] [role="treeitem"][tabindex="0"]');
    case "2":
      return () => focusIn('[aria-label="Message"]');
    case "3":
      return () => {
        app.prefs.setRightOpen(true);
        queueMicrotask(() => focusIn('[aria-label="Inspector"] [role="tab"][tabindex="0"]'));
      };
    case "ArrowUp":
      return () => {
        const session = app.session();
        const id = app.selected();
        const parent = session && id !== undefined ? pathTo(session.state, id).at(-2) : undefined;
        if (parent) app.select(parent.id);
      };
    default:
      return undefined;
  }
}

function plainKey(app: AppStore, event: KeyboardEvent): (() => void) | undefined {
  if (event.key !== "?" || isTyping(event.target)) return undefined;
  return () => app.setSheet("help");
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
}

function focusIn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}
