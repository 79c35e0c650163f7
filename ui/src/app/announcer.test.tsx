import { screen, waitFor } from "@solidjs/testing-library";
import { beforeEach, expect, test } from "vitest";
import { ROOT, showDemo } from "../testing";

beforeEach(() => localStorage.clear());

test("news are said aloud: who waits and who is done, and not what was there before", async () => {
  const bridge = showDemo(5902);
  const news = await screen.findByRole("status", { name: "News" });
  expect(news.textContent).toBe("");
  bridge.inject([{ type: "agent_ended", agent: "agt_fork_docs", outcome: { kind: "completed", report: "Done." } }]);
  await waitFor(() => expect(news.textContent).toBe("Fork Update the docs: Done."));
  bridge.inject([
    {
      type: "permission_requested",
      agent: ROOT,
      request: {
        id: "req_new",
        asker: [{ agent: ROOT, kind: "root", title: "Root" }],
        directory: "/p",
        isolated: false,
        call: "c",
        tool: "Bash",
        input: "{}",
        access: { kind: "command", command: "ls" },
        reason: "",
        suggested_rules: [],
        created_at: "2026-01-01T00:00:00Z",
      },
    },
  ]);
  await waitFor(() => expect(news.textContent).toBe("Root waits for you: Bash."));
});
