// Role files in memory, for the recorded bridge: enough of the core's behaviour to look at the studio without it. The
// core's own writer keeps far more of a file than the few lines here.

import type { Bridge } from "../bridge";
import type { DiffLine, Rejected, RoleBoard, RoleCard, RoleFields, RoleFile, RoleSource, RoleWarning } from "../protocol.gen";
import { NO_FIELDS } from "./studio";

export interface RecordedRole {
  path: string;
  source: RoleSource;
  text: string;
  warnings?: Omit<RoleWarning, "path">[];
}

const TOOLS: RoleBoard["tools"] = [
  { name: "Read", about: "Reads a file", asks: false },
  { name: "Write", about: "Writes a file", asks: true },
  { name: "Edit", about: "Changes a file", asks: true },
  { name: "Bash", about: "Runs a command", asks: true },
  { name: "Grep", about: "Searches in files", asks: false },
  { name: "Glob", about: "Finds files by name", asks: false },
  { name: "TodoWrite", about: "Keeps a plan", asks: false },
];
const COLORS = ["red", "orange", "amber", "yellow", "lime", "green", "teal", "cyan", "blue", "indigo", "violet", "purple", "magenta", "pink", "gray"];
const STRENGTH: Record<RoleSource, number> = { plugin: 0, built_in: 1, user: 2, project: 3 };

type RoleCalls = Pick<Bridge, "roleBoard" | "roleFile" | "rolePreview" | "roleSave" | "roleCreate" | "roleCopy" | "roleDelete" | "roleRestore" | "roleRule" | "roleUses">;

export interface RecordedRoles extends RoleCalls {
  /** By path; a test changes it as another program would. */
  files: Map<string, RecordedRole>;
}

const rejected = (code: Rejected["code"], message: string, hint = ""): Rejected => ({ code, message, hint });

/** What a past agent used up. */
const reviewed = { input: 900, cache_read: 12_000, cache_write: 800, output: 700 };

export function recordedRoles(roles: readonly RecordedRole[], tools = TOOLS): RecordedRoles {
  const files = new Map(roles.map((role) => [role.path, role]));
  const trash = new Map<string, RecordedRole>();
  let count = 0;

  const file = (path: string): RecordedRole => {
    const found = files.get(path);
    if (!found) throw rejected("not_found", `There is no role file ${path}.`);
    return found;
  };
  const isOwn = (source: RoleSource) => source === "project" || source === "user";
  const describe = (role: RecordedRole): RoleFile => {
    const fields = parseRole(role.text);
    return {
      path: role.path,
      source: role.source,
      text: role.text,
      fingerprint: String(role.text.length) + role.text,
      ...(fields ? { fields } : {}),
      warnings: warningsOf(role),
      editable: isOwn(role.source),
    };
  };
  const warningsOf = (role: RecordedRole): RoleWarning[] =>
    (role.warnings ?? problems(role.text)).map((warning) => ({ path: role.path, ...warning }));
  const put = (to: RoleSource, text: string): RecordedRole => {
    const name = parseRole(text)?.name ?? "role";
    if ([...files.values()].some((role) => role.source === to && parseRole(role.text)?.name === name)) {
      throw rejected("not_applicable", `There is a role “${name}” there already.`, "Open that one, or choose another name.");
    }
    const role = { path: `/${to}/roles/${name.replace(/[^\p{L}\p{N}_.]/gu, "-")}.md`, source: to, text };
    files.set(role.path, role);
    return role;
  };
  const remove = (path: string): string => {
    count += 1;
    trash.set(String(count), file(path));
    files.delete(path);
    return String(count);
  };

  return {
    files,
    roleBoard: async () => {
      const all = [...files.values()].map((role) => ({ role, fields: parseRole(role.text) }));
      const cards: RoleCard[] = all.map(({ role, fields }) => {
        const winner = all
          .filter((other) => other.fields?.name === fields?.name && fields !== undefined)
          .sort((a, b) => STRENGTH[b.role.source] - STRENGTH[a.role.source])[0];
        const summary = fields && fields.name !== "" && fields.description !== "" && {
          name: fields.name,
          description: fields.description,
          source: role.source,
          path: role.path,
          ...(fields.model === undefined ? {} : { model: fields.model }),
          ...(fields.color === undefined ? {} : { color: fields.color }),
          ...(fields.tools === undefined ? {} : { tools: fields.tools }),
          ...(winner && winner.role !== role ? { shadowed_by: winner.role.path } : {}),
        };
        return { path: role.path, source: role.source, ...(summary ? { role: summary } : {}), warnings: warningsOf(role), editable: isOwn(role.source) };
      });
      return {
        cards: cards.sort((a, b) => (a.role?.name ?? "").localeCompare(b.role?.name ?? "")),
        warnings: [],
        project_folder: "/work/api/.offshoot/roles",
        user_folder: "/home/ada/.config/offshoot/roles",
        tools,
        colors: COLORS,
        models: ["haiku", "sonnet", "opus", "fable"],
        max_turns: 200,
      };
    },
    roleFile: async (_project, path) => describe(file(path)),
    rolePreview: async (_project, base, change) => {
      const text = change.type === "text" ? change.text : writeRole(base ?? "", change.fields);
      const fields = parseRole(text);
      if (change.type === "fields" && /[/\\]/.test(change.fields.name)) throw rejected("invalid", "`name`: letters, digits, `-`, `_` and `.` are possible");
      return {
        text,
        lines: difference(base ?? "", text),
        ...(fields ? { fields } : {}),
        warnings: problems(text).map((warning) => ({ path: "", ...warning })),
        loads: fields !== undefined && fields.name !== "" && fields.description !== "",
      };
    },
    roleSave: async (_project, path, fingerprint, text) => {
      const now = files.get(path);
      if (!now) return { outcome: "conflict" };
      if (describe(now).fingerprint !== fingerprint) return { outcome: "conflict", now: describe(now) };
      const next: RecordedRole = { path, source: now.source, text };
      files.set(path, next);
      return { outcome: "saved", file: describe(next) };
    },
    roleCreate: async (_project, to, text) => describe(put(to, text)),
    roleCopy: async (_project, path, to, moves) => {
      const copy = put(to, file(path).text);
      return moves ? { path: copy.path, trashed: remove(path) } : { path: copy.path };
    },
    roleDelete: async (_project, path) => remove(path),
    roleRestore: async (_project, trashed) => {
      const role = trash.get(trashed);
      if (!role) throw rejected("failed", "This role is no longer kept.");
      trash.delete(trashed);
      files.set(role.path, role);
      return role.path;
    },
    roleUses: async (_project, role) =>
      role === "reviewer"
        ? ["completed", "failed"].map((kind, at) => ({
            session: "ses",
            session_title: "Speed up the tide table",
            agent: `agt_${at}`,
            title: `Review of step ${at + 1}`,
            created_at: new Date(Date.UTC(2026, 0, 2 - at)).toISOString(),
            state: kind === "failed" ? { kind, message: "no report" } : { kind: "completed" },
            steps: 4 + at,
            usage: reviewed,
            spending: [{ model: "claude-sonnet-4-5", seller: "provider" as const, size: "upto100k" as const, requests: 4 + at, usage: reviewed }],
          }))
        : [],
    roleRule: async (_project, entry) => {
      const command = /^Bash\((.*) \*\)$/.exec(entry)?.[1];
      const valid = /^[^()]+(\(.*\))?$/.test(entry);
      return {
        valid,
        problem: valid ? "" : `\`${entry}\` is not a tool or \`Tool(argument)\``,
        matches: command === undefined ? [] : [command, `${command} --help`],
        misses: command === undefined ? [] : [`${command} && rm -r build`],
      };
    },
  };
}

/** The front matter of a plain role file; `undefined` where there is none. */
export function parseRole(text: string): RoleFields | undefined {
  const parts = /^\ufeff?---\r?\n([\s\S]*?)\r?\n?---\r?\n?([\s\S]*)$/.exec(text);
  if (!parts) return undefined;
  const fields: RoleFields = { ...NO_FIELDS, disallowed_tools: [], body: (parts[2] ?? "").replace(/\r\n/g, "\n").trim() };
  for (const line of (parts[1] ?? "").split(/\r?\n/)) {
    const entry = /^([a-z_]+):\s*(.*?)\s*(?:\s#.*)?$/.exec(line);
    if (!entry) continue;
    const value = (entry[2] ?? "").replace(/^"(.*)"$/, "$1");
    const list = () => value.replace(/^\[|\]$/g, "").split(",").map((item) => item.trim().replace(/^"(.*)"$/, "$1")).filter(Boolean);
    switch (entry[1]) {
      case "name":
      case "description":
      case "model":
      case "color":
        fields[entry[1]] = value;
        break;
      case "tools":
      case "disallowed_tools":
        fields[entry[1]] = list();
        break;
      case "max_turns":
        fields.max_turns = Number(value);
        break;
      case "permission":
        fields.permission = value as NonNullable<RoleFields["permission"]>;
        break;
      case "background":
        fields.background = value === "true";
        break;
      case "isolation":
        fields.isolation = value === "worktree" ? "worktree" : "shared";
        break;
    }
  }
  return fields;
}

function writeRole(base: string, wanted: RoleFields): string {
  const now = parseRole(base);
  const lines = now ? (/^---\n([\s\S]*?)\n?---\n/.exec(base)?.[1] ?? "").split("\n").filter((line) => line !== "") : [];
  const list = (items: readonly string[]) => `[${items.map((item) => (item === "*" ? '"*"' : item)).join(", ")}]`;
  const values: [keyof RoleFields, string | undefined, unknown][] = [
    ["name", wanted.name || undefined, now?.name],
    ["description", wanted.description || undefined, now?.description],
    ["tools", wanted.tools && list(wanted.tools), now?.tools && list(now.tools)],
    ["disallowed_tools", wanted.disallowed_tools.length > 0 ? list(wanted.disallowed_tools) : undefined, now && now.disallowed_tools.length > 0 ? list(now.disallowed_tools) : undefined],
    ["model", wanted.model, now?.model],
    ["max_turns", wanted.max_turns?.toString(), now?.max_turns?.toString()],
    ["permission", wanted.permission, now?.permission],
    ["background", wanted.background ? "true" : undefined, now?.background ? "true" : undefined],
    ["isolation", wanted.isolation === "worktree" ? "worktree" : undefined, now?.isolation === "worktree" ? "worktree" : undefined],
    ["color", wanted.color, now?.color],
  ];
  for (const [key, value, before] of values) {
    if (value === before) continue;
    const at = lines.findIndex((line) => line.startsWith(`${key}:`));
    if (value === undefined) lines.splice(at, at < 0 ? 0 : 1);
    else if (at < 0) lines.push(`${key}: ${value}`);
    else lines[at] = `${key}: ${value}`;
  }
  return `---\n${lines.join("\n")}\n---\n${wanted.body === "" ? "" : `${wanted.body}\n`}`;
}

function problems(text: string): { line: number; message: string }[] {
  const fields = parseRole(text);
  if (!fields) return [{ line: 1, message: "not loaded: there is no front matter" }];
  const found: { line: number; message: string }[] = [];
  if (fields.description === "") found.push({ line: 1, message: "not loaded: `description` is missing: it says when to use the role" });
  text.split("\n").forEach((line, at) => {
    if (/^tools: \[\]/.test(line)) found.push({ line: at + 1, message: "`tools` lists nothing, so the role can't start; remove the line to allow all tools" });
    if (line.includes("Telepathy")) found.push({ line: at + 1, message: "`tools`: there is no tool `Telepathy`" });
  });
  return found;
}

/** A plain difference by lines: common head and tail, the rest replaced. */
function difference(old: string, now: string): DiffLine[] {
  const a = old === "" ? [] : old.replace(/\n$/, "").split("\n");
  const b = now.replace(/\n$/, "").split("\n");
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const cell = (i: number, j: number) => table[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = table[i];
      if (row) row[j] = a[i] === b[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "context", text: b[j] ?? "" });
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || cell(i + 1, j) >= cell(i, j + 1))) {
      lines.push({ kind: "removed", text: a[i] ?? "" });
      i += 1;
    } else {
      lines.push({ kind: "added", text: b[j] ?? "" });
      j += 1;
    }
  }
  return lines;
}
