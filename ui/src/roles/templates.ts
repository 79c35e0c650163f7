// What a new role can start from.

import type { RoleFields } from "../protocol.gen";
import { NO_FIELDS } from "./studio";

export interface Template {
  id: string;
  title: string;
  about: string;
  fields: RoleFields;
}

export const TEMPLATES: readonly Template[] = [
  {
    id: "blank",
    title: "From scratch",
    about: "Reads files; the rest is yours to add",
    fields: { ...NO_FIELDS, description: "Says when to use this role.", tools: ["Read", "Grep", "Glob"], body: "You are …" },
  },
  {
    id: "reviewer",
    title: "Reviewer",
    about: "Looks at a change and reports; writes nothing",
    fields: {
      ...NO_FIELDS,
      description: "Reviews a change for correctness. Use it when a change is complete.",
      tools: ["Read", "Grep", "Glob", "Bash(git diff *)", "Bash(git log *)"],
      disallowed_tools: ["Write", "Edit"],
      max_turns: 20,
      color: "teal",
      body: "You review a change that somebody else made.\n\n- Read the change and the code around it before you judge.\n- Report what is wrong, with `path:line`, why, and how bad it is.\n- Say what you did not look at.\n- Change nothing.",
    },
  },
  {
    id: "builder",
    title: "Builder",
    about: "Makes a change in a worktree of its own",
    fields: {
      ...NO_FIELDS,
      description: "Makes one well described change. Use it for work that can go on beside yours.",
      isolation: "worktree",
      background: true,
      color: "orange",
      body: "You make the change that the brief describes, and nothing else.\n\n- Find out how the project builds and tests, and use that.\n- Commit what you did, with a message that says why.\n- Report what you changed, how you checked it, and what is open.",
    },
  },
  {
    id: "writer",
    title: "Documentation writer",
    about: "Writes and corrects Markdown files",
    fields: {
      ...NO_FIELDS,
      description: "Writes and corrects documentation. Use it when behaviour changed and the documents must follow.",
      tools: ["Read", "Grep", "Glob", "Write", "Edit", "Edit(/docs/**)"],
      color: "blue",
      body: "You write documentation for people who use this project.\n\n- Check every statement against the code.\n- Short sentences, the reader's words, one example per idea.\n- Keep the style of the documents that are there.",
    },
  },
];
