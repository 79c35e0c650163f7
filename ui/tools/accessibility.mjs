// Looks at every scene with axe-core, in the window's engine and under its policy: `node tools/accessibility.mjs [PART OF
// A NAME…]`. Names, roles and structure, and, in all three themes, contrast; and whether all that stands there can be
// read, in a small window, too.

import { readFile } from "node:fs/promises";
import { eachScene, finish } from "./scenes.mjs";

const LOOKS = [
  ...["light", "dark", "contrast"].map((theme) => ({ name: theme, theme, width: 1280, height: 800 })),
  { name: "small", theme: "light", width: 900, height: 600, isOnlyRead: true },
];
/** WCAG 2.2 up to AA, and what axe-core calls good practice. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Rules that don't hold where they stand. */
const EXCEPT = {
  // An open menu keeps the focus: what is behind it is hidden, and its ends are guarded by elements of its own.
  "agent-actions": ["aria-hidden-focus", "aria-required-children", "landmark-one-main", "page-has-heading-one", "region"],
  // Its words come only when it takes long enough to be noticed.
  starting: ["page-has-heading-one"],
  // Who makes everything smaller gets smaller buttons.
  "zoom-80": ["target-size"],
};

const parts = process.argv.slice(2);
const axe = await readFile(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const readable = await readFile(new URL("readable.js", import.meta.url), "utf8");
let checked = 0;
const problems = await eachScene(
  LOOKS,
  (look, scene) => parts.length === 0 || parts.some((part) => `${scene}-${look.name}`.includes(part)),
  async (browser, look, scene) => {
    const unreadable = await browser.run(readable);
    checked += 1;
    if (look.isOnlyRead) return unreadable;
    await browser.run(`${axe}\nwindow.axe = axe;`);
    const found = await browser.wait(
      `const [tags, except, done] = arguments;
       // The bars between the regions belong to none of them.
       const where = { include: [["html"]], exclude: [['[role="separator"]']] };
       axe.run(where, { runOnly: tags, rules: Object.fromEntries(except.map((id) => [id, { enabled: false }])), resultTypes: ["violations"] }).then(
         (result) => done(result.violations.map((rule) => ({ id: rule.id, help: rule.help, nodes: rule.nodes.slice(0, 6).map((node) => ({ at: node.target.join(" "), why: node.any.concat(node.all, node.none).map((check) => check.message).join("; ").slice(0, 300) })) }))),
         (error) => done([{ id: "axe", help: String(error), nodes: [] }]),
       );`,
      TAGS,
      EXCEPT[scene] ?? [],
    );
    return unreadable.concat(found.map((rule) => `${rule.id}: ${rule.help}${rule.nodes.map((node) => `\n      ${node.at}: ${node.why}`).join("")}`));
  },
);
console.log(`${checked} views looked at, ${problems.length} problems`);
finish(problems);
