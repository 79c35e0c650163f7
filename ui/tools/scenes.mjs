// Goes through the scenes: the page is built and served, a browser opened, and each scene shown until it can be looked at.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "./browser.mjs";
import { servePage } from "./page.mjs";

const WHEN = (what) =>
  `const done = arguments[0]; const look = () => { const state = document.documentElement.dataset.${what}; if (state) done(state); else setTimeout(look, 20); }; look();`;

/**
 * Calls `visit` with the browser and the scene's name for every scene in every look, and answers what went wrong.
 * `isWanted` leaves some out.
 */
export async function eachScene(looks, isWanted, visit) {
  const built = await mkdtemp(join(tmpdir(), "offshoot-page-"));
  const page = await servePage(built);
  const browser = await openBrowser();
  const problems = [];
  try {
    await browser.open(`${page.address}?scenes`);
    const all = (await browser.wait(WHEN("scenes"))).split(" ");
    for (const look of looks) {
      const scenes = all.filter((scene) => isWanted(look, scene));
      if (scenes.length === 0) continue;
      await browser.resize(look.width, look.height);
      for (const scene of scenes) {
        await browser.open(`${page.address}?scene=${scene}&theme=${look.theme}`);
        const state = await browser.wait(WHEN("scene"));
        if (state !== "ready") problems.push(`${look.name}, ${scene}: ${state}`);
        const found = (await visit(browser, look, scene)).map((problem) => `${look.name}, ${scene}: ${problem}`);
        for (const problem of found) console.error(problem);
        problems.push(...found);
      }
      console.log(`${look.name}: ${scenes.length} scenes`);
    }
  } finally {
    await browser.close();
    await page.close();
    await rm(built, { recursive: true, force: true });
  }
  return problems;
}

export function finish(problems) {
  if (problems.length > 0) console.error(`NOT AS MEANT:\n${problems.map((problem) => `  ${problem.split("\n", 1)[0]}`).join("\n")}`);
  process.exit(problems.length > 0 ? 1 : 0);
}
