import { describe, expect, test } from "vitest";
import { parseAnsi, stripAnsi } from "./ansi";
import { cutOutput, lastLines, pieces } from "./cut";
import { highlightLines, languageOf } from "./highlight";
import { hasUnseen, showUnseen } from "./invisible";
import { renderBlock, splitBlocks } from "./render";
import { amount, clockSpan, span } from "./time";

describe("terminal output", () => {
  const table: [string, string, string][] = [
    ["colours", "\u001b[31mred\u001b[0m plain", "red plain"],
    ["cursor movement", "a\u001b[2Ab\u001b[10;5Hc\u001b[2Jd\u001b[?25l", "abcd"],
    ["links (OSC 8)", "\u001b]8;;https://evil.example\u0007text\u001b]8;;\u0007", "text"],
    ["clipboard writes (OSC 52)", "a\u001b]52;c;cm0gLXJmIC8=\u001b\\b", "ab"],
    ["titles that never end", "a\u001b]0;title", "a"],
    ["alternate screen", "\u001b[?1049hx\u001b[?1049l", "x"],
    ["device strings", "a\u001bPq#0;2;0\u001b\\b", "ab"],
    ["eight-bit controls", "a\u009b31mb\u009d0;t\u009cc", "abc"],
    ["bells and backspaces", "a\u0007b\u0008c\u0000", "abc"],
    ["carriage returns", "10 %\r50 %\r100 %\ndone\r\n", "100 %\ndone\n"],
    ["a lone escape at the end", "abc\u001b", "abc"],
  ];
  test.each(table)("%s leave only the text", (_, input, text) => {
    expect(parseAnsi(input).map((piece) => piece.text).join("")).toBe(text);
    expect(stripAnsi(input)).toBe(text);
  });

  test("colours and weights become classes", () => {
    expect(parseAnsi("\u001b[1;32mok\u001b[22m no\u001b[38;5;196mx\u001b[38;2;0;0;255my\u001b[0mz")).toEqual([
      { text: "ok", class: "ansi-bold ansi-fg-2" },
      { text: " no", class: "ansi-fg-2" },
      { text: "x", class: "ansi-fg-1" },
      { text: "y", class: "ansi-fg-4" },
      { text: "z", class: "" },
    ]);
  });
});

test("characters that can't be seen are named", () => {
  const names = (text: string) => showUnseen(text).flatMap((piece) => piece.unseen ?? []);
  expect(names("rm \u202etxt.exe")).toEqual(["RLO"]);
  expect(names("a\u200bb\u2066c\u2069\ufeff\u00a0\u00ad")).toEqual(["ZWSP", "LRI", "PDI", "BOM", "NBSP", "SHY"]);
  expect(names("\u001b[31m\r\u0000")).toEqual(["ESC", "CR", "NUL"]);
  expect(names("tag \u{e0061}")).toEqual(["U+E0061"]);
  expect(names("half \ud800 pair")).toEqual(["U+D800"]);
  expect(names("plain\ttext\n日本 🌱 é")).toEqual([]);
  expect(showUnseen("a\u200bb").map((piece) => piece.text).join("")).toBe("a\u200bb");
  // A question about one text changes nothing about the next look at a text.
  expect(hasUnseen("a long beginning of a command, then \u202e")).toBe(true);
  expect(names("rm \u202etxt.exe")).toEqual(["RLO"]);
});

function page(source: string): HTMLElement {
  const element = document.createElement("div");
  element.innerHTML = splitBlocks(source).map(renderBlock).join("");
  return element;
}

describe("hostile Markdown is inert", () => {
  test.each([
    ["<img src=x onerror=alert(1)>"],
    ["<style>*{display:none}</style>"],
    ['<base href="https://evil.example/">'],
    ["<script>alert(1)</script>"],
    ["<svg><animate onbegin=alert(1)></svg>"],
    ['<iframe srcdoc="<script>alert(1)</script>"></iframe>'],
    ['<a href="javascript:alert(1)" onclick="alert(1)">x</a>'],
  ])("%s", (source) => {
    const result = page(`before\n\n${source}\n\nafter`);
    expect(result.querySelectorAll("img, style, base, script, svg, iframe, a:not([href^='https:']), [onerror], [onclick]")).toHaveLength(0);
    expect(result.textContent).toContain("after");
  });

  test.each([
    ["[x](javascript:alert(1))"],
    ["[x](JaVaScRiPt:alert(1))"],
    ["[x](  javascript:alert(1))"],
    ["[x](java&#x73;cript:alert(1))"],
    ["[x](<java\tscript:alert(1)>)"],
    ["[x]: javascript:alert(1)\n\n[x]"],
    ["<javascript:alert(1)>"],
    ["[x](data:text/html,<script>alert(1)</script>)"],
    ["[x](file:///etc/passwd)"],
    ["[x](vbscript:msgbox)"],
  ])("%s is no link", (source) => {
    expect(page(source).querySelector("a")).toBeNull();
  });

  test("a remote image is named and not loaded", () => {
    const result = page("![tracking pixel](https://evil.example/p.png?id=1)");
    expect(result.querySelector("img")).toBeNull();
    expect(result.textContent).toContain("Image, not loaded: tracking pixel");
  });

  test.each([
    ["tags", "<b>".repeat(100_000)],
    ["quotations", ">".repeat(100_000)],
    ["brackets", "[".repeat(100_000)],
    ["emphasis", "*a ".repeat(50_000)],
    ["list levels", Array.from({ length: 2_000 }, (_, at) => `${" ".repeat(at * 2)}- x`).join("\n").slice(0, 100_000)],
    ["backticks", "`".repeat(99_999)],
  ])("100 000 %s take bounded time", (_, source) => {
    const start = performance.now();
    page(source);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

test("ordinary Markdown is drawn", () => {
  const result = page("# Title\n\n3. three\n\n| a | b |\n|--:|---|\n| 1 | `x` |\n\n```rust\nfn main() {}\n```\n\n<https://example.org> and main.rs");
  expect(result.querySelector("h1")?.textContent).toBe("Title");
  expect(result.querySelector("ol")?.getAttribute("start")).toBe("3");
  expect(result.querySelector("td.md-right")?.textContent).toBe("1");
  expect(result.querySelector("pre .hljs-keyword")?.textContent).toBe("fn");
  expect([...result.querySelectorAll("a")].map((link) => link.getAttribute("href"))).toEqual(["https://example.org"]);
  expect(result.querySelector("[style]")).toBeNull();
});

describe("a text is cut into blocks", () => {
  const table: [string, string, number][] = [
    ["paragraphs", "a\n\nb\n\nc", 3],
    ["a fence with empty lines", "a\n\n```\nx\n\ny\n```\n\nb", 3],
    ["an open fence", "a\n\n```\nx\n\ny", 2],
    ["a loose list", "- a\n\n- b\n\n  more of b\n\nafter", 2],
    ["nothing", "\n\n  \n", 0],
  ];
  test.each(table)("%s", (_, text, count) => {
    expect(splitBlocks(text)).toHaveLength(count);
  });

  test("and only the last one changes while it grows", () => {
    const text = "Intro\n\n```ts\nlet a = 1;\n\nlet b = 2;\n```\n\n1. one\n2. two\n\nDone.";
    let before: string[] = [];
    for (let end = 1; end <= text.length; end += 1) {
      const now = splitBlocks(text.slice(0, end));
      expect(now.slice(0, Math.max(0, before.length - 1))).toEqual(before.slice(0, -1));
      before = now;
    }
    expect(before).toHaveLength(4);
  });
});

describe("huge output", () => {
  test("is cut to head and tail", () => {
    const text = Array.from({ length: 5_000 }, (_, at) => `line ${at}`).join("\n");
    const cut = cutOutput(text);
    expect(cut.head.startsWith("line 0\n")).toBe(true);
    expect(cut.tail.endsWith("line 4999")).toBe(true);
    expect(cut.cutLines).toBe(4_880);
    expect(cut.head.length + cut.cutChars + cut.tail.length).toBe(text.length);
  });
  test("also when it is one line", () => {
    const cut = cutOutput("x".repeat(5_000_000));
    expect(cut.head.length + cut.tail.length).toBeLessThan(30_000);
    expect(pieces("x".repeat(5_000_000)).every((piece) => piece.length <= 4_000)).toBe(true);
  });
  test("loses nothing in pieces", () => {
    const text = `${"a\n".repeat(300)}${"b".repeat(9_000)}\nend`;
    expect(pieces(text).join("")).toBe(text);
  });
  test("small output is left alone", () => {
    expect(cutOutput("a\nb\n")).toEqual({ head: "a\nb\n", tail: "", cutLines: 0, cutChars: 0 });
    expect(lastLines("1\n2\n3\n", 2)).toBe("2\n3\n");
  });
});

test("highlighted lines hold the code, letter by letter", () => {
  const code = 'const a = "<b>&amp;\\"";\n/* two\nlines */ let c = `x${1}`;';
  const lines = highlightLines(code, languageOf("a/b.ts"));
  expect(lines?.map((line) => line.map((token) => token.text).join("")).join("\n")).toBe(code);
  expect(lines?.[1]?.[0]?.class).toContain("comment");
  expect(lines?.[2]?.[0]?.class).toContain("comment");
  expect(highlightLines("x".repeat(5_000), "rust")).toBeUndefined();
  expect(languageOf("LICENSE")).toBeUndefined();
});

test("times and amounts", () => {
  expect([clockSpan(7_000), clockSpan(760_000), clockSpan(3_729_000)]).toEqual(["0:07", "12:40", "1:02:09"]);
  expect([span(40), span(3_120), span(124_000)]).toEqual(["40 ms", "3.1 s", "2 min 4 s"]);
  expect([amount(980), amount(14_240), amount(3_100_000)]).toEqual(["980", "14.2k", "3.1M"]);
});
