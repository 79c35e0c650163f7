import { render } from "@solidjs/testing-library";
import { createSignal } from "solid-js";
import { expect, test } from "vitest";
import { Markdown } from "./Markdown";

test("only the open block is drawn again while a text is written", () => {
  const [text, setText] = createSignal("# Head\n\nFirst paragraph.\n\nSecond ");
  const page = render(() => <Markdown text={text()} streaming />);
  const before = [...page.container.querySelectorAll(".md-block")].map((block) => block.firstElementChild);
  setText((old) => `${old}paragraph grows.`);
  const after = [...page.container.querySelectorAll(".md-block")].map((block) => block.firstElementChild);
  expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
  expect(after.slice(0, -1).every((element, at) => element === before[at])).toBe(true);
  expect(after.at(-1)?.textContent).toBe("Second paragraph grows.");
});

test("a long code block is plain text while it is written, and gets its colours at its end", () => {
  const code = `\`\`\`rust\n${"fn one() -> u32 { 1 }\n".repeat(400)}`;
  const [text, setText] = createSignal(code);
  const [live, setLive] = createSignal(true);
  const page = render(() => <Markdown text={text()} streaming={live()} />);
  const block = page.container.querySelector("code");
  expect(block?.querySelector("span")).toBeNull();
  setText((old) => `${old}fn last() {}\n`);
  expect(page.container.querySelector("code"), "the same element, only with more text").toBe(block);
  expect(block?.textContent).toContain("fn last() {}");
  expect(block?.textContent).not.toContain("```");
  setText((old) => `${old}\`\`\`\n`);
  setLive(false);
  expect(page.container.querySelectorAll("code .hljs-keyword").length).toBeGreaterThan(300);
});
