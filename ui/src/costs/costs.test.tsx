import { fireEvent, screen, within } from "@solidjs/testing-library";
import { expect, test, vi } from "vitest";
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

test("a folded row stands for all below it", async () => {
  const bridge = showDemo(60_000);
  const tree = await screen.findByRole("tree");
  const child = within(tree).getAllByRole("treeitem")[1]?.dataset["agent"];
  bridge.inject([ended(), { ...ended(), agent: child } as Partial<Event>]);
  const root = () => within(tree).getAllByRole("treeitem")[0];
  await vi.waitFor(() => expect(root()?.textContent).toContain("$0.0450"));
  root()?.focus();
  fireEvent.keyDown(tree, { key: "ArrowLeft" });
  await vi.waitFor(() => expect(root()?.textContent).toContain("$0.0900"));
});

test("a lane per agent, with its turns and what it waited for, inside one scale", () => {
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
  const agent = (id: string, more: Partial<AgentView>) => ({ id, background: true, created_at: at(0), turns: [], ...more }) as AgentView;
  const drawn = lanes(
    [
      agent("r", { turns: [{ started_at: at(0), ended_at: at(40) }, { started_at: at(70), ended_at: at(100) }] }),
      agent("s", { parent: "r", background: false, created_at: at(10), turns: [{ started_at: at(20), ended_at: at(30) }] }),
      agent("f", { parent: "r", created_at: at(50), turns: [{ started_at: at(60) }] }),
    ],
    Date.parse(at(90)),
  );
  expect(drawn.length).toBe(100_000);
  expect(drawn.lanes).toEqual([
    { id: "r", level: 0, life: { from: 0, to: 100 }, turns: [{ from: 0, to: 40 }, { from: 70, to: 100 }], waits: [{ from: 10, to: 30 }], worked: 70_000 },
    { id: "s", level: 1, life: { from: 10, to: 30 }, turns: [{ from: 20, to: 30 }], waits: [], worked: 10_000 },
    { id: "f", level: 1, life: { from: 50, to: 90 }, turns: [{ from: 60, to: 90 }], waits: [], worked: 30_000 },
  ]);
});
