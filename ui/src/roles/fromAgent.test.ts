import { expect, it } from "vitest";
import type { AgentView, Conversation } from "../protocol.gen";
import { nameOf, roleOf } from "./fromAgent";

it("makes a role of what an agent was asked and used", () => {
  const agent = { title: "Fix: the parser!", model: "m-1", color: "teal" } as AgentView;
  const text = (text: string, origin: string) => ({ type: "text", text, origin });
  const conversation = {
    messages: [
      { role: "user", blocks: [text("reminder", "reminder"), text("Fix\nit", "brief")] },
      { role: "assistant", blocks: [{ type: "call", id: "1", name: "Read", input: "{}" }, { type: "call", id: "2", name: "Agent", input: "{}" }] },
      { role: "assistant", blocks: [{ type: "call", id: "3", name: "Bash", input: "{}" }, { type: "call", id: "4", name: "Read", input: "{}" }] },
    ],
  } as unknown as Conversation;
  const role = roleOf(agent, conversation);
  expect(role).toMatchObject({ tools: ["Bash", "Read"], model: "m-1", color: "teal", isolation: "shared" });
  expect(role.body).toContain("> Fix\n> it");
});

it("makes names that a role can have", () => {
  expect(nameOf("Fix: the parser!")).toBe("fix-the-parser");
  expect(nameOf("修复 解析器")).toBe("修复-解析器");
  expect(nameOf("../../..")).toBe("");
  expect([...nameOf("ä".repeat(99))].length).toBe(40);
});
