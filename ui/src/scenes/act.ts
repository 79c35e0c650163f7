// What a person does in a scene before it is looked at: keys, clicks and typing, on what has this role or name.

export type Act =
  | { press: string }
  /** The accessible name or the text of a control. */
  | { click: string }
  /** Without a field: into the message. */
  | { write: string; into?: string }
  /** Waits until there is a control with this name. */
  | { find: string }
  /** Waits until the text stands on the page. */
  | { see: string };

const PATIENCE_MS = 20_000;

export async function act(acts: readonly Act[]): Promise<void> {
  for (const step of acts) await perform(step);
}

async function perform(step: Act): Promise<void> {
  if ("press" in step) press(step.press);
  else if ("click" in step) click(await found(() => control(step.click), `a control “${step.click}”`));
  else if ("find" in step) await found(() => control(step.find), `a control “${step.find}”`);
  else if ("see" in step) await found(() => (document.body.textContent?.includes(step.see) ? document.body : undefined), `“${step.see}”`);
  else {
    const name = step.into ?? "Message";
    const field = await found(() => document.querySelector<HTMLTextAreaElement | HTMLInputElement>(`:is(input, textarea)[aria-label="${name}"]`) ?? undefined, `a field “${name}”`);
    field.focus();
    field.value = step.write;
    field.setSelectionRange(step.write.length, step.write.length);
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
  await settled();
}

function press(keys: string): void {
  const parts = keys.split(" ");
  const key = parts.at(-1) ?? "";
  const target = document.activeElement ?? document.body;
  target.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ctrlKey: parts.includes("Ctrl"), altKey: parts.includes("Alt"), shiftKey: parts.includes("Shift") }),
  );
}

const CONTROLS = 'button, a[href], summary, [role="treeitem"], [role="menuitem"], [role="menuitemradio"], [role="tab"], [role="option"], input[type="checkbox"]';

function control(name: string): HTMLElement | undefined {
  const all = [...document.querySelectorAll<HTMLElement>(CONTROLS)].filter((element) => element.closest("[inert]") === null);
  // Spaces between the parts of a name are made by the layout.
  const bare = (text: string) => text.replace(/\s+/g, "");
  const wanted = bare(name);
  const text = (element: HTMLElement) => bare(element.getAttribute("aria-label") ?? element.textContent ?? "");
  return all.find((element) => text(element) === wanted) ?? all.find((element) => text(element).startsWith(wanted)) ?? all.find((element) => text(element).includes(wanted));
}

/** As a mouse does it: menus open when the button goes down. */
function click(element: HTMLElement): void {
  element.scrollIntoView({ block: "nearest" });
  const options = { bubbles: true, cancelable: true, button: 0, pointerType: "mouse" };
  element.dispatchEvent(new PointerEvent("pointerdown", options));
  element.dispatchEvent(new MouseEvent("mousedown", options));
  element.dispatchEvent(new PointerEvent("pointerup", options));
  element.dispatchEvent(new MouseEvent("mouseup", options));
  element.click();
}

async function found<T>(look: () => T | undefined, what: string): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const it = look();
    if (it !== undefined) return it;
    if (performance.now() > end) throw new Error(`Waited in vain for ${what}.`);
    await new Promise((next) => setTimeout(next, 15));
  }
}

/** What was done is on the page two frames later. */
export function settled(): Promise<void> {
  return new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(() => next())));
}
