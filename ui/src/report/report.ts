// Reads the report that a fork or subagent ends with into its fields. Models write them as they please: bold, as
// headings or list items, in another case, with fields missing, with Markdown of many lines inside. Pure.

export type FieldName = "scope" | "result" | "keyFiles" | "filesChanged" | "issues";

export interface ReportField {
  name: FieldName;
  /** Markdown, without the label and the indentation that all its lines share. */
  text: string;
  /** Whether it says that there is nothing to say. */
  isNone: boolean;
}

export interface Report {
  /** What stands in front of the first field. */
  lead: string;
  /** In the order in which they were written; no field twice. */
  fields: ReportField[];
}

const LABELS: Record<string, FieldName> = {
  scope: "scope",
  result: "result",
  results: "result",
  "key file": "keyFiles",
  "key files": "keyFiles",
  "files changed": "filesChanged",
  "file changed": "filesChanged",
  "changed files": "filesChanged",
  issue: "issues",
  issues: "issues",
};

/** A label with a colon, whatever marks stand around it, and what follows on its line. */
const LABELLED =
  /^\s{0,3}(?:[-*+>]\s+|#{1,6}\s+|\d{1,2}[.)]\s+)?(\*{1,3}|_{1,3})?\s*(key[\s_-]files?|files?[\s_-]changed|changed[\s_-]files|scope|results?|issues?)\s*(?:\1\s*[:：]|[:：]\s*\1)(?:\s+|$|(?=\S))(.*)$/iu;
/** A label that is a heading of its own, or all that is bold on its line. */
const HEADED =
  /^\s{0,3}(?:#{1,6}\s+(?:\*{2}|_{2})?|\*{2}|_{2})(key[\s_-]files?|files?[\s_-]changed|changed[\s_-]files|scope|results?|issues?)\s*(?:\*{2}|_{2})?\s*#*\s*$/iu;
const FENCE = /^\s{0,3}(`{3,}|~{3,})/;

/** Longer texts are no reports: those have at most 500 words. */
const LONGEST = 40_000;

function labelOf(line: string): { name: FieldName; rest: string } | undefined {
  const labelled = LABELLED.exec(line);
  const label = labelled?.[2] ?? HEADED.exec(line)?.[1];
  const name = label === undefined ? undefined : LABELS[label.toLowerCase().replace(/[\s_-]+/g, " ")];
  return name === undefined ? undefined : { name, rest: labelled?.[3] ?? "" };
}

/**
 * The text as a report, or `undefined` when it isn't one: that takes two fields, one of them scope or result. While it
 * is being written (`isPartial`), a beginning with its scope is enough.
 */
export function parseReport(text: string, isPartial = false): Report | undefined {
  if (text.length > LONGEST) return undefined;
  const lead: string[] = [];
  const parts: { name: FieldName; lines: string[] }[] = [];
  let fence: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const mark = FENCE.exec(line)?.[1];
    const isOpen = fence !== undefined;
    if (fence === undefined) fence = mark;
    else if (mark !== undefined && mark.startsWith(fence) && line.trim() === mark) fence = undefined;

    const label = isOpen ? undefined : labelOf(line);
    // A label that comes again belongs to the text of the field in which it stands.
    if (label && !parts.some((part) => part.name === label.name)) parts.push({ name: label.name, lines: [label.rest] });
    else (parts.at(-1)?.lines ?? lead).push(line);
  }
  const has = (name: FieldName) => parts.some((part) => part.name === name);
  const isBegun = isPartial && parts[0]?.name === "scope" && lead.join("").trim() === "";
  if (!isBegun && (parts.length < 2 || !(has("scope") || has("result")))) return undefined;
  return {
    lead: lead.join("\n").trim(),
    fields: parts.map(({ name, lines }) => {
      const value = unindent(lines);
      return { name, text: value, isNone: saysNone(value) };
    }),
  };
}

function unindent([first = "", ...rest]: string[]): string {
  const indents = rest.flatMap((line) => (line.trim() === "" ? [] : [/^ */.exec(line)?.[0].length ?? 0]));
  const indent = indents.length === 0 ? 0 : Math.min(...indents);
  // Lines are kept apart: a list behind its label begins on the next one.
  return [first.trim(), ...rest.map((line) => line.slice(Math.min(indent, line.length)).trimEnd())].join("\n").trim();
}

function saysNone(text: string): boolean {
  return /^(?:[-*+]\s+)?[*_`]*(?:none|nothing|no|n\/a|nil|-|–|—)[*_`]*[.!]?$/i.test(text.trim());
}

export function fieldOf(report: Report, name: FieldName): ReportField | undefined {
  return report.fields.find((field) => field.name === name);
}

export interface ReportedFile {
  path: string;
  /** What was said about it. */
  note: string;
}

/** The files that a field names, or `undefined` when it says it in other words. */
export function reportedFiles(text: string): ReportedFile[] | undefined {
  const files: ReportedFile[] = [];
  for (const item of items(text)) {
    const found = /^`([^`]+)`\s*(.*)$/s.exec(item) ?? /^(\S+)\s*(.*)$/s.exec(item);
    const path = found?.[1] ?? "";
    const note = (found?.[2] ?? "").replace(/^(?:[—–:-]+\s*)/, "");
    const isQuoted = item.startsWith("`");
    if (!looksLikePath(path, isQuoted)) return undefined;
    // Several words behind a bare one are a sentence, unless something parts them.
    if (!isQuoted && note !== "" && !/^\S+\s*(?:[—–:(-])/.test(item)) return undefined;
    files.push({ path, note });
  }
  return files.length === 0 ? undefined : files;
}

/** Cuts at line ends, and at commas that stand in no brackets or code. */
function items(text: string): string[] {
  const list: string[] = [];
  for (const line of text.split("\n")) {
    let item = "";
    let depth = 0;
    let isCode = false;
    for (const letter of line.replace(/^\s*(?:[-*+]|\d{1,2}[.)])\s+/, "")) {
      if (letter === "`") isCode = !isCode;
      else if (!isCode && letter === "(") depth += 1;
      else if (!isCode && letter === ")") depth -= 1;
      if ((letter === "," || letter === ";") && !isCode && depth <= 0) {
        list.push(item);
        item = "";
      } else item += letter;
    }
    list.push(item);
  }
  return list.map((item) => item.trim()).filter((item) => item !== "");
}

function looksLikePath(word: string, isQuoted: boolean): boolean {
  if (word === "" || /[*"<>|]/.test(word)) return false;
  if (/^[a-z]+:\/\//i.test(word)) return false;
  return isQuoted ? !/\s{2}|[(){}=;]/.test(word) : /[./\\]/.test(word) && !/[.,;:]$/.test(word) && /[\p{L}\p{N}]/u.test(word);
}

/** What a report comes down to, on one line and without the marks of Markdown. */
export function gist(text: string): string {
  const report = parseReport(text);
  const words = report ? fieldOf(report, "result")?.text || fieldOf(report, "scope")?.text || report.lead : text;
  // Tables and code say nothing on one line.
  const prose = words.slice(0, 4000).replace(/^\s*\|.*$/gm, "").replace(/^\s*(`{3,}|~{3,})[\s\S]*?(?:^\s*\1\s*$|$(?![\s\S]))/gm, "");
  return prose.slice(0, 2000).replace(/\*\*|__|`/g, "").replace(/^\s*(?:#+|>|[-*+])\s+/gm, "").split(/\s+/).join(" ").trim();
}
