import { fireEvent, render, screen, waitFor, within } from "@solidjs/testing-library";
import { beforeEach, expect, test } from "vitest";
import { App } from "../app/App";
import { recordedBridge, type Frame } from "../bridge.recorded";
import type { EventBody, WorktreeView } from "../protocol.gen";
import { recording } from "../testing";
import { endOf, wordsOf } from "./words";

beforeEach(() => localStorage.clear());

test("a worktree in the making says how far it is", () => {
  expect(wordsOf(undefined, "").percent).toBeUndefined();
  expect(wordsOf({ done: 0, all: 0 }, "")).toEqual({ text: "Laying out the files.", percent: undefined });
  expect(wordsOf({ done: 19_999, all: 80_000 }, "").percent).toBe(24);
  expect(wordsOf({ done: 80_000, all: 80_000 }, "npm ci").text).toContain("setup");
  const ran = { command: "x", output: "", confinement: "", duration_ms: 1 };
  expect([endOf({ ...ran, exit: 0 }), endOf({ ...ran, exit: 2 }), endOf(ran)]).toEqual(["", "exit 2", "ended early"]);
});

/** The demo with more behind it, about the fork that mends the leap year. */
async function after(bodies: EventBody[], deltas: (agent: string) => Frame["batch"]["deltas"]) {
  const at = 13_000;
  const played = recording.frames.filter((frame) => frame.at_ms <= at);
  const events = played.flatMap((frame) => frame.batch.events);
  const fork = events.find((event) => event.type === "agent_created" && /leap-year/.test(event.title))?.agent ?? "";
  const seq = events.reduce((most, event) => Math.max(most, event.seq), 0);
  const more = bodies.map((body, index) => ({
    ...body,
    seq: seq + 1 + index,
    at: "2026-01-01T00:00:00Z",
    session: recording.session,
    agent: fork,
  }));
  const frame: Frame = { at_ms: at, batch: { events: more, deltas: deltas(fork) } };
  render(() => <App bridge={recordedBridge({ ...recording, frames: [...played, frame] }, { skipTo: at, speed: 0 })} />);
  return fork;
}

const PLANNED: WorktreeView = { path: "/w/x", branch: "offshoot/x", base: "", base_is_snapshot: false, state: { kind: "making" } };

test("while a worktree is being made its files are counted, and then there is what its setup said", async () => {
  const setup = { command: "npm ci", exit: 1, output: "no such package", confinement: "confined by bubblewrap", duration_ms: 1200 };
  await after([{ type: "worktree_planned", worktree: PLANNED }, { type: "setup_ran", ...setup }], () => []);
  fireEvent.click(await screen.findByRole("treeitem", { name: /leap-year/ }));
  fireEvent.click(screen.getByRole("tab", { name: /Review/ }));
  const panel = await screen.findByRole("region", { name: "Changes" });
  const bar = await within(panel).findByRole("progressbar", { name: "Files in the worktree" });
  expect(bar.getAttribute("aria-valuenow")).toBeNull();
  fireEvent.click(screen.getByRole("tab", { name: /Tasks/ }));
  const list = await screen.findByRole("list", { name: "Setup of the worktree" });
  await waitFor(() => expect(list.textContent).toContain("exit 1"));
  expect(list.textContent).toContain("no such package");
});
