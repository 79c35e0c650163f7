// Every view of the window, by name: which session it shows, what the window remembers, and what is done before it is
// looked at. `cargo xtask screenshots` makes pictures of all of them; tests go through them, too.

import type { Bridge } from "../bridge";
import type { Playback, Recording, RecordedBridge } from "../bridge.recorded";
import demo from "../recordings/demo.json";
import type { Act } from "./act";
import { PROJECT, SESSION } from "./play";
import { empty, long, outputs, states, texts } from "./sessions";
import { stream } from "./stream";

export interface Scene {
  recording: () => Recording;
  playback?: Playback;
  /** What the window remembers from before, as `prefs` stores it. */
  remembered?: Record<string, string>;
  /** Changes what the bridge answers. */
  bridge?: (bridge: RecordedBridge) => Bridge;
  acts?: Act[];
  /** What goes on while it is looked at. */
  live?: (bridge: RecordedBridge) => void;
}

const recorded = demo as Recording;
const still = (at: number): Playback => ({ skipTo: at, speed: 0 });
const never = () => new Promise<never>(() => undefined);
const refuse = (message: string, hint: string) => async () => Promise.reject({ code: "failed", message, hint });

/** A tab of the inspector, which a small window shows only when it is asked for. */
const tab = (name: string): Act[] => [{ find: "Agent actions" }, { press: "Alt 3" }, { click: name }];

/** The demo at a moment, with an agent selected. */
const played = (at: number, agent?: string, acts?: Act[]): Scene => ({
  recording: () => recorded,
  playback: still(at),
  ...(agent === undefined ? {} : { remembered: { [`agent.${recorded.session}`]: agent } }),
  ...(acts === undefined ? {} : { acts }),
});
const shown = (recording: () => Recording, agent?: string, acts?: Act[]): Scene => ({
  recording,
  playback: still(0),
  ...(agent === undefined ? {} : { remembered: { [`agent.${SESSION}`]: agent } }),
  ...(acts === undefined ? {} : { acts }),
});
const fresh = (startup: Partial<Recording["startup"]> = {}): (() => Recording) => () => ({
  ...recorded,
  startup: { ...recorded.startup, project: null, ...startup },
});

export const SCENES: Record<string, Scene> = {
  starting: { recording: fresh(), bridge: (bridge) => ({ ...bridge, startup: never }) },
  "first-start": { recording: fresh() },
  "first-start-with-model": { recording: fresh({ demo: false, provider: "anthropic", model: "sonnet", key: "keychain" }) },
  "first-start-problem": {
    recording: fresh(),
    bridge: (bridge) => ({ ...bridge, openProject: refuse("The folder /home/ana/tidepool can't be read: permission denied.", "Choose another folder, or change its permissions."), pickFolder: async () => PROJECT }),
    acts: [{ click: "Open a folder…" }, { see: "can't be read" }],
  },
  trust: {
    recording: () => ({
      ...recorded,
      trust: {
        trust: "unknown",
        place: "/home/ana/tidepool/.offshoot",
        would_activate: ["Allow Bash(npm test *) without asking", "Run `./scripts/check.sh` before every Bash call", "Add the folder ../shared to what may be written", "Bring along 3 roles"],
      },
    }),
    acts: [{ see: "Trust this folder?" }],
  },
  empty: shown(empty),
  "empty-tasks": shown(empty, undefined, tab("Tasks")),
  "empty-requests": shown(empty, undefined, tab("Requests")),
  writing: played(3000),
  request: played(5902, "agt_fork_cache", tab("Requests")),
  "request-elsewhere": played(5902, "agt_root", tab("Requests")),
  review: played(6352, "agt_fork_parser", tab("Review")),
  tasks: played(6352, "agt_fork_parser", tab("Tasks")),
  report: played(6592, "agt_root"),
  states: shown(states),
  "states-tasks": shown(states, "root", tab("Tasks")),
  "states-costs": shown(states, "root", tab("Costs")),
  costs: played(6592, "agt_root", tab("Costs")),
  failed: shown(states, "failed"),
  interrupted: shown(states, "interrupted"),
  running: shown(states, "running"),
  overloaded: shown(states, "below"),
  "reply-to-request": shown(states, "waiting", tab("Requests")),
  texts: shown(texts),
  "texts-fork": shown(texts, "long"),
  "texts-request": shown(texts, "deep", tab("Requests")),
  outputs: shown(outputs, "root", [{ click: "Bash cargo test" }]),
  "outputs-long": shown(outputs, "root", [{ click: "Bash cat access.log" }]),
  long: shown(() => long(10_000, 60)),
  streaming: { ...shown(() => long(10_000, 80), "agent_0"), live: (bridge) => stream(bridge, 20) },
  find: played(6592, "agt_root", [{ see: "All three are under way" }, { press: "Ctrl f" }, { write: "station", into: "Find in the conversation" }]),
  palette: played(6592, undefined, [{ press: "Ctrl k" }]),
  "palette-none": played(6592, undefined, [{ press: "Ctrl k" }, { write: "qqq", into: "Search commands, agents and sessions" }]),
  help: played(6592, undefined, [{ press: "?" }]),
  settings: played(6592, undefined, [{ press: "Ctrl ," }]),
  rename: shown(states, "root", [{ click: "Agent actions" }, { click: "Rename session…" }]),
  link: shown(states, undefined, [{ click: "https://example.com/tides?format=csv" }]),
  "agent-actions": shown(states, "running", [{ click: "Agent actions" }]),
  "message-commands": shown(empty, undefined, [{ write: "/" }]),
  "message-mention": shown(states, undefined, [{ write: "Ask @" }]),
  "message-long": shown(empty, undefined, [{ write: `${"A message that is long enough to need more than one line in the field, because it explains things. ".repeat(9)}` }]),
  "message-problem": shown(empty, undefined, [{ write: "/frok it" }, { press: "Enter" }]),
  "conversation-unreadable": { ...shown(states), bridge: (bridge) => ({ ...bridge, conversation: refuse("The session's log can't be read: disk I/O error.", "Check the disk, then try again.") }) },
  "conversation-loading": { ...shown(states), bridge: (bridge) => ({ ...bridge, conversation: never }) },
  notices: { ...shown(states), bridge: (bridge) => ({ ...bridge, command: refuse("The agent has ended.", "Resume it, or write to its parent.") }), acts: [{ write: "hello" }, { press: "Enter" }, { see: "The agent has ended." }] },
  roles: played(6592, undefined, [{ press: "Ctrl k" }, { click: "Roles" }, { see: "reviewer" }]),
  "zoom-200": { ...played(6592), remembered: { zoom: "200" } },
  "zoom-80": { ...played(6592), remembered: { zoom: "80" } },
  "sides-hidden": { ...played(6592), remembered: { leftOpen: "false", rightOpen: "false" } },
};
