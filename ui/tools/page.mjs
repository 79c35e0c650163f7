// The page with its recorded sessions, built and served as the program serves it: with the same security policy.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, preview } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));

export async function servePage(outDir) {
  const configuration = JSON.parse(await readFile(new URL("../../tauri.conf.json", import.meta.url), "utf8"));
  const policy = Object.entries(configuration.app.security.csp).map(([name, sources]) => `${name} ${sources}`).join("; ");
  await build({ root, mode: "recorded", logLevel: "warn", build: { outDir, emptyOutDir: true } });
  const server = await preview({
    root,
    logLevel: "warn",
    build: { outDir },
    preview: { port: 0, strictPort: false, host: "127.0.0.1", open: false, headers: { "Content-Security-Policy": policy } },
  });
  const { port } = server.httpServer.address();
  return { address: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
