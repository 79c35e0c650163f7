import { fireEvent, screen, waitFor } from "@solidjs/testing-library";
import { beforeEach, expect, test } from "vitest";
import { ROOT, showDemo } from "../testing";
import { LARGEST, takeFiles } from "./dropped";
import { fileMentions } from "./mentions";

beforeEach(() => localStorage.clear());

const file = (name: string, content: BlobPart) => new File([content], name);

test("text files are taken with their names, what is none says why not", async () => {
  const taken = await takeFiles([
    file("a.rs", "fn a() {}\r\n"),
    file("潮汐.txt", "水"),
    file("a.bin", new Uint8Array([0, 1, 2, 255])),
    file("nul.txt", "a\0b"),
    file("huge.log", "x".repeat(LARGEST + 1)),
  ]);
  expect(taken.files).toEqual([
    { name: "a.rs", text: "fn a() {}\n" },
    { name: "潮汐.txt", text: "水" },
  ]);
  expect(taken.problems.map((problem) => problem.split(" ")[0])).toEqual(["a.bin", "nul.txt", "huge.log"]);
});

test("a path with a space is named in quotes", () => {
  const found = fileMentions("see @ta now", 7, ["src/table.rs", "my docs/table one.md"]);
  expect(found.map((entry) => entry.text)).toEqual(["see @src/table.rs now", 'see @"my docs/table one.md" now']);
  expect(found[0]).toMatchObject({ label: "table.rs", about: "src", caret: 18 });
});

/** A drag as the web view tells it; jsdom has no `DataTransfer`. */
function drag(type: string, files: File[], text = "") {
  const event = new Event(type, { bubbles: true, cancelable: true });
  const types = files.length > 0 ? ["Files"] : ["text/plain"];
  return Object.assign(event, { dataTransfer: { types, files, getData: (kind: string) => (kind === "text/plain" ? text : "") } });
}

test("files and texts dropped on the message stand in it and are sent whole", async () => {
  const bridge = showDemo(7000);
  const field = await screen.findByRole("textbox", { name: "Message" });
  const drop = drag("drop", [file("notes.md", "# Tides\nall of them")]);
  fireEvent(field, drop);
  expect(drop.defaultPrevented, "the web view opens nothing").toBe(true);
  await waitFor(() => expect((field as HTMLTextAreaElement).value).toContain("notes.md: [Pasted text 1: 2 lines]"));
  fireEvent(field, drag("drop", [], "and this"));
  fireEvent.keyDown(field, { key: "Enter" });
  await waitFor(() => expect(bridge.sent).toHaveLength(1));
  expect(bridge.sent[0]).toEqual({ type: "send_message", agent: ROOT, text: "notes.md: # Tides\nall of them\nand this" });
});

test("what is dropped beside the message changes nothing and goes nowhere", async () => {
  showDemo(7000);
  await screen.findByRole("textbox", { name: "Message" });
  for (const type of ["dragover", "drop"]) {
    const event = drag(type, [file("evil.html", "<script>1</script>")]);
    fireEvent(screen.getByRole("region", { name: "Inspector" }), event);
    expect(event.defaultPrevented, type).toBe(true);
  }
});

test("files are offered behind @", async () => {
  showDemo(7000);
  const field = await screen.findByRole("textbox", { name: "Message" });
  fireEvent.input(field, { target: { value: "look at @cal" } });
  (field as HTMLTextAreaElement).setSelectionRange(12, 12);
  fireEvent.select(field);
  const options = await screen.findAllByRole("option", { name: /calendar/ });
  fireEvent.pointerDown(options[0] as HTMLElement);
  expect((field as HTMLTextAreaElement).value).toBe("look at @src/calendar.rs ");
});
