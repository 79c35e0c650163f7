import { expect, test } from "vitest";
import { relativePath, shortenPaths } from "./paths";

test.each([
  ["/w/app/src/a.rs", "/w/app", "src/a.rs"],
  ["/w/app/src/a.rs", "/w/app/", "src/a.rs"],
  ["/w/app//src/./a.rs", "/w/app", "src/a.rs"],
  ["/w/app/", "/w/app", "."],
  ["/w/app/src/", "/w/app", "src/"],
  // A beginning of the same letters is another folder.
  ["/w/app2/src/a.rs", "/w/app", "/w/app2/src/a.rs"],
  ["/w", "/w/app", "/w"],
  // What goes up again is shown whole.
  ["/w/app/../secret", "/w/app", "/w/app/../secret"],
  ["src/a.rs", "/w/app", "src/a.rs"],
  ["/etc/hosts", "/", "/etc/hosts"],
  ["/w/app/a.rs", "", "/w/app/a.rs"],
  ["/w/App/a.rs", "/w/app", "/w/App/a.rs"],
  ["C:\\W\\app\\src\\a.rs", "c:\\w\\app", "src\\a.rs"],
  ["C:/w/app/src/a.rs", "C:\\w\\app", "src/a.rs"],
  ["/w/项目/ملف.rs", "/w/项目", "ملف.rs"],
])("%s seen from %s is %s", (path, base, seen) => {
  expect(relativePath(path, base)).toBe(seen);
});

test.each([
  ["Edit /w/app/src/a.rs", "Edit src/a.rs"],
  ["no rule allows changing /w/app/a.rs and `/w/app/b c.rs`", "no rule allows changing a.rs and `b c.rs`"],
  ["Read /w/app2/a.rs", "Read /w/app2/a.rs"],
  ["Read /x/w/app/a.rs", "Read /x/w/app/a.rs"],
  ["Read /w/app/../b.rs", "Read /w/app/../b.rs"],
  ["cd /w/app && ls", "cd /w/app && ls"],
  ["nothing", "nothing"],
])("the line %s becomes %s", (line, short) => {
  expect(shortenPaths(line, "/w/app/")).toBe(short);
});
