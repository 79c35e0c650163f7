import { describe, expect, test } from "vitest";
import { fieldOf, gist, parseReport, reportedFiles } from "./report";

const fields = (text: string) => Object.fromEntries((parseReport(text)?.fields ?? []).map((field) => [field.name, field.text]));

describe("a report is read", () => {
  test("in the form that was asked for", () => {
    expect(fields("Scope: a\nResult: b\nKey files: c.rs\nFiles changed: d.rs\nIssues: none")).toEqual({
      scope: "a",
      result: "b",
      keyFiles: "c.rs",
      filesChanged: "d.rs",
      issues: "none",
    });
  });

  test.each([
    ["bold labels", "**Scope:** a\n\n**Result**: b"],
    ["headings", "## Scope\na\n## Result\nb"],
    ["headings with a colon", "### Scope:\n\na\n\n### RESULT:\n\nb"],
    ["list items", "- **scope**: a\n- **result**: b"],
    ["numbers", "1. Scope: a\n2. Result: b"],
    ["bold lines", "**Scope**\na\n\n**Result**\nb"],
    ["another case and other line ends", "SCOPE : a\r\nresult： b"],
    ["no blank behind the colon", "Scope:a\nResult:b"],
  ])("with %s", (_, text) => {
    expect(fields(text)).toEqual({ scope: "a", result: "b" });
  });

  test("with fields missing, renamed, and in another order", () => {
    expect(parseReport("Results: b\nChanged files: c\nkey_files: d")?.fields.map((field) => field.name)).toEqual(["result", "filesChanged", "keyFiles"]);
  });

  test("with several lines, Markdown and code that looks like a label", () => {
    const text = "Here it is.\n\nScope: x\nResult: Two things:\n\n  - one\n    - deep\n  - two\n\n```yaml\nissues: 3\n```\nIssues:\n- a\n- b";
    const report = parseReport(text);
    expect(report?.lead).toBe("Here it is.");
    expect(report && fieldOf(report, "result")?.text).toBe("Two things:\n\n  - one\n    - deep\n  - two\n\n```yaml\nissues: 3\n```");
    expect(report && fieldOf(report, "issues")?.text).toBe("- a\n- b");
  });

  test("without its shared indentation", () => {
    expect(fields("Scope: x\nResult: a\n  b\n\n    c")["result"]).toBe("a\nb\n\n  c");
  });

  test("with each label once: one that comes again is text", () => {
    expect(fields("Scope: a\nResult: b\nScope: c")).toEqual({ scope: "a", result: "b\nScope: c" });
  });

  test("and says where it has nothing to say", () => {
    const report = parseReport("Result: x\nFiles changed: None.\nIssues: **none**");
    expect(report?.fields.map((field) => field.isNone)).toEqual([false, true, true]);
  });
});

test.each([
  "Just an answer.",
  "Result: 4",
  "Key files: a\nIssues: b",
  "The scope: wide\nThe result: good",
  "```\nScope: a\nResult: b\n```",
  "",
])("%j is no report", (text) => {
  expect(parseReport(text)).toBeUndefined();
});

test("while it is written, its scope is enough", () => {
  expect(parseReport("Scope: fix th", true)?.fields).toEqual([{ name: "scope", text: "fix th", isNone: false }]);
  expect(parseReport("Hello. Scope: x", true)).toBeUndefined();
});

describe("files of a report", () => {
  test.each([
    ["lib/show.sh, README.md", ["lib/show.sh", "README.md"]],
    ["`a b.txt`, `c.rs`", ["a b.txt", "c.rs"]],
    ["- src/a.rs\n- src/b.rs — new (x, y)", ["src/a.rs", "src/b.rs"]],
    ["src/a.rs (two places, see below); src/b.rs", ["src/a.rs", "src/b.rs"]],
    ["`Makefile`", ["Makefile"]],
    ["文档/说明.md", ["文档/说明.md"]],
  ])("%j", (text, paths) => {
    expect(reportedFiles(text)?.map((file) => file.path)).toEqual(paths);
  });

  test("keep what is said about them", () => {
    expect(reportedFiles("`src/a.rs`, `b.rs` — commit `9f2c1ab`")?.[1]).toEqual({ path: "b.rs", note: "commit `9f2c1ab`" });
  });

  test.each(["I changed nothing of note.", "See the diff.", "https://example.org/x", "", "all of **src**"])("%j names none", (text) => {
    expect(reportedFiles(text)).toBeUndefined();
  });
});

test("a report comes down to its result", () => {
  expect(gist("Scope: a\n**Result:** `x` is\n- **done**\nIssues: none")).toBe("x is done");
  expect(gist("**Three** callers.\n\n| a | b |\n|---|---|\n\n```\ncode\n```\nEnd.")).toBe("Three callers. End.");
});
