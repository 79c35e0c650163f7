import solid from "vite-plugin-solid";
import { defineConfig } from "vitest/config";

// Static styles must not become `style="…"` in markup: the content-security policy refuses them. Solid then sets each
// property on the element instead, which is allowed. (The plugin's types don't list the option yet.)
const compiler: { generate: "dom"; inlineStyles: boolean } = { generate: "dom", inlineStyles: false };

export default defineConfig({
  plugins: [solid({ solid: compiler })],
  clearScreen: false,
  server: { port: 5173, strictPort: true, host: "127.0.0.1" },
  build: {
    target: "safari17",
    // The policy allows no `data:` fonts, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
  },
  test: {
    environment: "jsdom",
    globals: false,
    css: false,
    restoreMocks: true,
    testTimeout: 30_000,
    // One page for all files: a new one costs more than most files run.
    pool: "threads",
    isolate: false,
    fileParallelism: false,
    setupFiles: ["./src/test.setup.ts"],
    server: { deps: { inline: [/@kobalte/, /virtua/] } },
  },
});
