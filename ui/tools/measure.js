// Measures the page by its own clock. Sent into it as a script: what is measured, how, and at last the function that is
// called with the figures. All figures are in milliseconds.

const painted = () => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(() => next(performance.now()))));

const MEASURES = {
  /**
   * Frames for so long: how far they are apart, and how much script runs in each. Between two frames, what is called by
   * `requestAnimationFrame` and by timers is added up.
   */
  async frames(lasting) {
    const { requestAnimationFrame: nextFrame, setTimeout: later } = window;
    const gaps = [];
    const scripts = [];
    let script = 0;
    const timed = (work) => (...given) => {
      const start = performance.now();
      try {
        return work(...given);
      } finally {
        script += performance.now() - start;
      }
    };
    window.requestAnimationFrame = (work) => nextFrame.call(window, timed(work));
    window.setTimeout = (work, ...more) => later.call(window, typeof work === "function" ? timed(work) : work, ...more);
    await new Promise((done) => {
      const start = performance.now();
      let last = start;
      const tick = (now) => {
        gaps.push(now - last);
        scripts.push(script);
        last = now;
        script = 0;
        if (performance.now() - start < lasting) nextFrame.call(window, tick);
        else done();
      };
      nextFrame.call(window, tick);
    });
    window.requestAnimationFrame = nextFrame;
    window.setTimeout = later;
    gaps.shift();
    scripts.shift();
    const at = (list, part) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))] ?? 0;
    return {
      frames: gaps.length,
      longest: at(gaps, 1),
      gapMiddle: at(gaps, 0.5),
      gapP95: at(gaps, 0.95),
      late: gaps.filter((gap) => gap > 50).length,
      scriptMiddle: at(scripts, 0.5),
      scriptP95: at(scripts, 0.95),
      scriptLongest: at(scripts, 1),
    };
  },

  /** From a click on what has this role and a name that contains this, until the text is in the region and painted. */
  async click(role, name, region, text) {
    const target = [...document.querySelectorAll(role)].find((element) => (element.getAttribute("aria-label") ?? element.textContent ?? "").includes(name));
    if (!target) throw new Error(`There is no ${role} “${name}”.`);
    const start = performance.now();
    target.click();
    for (;;) {
      if (document.querySelector(`[aria-label="${region}"]`)?.textContent?.includes(text)) break;
      if (performance.now() - start > 20_000) throw new Error(`“${text}” didn't come.`);
      await new Promise((next) => setTimeout(next, 0));
    }
    const drawn = performance.now();
    return { drawn: drawn - start, painted: (await painted()) - start };
  },

  /** Characters typed into the message, one per frame: the script that each costs, and the time until it is painted. */
  async type(count) {
    const field = document.querySelector('[aria-label="Message"]');
    field.focus();
    const scripts = [];
    const paints = [];
    for (let at = 0; at < count; at += 1) {
      const start = performance.now();
      document.execCommand("insertText", false, "x");
      await Promise.resolve();
      scripts.push(performance.now() - start);
      paints.push(await new Promise((next) => requestAnimationFrame(() => next(performance.now() - start))));
    }
    document.execCommand("selectAll");
    document.execCommand("delete");
    const middle = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
    const worst = Math.max(...scripts);
    return { script: middle(scripts), scriptWorst: worst, frame: middle(paints) };
  },

  /** Scrolls through the conversation, a page a frame. */
  async scroll(pages) {
    const box = document.querySelector('[aria-label="Messages"]');
    const gaps = [];
    let last = performance.now();
    for (let at = 0; at < pages; at += 1) {
      box.dispatchEvent(new WheelEvent("wheel", { deltaY: -400, bubbles: true }));
      box.scrollTop -= 400;
      await new Promise((next) => requestAnimationFrame(next));
      gaps.push(performance.now() - last);
      last = performance.now();
    }
    gaps.sort((a, b) => a - b);
    return { middle: gaps[Math.floor(gaps.length / 2)], longest: gaps.at(-1) };
  },

  /** When the page began and when it had something to show, by the system's clock. */
  async paint() {
    const first = performance.getEntriesByName("first-contentful-paint")[0];
    return { began: performance.timeOrigin, first: performance.timeOrigin + (first?.startTime ?? performance.now()) };
  },
};

const given = [...arguments];
const done = given.pop();
const what = given.shift();
MEASURES[what](...given).then(
  (figures) => done({ figures }),
  (error) => done({ problem: String(error) }),
);
