// What jsdom lacks and the window uses, and a clean page after every test.

import { cleanup, configure } from "@solidjs/testing-library";
import { afterEach } from "vitest";

// A failed search prints the whole page otherwise.
// Waiting ends with what is waited for; the limit is for a machine with other work.
configure({ asyncUtilTimeout: 10_000, getElementError: (message) => new Error(message ?? "not found") });
afterEach(cleanup);

if (!("scrollIntoView" in Element.prototype)) {
  Object.defineProperty(Element.prototype, "scrollIntoView", { value: () => undefined, writable: true });
}
