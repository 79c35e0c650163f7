// Terminal output as styled text. Colours and weights are kept; cursor movement, links, clipboard writes, titles and
// everything else a terminal would obey is dropped.

export interface Span {
  text: string;
  /** Class names of `styles/code.css`; empty for plain text. */
  class: string;
}

interface Style {
  fg: number | undefined;
  bg: number | undefined;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  inverse: boolean;
}

const PLAIN: Style = {
  fg: undefined,
  bg: undefined,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
};

// In this order: CSI; OSC, DCS, SOS, PM, APC up to BEL or ST (or the text's end); two-character escapes; lone controls.
const ESCAPE =
  /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|\u001b[ -/]*[0-~]?|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u0080-\u009f]/g;

export function parseAnsi(text: string): Span[] {
  const spans: Span[] = [];
  let style = PLAIN;
  let end = 0;
  const source = overwriteLines(text);
  for (const match of source.matchAll(ESCAPE)) {
    push(spans, source.slice(end, match.index), style);
    if (match[2] === "m") style = restyle(style, match[1] ?? "");
    end = match.index + match[0].length;
  }
  push(spans, source.slice(end), style);
  return spans;
}

/** The same text without any escape: what is copied. */
export function stripAnsi(text: string): string {
  return overwriteLines(text).replace(ESCAPE, "");
}

/** A carriage return starts its line again: progress bars leave their last state. */
function overwriteLines(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => {
      const trimmed = line.endsWith("\r") ? line.slice(0, -1) : line;
      return trimmed.slice(trimmed.lastIndexOf("\r") + 1);
    })
    .join("\n");
}

function push(spans: Span[], text: string, style: Style): void {
  if (text === "") return;
  const name = classOf(style);
  const last = spans.at(-1);
  if (last && last.class === name) last.text += text;
  else spans.push({ text, class: name });
}

function classOf(style: Style): string {
  const names: string[] = [];
  if (style.bold) names.push("ansi-bold");
  if (style.dim) names.push("ansi-dim");
  if (style.italic) names.push("ansi-italic");
  if (style.underline) names.push("ansi-underline");
  if (style.strike) names.push("ansi-strike");
  if (style.inverse) names.push("ansi-inverse");
  if (style.fg !== undefined) names.push(`ansi-fg-${style.fg}`);
  if (style.bg !== undefined) names.push(`ansi-bg-${style.bg}`);
  return names.join(" ");
}

function restyle(before: Style, parameters: string): Style {
  let style = { ...before };
  const codes = parameters.split(/[;:]/).map((code) => (code === "" ? 0 : Number(code)));
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i] ?? 0;
    if (code === 0) style = { ...PLAIN };
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 7) style.inverse = true;
    else if (code === 9) style.strike = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code === 27) style.inverse = false;
    else if (code === 29) style.strike = false;
    else if (code >= 30 && code <= 37) style.fg = code - 30;
    else if (code >= 90 && code <= 97) style.fg = code - 90;
    else if (code === 39) style.fg = undefined;
    else if (code >= 40 && code <= 47) style.bg = code - 40;
    else if (code >= 100 && code <= 107) style.bg = code - 100;
    else if (code === 49) style.bg = undefined;
    else if (code === 38 || code === 48) {
      const [color, used] = extended(codes.slice(i + 1));
      if (code === 38) style.fg = color;
      else style.bg = color;
      i += used;
    }
  }
  return style;
}

/** 256 and true colours become the nearest of the eight: they then suit both themes. */
function extended(codes: number[]): [number | undefined, number] {
  if (codes[0] === 5) {
    const index = codes[1] ?? 7;
    if (index < 16) return [index % 8, 2];
    if (index >= 232) return [index < 244 ? 0 : 7, 2];
    const cube = index - 16;
    return [nearest((Math.floor(cube / 36) % 6) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51), 2];
  }
  if (codes[0] === 2) return [nearest(codes[1] ?? 0, codes[2] ?? 0, codes[3] ?? 0), 4];
  return [undefined, 0];
}

function nearest(red: number, green: number, blue: number): number {
  const high = Math.max(red, green, blue);
  if (high < 60) return 0;
  const bit = (value: number) => (value > high * 0.6 ? 1 : 0);
  return bit(red) + bit(green) * 2 + bit(blue) * 4;
}
