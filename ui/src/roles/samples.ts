// Role files to look at: what the recorded bridge shows, by the number that is asked for.

import type { RecordedRole } from "./recorded";

const file = (front: string, body = "You do what the brief says.") => `---\n${front}\n---\n${body}\n`;

const BASE: RecordedRole[] = [
  {
    path: "/project/roles/reviewer.md",
    source: "project",
    text: file(
      "# who looks at changes before they are merged\nname: reviewer   # do not rename, CI asks for it\ndescription: Reviews a diff for correctness. Use it after a change is complete.\ntools: [Read, Grep, Glob, Bash(git diff *), Bash(git log *)]\ndisallowed_tools: [Write, Edit]\nmodel: sonnet\nmax_turns: 12\ncolor: teal",
      "You are a reviewer.\n\n- Read the change **and** the code around it before you judge.\n- Report what is wrong with `path:line`, why, and how bad it is.\n- Say what you did not look at.",
    ),
  },
  { path: "/project/roles/explore.md", source: "project", text: file("name: explore\ndescription: Our own way of looking around: starts at docs/architecture.md.\ntools: [Read, Grep, Glob]\nmodel: haiku\ncolor: blue") },
  { path: "/project/roles/half.md", source: "project", text: "---\nname: half\n---\nA role that somebody began.\n" },
  { path: "/user/roles/审阅者.md", source: "user", text: file("name: 审阅者\ndescription: 审阅代码变更，指出错误并说明理由。完成修改后使用。\ntools: [Read, Grep]\ncolor: purple", "你是审阅者。") },
  { path: "/user/roles/ghosts.md", source: "user", text: file("name: ghosts\ndescription: Tools that do not exist.\ntools: [Read, Telepathy]\ncolor: amber") },
  {
    path: "/user/roles/long.md",
    source: "user",
    text: file(`name: a-role-with-a-name-that-is-as-long-as-a-name-may-be-in-here-64c\ndescription: ${"A description that goes on and on, because its author could not stop. ".repeat(8)}\nisolation: worktree\nbackground: true\ncolor: orange`),
  },
  { path: "/user/roles/plain.md", source: "user", text: "Just text, without any front matter.\n" },
  { path: "/plugins/acme/roles/release.md", source: "plugin", text: file("name: acme:release-notes\ndescription: Writes release notes from merged changes.\ntools: [Read, Bash(git log *)]\ncolor: pink") },
  { path: "built-in:explore.md", source: "built_in", text: file("name: explore\ndescription: Looks around in the code and answers where things are. Fast, reads only.\ntools: [Read, Grep, Glob]\nmodel: haiku\nmax_turns: 8\ncolor: blue") },
  { path: "built-in:general-purpose.md", source: "built_in", text: file("name: general-purpose\ndescription: Does any task of several steps that needs no special role.\ncolor: gray") },
  { path: "built-in:plan.md", source: "built_in", text: file("name: plan\ndescription: Works out how a change could be made, step by step, without making it.\npermission: plan\ncolor: violet") },
  { path: "built-in:researcher.md", source: "built_in", text: file("name: researcher\ndescription: Finds things out and proves them with files.\nmax_turns: 30\ncolor: yellow") },
  { path: "built-in:verify.md", source: "built_in", text: file("name: verify\ndescription: Checks independently whether a change does what it should.\ndisallowed_tools: [Write, Edit]\nmax_turns: 40\ncolor: green") },
];

/** `none`: only what comes with the program; a number: that many more of the user's. */
export function sampleRoles(which: string | null): RecordedRole[] {
  if (which === "none") return BASE.filter((role) => role.source === "built_in");
  const many = Number(which ?? 0);
  const more = Array.from({ length: Number.isFinite(many) ? many : 0 }, (_, at): RecordedRole => {
    const name = `helper-${String(at + 1).padStart(3, "0")}`;
    return { path: `/user/roles/${name}.md`, source: "user", text: file(`name: ${name}\ndescription: Number ${at + 1} of many.\ntools: [Read]\ncolor: ${["red", "green", "blue"][at % 3]}`) };
  });
  return [...BASE, ...more];
}
