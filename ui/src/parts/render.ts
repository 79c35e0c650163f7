// Markdown as safe HTML, block by block. Raw HTML in the source is text; only a short list of tags and attributes
// survives; images are named and never loaded; links are marked and open only after a question (see `Links.tsx`).

import createDOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { highlightLines, languageNamed } from "./highlight";

const md = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
// Bare words such as `main.rs` aren't links.
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
md.validateLink = (url) => /^(?:https?:\/\/|mailto:)/i.test(url.trim());

const escape = md.utils.escapeHtml;

md.renderer.rules["image"] = (tokens, index) => {
  const token = tokens[index];
  const name = token?.content || "image";
  const source = String(token?.attrGet("src") ?? "");
  return `<span class="md-image" title="${escape(source)}">Image, not loaded: ${escape(name)}</span>`;
};

const fence = (code: string, info: string): string => {
  const name = info.trim().split(/\s+/, 1)[0] ?? "";
  const lines = highlightLines(code.replace(/\n$/, ""), languageNamed(name));
  const body = lines
    ? lines
        .map((line) =>
          line
            .map((token) => (token.class ? `<span class="${escape(token.class)}">${escape(token.text)}</span>` : escape(token.text)))
            .join(""),
        )
        .join("\n")
    : escape(code.replace(/\n$/, ""));
  return `<pre class="md-code" tabindex="0"><code>${body}</code></pre>`;
};
md.renderer.rules["fence"] = (tokens, index) => fence(tokens[index]?.content ?? "", tokens[index]?.info ?? "");
md.renderer.rules["code_block"] = (tokens, index) => fence(tokens[index]?.content ?? "", "");

// `style="text-align:…"` would be refused by the content-security policy.
for (const name of ["th_open", "td_open"]) {
  md.renderer.rules[name] = (tokens, index) => {
    const token = tokens[index];
    const align = /text-align:(\w+)/.exec(String(token?.attrGet("style") ?? ""))?.[1];
    return align ? `<${token?.tag} class="md-${align}">` : `<${token?.tag}>`;
  };
}
md.renderer.rules["table_open"] = () => '<div class="md-table"><table>';
md.renderer.rules["table_close"] = () => "</table></div>";

// `- [x] done` is a box that tells its state by shape and name; it can't be changed here.
md.core.ruler.after("inline", "task_list", (state) => {
  state.tokens.forEach((token, at) => {
    if (token.type !== "inline" || state.tokens[at - 2]?.type !== "list_item_open") return;
    const first = token.children?.[0];
    const mark = first?.type === "text" ? /^\[([ xX])\](?=\s)/.exec(first.content) : null;
    if (!first || !mark) return;
    const isDone = mark[1] !== " ";
    first.content = first.content.slice(mark[0].length);
    const box = new state.Token("text", "", 0);
    box.type = isDone ? "task_done" : "task_open";
    token.children?.unshift(box);
    state.tokens[at - 2]?.attrJoin("class", "md-task");
  });
});
md.renderer.rules["task_done"] = () => '<span class="md-box md-checked"></span><span class="sr-only">done:</span>';
md.renderer.rules["task_open"] = () => '<span class="md-box"></span><span class="sr-only">to do:</span>';

const TAGS = [
  ...["p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "span", "div"],
  ...["em", "strong", "s", "a", "table", "thead", "tbody", "tr", "th", "td"],
];
const ATTRIBUTES = ["href", "title", "class", "start", "tabindex"];

const purifier = createDOMPurify(window);

/** A block longer than this is drawn as plain text. */
const LONGEST_BLOCK = 48_000;

/** One block of Markdown as HTML that may be put into the page. */
export function renderBlock(source: string): string {
  if (source.length > LONGEST_BLOCK) return `<pre class="md-plain">${escape(source)}</pre>`;
  return purifier.sanitize(md.render(source), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    // These hold no address, whatever they hold.
    ADD_URI_SAFE_ATTR: ["start", "tabindex"],
    ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
  });
}

/**
 * Cuts a text into blocks that can be rendered on their own, so that while it streams only the last one is rendered
 * again. A cut is an empty line outside a fence, unless what follows belongs to a list or quotation before it.
 */
export function splitBlocks(text: string): string[] {
  const blocks: string[] = [];
  let start = 0;
  let fenced: string | undefined;
  let blankAt: number | undefined;
  let inList = false;
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf("\n", at);
    const end = found === -1 ? text.length : found;
    const line = text.slice(at, Math.min(end, at + 400));
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fenced === undefined && line.trim() === "") {
      blankAt ??= at;
    } else {
      if (blankAt !== undefined && fenced === undefined) {
        const continues = /^(?: {2,}|\t)/.test(line) || (inList && isListItem(line));
        if (!continues) {
          blocks.push(text.slice(start, blankAt));
          start = at;
          inList = false;
        }
      }
      blankAt = undefined;
      if (fenced !== undefined) {
        if (mark !== undefined && mark.startsWith(fenced) && line.trim() === mark) fenced = undefined;
      } else if (mark !== undefined) fenced = mark;
      else if (isListItem(line)) inList = true;
    }
    at = end + 1;
  }
  if (text.slice(start).trim() !== "") blocks.push(text.slice(start));
  return blocks.filter((block) => block.trim() !== "");
}

function isListItem(line: string): boolean {
  return /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line);
}

/** The code of a block that is one fence without its end; `undefined` for every other block. */
export function openFence(source: string): string | undefined {
  const start = /^ {0,3}(`{3,}|~{3,})[^`\n]*\n/.exec(source);
  if (!start?.[1]) return undefined;
  const code = source.slice(start[0].length);
  const closing = new RegExp(`(?:^|\\n) {0,3}${start[1]}[\`~]*[ \\t]*(?:\\n|$)`);
  return closing.test(code) ? undefined : code;
}
