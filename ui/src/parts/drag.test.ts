import { createRoot } from "solid-js";
import { afterEach, describe, expect, it } from "vitest";
import { createDrag, type Dragging } from "./drag";

interface Case {
  drag: Dragging<string>;
  dropped: string[];
  told: string[];
  button: HTMLButtonElement;
  boxes: HTMLElement[];
}

let dispose: (() => void) | undefined;
afterEach(() => {
  dispose?.();
  document.body.replaceChildren();
});

function setUp(): Case {
  const dropped: string[] = [];
  const told: string[] = [];
  const button = document.createElement("button");
  const boxes = [0, 1].map((at) => {
    const box = document.createElement("div");
    box.getBoundingClientRect = () => new DOMRect(at * 100, 0, 100, 100);
    return box;
  });
  document.body.append(button, ...boxes);
  const drag = createRoot((end) => {
    dispose = end;
    return createDrag<string>({
      targets: () => boxes.map((box, at) => ({ id: `t${at}`, label: `Target ${at}`, element: () => box })),
      drop: (item, target, alt) => dropped.push(`${item} on ${target}${alt ? " moved" : ""}`),
      announce: (words) => told.push(words),
      altWord: "moves",
    });
  });
  button.addEventListener("keydown", (event) => drag.onKeyDown(event, "item", "Item"));
  button.addEventListener("pointerdown", (event) => drag.onPointerDown(event, "item", "Item"));
  button.focus();
  return { drag, dropped, told, button, boxes };
}

const press = (target: EventTarget, key: string) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
function point(target: EventTarget, type: string, x: number, y: number, more: PointerEventInit = {}): void {
  const event = new MouseEvent(type, { clientX: x, clientY: y, buttons: type === "pointerup" ? 0 : 1, bubbles: true, cancelable: true, ...more });
  Object.assign(event, { pointerId: 1, isPrimary: true, pointerType: more.pointerType ?? "mouse" });
  target.dispatchEvent(event);
}

describe("by keys", () => {
  it("takes, chooses, drops, and says so", () => {
    const { drag, dropped, told, button } = setUp();
    press(button, " ");
    expect(drag.state()?.over).toBe("t0");
    expect(told.at(-1)).toMatch(/Item taken\. Target Target 0\./);
    press(button, "ArrowRight");
    expect(told.at(-1)).toBe("Target 1.");
    press(button, "ArrowRight");
    expect(drag.state()?.over).toBe("t0");
    press(button, "ArrowLeft");
    press(button, "m");
    press(button, " ");
    expect(dropped).toEqual(["item on t1 moved"]);
    expect(drag.state()).toBeUndefined();
  });

  it("lets go with Escape and when the focus goes", () => {
    const { drag, dropped, told, button } = setUp();
    press(button, " ");
    press(button, "Escape");
    expect(told.at(-1)).toMatch(/Nothing changed/);
    press(button, " ");
    button.blur();
    expect(drag.state()).toBeUndefined();
    expect(dropped).toEqual([]);
  });
});

describe("by pointer", () => {
  it("drags only after a distance, and drops where the pointer is", () => {
    const { drag, dropped, button } = setUp();
    point(button, "pointerdown", 10, 10);
    point(window, "pointermove", 12, 12);
    expect(drag.state()).toBeUndefined();
    point(window, "pointermove", 150, 50);
    expect(drag.state()?.over).toBe("t1");
    point(window, "pointerup", 150, 50, { altKey: true });
    expect(dropped).toEqual(["item on t1 moved"]);
  });

  it("drops nothing outside of the targets, after Escape, or when the button was let go unheard", () => {
    const { drag, dropped, button } = setUp();
    const take = () => {
      point(button, "pointerdown", 10, 10);
      point(window, "pointermove", 150, 50);
      expect(drag.state()).toBeDefined();
    };
    take();
    point(window, "pointerup", 500, 500);
    take();
    press(window, "Escape");
    point(window, "pointerup", 150, 50);
    take();
    point(window, "pointermove", 150, 50, { buttons: 0 });
    expect(drag.state()).toBeUndefined();
    expect(dropped).toEqual([]);
  });

  it("leaves touch to scrolling but for the grip", () => {
    const { drag, button } = setUp();
    point(button, "pointerdown", 10, 10, { pointerType: "touch" });
    point(window, "pointermove", 150, 50);
    expect(drag.state()).toBeUndefined();
    button.dataset["grip"] = "";
    point(button, "pointerdown", 10, 10, { pointerType: "touch" });
    point(window, "pointermove", 150, 50);
    expect(drag.state()).toBeDefined();
  });
});
