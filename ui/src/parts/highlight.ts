// Syntax colours behind one function: code in, tokens by line out. Nothing else in the window knows the library.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scss from "highlight.js/lib/languages/scss";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  scss,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

export interface Token {
  text: string;
  /** Class names of `styles/code.css`; empty for plain text. */
  class: string;
}

/** More than this is drawn plain: colours aren't worth a stall. */
const MOST = 60_000;
/** A line of this length is minified or data. */
const LONGEST_LINE = 4_000;

const EXTENSIONS: Record<string, string> = {
  rs: "rust",
  ts: "typescript",
  tsx: "typescript",
  mts: "typescript",
  cts: "typescript",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  py: "python",
  rb: "ruby",
  md: "markdown",
  yml: "yaml",
  toml: "ini",
  sh: "bash",
  zsh: "bash",
  html: "xml",
  svg: "xml",
  vue: "xml",
  h: "c",
  hpp: "cpp",
  cc: "cpp",
  cs: "csharp",
  kt: "kotlin",
  mk: "makefile",
};

/** The language of a file by its name; `undefined` when it isn't known. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (name === "makefile" || name === "dockerfile") return name;
  const extension = name.slice(name.lastIndexOf(".") + 1);
  return languageNamed(EXTENSIONS[extension] ?? extension);
}

/** The language by the word behind a fence. */
export function languageNamed(name: string): string | undefined {
  const lower = name.toLowerCase();
  const known = EXTENSIONS[lower] ?? lower;
  return hljs.getLanguage(known) ? known : undefined;
}

/** The code's lines as tokens, or `undefined` when it is to be drawn plain. */
export function highlightLines(code: string, language: string | undefined): Token[][] | undefined {
  if (language === undefined || code.length > MOST) return undefined;
  if (code.split("\n").some((line) => line.length > LONGEST_LINE)) return undefined;
  return toLines(hljs.highlight(code, { language, ignoreIllegals: true }).value);
}

const PIECES = /<span class="([^"]*)">|<\/span>|&(amp|lt|gt|quot|#x27);|\n|[^<&\n]+/g;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** The library answers in HTML of spans and five entities: read back into tokens, so that no HTML reaches the page. */
function toLines(html: string): Token[][] {
  const lines: Token[][] = [[]];
  const open: string[] = [];
  for (const match of html.matchAll(PIECES)) {
    const piece = match[0];
    if (match[1] !== undefined) open.push(match[1]);
    else if (piece === "</span>") open.pop();
    else if (piece === "\n") lines.push([]);
    else {
      const text = match[2] === undefined ? piece : (ENTITIES[match[2]] ?? "");
      const line = lines.at(-1);
      const name = open.at(-1) ?? "";
      const last = line?.at(-1);
      if (last && last.class === name) last.text += text;
      else line?.push({ text, class: name });
    }
  }
  return lines;
}
