// A message or a whole conversation as Markdown, to be pasted elsewhere. Pure. Thinking stays out: it is no answer.

import { stripAnsi } from "../parts/ansi";
import type { Block, Message } from "../protocol.gen";
import { parseInput } from "../session/calls";
import type { TranscriptState } from "../session/transcript";
import { parseNotification } from "./notification";
import { readFrames } from "./framed";

/** Of a call's input and output no more than this many characters are copied. */
const LONGEST = 20_000;

/** What was written in a message, without what the program put around it. */
export function messageAsMarkdown(message: Message): string {
  return join(message.blocks.flatMap((block) => (block.type === "text" ? [textOf(block)] : [])));
}

/** The same with the calls of the message and what they returned. */
export function messageWithCalls(message: Message, calls: TranscriptState["calls"]): string {
  return join(
    message.blocks.map((block) => {
      if (block.type === "text") return textOf(block);
      return block.type === "call" ? callAsMarkdown(block, calls[block.id]?.result?.content) : "";
    }),
  );
}

/** The loaded messages under headings that say who wrote them. */
export function conversationAsMarkdown(title: string, transcript: Pick<TranscriptState, "first" | "messages" | "calls">): string {
  const parts = [`# ${title.replace(/\s+/g, " ")}`];
  if (transcript.first > 0) parts.push(`(The first ${transcript.first} messages are left out.)`);
  let before: string | undefined;
  for (const message of transcript.messages) {
    const text = messageWithCalls(message, transcript.calls);
    if (text === "") continue;
    const who = speaker(message);
    if (who !== before) parts.push(`## ${who}`);
    before = who;
    parts.push(text);
  }
  return `${join(parts)}\n`;
}

function speaker(message: Message): string {
  if (message.role === "assistant") return "Agent";
  const origin = message.blocks.find((block) => block.type === "text")?.origin;
  return origin === "summary" ? "Summary" : origin === "notification" ? "Notification" : origin === "directive" || origin === "brief" ? "Task" : "You";
}

function textOf(block: Extract<Block, { type: "text" }>): string {
  switch (block.origin) {
    case "reminder":
      return "";
    case "notification": {
      const told = parseNotification(block.text);
      return join([`**${told.description ?? told.taskId ?? "A task"}**: ${told.status ?? "reports"}`, told.summary]);
    }
    case "directive":
    case "brief":
      return readFrames(block.text).text;
    default:
      return block.text.trim();
  }
}

function callAsMarkdown(call: Extract<Block, { type: "call" }>, result: string | undefined): string {
  const command = parseInput(call.input)["command"];
  const input = typeof command === "string" ? fence(command, "sh") : fence(call.input, "json");
  return join([`**${call.name}**`, input, result === undefined || result.trim() === "" ? "" : fence(result, "text")]);
}

/** A fence that nothing inside can close. */
export function fence(text: string, language: string): string {
  const body = stripAnsi(text.length > LONGEST ? `${text.slice(0, LONGEST)}\n…` : text).replace(/\n+$/, "");
  const longest = Math.max(2, ...Array.from(body.matchAll(/`+/g), (run) => run[0].length));
  const marks = "`".repeat(longest + 1);
  return `${marks}${language}\n${body}\n${marks}`;
}

function join(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}
