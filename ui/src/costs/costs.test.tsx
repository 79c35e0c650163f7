import { fireEvent, screen, within } from "@solidjs/testing-library";
import { expect, test } from "vitest";
import type { Event } from "../protocol.gen";
import { ROOT, showDemo } from "../testing";
import { lanes } from "./timeline";
import type { AgentView } from "../protocol.gen";

const ended = (missed?: object): Partial<Event> =>
  ({
    type: "step_ended",
    agent: ROOT,
    stop_reason: "end_turn",
    duration_ms: 1,
    usage: { input: 1_000, cache_read: 90_000, cache_write: 2_000, output: 500 },
    asked: { model: "claude-sonnet-4-5", seller: "provider", head: "h" },
    ...(missed ? { missed } : {}),
  }) as Partial<Event>;

test("tokens, money and a miss with its reason stand in the tree, the header and the inspector", async () => {
  const bridge = showDemo(3_000);
  const inspector = await screen.findByRole("region", { name: "Inspector" });
  bridge.inject([ended(), ended({ tokens: 88_000, reason: { kind: "expired", unused_s: 620 } })]);
  const chip = await screen.findByRole("button", { name: /^Costs: \$0\.0900/ });
  fireEvent.click(chip);
  expect(await within(inspector).findByText("The entry expired: unused for 10 min")).toBeTruthy();
  expect(within(inspector).getByText(/88k tokens paid again/)).toBeTruthy();
  expect(within(inspector).getByRole("row", { name: /^claude-sonnet-4-5 2k 180k 4k 1k \$0\.0900/ })).toBeTruthy();
  const row = screen.getAllByRole("treeitem")[0];
  expect(row?.textContent).toContain("$0.0900");
});

test("a lane per agent, from its making to its end, inside one scale", () => {
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
  const agent = (id: string, more: Partial<AgentView>) => ({ id, background: true, created_at: at(0), ...more }) as AgentView;
  const drawn = lanes(
    [
      agent("r", { started_at: at(0), ended_at: at(100) }),
      agent("f", { parent: "r", created_at: at(20), started_at: at(30), ended_at: at(60) }),
      agent("s", { parent: "r", background: false, created_at: at(50) }),
    ],
    Date.parse(at(0)),
    () => false,
  );
  expect(drawn.length).toBe(100_000);
  expect(drawn.lanes).toEqual([
    { id: "r", level: 0, created: 0, started: 0, ended: 100, isAwaited: false },
    { id: "f", level: 1, created: 20, started: 30, ended: 60, isAwaited: false },
    { id: "s", level: 1, created: 50, started: undefined, ended: 50, isAwaited: true },
  ]);
});
