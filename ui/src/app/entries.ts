// What the command palette offers: agents, actions of the selected one, of the window, and other sessions.

import { movable, sendToBackground } from "../agents/handOver";
import { KIND_WORD, faceOfState, isAtWork, isFinished, pathTo, titleOf } from "../agents/state";
import type { IconName } from "../parts/Icon";
import { plural } from "../parts/time";
import type { AppStore } from "../store";
import { zoomBy } from "./keys";

export interface Entry {
  label: string;
  about: string;
  icon: IconName;
  keys?: string;
  run: () => void;
}

export function allEntries(app: AppStore): Entry[] {
  return [...agents(app), ...ofSession(app), ...ofWindow(app), ...ofAgent(app), ...sessions(app)];
}

function agents(app: AppStore): Entry[] {
  const state = app.session()?.state;
  return (state?.order ?? []).flatMap((id) => {
    const agent = state?.agents[id];
    if (!state || !agent) return [];
    return [{ label: titleOf(state, agent), about: `${KIND_WORD[agent.kind]} · ${faceOfState(agent.state).word}`, icon: agent.kind, run: () => app.select(id) }];
  });
}

function ofSession(app: AppStore): Entry[] {
  const session = app.session();
  if (!session) return [];
  return [
    { label: "New session", about: "In this project", icon: "plus", run: () => void app.newSession() },
    { label: "Rename session…", about: session.state.title, icon: "edit", run: () => app.askRename({ id: session.id, title: session.state.title }) },
    { label: "Open folder…", about: "Another project", icon: "folder", run: () => void app.pickFolder() },
    { label: "Trust this folder or not…", about: "What its own files may ask for", icon: "shield", run: () => void app.reviewTrust() },
    { label: "Show requests", about: "Permission requests of all agents", icon: "bell", run: () => app.showRequests() },
    { label: "Show review", about: "Changes of the selected agent", icon: "branch", run: () => show(app, "review") },
    { label: "Show tasks", about: "Plan and figures of the selected agent", icon: "plan", run: () => show(app, "tasks") },
    { label: "Show costs", about: "Money, cache and who ran when", icon: "plan", run: () => show(app, "costs") },
  ];
}

function ofWindow(app: AppStore): Entry[] {
  const { prefs } = app;
  const side = (isOpen: boolean) => (isOpen ? "Hide" : "Show");
  return [
    { label: "Roles", about: "What agents can be", icon: "subagent", run: () => app.setSheet("roles") },
    { label: "Settings", about: "Model, key, theme and zoom", icon: "settings", keys: "Ctrl ,", run: () => app.setSheet("settings") },
    { label: "Keyboard", about: "All keys", icon: "keyboard", keys: "?", run: () => app.setSheet("help") },
    { label: `${side(prefs.leftOpen())} the agents`, about: "Left side", icon: "sidebar", keys: "Ctrl B", run: () => prefs.setLeftOpen(!prefs.leftOpen()) },
    { label: `${side(prefs.rightOpen())} the inspector`, about: "Right side", icon: "inspector", keys: "Ctrl J", run: () => prefs.setRightOpen(!prefs.rightOpen()) },
    { label: "Zoom in", about: `${prefs.zoom()} %`, icon: "plus", keys: "Ctrl +", run: () => zoomBy(app, 10) },
    { label: "Zoom out", about: `${prefs.zoom()} %`, icon: "search", keys: "Ctrl −", run: () => zoomBy(app, -10) },
    { label: "Theme of the system", about: "Appearance", icon: "settings", run: () => prefs.setTheme("system") },
    { label: "Light theme", about: "Appearance", icon: "settings", run: () => prefs.setTheme("light") },
    { label: "Dark theme", about: "Appearance", icon: "settings", run: () => prefs.setTheme("dark") },
    { label: "High contrast theme", about: "Appearance", icon: "settings", run: () => prefs.setTheme("contrast") },
  ];
}

/** Only what can be done right now. */
function ofAgent(app: AppStore): Entry[] {
  const session = app.session();
  const agent = app.agent();
  if (!session || !agent) return [];
  const { id, state } = agent;
  const about = titleOf(session.state, agent);
  const parent = pathTo(session.state, id).at(-2);
  const list: Entry[] = [];
  if (isAtWork(state)) list.push({ label: "Interrupt", about, icon: "interrupted", keys: "Esc", run: () => void app.send({ type: "interrupt", agent: id }) });
  if (!isFinished(state) && state.kind !== "idle") list.push({ label: "Stop", about, icon: "stopped", run: () => void app.send({ type: "stop", agent: id }) });
  if (["stopped", "interrupted", "failed"].includes(state.kind)) list.push({ label: "Resume", about, icon: "play", run: () => void app.send({ type: "resume", agent: id }) });
  const moved = movable(session.state, agent);
  if (moved.length > 0) list.push({ label: "Send to background", about: moved.length === 1 ? (moved[0]?.title ?? "") : plural(moved.length, "agent"), icon: "down", run: () => sendToBackground(app, moved) });
  if (agent.messages > 0) {
    const last = { agent: id, messages: agent.messages };
    list.push({ label: "Fork from here…", about, icon: "fork", run: () => app.setForkPoint(last) });
    list.push({ label: "Compact", about: "Go on behind a summary", icon: "plan", run: () => void app.send({ type: "compact", agent: id, instructions: "" }) });
  }
  if (parent) list.push({ label: "Go to the parent agent", about: titleOf(session.state, parent), icon: "up", keys: "Alt ↑", run: () => app.select(parent.id) });
  return list;
}

function sessions(app: AppStore): Entry[] {
  const open = app.session()?.id;
  return app
    .sessions()
    .filter((summary) => summary.id !== open)
    .map((summary) => ({ label: summary.title, about: "Session", icon: "message", run: () => void app.openSession(summary.id) }));
}

function show(app: AppStore, tab: "review" | "tasks" | "costs"): void {
  app.setTab(tab);
  if (tab === "costs") void app.loadPrices();
  app.prefs.setRightOpen(true);
}
