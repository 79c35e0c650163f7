import { describe, expect, it, vi } from "vitest";
import type { Bridge } from "../bridge";
import { createEditor, type Editor } from "./editor";
import { parseRole, recordedRoles, type RecordedRoles } from "./recorded";
import { NO_FIELDS } from "./studio";

const TEXT = "---\n# kept\nname: a\ndescription: d\ntools: [Read]\n---\nBody.\n";

async function open(text = TEXT): Promise<{ editor: Editor; roles: RecordedRoles; told: string[] }> {
  const roles = recordedRoles([{ path: "/a.md", source: "user", text }]);
  const told: string[] = [];
  const file = await roles.roleFile("/p", "/a.md");
  const editor = createEditor({ bridge: roles as unknown as Bridge, project: "/p", file, announce: (words) => told.push(words), onSaved: () => undefined });
  await vi.waitFor(() => expect(editor.preview()?.text).toBe(text));
  return { editor, roles, told };
}
const write = (roles: RecordedRoles, text: string) => roles.files.set("/a.md", { path: "/a.md", source: "user", text });
const set = (editor: Editor, more: object) => editor.setFields({ ...(editor.fields() ?? NO_FIELDS), ...more }, "");

describe("an open role", () => {
  it("saves exactly what the preview shows", async () => {
    const { editor, roles } = await open();
    expect(editor.isDirty()).toBe(false);
    set(editor, { model: "opus" });
    expect(editor.isDirty()).toBe(true);
    // Without waiting for the preview: saving makes it itself.
    expect(await editor.save()).toBe(true);
    expect(roles.files.get("/a.md")?.text).toBe(editor.preview()?.text);
    expect(roles.files.get("/a.md")?.text).toContain("# kept\nname: a");
    expect(editor.isDirty()).toBe(false);
    editor.undo();
    expect(editor.fields()?.model).toBeUndefined();
    expect(editor.isDirty()).toBe(true);
  });

  it("loses neither side when the file changes on disk", async () => {
    const { editor, roles, told } = await open();
    set(editor, { model: "opus" });
    write(roles, TEXT.replace("Body.", "Theirs."));
    await editor.look();
    expect(editor.conflict()?.theirs).toEqual(["prompt"]);
    expect(told.at(-1)).toMatch(/changed on disk/);
    expect(await editor.save()).toBe(false);
    expect(roles.files.get("/a.md")?.text).toContain("Theirs.");

    editor.keepMine();
    expect(editor.fields()).toMatchObject({ model: "opus", body: "Theirs." });
    expect(editor.conflict()).toBeUndefined();
    expect(await editor.save()).toBe(true);
    expect(parseRole(roles.files.get("/a.md")?.text ?? "")).toMatchObject({ model: "opus", body: "Theirs." });
  });

  it("takes theirs, with mine one undo away", async () => {
    const { editor, roles } = await open();
    set(editor, { model: "opus" });
    write(roles, TEXT.replace("Body.", "Theirs."));
    expect(await editor.save()).toBe(false);
    editor.takeTheirs();
    expect(editor.fields()?.body).toBe("Theirs.");
    expect(editor.isDirty()).toBe(false);
    editor.undo();
    expect(editor.fields()).toMatchObject({ model: "opus", body: "Body." });
  });

  it("follows the disk while nothing is changed here", async () => {
    const { editor, roles } = await open();
    write(roles, TEXT.replace("name: a", "name: b"));
    await editor.look();
    expect(editor.conflict()).toBeUndefined();
    expect(editor.fields()?.name).toBe("b");
  });

  it("keeps a draft whose file was deleted, and writes it anew", async () => {
    const { editor, roles } = await open();
    set(editor, { model: "opus" });
    roles.files.delete("/a.md");
    await editor.look();
    expect(editor.conflict()).toEqual({ now: undefined, theirs: [] });
    expect(await editor.save()).toBe(true);
    expect([...roles.files.values()].some((role) => role.text.includes("opus"))).toBe(true);
    expect(editor.conflict()).toBeUndefined();
  });

  it("says what can't be written and keeps the last version that can", async () => {
    const { editor } = await open();
    set(editor, { name: "../evil" });
    await vi.waitFor(() => expect(editor.problem()?.message).toMatch(/name/));
    expect(editor.preview()?.text).toBe(TEXT);
    expect(await editor.save()).toBe(false);
    editor.undo();
    await vi.waitFor(() => expect(editor.problem()).toBeUndefined());
  });

  it("is text where it can't be taken apart, and controls as soon as it can", async () => {
    const { editor } = await open("no front matter\n");
    expect(editor.draft().kind).toBe("text");
    editor.setText("---\nname: a\ndescription: d\n---\nB\n");
    await vi.waitFor(() => expect(editor.preview()?.fields).toBeDefined());
    editor.showText(false);
    expect(editor.fields()?.name).toBe("a");
  });
});
