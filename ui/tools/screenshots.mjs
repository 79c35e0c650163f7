// Makes pictures of every scene: `node tools/screenshots.mjs FOLDER [PART OF A NAME…]`. Both themes, two sizes, and
// high contrast and a small window beside them.

import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { eachScene, finish } from "./scenes.mjs";

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
let made = 0;
const problems = await eachScene(
  LOOKS,
  (look, scene) => parts.length === 0 || parts.some((part) => `${scene}-${look.name}`.includes(part)),
  async (browser, look, scene) => {
    await mkdir(join(pictures, look.name), { recursive: true });
    await writeFile(join(pictures, look.name, `${scene}.png`), await browser.picture());
    made += 1;
    return [];
  },
);
console.log(`${made} pictures in ${pictures}`);
finish(problems);
