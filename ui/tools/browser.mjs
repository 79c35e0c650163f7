// The web view's engine in a browser of its own, on a display of its own: WebKitGTK's MiniBrowser, driven by WebDriver.
// Everything that is started here ends with `close`.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** WebDriver's name of an element's or a script's result is not needed here: scripts answer plain values. */
export async function openBrowser() {
  const home = await mkdtemp(join(tmpdir(), "offshoot-pictures-"));
  const display = await startDisplay();
  const port = await freePort();
  const driver = spawn("WebKitWebDriver", ["--host=127.0.0.1", `--port=${port}`], {
    stdio: "ignore",
    env: { ...process.env, DISPLAY: display.name, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, WAYLAND_DISPLAY: "", WEBKIT_SKIA_ENABLE_CPU_RENDERING: "1", TERM: "dumb" },
  });
  const failed = new Promise((_, reject) => driver.once("error", (error) => reject(new Error(`WebKitWebDriver: ${error.message}`))));
  const address = `http://127.0.0.1:${port}`;
  const ask = async (method, path, body) => {
    const answer = await fetch(`${address}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${value?.message ?? answer.status}`);
    return value;
  };
  const ready = async () => {
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const status = await fetch(`${address}/status`).catch(() => undefined);
      if (status?.ok) return;
      await new Promise((next) => setTimeout(next, 50));
    }
    throw new Error("WebKitWebDriver doesn't answer.");
  };
  const end = async () => {
    driver.kill();
    display.process.kill();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await Promise.race([ready(), failed]);
    const { sessionId } = await ask("POST", "/session", {
      capabilities: { alwaysMatch: { browserName: "MiniBrowser", "webkitgtk:browserOptions": { binary: await miniBrowser(), args: ["--automation"] } } },
    });
    const session = `/session/${sessionId}`;
    await ask("POST", `${session}/timeouts`, { script: 120_000, pageLoad: 120_000 });
    const run = (script, ...args) => ask("POST", `${session}/execute/sync`, { script, args });
    return {
      /** Runs a script whose last argument is called with the answer. */
      wait: (script, ...args) => ask("POST", `${session}/execute/async`, { script, args }),
      run,
      open: (url) => ask("POST", `${session}/url`, { url }),
      /** Makes the page's own area this large: the frame around it is left out. */
      async resize(width, height) {
        await ask("POST", `${session}/window/rect`, { x: 0, y: 0, width, height });
        for (let attempt = 0; attempt < 50; attempt += 1) {
          const [inner, outer] = await run("return [[innerWidth, innerHeight], [outerWidth, outerHeight]]");
          if (inner[0] === width && inner[1] === height) return;
          await ask("POST", `${session}/window/rect`, { x: 0, y: 0, width: outer[0] + width - inner[0], height: outer[1] + height - inner[1] });
          await new Promise((next) => setTimeout(next, 40));
        }
        throw new Error(`The window can't be made ${width} × ${height}.`);
      },
      /** Seconds of processor time that the browser and its page have used. */
      cpu: () => processorTime(driver.pid),
      picture: async () => Buffer.from(await ask("GET", `${session}/screenshot`), "base64"),
      async close() {
        await ask("DELETE", session).catch(() => undefined);
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Of a process's descendants, in seconds (proc(5): fields 4, 14 and 15 of `stat`, in hundredths). */
async function processorTime(ancestor) {
  const all = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const text = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    const fields = text.slice(text.lastIndexOf(") ") + 2).split(" ");
    if (text !== "") all.push({ id: Number(name), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) });
  }
  const family = new Set([ancestor]);
  for (let grew = true; grew; ) {
    grew = false;
    for (const { id, parent } of all) {
      if (family.has(id) || !family.has(parent)) continue;
      family.add(id);
      grew = true;
    }
  }
  return all.filter(({ id }) => id !== ancestor && family.has(id)).reduce((sum, { ticks }) => sum + ticks, 0) / 100;
}

async function startDisplay() {
  const process = spawn("Xvfb", ["-displayfd", "1", "-screen", "0", "2800x1700x24", "-nolisten", "tcp", "-noreset"], { stdio: ["ignore", "pipe", "ignore"] });
  const number = await new Promise((resolve, reject) => {
    process.once("error", (error) => reject(new Error(`Xvfb: ${error.message}`)));
    process.once("exit", () => reject(new Error("Xvfb ended.")));
    process.stdout.once("data", (data) => resolve(String(data).trim()));
  });
  process.removeAllListeners("exit");
  return { process, name: `:${number}` };
}

/** Where the distributions put it differs. */
async function miniBrowser() {
  for (const folder of ["/usr/lib", "/usr/lib64", "/usr/libexec", ...(await folders("/usr/lib"))]) {
    const path = join(folder, "webkit2gtk-4.1");
    const names = await readdir(path).catch(() => []);
    if (names.includes("MiniBrowser")) return join(path, "MiniBrowser");
  }
  throw new Error("WebKitGTK's MiniBrowser isn't there. On Debian and Ubuntu it comes with libwebkit2gtk-4.1-0.");
}

async function folders(path) {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name));
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
