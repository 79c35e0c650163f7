import { expect, test } from "vitest";
import type { Block, Message } from "../protocol.gen";
import { conversationAsMarkdown, fence, messageAsMarkdown, messageWithCalls } from "./markdown";

const text = (words: string, origin: Extract<Block, { type: "text" }>["origin"] = "model"): Block => ({ type: "text", text: words, origin });
const answer: Message = {
  role: "assistant",
  blocks: [{ type: "thinking", thinking: "hm", signature: "" }, text("I **run** it.\n"), { type: "call", id: "c", name: "Bash", input: '{"command": "ls"}' }, text("Done.")],
};
const calls = { c: { state: "ended" as const, result: { content: "\u001b[31ma\u001b[0m\n", is_error: false, duration_ms: 1 } } };

test("a message is copied as it was written, all its texts and no thinking", () => {
  expect(messageAsMarkdown(answer)).toBe("I **run** it.\n\nDone.");
});

test("with its calls, colours left out", () => {
  expect(messageWithCalls(answer, calls)).toBe("I **run** it.\n\n**Bash**\n\n```sh\nls\n```\n\n```text\na\n```\n\nDone.");
});

test("a fence is longer than any inside", () => {
  expect(fence("a ```` b", "text")).toBe("`````text\na ```` b\n`````");
});

test("a conversation has headings, and leaves out what the program wrote around", () => {
  const messages: Message[] = [
    { role: "user", blocks: [text("<fork-directive>\nrules\n</fork-directive>\nFix it.", "directive"), text("roles", "reminder")] },
    answer,
    { role: "user", blocks: [{ type: "result", id: "c", content: "a", is_error: false }] },
    { role: "assistant", blocks: [text("More.")] },
    { role: "user", blocks: [text("مرحبا", "user")] },
  ];
  expect(conversationAsMarkdown("A\nb", { first: 2, messages, calls: {} })).toBe(
    "# A b\n\n(The first 2 messages are left out.)\n\n## Task\n\nFix it.\n\n## Agent\n\nI **run** it.\n\n**Bash**\n\n```sh\nls\n```\n\nDone.\n\nMore.\n\n## You\n\nمرحبا\n",
  );
});
