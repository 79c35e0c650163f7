import solid from "vite-plugin-solid";
import { defineConfig } from "vitest/config";

// Static styles must not become `style="…"` in markup: the content-security policy refuses them. Solid then sets each
// property on the element instead, which is allowed. (The plugin's types don't list the option yet.)
const compiler: { generate: "dom"; inlineStyles: boolean } = { generate: "dom", inlineStyles: false };

/**
 * Sizes in the style sheets are written in px as they are at 100 %. Built, they are in rem, so that one font size on the
 * root element zooms the whole window. Hairlines stay as they are.
 */
const zoomable = {
  postcssPlugin: "zoomable",
  Declaration(declaration: { value: string }) {
    if (!declaration.value.includes("px")) return;
    declaration.value = declaration.value.replace(/(?<![\w.])(\d*\.?\d+)px/g, (whole, size: string) =>
      Number(size) < 3 ? whole : `${Number(size) / 16}rem`,
    );
  },
};

export default defineConfig({
  plugins: [solid({ solid: compiler })],
  css: { postcss: { plugins: [zoomable] } },
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
