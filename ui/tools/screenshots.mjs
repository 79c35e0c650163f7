// Makes pictures of every scene: `node tools/screenshots.mjs FOLDER [PART OF A NAME…]`. Both themes, two sizes, and
// high contrast and a narrow window beside them.

import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { openBrowser } from "./browser.mjs";
import { servePage } from "./page.mjs";

const LOOKS = [
  { name: "light-1280x800", theme: "light", width: 1280, height: 800 },
  { name: "dark-1280x800", theme: "dark", width: 1280, height: 800 },
  { name: "light-2560x1440", theme: "light", width: 2560, height: 1440 },
  { name: "dark-2560x1440", theme: "dark", width: 2560, height: 1440 },
  { name: "contrast-1280x800", theme: "contrast", width: 1280, height: 800 },
  { name: "light-900x600", theme: "light", width: 900, height: 600 },
];

const [folder, ...parts] = process.argv.slice(2);
if (folder === undefined) throw new Error("Usage: node tools/screenshots.mjs FOLDER [PART OF A NAME…]");
const pictures = resolve(folder);
const page = await servePage(resolve("node_modules/.recorded"));
const browser = await openBrowser();
const problems = [];
let made = 0;
try {
  await browser.open(`${page.address}?scenes`);
  const all = await browser.wait(`const done = arguments[0]; const look = () => document.documentElement.dataset.scenes ? done(document.documentElement.dataset.scenes.split(" ")) : setTimeout(look, 20); look();`);
  const wanted = (look, scene) => parts.length === 0 || parts.some((part) => `${scene}-${look.name}`.includes(part));
  for (const look of LOOKS) {
    const scenes = all.filter((scene) => wanted(look, scene));
    if (scenes.length === 0) continue;
    await browser.resize(look.width, look.height);
    await mkdir(join(pictures, look.name), { recursive: true });
    for (const scene of scenes) {
      await browser.open(`${page.address}?scene=${scene}&theme=${look.theme}`);
      const state = await browser.wait(`const done = arguments[0]; const look = () => document.documentElement.dataset.scene ? done(document.documentElement.dataset.scene) : setTimeout(look, 20); look();`);
      if (state !== "ready") problems.push(`${look.name}/${scene}: ${state}`);
      await writeFile(join(pictures, look.name, `${scene}.png`), await browser.picture());
      made += 1;
    }
    console.log(`${look.name}: ${scenes.length} pictures`);
  }
} finally {
  await browser.close();
  await page.close();
}
console.log(`${made} pictures in ${pictures}`);
for (const problem of problems) console.error(`NOT AS MEANT: ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);
