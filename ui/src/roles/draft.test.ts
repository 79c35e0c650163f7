import { describe, expect, it } from "vitest";
import type { RoleFields, RoleTool } from "../protocol.gen";
import { chipsOf, covers, isSame, place, rebase, splitEntry, withAllTools, withArgument, withRule, type Bin } from "./draft";
import { begin, change, redo, undo } from "./history";
import { NO_FIELDS } from "./studio";

const TOOLS: RoleTool[] = [
  { name: "Read", about: "", asks: false },
  { name: "Bash", about: "", asks: true },
  { name: "Edit", about: "", asks: true },
  { name: "mcp__db__query", about: "", asks: true },
];
const role = (more: Partial<RoleFields>): RoleFields => ({ ...NO_FIELDS, name: "r", description: "d", ...more });
const shown = (fields: RoleFields): Record<Bin, string[]> => {
  const bins = chipsOf(fields, TOOLS);
  const words = (bin: Bin) => bins[bin].map((chip) => (chip.implied ? `~${chip.entry}` : chip.entry));
  return { allowed: words("allowed"), ask: words("ask"), denied: words("denied") };
};

describe("bins", () => {
  it("show what two lists come to", () => {
    expect(shown(role({ tools: ["Read", "Bash(git diff *)", "Edit"], disallowed_tools: ["Bash(git push *)"] }))).toEqual({
      allowed: ["Read", "Bash(git diff *)"],
      ask: ["Edit", "~Bash"],
      denied: ["Bash(git push *)"],
    });
  });

  it("show what a role has without a list", () => {
    expect(shown(role({ disallowed_tools: ["mcp__db"] }))).toEqual({ allowed: ["~Read"], ask: ["~Bash", "~Edit"], denied: ["mcp__db"] });
    expect(shown(role({ tools: ["*", "Bash(ls *)"] })).allowed).toEqual(["Bash(ls *)", "~Read"]);
  });

  it("read entries as the core does", () => {
    expect(splitEntry(" Bash( echo (a) ) ")).toEqual({ tool: "Bash( echo (a) )", argument: undefined });
    expect(splitEntry("Bash(echo (a))")).toEqual({ tool: "Bash", argument: "echo (a)" });
    expect(splitEntry("Bash(*)")).toEqual({ tool: "Bash", argument: undefined });
    expect(covers("mcp__db__*", "mcp__db__query")).toBe(true);
    expect(covers("mcp__d", "mcp__db__query")).toBe(false);
  });
});

describe("dropping", () => {
  const listed = role({ tools: ["Read", "Edit", "Bash(git diff *)"] });

  it("from the palette", () => {
    const drop = (entry: string, to: Bin) => place(listed, TOOLS, { entry, from: "palette" }, to);
    expect(drop("Bash", "ask").fields).toBe(listed);
    expect(place(role({ tools: [] }), TOOLS, { entry: "Bash", from: "palette" }, "ask").fields.tools).toEqual(["Bash"]);
    expect(drop("Bash", "allowed").needs).toBe("Bash");
    expect(drop("Read", "ask").note).toMatch(/never asks/);
    const denied = drop("Edit", "denied").fields;
    expect([denied.tools, denied.disallowed_tools]).toEqual([["Read", "Bash(git diff *)"], ["Edit"]]);
  });

  it("between bins", () => {
    const rule = { entry: "Bash(git diff *)", from: "allowed" as const, at: 2 };
    expect(place(listed, TOOLS, rule, "ask").fields.tools).toEqual(["Read", "Edit", "Bash"]);
    const denied = place(listed, TOOLS, rule, "denied").fields;
    expect([denied.tools, denied.disallowed_tools]).toEqual([["Read", "Edit"], ["Bash(git diff *)"]]);
    const back = place(denied, TOOLS, { entry: "Bash(git diff *)", from: "denied", at: 0 }, "allowed").fields;
    expect([back.tools, back.disallowed_tools]).toEqual([["Read", "Edit", "Bash(git diff *)"], []]);
    expect(place(listed, TOOLS, rule, "palette").fields.tools).toEqual(["Read", "Edit"]);
    expect(place(listed, TOOLS, rule, "allowed").fields).toBe(listed);
  });

  it("never narrows a role that has all tools by a rule", () => {
    expect(withRule(role({}), "Bash", "git diff *").tools).toEqual(["*", "Bash(git diff *)"]);
    expect(place(role({}), TOOLS, { entry: "Bash", from: "ask" }, "denied").fields).toEqual(role({ disallowed_tools: ["Bash"] }));
    const open = place(role({ disallowed_tools: ["Bash"] }), TOOLS, { entry: "Bash", from: "denied", at: 0 }, "ask").fields;
    expect(open).toEqual(role({}));
  });

  it("says when an implied tool can't be taken out", () => {
    const placed = place(role({}), TOOLS, { entry: "Read", from: "allowed" }, "palette");
    expect(placed.note).toMatch(/all tools/);
  });
});

describe("lists", () => {
  it("change between all tools and a list, rules kept", () => {
    const all = role({ tools: ["*", "Bash(ls *)"], disallowed_tools: ["Edit"] });
    const listed = withAllTools(all, TOOLS, false);
    expect(listed.tools).toEqual(["Read", "Bash", "mcp__db__query", "Bash(ls *)"]);
    expect(withAllTools(listed, TOOLS, true).tools).toEqual(["*", "Bash(ls *)"]);
    expect("tools" in withAllTools(role({ tools: ["Read"] }), TOOLS, true)).toBe(false);
  });

  it("change one rule", () => {
    const fields = role({ tools: ["Read", "Bash(git diff *)"], disallowed_tools: ["Bash(rm *)"] });
    const bins = chipsOf(fields, TOOLS);
    const rule = bins.allowed[1];
    const denied = bins.denied[0];
    if (!rule || !denied) throw new Error("no chips");
    expect(withArgument(fields, rule, "git log *").tools).toEqual(["Read", "Bash(git log *)"]);
    expect(withArgument(fields, rule, " ").tools).toEqual(["Read", "Bash"]);
    expect(withArgument(fields, denied, "rm -rf *").disallowed_tools).toEqual(["Bash(rm -rf *)"]);
  });
});

describe("both sides changed", () => {
  it("keeps mine on top of theirs", () => {
    const base = role({ model: "haiku", body: "B" });
    const mine = role({ model: "opus", body: "B" });
    const theirs = role({ model: "haiku", body: "theirs", max_turns: 9 });
    expect(rebase(base, mine, theirs)).toEqual({ fields: role({ model: "opus", body: "theirs", max_turns: 9 }), both: [] });
    expect(rebase(base, role({ model: "opus", body: "mine" }), theirs)).toEqual({ fields: role({ model: "opus", body: "mine", max_turns: 9 }), both: ["prompt"] });
    const { model: _, ...none } = base;
    expect(rebase(base, none, theirs).fields.model).toBeUndefined();
  });

  it("compares values whatever the order of their keys", () => {
    expect(isSame({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })).toBe(true);
    expect(isSame(["a", "b"], ["b", "a"])).toBe(false);
  });
});

describe("undo", () => {
  it("takes typing as one step, and other changes one by one", () => {
    let past = begin("");
    past = change(past, "a", "name", 0);
    past = change(past, "ab", "name", 100);
    past = change(past, "abX", "body", 200);
    past = change(past, "abX1", "", 250);
    past = change(past, "abX2", "", 260);
    const seen: string[] = [];
    for (let at = 0; at < 6; at += 1) {
      past = undo(past);
      seen.push(past.now);
    }
    expect(seen).toEqual(["abX1", "abX", "ab", "", "", ""]);
    past = redo(redo(past));
    expect(past.now).toBe("abX");
    expect(change(past, "new", "", 0).after).toEqual([]);
  });

  it("ends a step at a pause", () => {
    const past = change(change(begin(""), "a", "name", 0), "ab", "name", 5000);
    expect(undo(past).now).toBe("a");
  });
});
