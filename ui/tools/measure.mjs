// Measures the page on recorded sessions, quickly, while working on it: `node tools/measure.mjs`. What counts is
// `cargo xtask bench window`, which measures the real window.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "./browser.mjs";
import { servePage } from "./page.mjs";

const script = await readFile(new URL("measure.js", import.meta.url), "utf8");
const built = await mkdtemp(join(tmpdir(), "offshoot-page-"));
const page = await servePage(built);
const browser = await openBrowser();
const measure = async (...given) => {
  const { figures, problem } = await browser.wait(script, ...given);
  if (problem) throw new Error(problem);
  console.log(given.slice(0, 3).join(" "), Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, Math.round(figure * 10) / 10])));
};
const rest = async (seconds) => {
  const before = await browser.cpu();
  await new Promise((next) => setTimeout(next, seconds * 1000));
  console.log(`left alone for ${seconds} s: ${Math.round(((await browser.cpu()) - before) / seconds * 1000) / 10} % of a core`);
};
const open = async (scene) => {
  await browser.open(`${page.address}?scene=${scene}&theme=light`);
  await browser.wait(`const done = arguments[0]; const look = () => (document.documentElement.dataset.scene ? done() : setTimeout(look, 20)); look();`);
  console.log(`\n${scene}`);
};
try {
  await browser.resize(1280, 800);
  await open("empty");
  await rest(5);
  await measure("frames", 3000);
  await open("long");
  await rest(5);
  await measure("frames", 3000);
  await measure("scroll", 30);
  await measure("click", '[role="treeitem"]', "Station 9,", "Conversation", "Look at station 9.");
  await measure("click", '[role="treeitem"]', "Root", "Conversation", "Done with 2500.");
  await open("streaming");
  await rest(8);
  await measure("frames", 8000);
  await measure("type", 40);
  await measure("click", '[role="treeitem"]', "Station 5,", "Conversation", "Look at station 5.");
  await measure("click", '[role="treeitem"]', "Station 1,", "Conversation", "Look at station 1.");
} finally {
  await browser.close();
  await page.close();
  await rm(built, { recursive: true, force: true });
}
process.exit(0);
