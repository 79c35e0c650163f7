// Paths as they are seen from an agent's folder. Pure; it compares components, never beginnings of texts: `/w/app2` does
// not lie in `/w/app`.

const DRIVE = /^(?:[A-Za-z]:|[\\/]{2})/;

/** The components of a path; those of a Windows path may be parted by either slash. */
function components(path: string, isWindows: boolean): string[] {
  return path.split(isWindows ? /[\\/]+/ : /\/+/).filter((part) => part !== "" && part !== ".");
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || DRIVE.test(path);
}

/**
 * The path as seen from `base`, when it lies in it; `.` for `base` itself. Everything else stays as it is, also a path
 * that goes up again: what leaves the folder must not look as if it were inside.
 */
export function relativePath(path: string, base: string): string {
  if (!isAbsolute(path) || !isAbsolute(base)) return path;
  const isWindows = DRIVE.test(base);
  const inner = components(path, isWindows);
  const outer = components(base, isWindows);
  if (outer.length === 0 || inner.includes("..")) return path;
  const same = (a: string | undefined, b: string) => (isWindows ? a?.toLowerCase() === b.toLowerCase() : a === b);
  if (!outer.every((part, at) => same(inner[at], part))) return path;
  const rest = inner.slice(outer.length);
  if (rest.length === 0) return ".";
  return rest.join(isWindows && path.includes("\\") ? "\\" : "/") + (/[\\/]$/.test(path) ? "/" : "");
}

/** A line of words in which paths that lie in `base` are written as seen from there. */
export function shortenPaths(line: string, base: string): string {
  const folder = base.replace(/[\\/]+$/, "");
  if (folder === "" || !isAbsolute(base) || !line.includes(folder)) return line;
  let short = "";
  let end = 0;
  for (let at = line.indexOf(folder); at !== -1; at = line.indexOf(folder, at + 1)) {
    if (at < end || isInsidePath(line[at - 1])) continue;
    // As far as no blank ends it: whether the rest goes up again.
    const whole = /^[^\s"'`<>|]*/.exec(line.slice(at))?.[0] ?? "";
    const next = whole[folder.length];
    if (next !== "/" && !(next === "\\" && DRIVE.test(folder))) continue;
    const seen = relativePath(whole, folder);
    if (seen === whole) continue;
    short += line.slice(end, at) + seen;
    end = at + whole.length;
  }
  return short + line.slice(end);
}

function isInsidePath(before: string | undefined): boolean {
  return before !== undefined && /[\p{L}\p{N}._~/\\-]/u.test(before);
}
